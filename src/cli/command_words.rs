//! Splits a typed command line into a program and its arguments, by the shell's quoting rules.
//! Nothing is expanded: anything that needs a shell is rejected, with a hint on how to run a shell. The crate `shlex`
//! does not say which characters were quoted, so it cannot tell a pipe from an argument.

use crate::error::{Error, ErrorKind, Result};

/// The words of a command line. `'...'` is taken literally. In `"..."` a backslash escapes `"`, `\`, `$` and a
/// backquote; elsewhere it escapes any character.
///
/// # Errors
/// `Usage` for an empty line, an unclosed quote, a trailing backslash, and for pipes, redirections, variables etc.
pub fn split(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.chars().peekable();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            break;
        }
        words.push(word(&mut rest)?);
    }
    match words.first() {
        None => Err(usage("no command was typed").hint("Type a program and its arguments, such as: make -j8")),
        Some(program) if assigns(program) => Err(usage(format!("{program} sets a variable, which takes a shell"))
            .hint(format!("Type it behind env: env {}", line.trim()))),
        Some(_) => Ok(words),
    }
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn word(rest: &mut Rest<'_>) -> Result<String> {
    let mut word = String::new();
    while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
        match c {
            '\'' => single_quoted(rest, &mut word)?,
            '"' => double_quoted(rest, &mut word)?,
            '\\' => word.push(rest.next().ok_or_else(|| usage("the command ends with a backslash"))?),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => return Err(for_a_shell(c, rest)),
            '$' | '`' if expands(c, rest) => return Err(for_a_shell(c, rest)),
            c => word.push(c),
        }
    }
    Ok(word)
}

fn single_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<()> {
    loop {
        match rest.next() {
            Some('\'') => return Ok(()),
            Some(c) => word.push(c),
            None => return Err(usage("a single quote is not closed")),
        }
    }
}

fn double_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<()> {
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some('\\') => match rest.next_if(|c| matches!(c, '"' | '\\' | '$' | '`')) {
                Some(c) => word.push(c),
                None => word.push('\\'),
            },
            Some(c @ ('$' | '`')) if expands(c, rest) => return Err(for_a_shell(c, rest)),
            Some(c) => word.push(c),
            None => return Err(usage("a double quote is not closed")),
        }
    }
}

/// Whether a shell would substitute something here.
fn expands(c: char, rest: &mut Rest<'_>) -> bool {
    c == '`'
        || rest
            .peek()
            .is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '{' | '(' | '?' | '@' | '*' | '$'))
}

fn assigns(word: &str) -> bool {
    let named = |name: &str| {
        name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
            && !name.is_empty()
            && !name.as_bytes()[0].is_ascii_digit()
    };
    word.split_once('=').is_some_and(|(name, _)| named(name))
}

fn for_a_shell(c: char, rest: &mut Rest<'_>) -> Error {
    let place: String = rest.take(12).collect();
    usage(format!("{:?} takes a shell", format!("{c}{place}")))
        .hint("Quote it to pass it on as it is, or have a shell carry it out: sh -c '...'")
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        for (line, expected) in [
            ("make -j8", vec!["make", "-j8"]),
            ("  a\t b  ", vec!["a", "b"]),
            ("sh -c 'a | b > c; d $x'", vec!["sh", "-c", "a | b > c; d $x"]),
            ("a 'it'\\''s' \"x y\"z", vec!["a", "it's", "x yz"]),
            ("a '' \"\"", vec!["a", "", ""]),
            ("a b\\ c \\| \\\\", vec!["a", "b c", "|", "\\"]),
            (r#"a "q\"u\\o\$t\`e \n""#, vec!["a", "q\"u\\o$t`e \\n"]),
            ("grep ^a$ 'x'", vec!["grep", "^a$", "x"]),
            ("a --b=c *.c ~/d #e", vec!["a", "--b=c", "*.c", "~/d", "#e"]),
            ("größe 日本", vec!["größe", "日本"]),
        ] {
            assert_eq!(split(line).ok(), Some(expected.into_iter().map(str::to_string).collect()), "{line}");
        }
    }

    #[test]
    fn what_takes_a_shell_is_refused_and_the_shell_named() {
        for line in ["a | b", "a && b", "a > f", "a;b", "a $HOME", "a \"$HOME\"", "a `b`", "(a)", "a ${x}", "a &"] {
            let error = split(line).err();
            let remedy = error.as_ref().and_then(|error| error.remedy()).unwrap_or_default();
            assert!(remedy.contains("sh -c"), "{line}: {error:?}");
        }
        let error = split("FOO=1 make").err();
        assert!(error.is_some_and(|error| error.remedy().is_some_and(|remedy| remedy.contains("env FOO=1 make"))));
        for line in ["", "  ", "a 'b", "a \"b", "a \\"] {
            assert_eq!(split(line).err().map(|error| error.kind()), Some(ErrorKind::Usage), "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_word_in_single_quotes_comes_back_as_it_is(word in "[^'\\x00]{0,20}") {
            let line = format!("a '{word}'");
            prop_assert_eq!(split(&line).ok(), Some(vec!["a".to_string(), word]));
        }

        #[test]
        fn no_line_makes_it_panic(line in "[a-z '\"\\\\$|`=]{0,20}") {
            let _ = split(&line);
        }
    }
}

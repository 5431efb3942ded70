//! Bash. It splits words at colons and equals signs, which names of functions and tracepoints contain, and inserts answers
//! unquoted. So this side gets the line, splits it as the shell would, and quotes its answers.

use super::{ASKS, complete};

/// What the shell runs. It gets one candidate a line.
pub(super) fn script() -> String {
    format!(
        r#"_ironlaw() {{
    local line="${{COMP_LINE:0:COMP_POINT}}"
    mapfile -t COMPREPLY < <({ASKS}=bash IRONLAW_COMPLETE_WORD="$2" ironlaw -- "$line" 2>/dev/null)
    if [[ ${{#COMPREPLY[@]}} -eq 1 && "${{COMPREPLY[0]}}" == *[=/:,] ]]; then
        compopt -o nospace
    fi
}}
complete -o bashdefault -o nosort -F _ironlaw ironlaw 2>/dev/null || complete -o bashdefault -F _ironlaw ironlaw
"#
    )
}

/// The word that is typed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Typed {
    /// As it stands on the line.
    raw: String,
    /// What it means.
    text: String,
    /// The quote that is still open.
    quote: Option<char>,
}

/// Candidates for the end of a line, without what bash leaves in place: it replaces only `replaced`, the end of the word.
pub(super) fn answer(line: &str, replaced: &str) -> String {
    let (words, typed) = (words(line), split(line).1);
    let kept = typed.raw.strip_suffix(replaced).unwrap_or_default();
    let mut out = String::new();
    let mut candidates = complete(&words);
    // Nothing is begun: options are listed after a dash, unless there is nothing else.
    if typed.raw.is_empty() && candidates.iter().any(|candidate| !candidate.starts_with('-')) {
        candidates.retain(|candidate| !candidate.starts_with('-'));
    }
    for candidate in candidates {
        let quoted = match typed.quote {
            // Bash closes the quote itself.
            Some(_) if candidate.contains(['\'', '"', '\\', '$', '`', '!']) => continue,
            Some(_) => candidate.clone(),
            None => quoted(&candidate, typed.raw.starts_with('~')),
        };
        let kept = if typed.quote.is_some() { kept.trim_start_matches(['\'', '"']) } else { kept };
        if let Some(rest) = quoted.strip_prefix(kept) {
            out.push_str(rest);
            out.push('\n');
        }
    }
    out
}

/// All words of a line.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, typed) = split(line);
    words.push(typed.text);
    words
}

/// The words before the last one, without assignments before the command, and the last.
fn split(line: &str) -> (Vec<String>, Typed) {
    let (mut words, mut typed, mut begun) = (Vec::new(), Typed::default(), false);
    let mut characters = line.chars();
    while let Some(next) = characters.next() {
        if typed.quote.is_none() && next.is_whitespace() {
            if std::mem::take(&mut begun) {
                words.push(std::mem::take(&mut typed).text);
            }
            continue;
        }
        begun = true;
        typed.raw.push(next);
        match (typed.quote, next) {
            (Some(quote), next) if next == quote => typed.quote = None,
            (None, '\'' | '"') => typed.quote = Some(next),
            (None | Some('"'), '\\') => {
                let escaped = characters.next();
                typed.raw.extend(escaped);
                typed.text.extend(escaped);
            }
            _ => typed.text.push(next),
        }
    }
    let assigned = words.iter().take_while(|word| word.contains('=')).count();
    words.drain(..assigned);
    (words, typed)
}

/// The text as one word of the shell.
fn quoted(text: &str, home: bool) -> String {
    let mut out = String::new();
    for (at, next) in text.chars().enumerate() {
        let plain = next.is_alphanumeric() || "_@%+=:,./-".contains(next) || home && at == 0 && next == '~';
        if !plain {
            out.push('\\');
        }
        out.push(next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_the_shell_would() {
        for (line, before, raw, text, quote) in [
            ("ironlaw rep", &["ironlaw"][..], "rep", "rep", None),
            ("ironlaw report ", &["ironlaw", "report"], "", "", None),
            ("A=1 ironlaw -e sched:sw", &["ironlaw", "-e"], "sched:sw", "sched:sw", None),
            ("ironlaw annotate 'std::v", &["ironlaw", "annotate"], "'std::v", "std::v", Some('\'')),
            (r"ironlaw annotate a\<T\>::b\ c", &["ironlaw", "annotate"], r"a\<T\>::b\ c", "a<T>::b c", None),
            (r#"ironlaw "a b"'c' "d\"e"#, &["ironlaw", "a bc"], r#""d\"e"#, "d\"e", Some('"')),
            ("", &[], "", "", None),
        ] {
            let typed = Typed { raw: raw.into(), text: text.into(), quote };
            assert_eq!(split(line), (before.iter().map(ToString::to_string).collect(), typed), "{line}");
        }
    }

    #[test]
    fn what_a_name_would_do_in_a_shell_is_quoted() {
        assert_eq!(quoted("$(rm -rf ~);`x`", false), r"\$\(rm\ -rf\ \~\)\;\`x\`");
        assert_eq!(quoted("std::vec<int*>::push(int&&)", false), r"std::vec\<int\*\>::push\(int\&\&\)");
        assert_eq!((quoted("~/a b", true), quoted("~/a", false)), (r"~/a\ b".to_string(), r"\~/a".to_string()));
    }

    #[test]
    fn bash_gets_only_what_it_replaces() {
        assert!(answer("ironlaw repo", "repo").lines().eq(["report"]));
        assert!(answer("ironlaw report --form", "--form").lines().eq(["--format"]));
        let formats = |line, replaced| answer(line, replaced).lines().map(String::from).collect::<Vec<_>>();
        assert_eq!(formats("ironlaw report --format=m", "m"), ["md"]);
        assert_eq!(formats("ironlaw report --format m", "m"), ["md"]);
        assert_eq!(formats("ironlaw workload atom", "atom"), ["atomic"]);
        assert_eq!(formats("ironlaw report --limit zzz", "zzz"), Vec::<String>::new().as_slice());
    }
}

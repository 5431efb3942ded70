//! Rust source as a list of tokens: enough to see paths and calls, without comments, strings and tests.
//! It never understands types or expands macros.

use std::path::{Path, PathBuf};

/// A word, or a piece of punctuation: `::` is one token, everything else one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// As written.
    pub text: String,
    /// From 1.
    pub line: usize,
}

/// All tokens of a file; a literal or a comment leaves nothing.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while let Some(&c) = chars.get(at) {
        let length = match c {
            c if c.is_alphanumeric() || c == '_' => {
                let word: String = chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
                match literal_prefix(&word).then(|| string_length(&chars[at + word.len()..])).flatten() {
                    Some(literal) => word.len() + literal,
                    None => {
                        let length = word.chars().count();
                        found.push(Token { text: word, line });
                        length
                    }
                }
            }
            '/' if chars.get(at + 1) == Some(&'/') => chars[at..].iter().take_while(|c| **c != '\n').count(),
            '/' if chars.get(at + 1) == Some(&'*') => comment_length(&chars[at..]),
            '"' => string_length(&chars[at..]).unwrap_or(1),
            '\'' => char_length(&chars[at..]),
            ':' if chars.get(at + 1) == Some(&':') => {
                found.push(Token { text: "::".into(), line });
                2
            }
            c if c.is_whitespace() => 1,
            c => {
                found.push(Token { text: c.into(), line });
                1
            }
        };
        let end = (at + length).min(chars.len());
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    found
}

fn literal_prefix(word: &str) -> bool {
    matches!(word, "r" | "b" | "br" | "c" | "cr")
}

/// The length of a string that starts here with its quote or, when raw, with its hashes.
fn string_length(chars: &[char]) -> Option<usize> {
    let hashes = chars.iter().take_while(|c| **c == '#').count();
    if chars.get(hashes) != Some(&'"') {
        return None;
    }
    let mut at = hashes + 1;
    while let Some(&c) = chars.get(at) {
        let closed = c == '"' && chars[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
        // A backslash in a raw string without hashes is taken for an escape: it only matters before the quote.
        at += if c == '\\' && hashes == 0 { 2 } else { 1 };
        if closed {
            return Some(at + hashes);
        }
    }
    Some(chars.len())
}

fn comment_length(chars: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// A character literal whole, or the tick of a lifetime alone.
fn char_length(chars: &[char]) -> usize {
    match (chars.get(1), chars.get(2)) {
        (Some('\\'), _) => 3 + chars.get(3..).map_or(0, |rest| rest.iter().take_while(|c| **c != '\'').count()) + 1,
        (Some(_), Some('\'')) => 3,
        _ => 1,
    }
}

/// The tokens outside of `#[cfg(test)]` modules.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match test_module_length(&tokens[at..]) {
            Some(length) => at += length,
            None => {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    kept
}

fn test_module_length(tokens: &[Token]) -> Option<usize> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let marked = tokens.len() > MARK.len() && MARK.iter().zip(tokens).all(|(mark, token)| token.text == *mark);
    let start = marked.then(|| tokens.iter().position(|token| matches!(token.text.as_str(), "{" | ";")))??;
    let module = tokens[..start].iter().any(|token| token.text == "mod");
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return module.then_some(at + 1);
        }
    }
    None
}

/// Every path that starts at one of `roots`, without the root, with its line: `crate::{a::b, c}` gives `a::b` and `c`.
pub fn paths_below(tokens: &[Token], roots: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let at_root = roots.contains(&token.text.as_str()) && tokens.get(at + 1).is_some_and(|next| next.text == "::");
        let inner = at > 0 && tokens[at - 1].text == "::";
        if at_root && !inner {
            branches(tokens, at + 2, "", &mut found);
        }
    }
    found.into_iter().map(|branch| (branch.line, branch.path)).collect()
}

/// Where a path of a use tree ends: `path as alias`.
struct Branch {
    line: usize,
    path: String,
    alias: Option<String>,
}

/// Follows one branch of a use tree from `at`; returns where it ends.
fn branches(tokens: &[Token], mut at: usize, prefix: &str, found: &mut Vec<Branch>) -> usize {
    let mut path = prefix.to_string();
    while let Some(token) = tokens.get(at) {
        if token.text == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|token| token.text != "}") {
                at = branches(tokens, at, &path, found);
                // Past `as name` and the comma; a nested brace was consumed by the branch.
                at +=
                    tokens[at.min(tokens.len())..].iter().take_while(|t| !matches!(t.text.as_str(), "," | "}")).count();
                at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
            }
            return at + 1;
        }
        if !path.is_empty() {
            path.push_str("::");
        }
        path.push_str(&token.text);
        at += 1;
        if tokens.get(at).is_none_or(|token| token.text != "::") {
            let renamed = tokens.get(at).is_some_and(|token| token.text == "as");
            let alias = tokens.get(at + 1).filter(|_| renamed).map(|token| token.text.clone());
            found.push(Branch { line: token.line, path, alias });
            return at;
        }
        at += 1;
    }
    at
}

/// Every path of two or more words, and every path of a `use` item: place of its first token, line, words, and the name
/// after `as`. A tree of braces gives each of its branches.
pub fn paths(tokens: &[Token]) -> Vec<(usize, usize, Vec<String>, Option<String>)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let inner = at > 0 && tokens[at - 1].text == "::";
        if word && !inner && tokens.get(at + 1).is_some_and(|next| next.text == "::") {
            let mut ends = Vec::new();
            branches(tokens, at, "", &mut ends);
            let words = |path: &str| path.split("::").map(String::from).collect();
            found.extend(ends.into_iter().map(|branch| (at, branch.line, words(&branch.path), branch.alias)));
        }
    }
    found
}

/// All Rust files below a folder, test files left out, sorted.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files_but(folder, "tests")
}

/// All Rust files below a folder, but those named so and what lies in folders named so, sorted.
pub fn files_but(folder: &Path, left_out: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let is_left_out = path.file_stem().is_some_and(|stem| stem == left_out);
        if path.is_dir() && !is_left_out {
            files.extend(files_but(&path, left_out));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_left_out {
            files.push(path);
        }
    }
    files.sort();
    files
}

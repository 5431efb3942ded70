//! Shorter forms of a function name that are still recognised: what is around the function's own name goes first.

/// Depth of nested brackets that is parsed; deeper ones are dropped with their contents.
const DEEPEST: usize = 8;

/// Maximum length in bytes of a parsed name; no compiler makes a readable one that is longer.
const LONGEST: usize = 4096;

/// Suffixes that compilers append to function clones.
const CLONES: [&str; 7] = [" [clone", ".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm."];

/// The beginnings of a source file, which runtimes append to the names of compiled scripts.
const FILES: [&str; 3] = [":/", " /", " file:"];

/// The forms of a name, longest first: whole, without arguments, without template parameters, then without one leading
/// namespace after the other, down to the function's own name.
#[must_use]
pub(crate) fn name_forms(name: &str) -> Vec<String> {
    let mut forms = vec![name.to_string()];
    // An address in a file without symbols: its parts alone have no meaning.
    if name.len() > LONGEST || name.contains("+0x") {
        return forms;
    }
    let mut push = |form: &str| {
        if !form.is_empty() && forms.last().is_some_and(|last| form.len() < last.len()) {
            forms.push(form.to_string());
        }
    };
    let file = FILES.iter().filter_map(|file| name.find(file)).filter(|at| *at > 0).min();
    let code = &name[..file.unwrap_or(name.len())];
    push(code);
    for templates in [true, false] {
        let plain = plain(code, templates, 0);
        plain.iter().for_each(|plain| push(plain));
        if let Some(plain) = plain.filter(|_| !templates) {
            starts(&plain).into_iter().for_each(|at| push(&plain[at..]));
        }
    }
    forms
}

/// Where the name begins without its first namespace, without the next, and so on; the last is the function's own name.
fn starts(plain: &str) -> Vec<usize> {
    let (mut depth, mut starts, mut directories) = (0_usize, vec![], 0);
    for (at, c) in plain.char_indices() {
        let rest = &plain[at..];
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // What follows is a symbol or a type: `operator/`, `operator unsigned long`.
            'o' if is_operator(rest) && (at == 0 || starts.last() == Some(&at)) => break,
            // The points before the package belong to a host: `github.com/org/pkg/server.Serve`.
            '/' if rest.len() > 1 => {
                starts.truncate(directories);
                starts.push(at + 1);
                directories = starts.len();
            }
            ':' if rest.starts_with("::") && rest.len() > 2 => starts.push(at + 2),
            // A result type ends at a space.
            '.' | ' ' if at > 0 && rest.len() > 1 => starts.push(at + 1),
            _ => {}
        }
    }
    while starts.last().is_some_and(|at| needs_its_parent(&plain[*at..])) {
        starts.pop();
    }
    starts
}

/// Whether a last part has no meaning alone: an operator, a clone's number, or a closure, with what it contains.
fn needs_its_parent(part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_closure = part.starts_with(['{', '$']) || part.strip_prefix("func").is_some_and(is_number);
    is_closure || is_number(part) || is_operator(part)
}

fn is_operator(part: &str) -> bool {
    let symbol = part.strip_prefix("operator").map(|rest| rest.chars().next());
    symbol.is_some_and(|first| first.is_none_or(|c| !c.is_alphanumeric() && c != '_'))
}

/// Drops arguments and hash, and template parameters unless they are to stay; `None` if the brackets do not match.
fn plain(name: &str, templates: bool, depth: usize) -> Option<String> {
    let mut out = String::new();
    let mut rest = without_hash(name);
    while let Some(c) = rest.chars().next() {
        if matches!(c, '<' | '(') {
            let symbol = operator(&out, rest);
            let length = if symbol > 0 { symbol } else { bracket(rest)? };
            let inside = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
            let begins = out.is_empty() || out.ends_with("::") || out.ends_with('.');
            match c {
                _ if symbol > 0 => out.push_str(&rest[..symbol]),
                '<' if templates => out.push_str(&rest[..length]),
                // `(anonymous namespace)` is part of the path.
                '(' if begins => out.push_str(&rest[..length]),
                '<' if begins && depth < DEEPEST => match whose(inside, out.is_empty()) {
                    Some(of) => out.push_str(&plain(of, false, depth + 1)?),
                    None => out.truncate(out.trim_end_matches("::").len()),
                },
                _ => {}
            }
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    let clone = CLONES.iter().filter_map(|clone| out.find(clone)).min();
    let kept = clone.map_or(out.as_str(), |at| &out[..at]);
    Some(kept.trim_end_matches(" const").trim().to_string())
}

fn without_hash(name: &str) -> &str {
    let is_hash =
        |part: &str| part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit());
    match name.rsplit_once("::") {
        Some((rest, part)) if is_hash(part) => rest,
        _ => name,
    }
}

/// The type that owns the following item: A in `<A as B>` and `<impl B for A>`. Elsewhere these are type parameters.
fn whose(inside: &str, at_start: bool) -> Option<&str> {
    if let Some(rest) = inside.strip_prefix("impl ") {
        return Some(top_level(rest, " for ").map_or(rest, |at| &rest[at + " for ".len()..]));
    }
    let before_as = top_level(inside, " as ").map(|at| &inside[..at]);
    before_as.or(at_start.then_some(inside))
}

/// The position of a word outside all brackets.
fn top_level(text: &str, word: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth = depth.saturating_sub(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && text[at..].starts_with(word) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Length in bytes of an operator's symbol after `operator`; 0 if there is none.
fn operator(before: &str, rest: &str) -> usize {
    if !before.ends_with("operator") {
        return 0;
    }
    let symbols = ["()", "<=>", "<<=", "<<", "<=", "<"];
    symbols.iter().find(|symbol| rest.starts_with(**symbol)).map_or(0, |symbol| symbol.len())
}

/// Length in bytes of the bracket at the start, up to its other end; the head of an arrow closes nothing.
fn bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' if text[..at].ends_with('-') => {}
            '>' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

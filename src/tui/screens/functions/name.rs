//! Fits a function's name into a column: drops type parameters and arguments first, then the outer parts of its path,
//! because the end of a name distinguishes `HashMap::insert` from `HashMap::remove`.

use crate::tui::widgets::text::{middle, width};

/// Depth of nested brackets that is parsed; deeper ones are dropped with their contents.
const DEEPEST: usize = 8;

/// Maximum length in bytes of a parsed name; no compiler makes a readable one that is longer.
const LONGEST: usize = 4096;

/// Suffixes that compilers append to function clones.
const CLONES: [&str; 7] = [" [clone", ".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm."];

/// The name in at most `columns`.
pub(super) fn fit(name: &str, columns: usize, ellipsis: &str) -> String {
    if width(name) <= columns {
        return name.to_string();
    }
    if name.len() > LONGEST {
        return middle(name, columns, ellipsis);
    }
    let plain = plain(name, 0).filter(|plain| !plain.is_empty()).unwrap_or_else(|| name.to_string());
    let mut rest = plain.as_str();
    if width(rest) <= columns {
        return plain;
    }
    while let Some(tail) = without_first(rest) {
        if width(ellipsis) + width(tail) <= columns {
            return format!("{ellipsis}{tail}");
        }
        rest = tail;
    }
    middle(rest, columns, ellipsis)
}

/// Drops the first part of a path; `None` if it is the only one.
fn without_first(path: &str) -> Option<&str> {
    let separator = ["::", "/", "."].into_iter().find(|separator| path.contains(separator))?;
    path.split_once(separator).map(|(_, tail)| tail).filter(|tail| !tail.is_empty())
}

/// Drops type parameters, arguments and hash; `None` if the brackets do not match.
fn plain(name: &str, depth: usize) -> Option<String> {
    let mut out = String::new();
    let mut rest = without_hash(name);
    while let Some(c) = rest.chars().next() {
        if matches!(c, '<' | '(') {
            let symbol = operator(&out, rest);
            let length = if symbol > 0 { symbol } else { bracket(rest)? };
            let inside = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
            let begins = out.is_empty() || out.ends_with("::");
            match c {
                _ if symbol > 0 => out.push_str(&rest[..symbol]),
                // `(anonymous namespace)` is part of the path.
                '(' if begins => out.push_str(&rest[..length]),
                '<' if begins && depth < DEEPEST => match whose(inside, out.is_empty()) {
                    Some(of) => out.push_str(&plain(of, depth + 1)?),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_many_names_share_goes_first_and_the_end_stays() {
        for (name, columns, expected) in [
            ("short", 10, "short"),
            ("db::Table::get(Key const&, Value*) const", 20, "db::Table::get"),
            ("std::vector<int, std::allocator<int> >::push_back(int&&)", 30, "std::vector::push_back"),
            ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 30, "alloc::vec::Vec::extend"),
            (
                "core::array::<impl core::convert::TryFrom<&[T]> for [T; N]>::try_from",
                40,
                "core::array::[T; N]::try_from",
            ),
            ("core::ops::function::FnOnce::call_once::h0123456789abcdef", 20, "…FnOnce::call_once"),
            ("core::option::Option<fn(u8) -> u8>::map::<u8>", 30, "core::option::Option::map"),
            ("a_namespace::operator<< <char>(std::ostream&)", 25, "a_namespace::operator<<"),
            ("Functor_of_some_kind::operator()(int) const", 35, "Functor_of_some_kind::operator()"),
            ("(anonymous namespace)::run(Job&)", 28, "(anonymous namespace)::run"),
            ("app::run::{{closure}}", 20, "…run::{{closure}}"),
            ("github.com/org/pkg/server.Serve", 20, "…pkg/server.Serve"),
            ("long java.lang.System.currentTimeMillis()", 28, "…System.currentTimeMillis"),
            ("schedule_hrtimeout_range_clock.isra.0", 33, "schedule_hrtimeout_range_clock"),
            ("finish_task_switch_of_something_long", 20, "finish…omething_long"),
            ("unbalanced<<<<<", 8, "un…<<<<<"),
            ("<<<<<<<<<<<<<>>>>>>>>>>>>>", 5, "<<<<…"),
            ("日本語の関数の名前", 7, "日本語…"),
        ] {
            assert_eq!(fit(name, columns, "…"), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_asked(name in "[<>():a \\-名̈&]{0,60}", columns in 0_usize..40) {
            prop_assert!(width(&fit(&name, columns, "…")) <= columns);
        }
    }

    #[test]
    fn a_name_made_to_hurt_is_cut_like_any_other() {
        for name in ["<".repeat(100_000), "(".repeat(100_000), "<a as ".repeat(20_000) + &">".repeat(20_000)] {
            assert!(width(&fit(&name, 20, "…")) <= 20);
        }
    }
}

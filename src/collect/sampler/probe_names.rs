//! Decides whether a linker name is the function a user wrote, and finds similar names.

use crate::model::ShortText;
use crate::model::limits::PROBE_NAMES;
use cpp_demangle::{DemangleOptions, Symbol};
use std::cell::Cell;
use std::fmt::Write;

/// Longer names are not compared letter by letter.
const LONGEST_COMPARED: usize = 64;
/// Maximum edit distance of a similar name.
const MOST_DIFFERENT: usize = 3;

/// A name as written.
#[derive(Debug)]
pub struct Names<'a> {
    written: &'a str,
    /// Contained in every linker name that may match; only those are demangled.
    part: &'a str,
    /// Bytes of names that may still be written: a short linker name can stand for a long one.
    left: Cell<usize>,
}

impl<'a> Names<'a> {
    pub fn new(written: &'a str) -> Names<'a> {
        Names { written, part: last_word(written), left: Cell::new(PROBE_NAMES) }
    }

    fn spend(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes));
    }

    /// Whether the linker name is this function's, with or without its parameters.
    pub fn fit(&self, linker: &str) -> bool {
        // To search a name takes less time than to write it.
        self.spend(linker.len() / 8);
        if self.left.get() == 0 || !linker.contains(self.part) {
            return false;
        }
        let names = readable(linker);
        self.spend(linker.len() + names.iter().map(String::len).sum::<usize>());
        names.iter().any(|name| name == self.written)
    }
}

/// The function's own word: the last one before parameters and template arguments. Empty for an operator, whose linker
/// name differs.
fn last_word(written: &str) -> &str {
    let path = written.split(['(', '<']).next().unwrap_or_default();
    let word = path.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    if path.contains("operator") { "" } else { word }
}

/// A linker name as people write it, the shortest form first; empty if it is not mangled.
fn readable(linker: &str) -> Vec<String> {
    if let Ok(name) = rustc_demangle::try_demangle(linker) {
        return ShortText::of(|out| write!(out, "{name:#}")).into_iter().collect();
    }
    let Some(symbol) = linker.starts_with("_Z").then(|| Symbol::new(linker).ok()).flatten() else { return Vec::new() };
    [
        DemangleOptions::new().no_params().no_return_type(),
        DemangleOptions::new().no_return_type(),
        DemangleOptions::new(),
    ]
    .iter()
    .filter_map(|options| ShortText::of(|out| symbol.structured_demangle(out, options)))
    .collect()
}

/// The names most similar to a missing one, as people write them: those that contain it, then those that differ in few
/// letters.
pub fn near<'a>(names: impl Iterator<Item = &'a str>, wanted: &str, most: usize) -> Vec<String> {
    let needle = last_word(wanted).to_lowercase();
    if needle.is_empty() {
        return Vec::new();
    }
    let mut left = PROBE_NAMES;
    let compared = names.take_while(|name| {
        left = left.saturating_sub(name.len());
        left > 0
    });
    let mut found: Vec<(usize, &str)> = compared.filter_map(|name| Some((distance(name, &needle)?, name))).collect();
    found.sort_unstable();
    found.dedup();
    let mut names: Vec<String> = Vec::new();
    // Many linker names may be the same as written.
    for (_, linker) in found.into_iter().take(1000) {
        let name = readable(linker).into_iter().next().unwrap_or_else(|| linker.to_string());
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() >= most {
            break;
        }
    }
    names
}

/// Distance between a linker name and a lower-case word; `None` if too far.
fn distance(linker: &str, needle: &str) -> Option<usize> {
    let name = linker.to_lowercase();
    if name.contains(needle) {
        return Some(name.len() - needle.len());
    }
    let comparable =
        name.len().max(needle.len()) <= LONGEST_COMPARED && name.len().abs_diff(needle.len()) <= MOST_DIFFERENT;
    let differing = comparable.then(|| strsim::levenshtein(&name, needle))?;
    // Sorts after every name that contains it.
    (differing <= MOST_DIFFERENT && differing * 2 < needle.len()).then_some(usize::MAX / 2 + differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_by_every_way_to_write_it() {
        for (linker, written, fits) in [
            ("_ZN7rocksdb5Stats11FinishedOpsEv", "rocksdb::Stats::FinishedOps", true),
            ("_ZN7rocksdb5Stats11FinishedOpsEv", "rocksdb::Stats::FinishedOps()", true),
            ("_ZN7rocksdb5Stats11FinishedOpsEv", "Stats::FinishedOps", false),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt", true),
            ("_RNvC6_123foo3bar", "123foo::bar", true),
            ("_ZplRK1AS1_", "operator+(A const&, A const&)", true),
            ("_ZplRK1AS1_", "operator+", true),
            ("_ZN1AD1Ev", "A::~A", true),
            ("_Z3maxIiET_S0_S0_", "max<int>", true),
            ("_Z3maxIiET_S0_S0_", "int max<int>(int, int)", true),
            ("processCommand", "process", false),
            ("_Z", "_Z3f", false),
        ] {
            assert_eq!(Names::new(written).fit(linker), fits, "{linker} {written}");
        }
    }

    #[test]
    fn names_are_compared_until_they_take_too_long() {
        // `f(A<int, int>, A<A<int, int>, ...`, ten times as long with every level.
        let levels = |count: u32| (1..=count).map(|level| format!("S_I{}E", format!("S{}_", level - 1).repeat(10)));
        let bomb = format!("_Z1f1AIiiE{}", levels(8).collect::<String>());
        assert!(Names::new("f").fit(&bomb), "it is a function");
        let names = Names::new("f(A)");
        let written = (0..1_000_000).take_while(|_| !names.fit(&bomb) && names.left.get() > 0).count();
        assert!((PROBE_NAMES / 20_000..PROBE_NAMES / 4096).contains(&written), "{written}");
        let long = "x".repeat(4000) + "some";
        let (names, mut searched) = (Names::new("other"), 0);
        assert!(
            (0..1_000_000).take_while(|_| names.left.get() > 0).inspect(|_| searched += 1).all(|_| !names.fit(&long))
        );
        assert_eq!(searched, PROBE_NAMES.div_ceil(long.len() / 8));
        let mut compared = 0;
        assert_eq!(near(std::iter::repeat_n(&*long, 1_000_000).inspect(|_| compared += 1), "some", 3).len(), 1);
        assert_eq!(compared, PROBE_NAMES.div_ceil(long.len()));
    }

    #[test]
    fn near_names_contain_it_or_differ_little() {
        let names =
            ["processCommand", "processCommandAndReset", "call", "proccesCommand", "_ZN1a14processCommandEi", "x"];
        let found = |wanted| near(names.into_iter(), wanted, 3);
        assert_eq!(found("processcommand"), ["processCommand", "processCommandAndReset", "a::processCommand"]);
        assert_eq!(found("procesCommand"), ["proccesCommand", "processCommand"]);
        assert_eq!(found("cal"), ["call"]);
        assert!(found("zzzzzz").is_empty() && found("").is_empty() && found("a::operator+").is_empty());
    }
}

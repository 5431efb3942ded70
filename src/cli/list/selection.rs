//! What of the list is wanted: kinds, patterns, parts of names.

use crate::error::{Error, ErrorKind};
use crate::pmu::{is_glob, matches, nearest};
use serde::Serialize;

/// The kind of an entry, in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Hardware,
    Software,
    Cache,
    Pmu,
    Tracepoint,
    Metric,
}

impl Kind {
    /// The words of `perf list`, and plain ones.
    fn of_word(word: &str) -> Option<Kind> {
        Some(match word {
            "hw" | "hardware" => Kind::Hardware,
            "sw" | "software" => Kind::Software,
            "cache" | "hwcache" => Kind::Cache,
            "pmu" => Kind::Pmu,
            "tracepoint" | "tracepoints" => Kind::Tracepoint,
            "metric" | "metrics" => Kind::Metric,
            _ => return None,
        })
    }
}

/// What is wanted; everything if nothing is named.
#[derive(Debug, Default)]
pub(super) struct Selection {
    kinds: Vec<Kind>,
    pub(super) patterns: Vec<String>,
}

impl Selection {
    pub(super) fn of(words: &[String]) -> Selection {
        let mut selection = Selection::default();
        for word in words {
            match Kind::of_word(word) {
                Some(kind) => selection.kinds.push(kind),
                None => selection.patterns.push(word.clone()),
            }
        }
        selection
    }

    pub(super) fn is_all(&self) -> bool {
        self.kinds.is_empty() && self.patterns.is_empty()
    }

    /// Whether this kind is asked for as a whole.
    pub(super) fn names(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether an entry of this kind may be in the list.
    pub(super) fn may_have(&self, kind: Kind) -> bool {
        self.is_all() || self.names(kind) || !self.patterns.is_empty()
    }

    pub(super) fn has(&self, kind: Kind, names: &[String]) -> bool {
        self.is_all()
            || self.names(kind)
            || self.patterns.iter().any(|pattern| names.iter().any(|name| finds(pattern, name)))
    }
}

/// The patterns after `cgroups`; `None` if the list is not one of control groups.
pub(super) fn of_cgroups(words: &[String]) -> Option<&[String]> {
    let (first, patterns) = words.split_first()?;
    matches!(first.as_str(), "cgroup" | "cgroups").then_some(patterns)
}

/// The files and processes after `usdt`; `None` if the list is not one of probes.
pub(super) fn of_usdt(words: &[String]) -> Option<&[String]> {
    let (first, places) = words.split_first()?;
    (first == "usdt").then_some(places)
}

/// Whether a pattern matches a whole name, or a part of a name occurs in it.
pub(super) fn finds(pattern: &str, name: &str) -> bool {
    if is_glob(pattern) { matches(pattern, name) } else { name.to_lowercase().contains(&pattern.to_lowercase()) }
}

/// The first pattern that finds none of the names, as an error with the nearest of them; `all` is the command for all.
pub(super) fn unmatched(patterns: &[String], names: &[String], what: &str, all: &str) -> Option<Error> {
    let pattern = patterns.iter().find(|pattern| !names.iter().any(|name| finds(pattern, name)))?;
    let error = Error::new(ErrorKind::NotFound, format!("no {what} matches '{pattern}'"));
    Some(match nearest(pattern, names, 8).as_slice() {
        [] => error.hint(format!("`{all}` lists all.")),
        near => error.hint(format!("The nearest are {}.", near.join(", "))),
    })
}

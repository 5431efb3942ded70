//! Patterns over names of events.

use super::names;
use crate::model::glob;
pub use crate::model::glob::is_glob;

/// Whether a pattern matches the whole name; case does not matter, as in names of caches.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    glob::matches(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase())
}

/// The known names nearest to a name or a pattern without a match, nearest first; none if nothing is near enough.
/// A pattern is compared by the longer of its beginning and its end.
#[must_use]
pub fn nearest(wrong: &str, known: &[String], most: usize) -> Vec<String> {
    let wild = ['*', '?'];
    let (head, tail) = (wrong.split(wild).next().unwrap_or_default(), wrong.rsplit(wild).next().unwrap_or_default());
    let part = |name: &str| match (is_glob(wrong), head.len() >= tail.len()) {
        (false, _) => name.to_string(),
        (true, true) => name.chars().take(head.chars().count()).collect(),
        (true, false) => name.chars().skip(name.chars().count().saturating_sub(tail.chars().count())).collect(),
    };
    let typed = if !is_glob(wrong) {
        wrong
    } else if head.len() >= tail.len() {
        head
    } else {
        tail
    };
    if typed.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<_> =
        known.iter().filter_map(|name| Some((names::slip(typed, &part(name))?, name.clone()))).collect();
    near.sort();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_a_pattern_finds_what_was_meant_by_its_longer_end() {
        let known =
            ["sched:sched_switch", "sched:sched_wakeup", "irq:irq_handler_entry", "cache-misses"].map(String::from);
        for (wrong, expected) in [
            ("shced:sched_*", vec!["sched:sched_switch", "sched:sched_wakeup"]),
            ("*-mises", vec!["cache-misses"]),
            ("cache-miss", vec!["cache-misses"]),
            ("zzzzzzzz*", vec![]),
            ("*", vec![]),
        ] {
            assert_eq!(nearest(wrong, &known, 8), expected, "{wrong}");
        }
        assert_eq!(nearest("shced:sched_*", &known, 1).len(), 1);
    }
}

//! The names of part files, and which of them are read: a merged part replaces all the parts in its range.
//! Pure: reads no file.

use std::ops::RangeInclusive;

/// The file that describes the recording.
pub(super) const META: &str = "meta.json";
/// The baseline inside a recording.
pub(super) const BASELINE: &str = "baseline.json";

/// Every table, definitions before the tables that refer to them: the order in which parts are written and read.
pub(crate) const TABLES: [&str; 19] = [
    "counters",
    "mappings",
    "frames",
    "names",
    "stacks",
    "neighbours",
    "tasks",
    "memberships",
    "samples",
    "accesses",
    "off_cpu",
    "windows",
    "neighbour_uses",
    "pages",
    "lost",
    "ops",
    "latencies",
    "operations",
    "marks",
];

/// A part of a table: flush number `first`, or all flushes from `first` to `last` merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub table: &'static str,
    pub first: u32,
    pub last: u32,
}

impl Part {
    /// `samples-000003.parquet`, or `samples-000000-000063.parquet` when merged.
    pub fn file_name(&self) -> String {
        let Part { table, first, last } = self;
        if first == last {
            format!("{table}-{first:06}.parquet")
        } else {
            format!("{table}-{first:06}-{last:06}.parquet")
        }
    }

    /// Parses a file name; `None` for a file that is not ours.
    pub fn parse(name: &str) -> Option<Part> {
        let mut fields = name.strip_suffix(".parquet")?.split('-');
        let word = fields.next()?;
        let table = TABLES.into_iter().find(|table| *table == word)?;
        let first = number(fields.next()?)?;
        let last = fields.next().map_or(Some(first), number)?;
        (first <= last && fields.next().is_none()).then_some(Part { table, first, last })
    }
}

fn number(digits: &str) -> Option<u32> {
    let plain = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The name of a file until it is complete.
pub(super) fn temp_name(name: &str) -> String {
    format!(".{name}.tmp")
}

/// The final name of a leftover temporary file; `None` for a file that is not ours.
pub(super) fn temp_target(name: &str) -> Option<&str> {
    let target = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    (target == META || target == BASELINE || Part::parse(target).is_some()).then_some(target)
}

/// The parts of one table that are read, in order, and the problems of the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Parts to read.
    pub parts: Vec<Part>,
    /// Flush numbers that no part contains.
    pub missing: Vec<RangeInclusive<u32>>,
    /// Parts that share some flushes, but not all, with a part that is read.
    pub overlapping: Vec<Part>,
}

/// Selects from all parts found of one table. Parts covered by a merged part are leftovers of an interrupted merge.
pub(super) fn select(mut found: Vec<Part>) -> Selection {
    found.sort_by_key(|part| (part.first, std::cmp::Reverse(part.last)));
    let mut selection = Selection::default();
    let mut next = 0;
    for part in found {
        if selection.parts.last().is_some_and(|read| part.last <= read.last) {
            continue;
        }
        if selection.parts.last().is_some_and(|read| part.first <= read.last) {
            selection.overlapping.push(part);
            continue;
        }
        if part.first > next {
            selection.missing.push(next..=part.first - 1);
        }
        next = part.last.saturating_add(1);
        selection.parts.push(part);
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u32, last: u32) -> Part {
        Part { table: "samples", first, last }
    }

    #[test]
    fn a_name_reads_back_and_a_stranger_is_none_of_ours() {
        for part in [part(0, 0), part(3, 63), part(1_000_000, 1_000_063)] {
            assert_eq!(Part::parse(&part.file_name()), Some(part));
            assert_eq!(temp_target(&temp_name(&part.file_name())), Some(part.file_name().as_str()));
        }
        for stranger in [
            "samples.parquet",
            "samples-3.parquet",
            "notes-000003.parquet",
            "samples-000003.csv",
            "samples-+00003.parquet",
            "samples-000009-000003.parquet",
            "samples-000001-000002-000003.parquet",
            "samples-99999999999.parquet",
        ] {
            assert_eq!(Part::parse(stranger), None, "{stranger}");
        }
        assert_eq!(temp_target(".meta.json.tmp"), Some(META));
        assert_eq!(temp_target(".baseline.json.tmp"), Some(BASELINE));
        assert_eq!(temp_target(".bashrc.tmp"), None);
    }

    #[test]
    fn a_merged_part_stands_for_those_it_covers_and_gaps_are_named() {
        let found = vec![part(5, 5), part(0, 3), part(1, 1), part(0, 0), part(3, 3), part(8, 9), part(9, 12)];
        let expected = Selection {
            parts: vec![part(0, 3), part(5, 5), part(8, 9)],
            missing: vec![4..=4, 6..=7],
            overlapping: vec![part(9, 12)],
        };
        assert_eq!(select(found), expected);
        assert_eq!(select(vec![part(0, u32::MAX), part(7, 7)]).parts, vec![part(0, u32::MAX)]);
    }
}

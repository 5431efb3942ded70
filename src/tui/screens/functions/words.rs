//! The screen's numbers and names as text.

use super::pane::{Item, Section};
use crate::view::functions::{Detail, InstructionRow, LineRow, MixRow};
use crate::view::number;

/// A share with two decimals, so that decimal points align in a column, as in perf.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A standard error in percentage points; a dash for `None`.
pub(super) fn error(error: Option<f64>) -> String {
    error.map_or_else(|| "-".to_string(), |error| format!("{:.2}", error * 100.0))
}

/// A difference of shares in percentage points, with its sign.
pub(super) fn points(difference: f64) -> String {
    let text = format!("{:+.2}", difference * 100.0);
    if matches!(text.as_str(), "-0.00" | "+0.00") { "0.00".to_string() } else { text }
}

/// Formats a weight in its unit.
pub(super) fn amount(weight: u64, unit: &str) -> String {
    match unit {
        "ns" => number::seconds(weight as f64 / 1e9).joined(),
        unit => format!("{} {unit}", number::count(weight)),
    }
}

/// A count with its noun in singular or plural.
pub(super) fn many(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", number::count(count), if count == 1 { one } else { more })
}

/// A number of samples, or of off-CPU spans.
pub(super) fn samples(count: u64, off_cpu: bool) -> String {
    if off_cpu { many(count, "span", "spans") } else { many(count, "sample", "samples") }
}

/// The location of a source line.
pub(super) fn place(file: &str, line: Option<u32>) -> String {
    line.map_or_else(|| format!("{file}:?"), |line| format!("{file}:{line}"))
}

pub(super) fn line_place(line: &LineRow) -> String {
    place(&line.file, line.line)
}

/// An instruction's source line; a dash if it is unknown.
pub(super) fn source(own: &InstructionRow) -> String {
    own.line.as_ref().map_or_else(|| "-".to_string(), |(file, line)| place(file, *line))
}

/// The name of a line of the detail, for a search.
pub(super) fn name_of(detail: &Detail, section: Section, item: Item) -> &str {
    let name = match (section, section.tree(detail)) {
        (_, Some(tree)) => tree.entries.get(item.index).map(|entry| entry.name.as_str()),
        (Section::Lines, None) => detail.lines.get(item.index).map(|line| line.file.as_str()),
        (Section::Mix, None) => detail.mix.get(item.index).map(MixRow::label),
        (_, None) => detail.instructions.get(item.index).map(|own| own.place.as_str()),
    };
    name.unwrap_or_default()
}

/// The name in full, for the clipboard.
pub(super) fn text_of(detail: &Detail, section: Section, item: Item) -> String {
    match section {
        Section::Lines => detail.lines.get(item.index).map(line_place).unwrap_or_default(),
        _ => name_of(detail, section, item).to_string(),
    }
}

pub(super) fn nothing_found(needle: &str) -> String {
    if needle.is_empty() {
        "nothing to find: search for a name first".to_string()
    } else {
        format!("no '{needle}' here")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign_and_unit() {
        assert_eq!((percent(0.12345), error(Some(0.00404)), error(None)), ("12.35%".into(), "0.40".into(), "-".into()));
        for (difference, expected) in [(0.0312, "+3.12"), (-0.2, "-20.00"), (0.000_01, "0.00"), (-0.000_01, "0.00")] {
            assert_eq!(points(difference), expected);
        }
        assert_eq!((amount(1_500_000, "ns"), amount(1_500, "cycles")), ("1.50 ms".into(), "1,500 cycles".into()));
        assert_eq!((samples(1, false), samples(2000, true)), ("1 sample".into(), "2,000 spans".into()));
    }
}

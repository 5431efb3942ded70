//! What RocksDB's db_bench prints with `--histogram`: how many operations of each kind took how many microseconds.

use super::bins::{Interval, LatencyBins};
use super::printed::number;
use super::summary::{Summary, none};
use crate::error::Result;

/// The latencies of all benchmarks.
pub(super) fn parse(text: &str) -> Result<Summary> {
    let (mut bins, mut longest) = (LatencyBins::default(), None);
    for line in text.lines().map(str::trim) {
        if let Some((_, max)) = line.strip_prefix("Min: ").and_then(|rest| rest.split_once("Max: ")) {
            longest = number(max.trim()).map(|(max, _)| max.value);
        } else if let Some((low, high, count)) = row(line) {
            // Whole microseconds: one that took 1.9 counts as 1.
            let end = longest.filter(|longest| (low..=high).contains(longest)).unwrap_or(high) + 1.0;
            bins.add(Interval { low: low * 1e3, high: Some(end * 1e3) }, count);
        }
    }
    if bins.count() == 0 {
        return Err(none("db_bench has printed no histogram", "Run it with --histogram."));
    }
    Ok(Summary::of(bins))
}

/// `(      10,      15 ]     1234  12.340%  99.000% ##`: more than 10 and at most 15; of the first, `[       0,       1 ]`.
fn row(line: &str) -> Option<(f64, f64, u64)> {
    let open = line.chars().next().filter(|open| matches!(open, '(' | '['))?;
    let (bounds, rest) = line[1..].split_once(']')?;
    let (low, high) = bounds.split_once(',')?;
    let whole = |text: &str| number(text.trim()).filter(|(_, rest)| rest.is_empty()).map(|(it, _)| it.value);
    let low = whole(low)? + if open == '(' { 1.0 } else { 0.0 };
    Some((low, whole(high)?, rest.split_whitespace().next()?.parse().ok()?))
}

//! What pgbench prints, which is a mean, and the line of a transaction that it writes with `--log`.

use super::bins::{Interval, LatencyBins};
use super::summary::{Summary, none};
use crate::error::Result;

/// The number of transactions, of whose latency nothing more is known.
pub(super) fn summary(text: &str) -> Result<Summary> {
    let count = text.lines().find_map(|line| {
        let (_, count) = line.split_once("number of transactions actually processed: ")?;
        count.split('/').next()?.trim().parse().ok()
    });
    let Some(count) = count else {
        return Err(none("pgbench has printed no summary", "Let it run to its end: pgbench -T SECONDS."));
    };
    let mut bins = LatencyBins::default();
    bins.add(Interval { low: 0.0, high: None }, count);
    let lacks =
        ("pgbench prints a mean, which says nothing of quantiles", "Run it with --log and --latency file:pgbench_log.");
    Ok(Summary { bins, lacks: Some(lacks) })
}

/// A line of a transaction log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logged {
    /// A transaction that ended then, microseconds since the epoch, after so many.
    Ended { at_us: u64, us: u64 },
    /// One that failed or was left out, which has no latency.
    Without,
    /// The sums of an interval.
    Aggregated,
}

/// Fields before those of options.
const FIELDS: usize = 6;
/// Client and transaction numbers are below, times since the epoch above.
const EPOCH: u64 = 1_000_000_000;

/// `CLIENT TRANSACTION MICROSECONDS SCRIPT SECONDS MICROSECONDS ...`; `None` for anything else.
pub(super) fn logged(line: &str) -> Option<Logged> {
    let words: Vec<&str> = line.split_whitespace().take(FIELDS).collect();
    let number = |at: usize| words.get(at).and_then(|word: &&str| word.parse::<u64>().ok());
    if number(0).is_some_and(|start| start >= EPOCH) && (1..FIELDS).all(|at| number(at).is_some()) {
        return Some(Logged::Aggregated);
    }
    let (client, _, seconds, micros) = (number(0)?, number(1)?, number(4)?, number(5)?);
    if client >= EPOCH || seconds < EPOCH || micros >= 1_000_000 || number(3).is_none() {
        return None;
    }
    match number(2) {
        Some(us) => Some(Logged::Ended { at_us: seconds.checked_mul(1_000_000)?.checked_add(micros)?, us }),
        None => matches!(words[2], "skipped" | "failed" | "serialization" | "deadlock").then_some(Logged::Without),
    }
}

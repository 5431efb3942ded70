//! Lines of files that hold a latency each: pgbench's transaction log, fio's latency logs, or a number with its unit.

use super::bins::Interval;
use super::pgbench::{Logged, logged};
use super::printed::{Printed, duration, in_unit};
use super::{fio, hdr_text};
use crate::error::{Error, ErrorKind, Result};
use crate::model::TimeUnit;

/// When an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nanoseconds since the Unix epoch.
    At(u64),
    /// Nanoseconds after the start of a run whose time is not known.
    After(u64),
    /// Not stated.
    Unknown,
}

/// What a file holds, by its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Lines of `pgbench --log`.
    Transactions,
    /// Lines of fio's `write_lat_log`.
    FioLog,
    /// A latency a line.
    Plain(Option<TimeUnit>),
    /// fio's JSON, written at its end.
    FioJson,
    /// Percentiles of HdrHistogram, in that unit.
    Percentiles(TimeUnit),
}

/// Milliseconds since the epoch are above, those of a run below.
const EPOCH_MS: u64 = 100_000_000_000;
/// Characters of a line that an error shows.
const SHOWN: usize = 60;

impl Format {
    /// The format of a file that begins with this line; `None` while that is open.
    pub(super) fn of(line: &str, unit: Option<TimeUnit>) -> Result<Option<Format>> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("fio: ") {
            return Ok(None);
        }
        let unsupported = |what: String, fix: &str| Err(Error::new(ErrorKind::Unsupported, what).hint(fix.to_string()));
        if line.starts_with('{') {
            return Ok(Some(Format::FioJson));
        }
        if hdr_text::is_head(line) {
            let Some(unit) = unit else {
                return unsupported(
                    "it holds percentiles of HdrHistogram, which do not state their unit".to_string(),
                    "State it: file-ns:PATH, file-us:PATH, file-ms:PATH or file-s:PATH.",
                );
            };
            return Ok(Some(Format::Percentiles(unit)));
        }
        match logged(line) {
            Some(Logged::Aggregated) => {
                return unsupported(
                    "it holds sums of intervals (--aggregate-interval), which say nothing of quantiles".to_string(),
                    "Run pgbench with --log alone.",
                );
            }
            Some(_) => return Ok(Some(Format::Transactions)),
            None => {}
        }
        if fio::logged(line).is_some() {
            return Ok(Some(Format::FioLog));
        }
        if duration(line, unit).is_some() {
            return Ok(Some(Format::Plain(unit)));
        }
        let shown: String = line.chars().take(SHOWN).map(|c| if c.is_control() { '?' } else { c }).collect();
        unsupported(
            format!("its first line is none that is understood: '{shown}'"),
            "The formats are: pgbench --log, fio's write_lat_log or JSON, HdrHistogram's percentiles, a latency a line \
             with its unit (or file-ms:PATH).",
        )
    }

    /// Whether it is written at once, and says everything of a run.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Format::FioJson | Format::Percentiles(_))
    }

    /// The operation in a line; `None` if there is none, because it failed or is not understood.
    pub(super) fn operation(self, line: &str) -> Option<(Ended, Interval)> {
        match self {
            Format::Transactions => match logged(line)? {
                Logged::Ended { at_us, us } => {
                    let printed = Printed { value: us as f64, half: 0.5 };
                    Some((Ended::At(at_us.saturating_mul(1000)), in_unit(printed, 1e3)))
                }
                Logged::Without | Logged::Aggregated => None,
            },
            Format::FioLog => {
                let (ms, ns) = fio::logged(line)?;
                let at = ms.saturating_mul(1_000_000);
                let ended = if ms >= EPOCH_MS { Ended::At(at) } else { Ended::After(at) };
                Some((ended, Interval::rounded(ns as f64, 0.0)))
            }
            Format::Plain(unit) => duration(line, unit).map(|interval| (Ended::Unknown, interval)),
            Format::FioJson | Format::Percentiles(_) => None,
        }
    }
}

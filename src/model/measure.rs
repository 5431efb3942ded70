//! A measured number, or the reason why it is missing. An unknown value is never represented as zero.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The reliability of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Share of the window in which the counter really counted (running over enabled), 0 to 1.
    pub coverage: f64,
}

impl Quality {
    /// Counted during the whole window.
    pub const EXACT: Quality = Quality { coverage: 1.0 };
}

/// Why a value is missing. The text names the fix if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The CPU, virtual machine or kernel does not have this counter.
    NotSupported,
    /// The kernel denied it to this user.
    NotPermitted,
    /// The event was multiplexed and counted for too little of the window.
    Multiplexed,
    /// The selection contains too few samples.
    TooFewSamples,
    /// Too few hosts ran it: hosts are the sample of a fleet.
    TooFewHosts,
    /// What it should be compared by had the same value throughout.
    Unvarying,
    /// Other code runs between its samples, whose counts cannot be told from its own.
    Interleaved,
    /// Repeated runs differ by as much.
    RunsScatter,
    /// Events were lost in the window, so the total would be too low.
    LostEvents,
    /// Nothing counts the program's operations.
    NoOpsSource,
    /// The source of operations returned no total.
    OpsSilent,
    /// The recording was made without it.
    NotRecorded,
    /// The target had ended, or had not started, at the time of the reading.
    TargetGone,
    /// The divisor was zero in this window: nothing ran.
    Idle,
    /// The window contains no reading: reading is slow, so it happens less often.
    NotRead,
    /// It is counted per thread, and too many threads ended before they were read.
    ThreadsUnread,
    /// How much of the blocked time was spent waiting for a CPU is unknown.
    QueueUnknown,
    /// Counting it would cost the target more than allowed.
    TooCostly,
    /// Its source counts in steps, or states single quantiles, that are too far apart for a value.
    CoarseBins,
    /// No longest latency was named to compare with.
    NoSlo,
    /// It is longer than the longest latency that its source tells from others.
    BeyondRange,
    /// The counts result in an impossible value.
    Suspect,
}

impl Why {
    /// One sentence fragment for users: the reason and, if there is one, the fix.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Why::NotSupported => "not counted on this machine",
            Why::NotPermitted => "the kernel refused it (see `ironlaw doctor`)",
            Why::Multiplexed => "counted for too small a share of the time (ask for fewer events at once)",
            Why::TooFewSamples => "too few samples",
            Why::TooFewHosts => "too few hosts",
            Why::Unvarying => "it did not vary",
            Why::Interleaved => {
                "it takes turns with other code faster than samples come (-e cycles,instructions tells them apart)"
            }
            Why::RunsScatter => "runs of the same width differ by as much (repeat each more often: --runs)",
            Why::LostEvents => "records were lost in this window",
            Why::NoOpsSource => "no operation source (give one with --ops)",
            Why::OpsSilent => "its operation source gave no total",
            Why::NotRecorded => "not recorded",
            Why::TargetGone => "the target was gone",
            Why::Idle => "nothing ran",
            Why::NotRead => "not read in this window (select more time)",
            Why::ThreadsUnread => "most threads ended before they could be read (use a shorter --interval)",
            Why::QueueUnknown => "part of the blocked time may be waiting for a CPU (run fewer busy threads than CPUs)",
            Why::TooCostly => "counting would cost more than --max-overhead allows (see the notes)",
            Why::CoarseBins => "its source tells only the interval",
            Why::NoSlo => "no SLO (give one with --slo)",
            Why::BeyondRange => "longer than its source can measure",
            Why::Suspect => "the counters come to a value that cannot be",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A measured value with its quality, or the reason it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure<T> {
    /// It was measured.
    Known {
        /// The value.
        value: T,
        /// Its reliability.
        quality: Quality,
    },
    /// Not measured, for this reason.
    Missing(Why),
}

impl<T> Measure<T> {
    /// A value that was counted during the whole window.
    pub fn exact(value: T) -> Self {
        Measure::Known { value, quality: Quality::EXACT }
    }

    /// The value, if measured.
    pub fn value(&self) -> Option<&T> {
        match self {
            Measure::Known { value, .. } => Some(value),
            Measure::Missing(_) => None,
        }
    }

    /// The reason, if missing.
    pub fn why(&self) -> Option<Why> {
        match self {
            Measure::Known { .. } => None,
            Measure::Missing(why) => Some(*why),
        }
    }

    /// Applies `f` to a known value; a missing one stays missing for the same reason.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Measure<U> {
        match self {
            Measure::Known { value, quality } => Measure::Known { value: f(value), quality },
            Measure::Missing(why) => Measure::Missing(why),
        }
    }

    /// Computes `self` over `other` with `f`; `None` from `f` means that the divisor was zero. The first missing reason
    /// wins, and the lower coverage applies.
    pub fn ratio<U, R>(self, other: Measure<U>, f: impl FnOnce(T, U) -> Option<R>) -> Measure<R> {
        match (self, other) {
            (Measure::Missing(why), _) | (_, Measure::Missing(why)) => Measure::Missing(why),
            (Measure::Known { value: a, quality: qa }, Measure::Known { value: b, quality: qb }) => match f(a, b) {
                Some(value) => Measure::Known { value, quality: Quality { coverage: qa.coverage.min(qb.coverage) } },
                None => Measure::Missing(Why::Idle),
            },
        }
    }
}

impl Measure<f64> {
    /// The quotient; missing as `Idle` unless the divisor is positive.
    #[must_use]
    pub fn over(self, divisor: Measure<f64>) -> Measure<f64> {
        self.ratio(divisor, |value, divisor| (divisor > 0.0).then(|| value / divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_keeps_the_first_reason_and_the_lower_coverage() {
        let half = Measure::Known { value: 10.0, quality: Quality { coverage: 0.5 } };
        let divide = |a: f64, b: f64| (b != 0.0).then(|| a / b);
        assert_eq!(
            half.ratio(Measure::exact(4.0), divide),
            Measure::Known { value: 2.5, quality: Quality { coverage: 0.5 } }
        );
        assert_eq!(half.ratio(Measure::exact(0.0), divide), Measure::Missing(Why::Idle));
        let missing: Measure<f64> = Measure::Missing(Why::NotSupported);
        assert_eq!(missing.ratio(Measure::Missing(Why::Idle), divide), Measure::Missing(Why::NotSupported));
    }
}

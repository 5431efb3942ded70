//! The sentences of an assessment: a quantity's numbers, in the units people use.
//! It never chooses what to say.

use super::types::{Cause, Confidence, Moved, Where};
use crate::analysis::MetricUnit;
use crate::analysis::compare::{Quantity, QuantityUnit};
use crate::analysis::findings::words::{digits, percent, seconds};

/// A value of a quantity: `31.2%`, `104 us`, `2.90 GHz`.
#[must_use]
pub fn amount(quantity: &Quantity, value: f64) -> String {
    match quantity.unit {
        QuantityUnit::Nanos => seconds(value * 1e-9),
        QuantityUnit::Of(MetricUnit::Seconds) => seconds(value),
        QuantityUnit::Of(MetricUnit::Share) => percent(value),
        QuantityUnit::Of(MetricUnit::Hertz) => format!("{} GHz", digits(value * 1e-9)),
        QuantityUnit::Of(MetricUnit::Cores) => format!("{} CPUs", digits(value)),
        QuantityUnit::Of(MetricUnit::PerSecond) => format!("{}/s", digits(value)),
        QuantityUnit::Of(MetricUnit::BytesPerSecond) => format!("{} MB/s", digits(value * 1e-6)),
        QuantityUnit::Of(MetricUnit::Bytes) => format!("{} MiB", digits(value / (1024.0 * 1024.0))),
        QuantityUnit::Of(_) => digits(value),
    }
}

/// How far a quantity moved: `+23%`, of shares `+4.1 points`.
#[must_use]
pub fn change(moved: &Moved) -> String {
    let (now, then) = (moved.now, moved.expected);
    let sign = if now >= then { "+" } else { "-" };
    if moved.quantity.is_share() || then == 0.0 {
        let points = digits((now - then).abs() * 100.0);
        return if moved.quantity.is_share() { format!("{sign}{points} points") } else { "from nothing".to_string() };
    }
    format!("{sign}{}", percent(((now - then) / then).abs()))
}

/// A quantity's numbers: `CPU time per operation is 140 us, usually 100 us (+40.0%, 12.3 deviations)`.
pub(super) fn against(moved: &Moved) -> String {
    let (now, then) = (amount(&moved.quantity, moved.now), amount(&moved.quantity, moved.expected));
    let away = digits(moved.deviations.abs());
    format!("{}: {now}, usually {then} ({}, {away} deviations)", moved.quantity.label, change(moved))
}

impl Cause {
    /// A few words for it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Cause::PathLength => "more instructions per operation",
            Cause::Throttling => "stopped by its own CPU quota",
            Cause::RunQueue => "waiting for a CPU",
            Cause::Steal => "CPU taken by the hypervisor",
            Cause::Io => "waiting for storage",
            Cause::Waiting => "waiting otherwise",
            Cause::Llc => "last-level cache",
            Cause::MemoryBandwidth => "memory bandwidth or latency",
            Cause::PageWalk => "page walks",
            Cause::RemoteMemory => "memory of other nodes",
            Cause::Frequency => "slower clock",
            Cause::Smt => "the other thread of its core",
            Cause::CpiOther => "more cycles per instruction",
            Cause::CpuTimeOther => "more CPU time per operation",
        }
    }
}

impl Where {
    /// A few words for it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Where::Program => "the program or its load",
            Where::OwnLimits => "its own limits",
            Where::Neighbours => "neighbours on this machine",
            Where::Outside => "outside this machine",
            Where::Unknown => "not known",
        }
    }
}

impl Confidence {
    /// A word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

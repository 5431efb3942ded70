//! Names of causes, states and places, and quantities in common units: the only place for these words.

use super::types::{Cause, Confidence, Moved, State, Where};
use crate::analysis::diff::Quantity;
use crate::analysis::text::{digits, percent, seconds};
use crate::model::Unit;

/// A value of a quantity: `31.2%`, `104 us`, `2.90 GHz`.
#[must_use]
pub fn amount(quantity: &Quantity, value: f64) -> String {
    match quantity.unit {
        Unit::Nanos => seconds(value * 1e-9),
        Unit::Seconds => seconds(value),
        Unit::Share => percent(value),
        Unit::Hertz => format!("{} GHz", digits(value * 1e-9)),
        Unit::Cores => format!("{} CPUs", digits(value)),
        Unit::PerSecond => format!("{}/s", digits(value)),
        Unit::BytesPerSecond => format!("{} MB/s", digits(value * 1e-6)),
        Unit::Bytes => format!("{} MiB", digits(value / (1024.0 * 1024.0))),
        _ => digits(value),
    }
}

/// How far a quantity moved: `+23%`, or `+4.1 points` for a share.
#[must_use]
pub fn change(moved: &Moved) -> String {
    let (now, then) = (moved.now, moved.expected);
    let sign = if now >= then { "+" } else { "-" };
    if now == then && !moved.quantity.is_share() {
        return "+0%".to_string();
    }
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
    /// All of them, from the program outwards.
    pub const ALL: [Cause; 14] = [
        Cause::PathLength,
        Cause::Throttling,
        Cause::RunQueue,
        Cause::Steal,
        Cause::Io,
        Cause::Waiting,
        Cause::Llc,
        Cause::MemoryBandwidth,
        Cause::PageWalk,
        Cause::RemoteMemory,
        Cause::Frequency,
        Cause::Smt,
        Cause::CpiOther,
        Cause::CpuTimeOther,
    ];

    /// Its stable name, as in JSON, in the labels of metrics and in the environment of commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cause::PathLength => "path_length",
            Cause::Throttling => "throttling",
            Cause::RunQueue => "run_queue",
            Cause::Steal => "steal",
            Cause::Io => "io",
            Cause::Waiting => "waiting",
            Cause::Llc => "llc",
            Cause::MemoryBandwidth => "memory_bandwidth",
            Cause::PageWalk => "page_walk",
            Cause::RemoteMemory => "remote_memory",
            Cause::Frequency => "frequency",
            Cause::Smt => "smt",
            Cause::CpiOther => "cpi_other",
            Cause::CpuTimeOther => "cpu_time_other",
        }
    }

    /// A short description.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Cause::PathLength => "more instructions per operation",
            Cause::Throttling => "stopped by its own CPU quota",
            Cause::RunQueue => "waiting longer for a CPU",
            Cause::Steal => "CPU taken by the hypervisor",
            Cause::Io => "waiting longer for storage",
            Cause::Waiting => "waiting longer for locks, threads or the network",
            Cause::Llc => "more misses of the last-level cache",
            Cause::MemoryBandwidth => "memory answers later",
            Cause::PageWalk => "more time in page walks",
            Cause::RemoteMemory => "more use of other nodes' memory",
            Cause::Frequency => "a slower clock",
            Cause::Smt => "the other thread of its core is busy",
            Cause::CpiOther => "more cycles per instruction, nothing measured says why",
            Cause::CpuTimeOther => "more CPU time per operation",
        }
    }
}

impl State {
    /// All of them.
    pub const ALL: [State; 6] =
        [State::Waiting, State::Idle, State::UnknownLoad, State::Usual, State::Unusual, State::Alarm];

    /// Its stable name, as in JSON and in the labels of metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Idle => "idle",
            State::UnknownLoad => "unknown_load",
            State::Usual => "usual",
            State::Unusual => "unusual",
            State::Alarm => "alarm",
        }
    }

    /// A short description.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            State::Waiting => "nothing seen yet",
            State::Idle => "idle: wants under a quarter of a CPU",
            State::UnknownLoad => "at a load the baseline does not know",
            State::Usual => "as usual",
            State::Unusual => "unusual, but not for long enough",
            State::Alarm => "alarm",
        }
    }
}

impl Where {
    /// A short description that follows "where to look".
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
    /// One word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.name());
        }
        for state in State::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }

    #[test]
    fn no_two_causes_share_their_words() {
        let labels: std::collections::BTreeSet<&str> = Cause::ALL.iter().map(|cause| cause.label()).collect();
        assert_eq!(labels.len(), Cause::ALL.len());
    }
}

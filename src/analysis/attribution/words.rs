//! Names of causes, states and places, and quantities in common units: the only place for these words.

use super::types::{Cause, CauseLocation, QuantityDeviation, Suspect, WindowState};
use crate::analysis::text::{digits, percent, seconds};
use crate::model::{NeighbourKind, Unit};

impl QuantityDeviation {
    /// Formats a value of the quantity: `31.2%`, `104 us`, `2.90 GHz`.
    #[must_use]
    pub fn format(&self, value: f64) -> String {
        in_unit(self.quantity.unit, value)
    }

    /// How far it moved: `+23%`, or `+4.1 points` for a share.
    #[must_use]
    pub fn change(&self) -> String {
        let (now, usual, is_share) = (self.now, self.expected, self.quantity.is_share());
        let sign = if now >= usual { "+" } else { "-" };
        if is_share {
            return format!("{sign}{} points", digits((now - usual).abs() * 100.0));
        }
        if now == usual {
            return "+0%".to_string();
        }
        if usual == 0.0 {
            return "from nothing".to_string();
        }
        format!("{sign}{}", percent(((now - usual) / usual).abs()))
    }

    /// The value and the usual one: `waiting for a CPU 36.0%, usually 5.00% (+31.0 points)`.
    #[must_use]
    pub fn against_usual(&self) -> String {
        let [now, usual] = [self.now, self.expected].map(|value| self.format(value));
        format!("{} {now}, usually {usual} ({})", self.quantity.label, self.change())
    }
}

/// A value with its unit.
pub(super) fn in_unit(unit: Unit, value: f64) -> String {
    match unit {
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

impl Suspect {
    /// Its name for display: `redis-server 4711`, `group /batch`.
    #[must_use]
    pub fn title(&self) -> String {
        let name = &self.name;
        match (self.kind, self.pid) {
            (NeighbourKind::Process, Some(pid)) => format!("{name} {pid}"),
            (NeighbourKind::Process, None) => name.clone(),
            (NeighbourKind::Cgroup, _) => format!("group {name}"),
            (NeighbourKind::Resctrl, _) => format!("resctrl group {name}"),
            (NeighbourKind::Rest, _) => "short-lived processes".to_string(),
        }
    }
}

/// A quantity's numbers: `CPU time per operation is 140 us, usually 100 us (+40.0%, 12.3 deviations)`.
pub(super) fn comparison(moved: &QuantityDeviation) -> String {
    let (now, usual, away) = (moved.format(moved.now), moved.format(moved.expected), digits(moved.deviations.abs()));
    format!("{}: {now}, usually {usual} ({}, {away} deviations)", moved.quantity.label, moved.change())
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
            Cause::CpiOther => "more cycles per instruction, cause not measured",
            Cause::CpuTimeOther => "more CPU time per operation",
        }
    }
}

impl WindowState {
    /// All of them.
    pub const ALL: [WindowState; 6] = [
        WindowState::Waiting,
        WindowState::Idle,
        WindowState::UnknownLoad,
        WindowState::Usual,
        WindowState::Unusual,
        WindowState::Alarm,
    ];

    /// Its stable name, as in JSON and in the labels of metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WindowState::Waiting => "waiting",
            WindowState::Idle => "idle",
            WindowState::UnknownLoad => "unknown_load",
            WindowState::Usual => "usual",
            WindowState::Unusual => "unusual",
            WindowState::Alarm => "alarm",
        }
    }

    /// A short description.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            WindowState::Waiting => "nothing seen yet",
            WindowState::Idle => "idle: wants under a quarter of a CPU",
            WindowState::UnknownLoad => "at a load the baseline does not know",
            WindowState::Usual => "as usual",
            WindowState::Unusual => "unusual, not an alarm",
            WindowState::Alarm => "alarm",
        }
    }
}

impl CauseLocation {
    /// A short description that follows "where to look".
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            CauseLocation::Program => "the program or its load",
            CauseLocation::OwnLimits => "its own limits",
            CauseLocation::Neighbours => "neighbours on this machine",
            CauseLocation::Outside => "outside this machine",
            CauseLocation::Unknown => "not known",
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
        for state in WindowState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }

    #[test]
    fn no_two_causes_share_their_words() {
        let labels: std::collections::BTreeSet<&str> = Cause::ALL.iter().map(|cause| cause.label()).collect();
        assert_eq!(labels.len(), Cause::ALL.len());
    }
}

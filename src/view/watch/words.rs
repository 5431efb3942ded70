//! What causes, states and places are called.
//! It never explains one: evidence does.

use super::{Cause, State, Where};

/// A cause's stable name, as in JSON, in labels and in the environment of commands.
#[must_use]
pub fn cause_name(cause: Cause) -> &'static str {
    match cause {
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

/// All causes.
pub(super) const CAUSES: [Cause; 14] = [
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

/// A cause in a few words.
#[must_use]
pub fn cause_words(cause: Cause) -> &'static str {
    match cause {
        Cause::PathLength => "more instructions per operation",
        Cause::Throttling => "stopped by its own CPU quota",
        Cause::RunQueue => "waiting for a CPU that others use",
        Cause::Steal => "the hypervisor gave the CPU to somebody else",
        Cause::Io => "waiting longer for storage",
        Cause::Waiting => "waiting longer for locks, threads or the network",
        Cause::Llc => "more misses of the last-level cache",
        Cause::MemoryBandwidth => "memory answers later",
        Cause::PageWalk => "more time in page walks",
        Cause::RemoteMemory => "more memory of other nodes",
        Cause::Frequency => "a slower clock",
        Cause::Smt => "the other thread of its core is busy",
        Cause::CpiOther => "more cycles per instruction, for no reason that was measured",
        Cause::CpuTimeOther => "more CPU time per operation; this machine cannot tell instructions from cycles",
    }
}

/// All states.
pub(super) const STATES: [State; 6] =
    [State::Waiting, State::Idle, State::UnknownLoad, State::Usual, State::Unusual, State::Alarm];

/// A state's stable name.
#[must_use]
pub fn state_name(state: State) -> &'static str {
    match state {
        State::Waiting => "waiting",
        State::Idle => "idle",
        State::UnknownLoad => "unknown_load",
        State::Usual => "usual",
        State::Unusual => "unusual",
        State::Alarm => "alarm",
    }
}

/// A state in a few words.
#[must_use]
pub fn state_words(state: State) -> &'static str {
    match state {
        State::Waiting => "nothing seen yet",
        State::Idle => "idle: under a quarter of a CPU",
        State::UnknownLoad => "at a load the baseline does not know",
        State::Usual => "as usual",
        State::Unusual => "unusual, but not for long enough",
        State::Alarm => "alarm",
    }
}

/// Where to look, in a few words.
#[must_use]
pub fn where_words(place: Where) -> &'static str {
    match place {
        Where::Program => "in the program or its load",
        Where::OwnLimits => "in its own limits",
        Where::Neighbours => "beside it on this machine",
        Where::Outside => "outside this machine",
        Where::Unknown => "nothing tells where",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for cause in CAUSES {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause_name(cause));
        }
        for state in STATES {
            assert_eq!(serde_json::to_value(state).unwrap(), state_name(state));
        }
    }
}

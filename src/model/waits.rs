//! Where the records of waits come from, and what each source cannot see.

use serde::{Deserialize, Serialize};

/// A source of records of time off the CPU, the one that sees most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// The scheduler's tracepoints: state and stack of every thread that leaves the CPU, and every wake-up.
    Tracepoints,
    /// The software event `context-switches`: the stack of every thread that leaves the CPU.
    SwitchEvents,
    /// Context-switch records of the user's own processes: every duration; what for is sampled from `/proc`.
    SwitchRecords,
}

impl WaitSource {
    /// What it records, in a phrase.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            WaitSource::Tracepoints => "scheduler tracepoints: every switch with its stack, every wake-up",
            WaitSource::SwitchEvents => "context-switch events: every switch with its stack",
            WaitSource::SwitchRecords => {
                "context-switch records: every duration; cause and call path sampled from /proc"
            }
        }
    }

    /// What it does not see; empty for the source that sees everything.
    #[must_use]
    pub fn blind_spot(self) -> &'static str {
        match self {
            WaitSource::Tracepoints => "",
            WaitSource::SwitchEvents => "wake-ups are not seen, so time blocked includes the wait for a CPU after them",
            WaitSource::SwitchRecords => {
                "wake-ups are not seen, so time blocked includes the wait for a CPU after them; causes and call paths \
                 of short waits are estimates"
            }
        }
    }
}

//! Counters and their raw readings. Scaling for multiplexing happens later, so that coverage stays with the number.

use super::Unit;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Index into the recording's counter definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CounterId(pub u16);

/// A counter. Counter names are part of the recording format and listed in its dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterDef {
    /// Its number in this recording.
    pub id: CounterId,
    /// Its name, e.g. `context-switches`, `cycles`, `run-delay`.
    pub name: String,
    /// The unit of one count.
    #[serde(serialize_with = "super::unit::recorded", deserialize_with = "super::unit::from_word")]
    pub unit: Unit,
    /// Counters with the same group number share one enabled/running window and may form ratios.
    pub group: Option<u16>,
}

/// The scope of a reading: whose events it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole target.
    Target,
    /// One thread, by kernel thread id.
    Thread(u32),
    /// One CPU.
    Cpu(u32),
    /// One of several cgroups, by its position in the target.
    Cgroup(u32),
    /// The whole machine.
    Host,
    /// ironlaw itself.
    Tool,
}

/// A raw reading: counts since the capture began (or since the thread was born, if later).
/// A reading equal to the previous one of the same counter and scope may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterReading {
    /// The counter.
    pub counter: CounterId,
    /// The scope.
    pub scope: Scope,
    /// When it was read, since the recording's start.
    pub at: Nanos,
    /// The raw value, not scaled.
    pub value: u64,
    /// How long the counter was enabled.
    pub enabled: Nanos,
    /// How long it really counted; less than `enabled` if it was multiplexed.
    pub running: Nanos,
}

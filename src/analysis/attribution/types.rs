//! Plain data of an assessment: the input of each window, and the result.

use crate::analysis::Window;
use crate::analysis::baseline::LoadAxis;
use crate::analysis::diff::{Quantity, Reading};
use crate::model::{MetricId, NeighbourDef, NeighbourId};
use serde::Serialize;

/// One window of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Its time range.
    pub window: Window,
    /// Every quantity, as returned by [`crate::analysis::diff::readings`].
    pub readings: Vec<Reading>,
    /// What each neighbour used in it; a neighbour without an entry used nothing.
    pub neighbours: Vec<NeighbourWindow>,
    /// The CPUs that the target was sampled on, most often first; they show which neighbours shared its CPUs or cores.
    pub cpus: Vec<u32>,
}

/// What a neighbour used in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourWindow {
    /// The neighbour.
    pub neighbour: NeighbourId,
    /// Busy CPUs.
    pub cores: f64,
    /// The CPU it was last seen on.
    pub on_cpu: Option<u32>,
    /// Storage traffic, bytes per second.
    pub io_rate: Option<f64>,
    /// Last-level cache occupied, bytes.
    pub llc_bytes: Option<u64>,
    /// Memory traffic, bytes per second.
    pub memory_rate: Option<f64>,
}

/// The state of a window, or of the session as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No window has been seen yet.
    Waiting,
    /// The target used too little CPU to be judged (under 0.25 of a CPU).
    Idle,
    /// The baseline knows too little at its load.
    UnknownLoad,
    /// As usual.
    Usual,
    /// Something is unusual, but not for long enough to raise an alarm.
    Unusual,
    /// Enough of the last windows were unusual.
    Alarm,
}

/// One quantity compared with its usual value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Moved {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value over the last windows: sums divided by sums.
    pub now: f64,
    /// The usual value at this load.
    pub expected: f64,
    /// The band it usually stays in.
    pub band: (f64, f64),
    /// Its distance from the usual value, in usual deviations.
    pub deviations: f64,
    /// Probability of so large a deviation by chance, corrected for the number of quantities (Benjamini and Hochberg).
    pub q: f64,
    /// Number of the last windows in which it was outside its band.
    pub windows_outside: u32,
    /// Whether it counts as moved.
    pub moved: bool,
}

/// The part of the law that a slowdown is in, from the program outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// More instructions per operation: the program, or what it is asked to do.
    PathLength,
    /// Its own CPU quota stopped it.
    Throttling,
    /// It waited for a CPU that others used.
    RunQueue,
    /// The hypervisor ran another guest on the CPU.
    Steal,
    /// It waited longer for storage.
    Io,
    /// It waited in other ways: locks, its own threads, the network.
    Waiting,
    /// More misses of the last-level cache.
    Llc,
    /// Memory latency rose, or its bandwidth was short.
    MemoryBandwidth,
    /// Page walks took longer.
    PageWalk,
    /// Memory of other nodes was used more.
    RemoteMemory,
    /// The clock was slower.
    Frequency,
    /// The sibling thread of its core was busy.
    Smt,
    /// Cycles per instruction rose for no measured reason.
    CpiOther,
    /// CPU time per operation rose, and this machine cannot tell instructions from cycles.
    CpuTimeOther,
}

/// Confidence in a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One reading fits.
    Low,
    /// Several readings fit and none contradicts it.
    Medium,
    /// Only this cause fits.
    High,
}

/// Where to look for the culprit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// In the program or its load.
    Program,
    /// In its own limits.
    OwnLimits,
    /// Other programs on this machine.
    Neighbours,
    /// Outside this machine: the hypervisor, or others on it.
    Outside,
    /// Not known.
    Unknown,
}

/// One piece of evidence for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The cause it supports.
    pub cause: Cause,
    /// Its share of the slowdown, 0 to 1, if the law yields one.
    pub share: Option<f64>,
    /// Its confidence.
    pub confidence: Confidence,
    /// A sentence with its numbers.
    pub text: String,
}

/// A neighbour whose use moved with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// The neighbour.
    pub who: NeighbourDef,
    /// The CPI2 correlation of its use with the target's slowdown, -1 to 1.
    pub score: f64,
    /// Whether the score is above the threshold (0.35).
    pub above_threshold: bool,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
    /// The same in the windows before.
    pub cores_before: f64,
    /// Other evidence: on the sibling of the target's core, on its node, cache occupied, storage traffic.
    pub evidence: Vec<String>,
}

/// One period of trouble.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alarm {
    /// From the start of its first unusual window to its end, or to the last window so far.
    pub window: Window,
    /// The number of windows after which it was raised.
    pub raised_after_windows: u32,
    /// Whether it is still on.
    pub on: bool,
    /// The most probable cause.
    pub cause: Cause,
    /// Confidence in that cause.
    pub confidence: Confidence,
    /// The worst time per operation, CPU time and waits, over its usual value.
    pub worst: f64,
    /// The first suspect's name.
    pub suspect: Option<String>,
}

/// The result of one window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The window.
    pub window: Window,
    /// Its state.
    pub state: State,
    /// Its load, in the axis's unit.
    pub load: Option<f64>,
    /// The primary quantity over its usual value; `None` if either is unknown.
    pub ratio: Option<f64>,
    /// Whether this window raised an alarm.
    pub raised: bool,
    /// Whether this window ended an alarm.
    pub cleared: bool,
}

/// The assessment of a session against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// The state of the session as a whole.
    pub state: State,
    /// The quantity that load is measured by.
    pub axis: LoadAxis,
    /// The current load.
    pub load: Option<f64>,
    /// The level of load it falls into: from, to.
    pub level: Option<(f64, f64)>,
    /// The quantity that decides whether it is slow.
    pub primary: MetricId,
    /// Every quantity that the baseline knows at this load, the primary first, then the factors of the law.
    pub quantities: Vec<Moved>,
    /// Explanations of the slowdown, the largest first; empty while there is none.
    pub evidence: Vec<Evidence>,
    /// Where to look; `None` while there is no slowdown.
    pub place: Option<Where>,
    /// Neighbours that moved with it, the best match first.
    pub suspects: Vec<Suspect>,
    /// All alarms so far, oldest first.
    pub alarms: Vec<Alarm>,
    /// The last windows, oldest first, for the timeline.
    pub steps: Vec<Step>,
    /// What could not be determined, in sentences.
    pub unknown: Vec<String>,
}

//! The plain data of an assessment: what goes in for each window, what comes out.
//! It never computes.

use crate::analysis::Window;
use crate::analysis::baseline::LoadAxis;
use crate::analysis::compare::{Quantity, Reading};
use crate::model::{NeighbourDef, NeighbourId};
use serde::Serialize;

/// One window of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Where it lies.
    pub window: Window,
    /// Every quantity, as [`crate::analysis::compare::readings`] gives them.
    pub readings: Vec<Reading>,
    /// What each neighbour used in it; one without an entry used nothing.
    pub neighbours: Vec<NeighbourWindow>,
    /// The CPUs that the target was sampled on, most often first: who else was on them, or beside them, is told by this.
    pub cpus: Vec<u32>,
}

/// What a neighbour used in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourWindow {
    /// Who.
    pub neighbour: NeighbourId,
    /// Busy CPUs.
    pub cores: f64,
    /// The CPU it was last seen on.
    pub on_cpu: Option<u32>,
    /// Storage traffic, bytes per second.
    pub io_rate: Option<f64>,
    /// Last-level cache held, bytes.
    pub llc_bytes: Option<u64>,
    /// Memory traffic, bytes per second.
    pub memory_rate: Option<f64>,
}

/// How a window, or the session as a whole, stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No window has been seen yet.
    Waiting,
    /// The target used too little CPU for anything to be said (under 0.25 of a CPU).
    Idle,
    /// Its load lies where the baseline knows too little.
    UnknownLoad,
    /// As usual.
    Usual,
    /// Something is unusual, but not for long enough.
    Unusual,
    /// It has been unusual in enough of the last windows.
    Alarm,
}

/// One quantity against what is usual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Moved {
    /// Which.
    pub quantity: Quantity,
    /// Its value now: over the last windows, sums divided by sums.
    pub now: f64,
    /// What is usual at this load.
    pub expected: f64,
    /// The band it usually stays in.
    pub band: (f64, f64),
    /// How many usual deviations it is away.
    pub deviations: f64,
    /// How probable so large a deviation is by chance, corrected for the number of quantities (Benjamini and Hochberg).
    pub q: f64,
    /// In how many of the last windows it lay outside of its band.
    pub windows_outside: u32,
    /// Whether it is believed to have moved.
    pub moved: bool,
}

/// Which part of the law a slowdown lies in, from the program outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// More instructions per operation: the program, or what it is asked to do.
    PathLength,
    /// Its own CPU quota stopped it.
    Throttling,
    /// It waited for a CPU that others used.
    RunQueue,
    /// The hypervisor gave the CPU to somebody else.
    Steal,
    /// It waited for storage longer.
    Io,
    /// It waited in other ways: locks, its own threads, the network.
    Waiting,
    /// More misses of the last-level cache.
    Llc,
    /// Memory answered later, or its bandwidth was short.
    MemoryBandwidth,
    /// Page walks took more.
    PageWalk,
    /// Memory of other nodes was used more.
    RemoteMemory,
    /// The clock was slower.
    Frequency,
    /// The other thread of its core was busy.
    Smt,
    /// Cycles per instruction rose, and nothing measured says why.
    CpiOther,
    /// CPU time per operation rose, and nothing on this machine can tell instructions from cycles.
    CpuTimeOther,
}

/// How sure a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One reading fits.
    Low,
    /// Several readings fit and none speaks against it.
    Medium,
    /// Only this fits.
    High,
}

/// Where the culprit is to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// In the program or its load.
    Program,
    /// In its own limits.
    OwnLimits,
    /// On this machine, beside it.
    Neighbours,
    /// Outside this machine: the hypervisor, or others on it.
    Outside,
    /// Nothing tells.
    Unknown,
}

/// One thing that speaks for or against a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// What it speaks for.
    pub cause: Cause,
    /// Its share of the slowdown, 0 to 1, where the law gives one.
    pub share: Option<f64>,
    /// How sure.
    pub confidence: Confidence,
    /// In a sentence, with its numbers.
    pub text: String,
}

/// A neighbour whose use moved with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// Who.
    pub who: NeighbourDef,
    /// The CPI2 correlation of its use with the target's slowdown, -1 to 1.
    pub score: f64,
    /// Whether that is above the threshold (0.35).
    pub above_threshold: bool,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
    /// The same in the windows before.
    pub cores_before: f64,
    /// What else speaks for it: on the sibling of the target's core, on its node, cache held, storage traffic.
    pub evidence: Vec<String>,
}

/// A time of trouble.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alarm {
    /// When its first unusual window began.
    pub window: Window,
    /// When it was raised: that many windows after.
    pub raised_after_windows: u32,
    /// Whether it is still on; else `window` has its end.
    pub on: bool,
    /// The most probable cause.
    pub cause: Cause,
    /// How sure that is.
    pub confidence: Confidence,
    /// The time per operation, its CPU time and its waits, over its usual value, at the worst.
    pub worst: f64,
    /// The first suspect's name.
    pub suspect: Option<String>,
}

/// What one window added.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Which window.
    pub window: Window,
    /// How it stands.
    pub state: State,
    /// Its load, in the axis's unit.
    pub load: Option<f64>,
    /// The primary quantity over its usual value; `None` where either is not known.
    pub ratio: Option<f64>,
    /// An alarm that this window raised.
    pub raised: bool,
    /// An alarm that this window ended.
    pub cleared: bool,
}

/// How a session stands against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// As a whole.
    pub state: State,
    /// What the load is measured by.
    pub axis: LoadAxis,
    /// The load now.
    pub load: Option<f64>,
    /// The level of load it falls into: from, to.
    pub level: Option<(f64, f64)>,
    /// The quantity that says whether it is slow.
    pub primary: &'static str,
    /// Every quantity that the baseline knows at this load, the primary first, then the factors of the law.
    pub quantities: Vec<Moved>,
    /// What explains the slowdown, most first; empty while there is none.
    pub evidence: Vec<Evidence>,
    /// Where to look; `None` while there is no slowdown.
    pub place: Option<Where>,
    /// Who moved with it, most first.
    pub suspects: Vec<Suspect>,
    /// All alarms so far, oldest first.
    pub alarms: Vec<Alarm>,
    /// The last windows, oldest first: the timeline.
    pub steps: Vec<Step>,
    /// What could not be told, in sentences.
    pub unknown: Vec<String>,
}

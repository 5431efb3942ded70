//! Plain data of an assessment: how strict it is, the input of each window, and the result.

use crate::analysis::Window;
use crate::analysis::baseline::{LEAST_COST, LoadAxis, UNUSUAL};
use crate::analysis::diff::{Quantity, Reading};
use crate::analysis::finding::Confidence;
use crate::model::{MetricId, NeighbourId, NeighbourKind};
use crate::units::Nanos;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// How strict an assessment is. The defaults are CPI2's where it has them. They do not depend on the target; the
/// baseline defines its usual behaviour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// An alarm needs this many unusual windows ...
    pub k: usize,
    /// ... among this many judged ones.
    pub n: usize,
    /// A window in which the target wanted less CPU than this is not judged.
    pub least_cores: f64,
    /// How far the usual band reaches beyond the run-to-run range, in standard deviations of windows within a run.
    pub sigmas: f64,
    /// Minimum growth of an operation's CPU time that matters, whatever its significance.
    pub least_cost: f64,
    /// Minimum growth of an operation's time through waits that matters.
    pub least_wait: f64,
    /// False alarms a day that window noise alone may raise. Every window tests every quantity that can raise one.
    pub false_alarms_a_day: f64,
    /// The share of false positives allowed among the quantities reported as moved.
    pub false_discovery: f64,
    /// CPI2's score from which on a neighbour is above the threshold.
    pub threshold: f64,
    /// The windows that a neighbour's use is correlated over: ten minutes of one-second windows.
    pub correlation_windows: usize,
    /// A neighbour that used fewer CPUs than this while the target was slow is not a suspect.
    pub least_neighbour: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            k: 3,
            n: 5,
            least_cores: 0.25,
            sigmas: UNUSUAL,
            least_cost: LEAST_COST,
            least_wait: 0.10,
            false_alarms_a_day: 0.1,
            false_discovery: 0.05,
            threshold: 0.35,
            correlation_windows: 600,
            least_neighbour: 0.05,
        }
    }
}

impl Settings {
    /// How improbable a deviation must be if this many quantities are tested after each window of this length.
    #[must_use]
    pub fn significance_level(&self, window: Nanos, quantities: usize) -> f64 {
        const DAY_S: f64 = 86_400.0;
        self.false_alarms_a_day * window.seconds() / DAY_S / quantities.max(1) as f64
    }
}

/// One window of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowObservation {
    /// Its time range.
    pub window: Window,
    /// Every quantity, as returned by [`crate::analysis::diff::readings`].
    pub readings: Vec<Reading>,
    /// What each neighbour used in it; a neighbour without an entry used nothing.
    pub neighbours: Vec<NeighbourActivity>,
    /// The CPUs that the target was sampled on, most often first; they show which neighbours shared its CPUs or cores.
    pub cpus: Vec<u32>,
}

/// What a neighbour used in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourActivity {
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
pub enum WindowState {
    /// No window has been seen yet.
    Waiting,
    /// The target used too little CPU to be judged (under 0.25 of a CPU).
    Idle,
    /// The baseline knows too little at its load.
    UnknownLoad,
    /// As usual.
    Usual,
    /// Something is unusual, and no alarm was raised for it.
    Unusual,
    /// Enough of the last windows were unusual.
    Alarm,
}

/// One quantity compared with its usual value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantityDeviation {
    /// The quantity.
    #[serde(flatten)]
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

/// Where to look for the culprit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseLocation {
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
    /// Its share of all that made operations take longer, 0 to 1, if the law yields one; all shares are at most 1.
    pub share: Option<f64>,
    /// Its confidence.
    pub confidence: Confidence,
    /// A sentence with its numbers.
    pub text: String,
}

/// A neighbour whose use moved with the slowdown. Correlation is not proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// Its kind.
    pub kind: NeighbourKind,
    /// The name it gives itself.
    pub name: String,
    /// Process id, for a process.
    pub pid: Option<u32>,
    /// Control group, for a process.
    pub cgroup: Option<String>,
    /// The CPI2 correlation of its use with the target's slowdown, -1 to 1.
    pub score: f64,
    /// Whether the score is above the threshold (0.35).
    pub above_threshold: bool,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
    /// The same in the windows before.
    pub cores_before: f64,
    /// Other evidence, in sentences: on the sibling of the target's core, on its node, cache occupied, storage traffic.
    pub evidence: Vec<String>,
}

/// One period of slowness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alarm {
    /// From the start of its first unusual window to its end, or to the last window so far.
    #[serde(flatten, serialize_with = "seconds")]
    pub window: Window,
    /// When it was raised: the end of the window that raised it.
    #[serde(rename = "raised_s", serialize_with = "second")]
    pub raised: Nanos,
    /// The number of windows after which it was raised.
    pub raised_after_windows: u32,
    /// Whether it is still on.
    pub active: bool,
    /// The most probable cause.
    pub cause: Cause,
    /// Confidence in that cause.
    pub confidence: Confidence,
    /// The worst time per operation, CPU time and waits, over its usual value.
    pub worst: f64,
    /// The first suspect's name.
    pub suspect: Option<String>,
}

/// Unusual windows in a row that raised no alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UnusualPeriod {
    /// From the start of the first to the end of the last.
    #[serde(flatten, serialize_with = "seconds")]
    pub window: Window,
    /// How many of the windows in it were unusual.
    pub windows: u32,
    /// Why they are no alarm.
    pub no_alarm: NoAlarm,
}

/// Why unusual windows are no alarm, the weakest case first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAlarm {
    /// No quantity was unusual in enough windows.
    Brief,
    /// The growth over all of them is less than what matters.
    Slight,
    /// The windows or the runs of the baseline differ too much to rule out chance.
    MayBeChance,
}

/// The result of one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WindowResult {
    /// The window.
    #[serde(flatten, serialize_with = "seconds")]
    pub window: Window,
    /// Its state.
    pub state: WindowState,
    /// Its load, in the axis's unit.
    pub load: Option<f64>,
    /// The primary quantity over its usual value; `None` if either is unknown.
    pub ratio: Option<f64>,
    /// The p99 of its operations' latency in nanoseconds; `None` if it was not measured, or of too few operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p99: Option<f64>,
    /// Whether this window raised an alarm.
    pub raised: bool,
    /// Whether this window ended an alarm.
    pub cleared: bool,
}

/// The current state of a target, and what explains its slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The state of the session as a whole.
    pub state: WindowState,
    /// The quantity that load is measured by.
    pub axis: LoadAxis,
    /// The current load.
    pub load: Option<f64>,
    /// The level of load it falls into: from, to.
    pub level: Option<(f64, f64)>,
    /// The quantity that decides whether it is slow.
    pub primary: MetricId,
    /// Every quantity that the baseline knows at this load, the primary first, then the factors of the law.
    pub quantities: Vec<QuantityDeviation>,
    /// The unusual windows that the explanation is of, if it is not that of an alarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unusual: Option<UnusualPeriod>,
    /// Explanations of the slowdown, the largest first; empty while there is none.
    pub evidence: Vec<Evidence>,
    /// Where to look; `None` while there is no slowdown.
    pub location: Option<CauseLocation>,
    /// Neighbours that moved with it, the best match first.
    pub suspects: Vec<Suspect>,
    /// What could not be determined, in sentences.
    pub unknown: Vec<String>,
}

/// The assessment of a session against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// The current state and its explanation.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// All alarms so far, oldest first.
    pub alarms: Vec<Alarm>,
    /// The last windows, oldest first.
    pub timeline: Vec<WindowResult>,
}

/// Session time in seconds: `from_s`, `to_s`.
fn seconds<S: Serializer>(window: &Window, serializer: S) -> Result<S::Ok, S::Error> {
    let mut span = serializer.serialize_struct("Window", 2)?;
    span.serialize_field("from_s", &window.from.seconds())?;
    span.serialize_field("to_s", &window.to.seconds())?;
    span.end()
}

fn second<S: Serializer>(at: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(at.seconds())
}

//! The report: everything `ironlaw report` says, in one value that every format renders.
//! It never rounds or orders anything for looks.

mod build;
mod neighbours;
mod tables;

pub use build::ReportOptions;
pub(super) use build::{axis as axis_of, rate as rate_of, unit as unit_of};
pub use neighbours::{NeighbourView, NeighboursView};
pub use tables::{
    CauseRow, EventRow, FunctionRow, Groups, OffCpuView, PathRow, ProcessView, QueueView, ThreadView, WaitCoverageView,
};

use super::Measured;
use super::against::AgainstView;
use super::findings::FindingsView;
use crate::analysis::{KindLoss, MetricUnit, Section};
use crate::model::profile::Profile;
use crate::model::{Baseline, HardwareEvent, HardwarePlan, HostFacts, Note};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Raised when a field of the JSON form changes its meaning; fields may be added without.
pub const SCHEMA_VERSION: u32 = 1;

/// A report on one selection of one recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the program that made the recording.
    pub tool: String,
    /// The machine.
    pub host: HostFacts,
    /// What was profiled, e.g. `pid 41` or the command.
    pub target: String,
    /// Names of the processes seen, most CPU time first.
    pub process_names: Vec<String>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Length of the whole recording, seconds.
    pub duration_s: f64,
    /// What counted the program's operations, in words.
    pub operation_source: Option<String>,
    /// How the stacks were taken: auto, fp, dwarf, lbr or none.
    pub call_graph: &'static str,
    /// Samples asked for, e.g. `997 Hz`.
    pub rate: String,
    /// What part of the recording this is about.
    pub selection: SelectionView,
    /// The sampled events.
    pub events: Vec<EventRow>,
    /// The evidence.
    pub samples: SamplesView,
    /// What to know before trusting the numbers.
    pub notes: Vec<Note>,
    /// The recording against the baseline of its target; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_baseline: Option<AgainstView>,
    /// What holds the selected threads back.
    pub findings: FindingsView,
    /// The metrics, by name, in order.
    #[serde(serialize_with = "by_name")]
    pub metrics: Vec<MetricView>,
    /// What hardware counted.
    pub hardware: HardwareView,
    /// The functions, in the order asked for.
    pub functions: Vec<FunctionRow>,
    /// How many functions there are beyond those listed.
    pub functions_left_out: usize,
    /// Modules, threads or processes in place of functions, where asked for.
    pub groups: Option<Groups>,
    /// The processes, most CPU time first.
    pub processes: Vec<ProcessView>,
    /// How many processes there are beyond those listed.
    pub processes_left_out: usize,
    /// The threads, most CPU time first.
    pub threads: Vec<ThreadView>,
    /// How many threads there are beyond those listed.
    pub threads_left_out: usize,
    /// Time off the CPU; absent if it was not recorded.
    pub off_cpu: Option<OffCpuView>,
    /// Who else used the machine; absent if it was not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighboursView>,
}

/// The part of a recording a report is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionView {
    /// The event the shares are of, or `off-cpu`.
    pub event: String,
    /// What its weights count: `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Start of the selected time, seconds since the recording's start.
    pub from_s: f64,
    /// End of the selected time.
    pub to_s: f64,
    /// Start of the windows the metrics come from: the selected time, grown to where counters were read.
    pub metrics_from_s: f64,
    /// Their end.
    pub metrics_to_s: f64,
    /// Selected threads, by name or id; empty for all.
    pub threads: Vec<String>,
    /// Selected processes; empty for all.
    pub pids: Vec<u32>,
}

/// How much there is to go by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplesView {
    /// Samples (or spans off the CPU) in the selection.
    pub count: u64,
    /// What they weigh together, in the selection's unit.
    pub weight: u64,
    /// Samples lost because a buffer was full, all threads; of older recordings records of any kind.
    pub lost: u64,
    /// What was lost of each kind of record, all threads.
    pub losses: Vec<KindLoss>,
    /// Times the kernel paused sampling.
    pub throttled: u64,
    /// Spans off the CPU that could not be closed.
    pub off_cpu_lost: u64,
    /// Share of stacks that reached the program's or thread's start; `None` if no stacks were taken.
    pub whole_share: Option<f64>,
    /// Share of stacks whose copied bytes ended too early.
    pub truncated_share: Option<f64>,
    /// Share of stacks that could not be unwound further.
    pub broken_share: Option<f64>,
    /// Sampled time over CPU time of the selected threads, 1 for all.
    pub coverage: Measured,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricView {
    /// Its name: the key in the JSON form.
    #[serde(skip)]
    pub name: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// Where it belongs.
    pub section: Section,
    /// Its value or why there is none.
    #[serde(flatten)]
    pub value: Measured,
    /// Its unit.
    pub unit: MetricUnit,
    /// How it comes from its counters.
    pub formula: String,
    /// The counters it comes from.
    pub events: Vec<String>,
    /// What more there is to say of a value that is missing; not written where there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What hardware counted: the events by the names their vendor gives them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardwareView {
    /// The microarchitecture, e.g. `intel-spr`; empty where nothing counted.
    pub uarch: String,
    /// Groups of events that counted in the same moments.
    pub groups: Vec<Vec<HardwareEventView>>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardwareEventView {
    /// What formulas call it.
    pub role: String,
    /// The vendor's name.
    pub event: String,
}

impl HardwareView {
    fn of(plan: &HardwarePlan) -> HardwareView {
        let event =
            |event: &HardwareEvent| HardwareEventView { role: event.role.clone(), event: event.event.name.clone() };
        let groups = plan.groups.iter().map(|group| group.events.iter().map(event).collect());
        let uarch = if plan.groups.is_empty() { String::new() } else { plan.uarch.clone() };
        HardwareView { uarch, groups: groups.collect() }
    }
}

fn by_name<S: Serializer>(metrics: &[MetricView], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(metrics.len()))?;
    for metric in metrics {
        map.serialize_entry(metric.name, metric)?;
    }
    map.end()
}

impl Report {
    /// Adds what the recording is against the baseline of its target; where that is slow, a finding says so first.
    pub fn hold_against(&mut self, profile: &Profile, baseline: &Baseline) {
        let (view, finding) = AgainstView::build(profile, baseline);
        self.findings.found.splice(0..0, finding);
        self.against_baseline = Some(view);
    }

    /// The metric of that name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&MetricView> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metrics that have something to say of their own. Where cycles are missing all that hardware counts is, for the same
    /// reason, and cycles say it for all.
    pub fn telling(&self) -> impl Iterator<Item = &MetricView> {
        let why = |metric: &MetricView| match metric.value {
            Measured::Missing { missing, .. } => Some((missing, metric.detail.clone())),
            Measured::Known { .. } => None,
        };
        let cycles = self.metric("cycles").and_then(why);
        let echoes = move |metric: &MetricView| cycles.is_some() && why(metric) == cycles;
        self.metrics.iter().filter(move |metric| metric.section != Section::Hardware || !echoes(metric))
    }
}

//! The report: everything that `ironlaw report` prints, in one value that every format renders.
//! Nothing is rounded or reordered for display.

mod build;
mod neighbours;
mod tables;

pub use build::ReportOptions;
pub use neighbours::{NeighbourView, NeighboursView};
pub use tables::{
    CauseRow, EventRow, FunctionRow, Groups, OffCpuView, PathRow, ProcessView, QueueView, ThreadView, WaitCoverageView,
};

use super::Measured;
use super::against::AgainstView;
use super::findings::FindingsView;
use crate::analysis::{KindLoss, Section};
use crate::model::profile::Profile;
use crate::model::{Baseline, HardwareEvent, HardwarePlan, HostFacts, Note, Unit};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Version of the JSON form. It changes only if a field changes its meaning, not if fields are added.
pub const SCHEMA_VERSION: u32 = 1;

/// A report on one selection of one recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of ironlaw that made the recording.
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
    /// How operations were counted, in words.
    pub operation_source: Option<String>,
    /// How the stacks were taken: auto, fp, dwarf, lbr or none.
    pub call_graph: &'static str,
    /// Requested sampling rate, e.g. `997 Hz`.
    pub rate: String,
    /// The part of the recording that the report covers.
    pub selection: SelectionView,
    /// The sampled events.
    pub events: Vec<EventRow>,
    /// Number and quality of the samples.
    pub samples: SamplesView,
    /// Notes to read before trusting the numbers.
    pub notes: Vec<Note>,
    /// The comparison with the baseline of the target; absent without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_baseline: Option<AgainstView>,
    /// What holds the selected threads back.
    pub findings: FindingsView,
    /// The metrics, in order; JSON keys them by name.
    #[serde(serialize_with = "by_name")]
    pub metrics: Vec<MetricView>,
    /// The hardware events that were counted.
    pub hardware: HardwareView,
    /// The functions, in the requested order.
    pub functions: Vec<FunctionRow>,
    /// Number of functions left out.
    pub functions_left_out: usize,
    /// Modules, threads or processes, if requested.
    pub groups: Option<Groups>,
    /// The processes, most CPU time first.
    pub processes: Vec<ProcessView>,
    /// Number of processes left out.
    pub processes_left_out: usize,
    /// The threads, most CPU time first.
    pub threads: Vec<ThreadView>,
    /// Number of threads left out.
    pub threads_left_out: usize,
    /// Off-CPU time; absent if it was not recorded.
    pub off_cpu: Option<OffCpuView>,
    /// Other users of the machine; absent if they were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighboursView>,
}

/// The part of a recording that a report covers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionView {
    /// The event whose samples the shares are of, or `off-cpu`.
    pub event: String,
    /// What its weights count: `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Start of the selected time, seconds since the recording's start.
    pub from_s: f64,
    /// End of the selected time.
    pub to_s: f64,
    /// Start of the windows that the metrics come from: the selected time, extended to the nearest counter readings.
    pub metrics_from_s: f64,
    /// Their end.
    pub metrics_to_s: f64,
    /// Selected threads, by name or id; empty for all.
    pub threads: Vec<String>,
    /// Selected processes; empty for all.
    pub pids: Vec<u32>,
}

/// Number and quality of the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplesView {
    /// Samples, or off-CPU spans, in the selection.
    pub count: u64,
    /// Their total weight, in the selection's unit.
    pub weight: u64,
    /// Samples lost because a buffer was full, all threads. In older recordings, lost records of any kind.
    pub lost: u64,
    /// Losses by kind of record, all threads.
    pub losses: Vec<KindLoss>,
    /// Number of times the kernel paused sampling.
    pub throttled: u64,
    /// Off-CPU spans that could not be closed.
    pub off_cpu_lost: u64,
    /// Share of stacks that reached the start of the program or thread; `None` if no stacks were taken.
    pub whole_share: Option<f64>,
    /// Share of stacks whose copied bytes ended too early.
    pub truncated_share: Option<f64>,
    /// Share of stacks that could not be unwound further.
    pub broken_share: Option<f64>,
    /// Sampled time over CPU time of the selected threads; 1 means all of it.
    pub coverage: Measured,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricView {
    /// Its name; the key in the JSON form.
    #[serde(skip)]
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// The section it belongs to.
    pub section: Section,
    /// Its value, or why it is missing.
    #[serde(flatten)]
    pub value: Measured,
    /// Its unit.
    pub unit: Unit,
    /// How it is computed from its counters.
    pub formula: String,
    /// The counters it is computed from.
    pub events: Vec<String>,
    /// Details on why the value is missing; omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The hardware events that were counted, by their vendor's names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardwareView {
    /// The microarchitecture, e.g. `intel-spr`; empty if nothing was counted.
    pub uarch: String,
    /// Groups of events that counted at the same time.
    pub groups: Vec<Vec<HardwareEventView>>,
}

/// A hardware event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardwareEventView {
    /// Its name in formulas.
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
    /// Adds the comparison with the baseline of the target. If the target is slow, the first finding reports it.
    pub fn hold_against(&mut self, profile: &Profile, baseline: &Baseline) {
        let (view, finding) = AgainstView::build(profile, baseline);
        self.findings.found.splice(0..0, finding);
        self.against_baseline = Some(view);
    }

    /// Finds a metric by name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&MetricView> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metrics worth showing. If cycles are missing, hardware metrics that are missing for the same reason are
    /// skipped: cycles report it for all of them.
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

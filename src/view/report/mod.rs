//! The report: everything that `ironlaw report` prints, in one value that every format renders.
//! Nothing is rounded or reordered for display.

mod build;
mod call_paths;
mod gaps;
mod head;
mod metrics;
mod neighbours;
mod own_cost;
mod tables;

pub use build::ReportOptions;
pub use call_paths::{PathOptions, PathStep};
pub use head::{HardwareView, SamplesView, SelectionView};
pub use metrics::MetricView;
pub use neighbours::{NeighbourView, NeighboursView};
pub use own_cost::{Cost, OwnCostView};
pub use tables::{
    CauseRow, EventRow, FunctionRow, Groups, OffCpuView, PathRow, ProcessView, QueueView, ThreadView, WaitCoverageView,
    key_values,
};

use super::annotate::MixView;
use super::baseline::BaselineComparisonView;
use super::code_ipc::CodeIpcView;
use super::findings::{FindingView, FindingsView};
pub use super::latency::{LatencyRow, OperationLatencyView};
pub use super::memory::{LatencyView, LevelView, LineView, MemoryView, NodeView, PairView, UseView};
pub use super::places::{ExpectedPairView, NodePlacesView, PlacesView};
use crate::analysis::{Names, StackCounts, Tasks};
use crate::model::profile::Profile;
use crate::model::{Baseline, FrameId, HostFacts, InstructionClass, Note};
use serde::Serialize;

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
    /// Whether text and Markdown show every note at length.
    #[serde(skip)]
    pub all_notes: bool,
    /// The comparison with the baseline of the target; absent without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_comparison: Option<BaselineComparisonView>,
    /// What holds the selected threads back.
    pub findings: FindingsView,
    /// The metrics, in order; JSON keys them by name.
    #[serde(serialize_with = "metrics::by_name")]
    pub metrics: Vec<MetricView>,
    /// What measuring cost.
    pub own_cost: OwnCostView,
    /// How long operations took; absent unless that was to be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<OperationLatencyView>,
    /// The hardware events that were counted.
    pub hardware: HardwareView,
    /// Instructions per cycle of code; absent unless cycles and instructions were sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_ipc: Option<CodeIpcView>,
    /// The functions, in the requested order.
    pub functions: Vec<FunctionRow>,
    /// Number of functions left out.
    pub functions_left_out: usize,
    /// The classes of the sampled instructions; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<MixView>,
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
    /// Memory and threads by NUMA node; absent if the machine's CPUs were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<PlacesView>,
    /// Sampled memory accesses; absent if the hardware sampled none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryView>,
    /// Other users of the machine; absent if they were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighboursView>,
}

impl Report {
    /// The instructions per cycle that the rows of the main table have columns for.
    #[must_use]
    pub fn row_ipc(&self) -> Option<&CodeIpcView> {
        self.code_ipc.as_ref().filter(|_| !self.groups.as_ref().is_some_and(Groups::is_of_accesses))
    }

    /// Adds the classes of the instructions that the samples of the selection fell on. `class` returns that of a frame.
    pub fn add_mix(
        &mut self,
        profile: &Profile,
        options: &ReportOptions,
        class: impl FnMut(FrameId) -> Option<InstructionClass>,
    ) {
        let names = Names::of(profile);
        let counts = StackCounts::of(profile, &Tasks::of(profile), &options.selection);
        let view = MixView::build(profile, &names, &counts, &self.selection.event, options.limit(), class);
        self.instructions = Some(view);
    }

    /// Adds the comparison with the baseline of the target. If the target is slow, the first finding reports it.
    pub fn compare_with_baseline(&mut self, profile: &Profile, baseline: &Baseline) {
        let view = BaselineComparisonView::build(profile, baseline);
        self.findings.found.splice(0..0, FindingView::of_baseline(&view.assessment));
        self.baseline_comparison = Some(view);
    }
}

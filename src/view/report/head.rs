//! What a report covers, and what was counted and sampled.

use crate::analysis::KindLoss;
use crate::model::{HardwareEvent, HardwarePlan};
use crate::view::Measured;
use serde::Serialize;

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
    /// CPUs whose samples are selected; empty for all. Metrics and waits are those of all CPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}

/// Number and quality of the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplesView {
    /// Samples, or rows of waits off the CPU, in the selection: the evidence.
    pub count: u64,
    /// Waits that the rows are the sum of; `None` of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<u64>,
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
    pub complete_share: Option<f64>,
    /// Share of stacks whose copied bytes ended too early.
    pub truncated_share: Option<f64>,
    /// Share of stacks that could not be unwound further.
    pub broken_share: Option<f64>,
    /// Sampled time over CPU time of the selected threads; 1 means all of it.
    pub coverage: Measured,
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
    pub(super) fn of(plan: &HardwarePlan) -> HardwareView {
        let event =
            |event: &HardwareEvent| HardwareEventView { role: event.role.clone(), event: event.event.name.clone() };
        let groups = plan.groups.iter().map(|group| group.events.iter().map(event).collect());
        let uarch = if plan.groups.is_empty() { String::new() } else { plan.uarch.clone() };
        HardwareView { uarch, groups: groups.collect() }
    }
}

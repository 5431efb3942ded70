//! The live sampling path: opens events on a target, drains their rings by readiness and reassembles the stream. A slow
//! reader does not slow the draining. Frames are symbolized elsewhere.
//!
//! The kernel's side is in `attach`, `rings`, `hardware`, `operations` and `run`; everything between a record's bytes
//! and the event stream (`assemble` and what it uses) is fed with bytes and asks the system only through one small
//! trait.

mod address_map;
mod assemble;
mod attach;
mod busy_children;
mod call_latency;
mod counters;
mod coverage;
mod cpu_clock;
mod earlier_waits;
mod even_spread;
mod event_queue;
mod event_requests;
mod event_trial;
mod follow;
mod hardware;
mod intern;
mod jit_tables;
mod latency_turns;
mod maps;
mod measured_calls;
mod memberships;
mod modules;
mod new_threads;
mod off_cpu;
mod open;
mod open_files;
mod opened;
mod operations;
mod ops_sources;
mod ops_trial;
mod origin;
mod overhead;
mod own_frames;
mod probe;
mod probe_file;
mod probe_names;
mod probe_point;
mod proc_source;
mod request;
mod rings;
mod run;
mod running_operations;
mod sample_cost;
mod sample_periods;
mod sampling_rate;
mod sampling_turns;
mod side_band;
mod sorter;
mod stack_spacing;
mod stacks;
mod steering;
mod summed_waits;
mod switches;
mod tasks;
mod trampolines;
mod usdt;
mod wait_cost;
mod waiting;

pub use address_map::AddressMap;
pub use counters::{KernelCounters, LastReading, Reader};
pub use event_queue::EventQueue;
pub use event_requests::STACK_BYTES;
pub use event_trial::{EventTrial, try_event};
pub use hardware::{HardwareTrial, try_hardware};
pub use intern::{Definitions, Interner, NAMED_BELOW, NEWEST};
pub use modules::{KERNEL, ModuleFile, ModuleFiles, Placed, build_id};
pub use ops_sources::{OpsClass, OpsSource, ops_sources};
pub use ops_trial::{OpsTrial, OpsTrials, try_operations};
pub use probe::{MoreSymbols, find_more_symbols};
pub use run::{EndReason, Ended};
pub use running_operations::RunningOperations;
pub use usdt::{ProbedFile, UsdtPlace, UsdtProbe, probes as usdt_probes, probes_of_file, probes_of_process};

use crate::model::{EventSpec, HardwarePlan, Note, Plan, WaitSource};
use crate::sys::bpf::WaitSums;
use crate::sys::clock::Clock;
use crate::sys::perf::event::Request;
use crate::sys::spawn::Started;
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use assemble::Assembler;
use attach::Attached;
use busy_children::BusyChildren;
use overhead::Overhead;
use proc_source::LiveProc;
use sampling_rate::SamplingRate;
use sampling_turns::SamplingTurns;
use std::sync::Arc;
use wait_cost::WaitCost;
use waiting::WaitSampler;

/// An opened capture: everything is in place and stopped until `run`.
pub struct Sampler {
    plan: Plan,
    clock: Clock,
    attached: Attached,
    hardware: HardwarePlan,
    counters: Option<KernelCounters>,
    assembler: Assembler<LiveProc>,
    command: Option<Started>,
    command_output: Option<CommandOutput>,
    /// Identities of the target's directories, if the target is control groups.
    places: Vec<Option<(u64, u64)>>,
    cpus: Vec<u32>,
    events: Vec<EventSpec>,
    sampling: SamplingRate,
    /// Whether inherited events sample now.
    turns: SamplingTurns,
    overhead: Arc<Overhead>,
    /// What events on the target's threads add to a switch.
    switch_cost: Option<Nanos>,
    wait_cost: Option<WaitCost>,
    /// How the samples of each event are requested, in the order of `events`.
    sampled: Vec<Request>,
    waits: Option<WaitSource>,
    wait_sampler: Option<WaitSampler>,
    sums: Option<WaitSums>,
    sums_read: stack_spacing::LastRead,
    busy_children: Option<BusyChildren>,
    notes: Vec<Note>,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").field("plan", &self.plan).field("notes", &self.notes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

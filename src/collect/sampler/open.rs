//! Opens a capture: starts the command, chooses the events and attaches them, all stopped.

use super::assemble::Assembler;
use super::attach::{self, AttachScope, CgroupDirectory};
use super::call_latency::CallLatency;
use super::counters::KernelCounters;
use super::follow::FollowedTasks;
use super::hardware::{self, Hardware};
use super::operations::{Operations, Place};
use super::ops_trial::expected_cost;
use super::overhead::Overhead;
use super::own_frames::OwnFrames;
use super::proc_source::LiveProc;
use super::sample_cost::sample_cost;
use super::sampling_rate::SamplingRate;
use super::sampling_turns::SamplingTurns;
use super::stack_spacing::LastRead;
use super::{Sampler, request, run, side_band};
use crate::error::{Context, Result};
use crate::model::{CallGraph, LatencySpec, OpsSpec, Plan, Rate, SampleSource, Target, Unit, WaitSource};
use crate::sys::clock::Clock;
use crate::sys::limits;
use crate::sys::perf::event::Request;
use crate::sys::spawn::{self, Started};
use crate::sys::sysfs::SysFs;
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use std::path::Path;
use std::sync::Arc;

impl Sampler {
    /// Finds the target and opens every event on it, stopped. A command is started, but waits before its `exec`.
    ///
    /// # Errors
    /// `NotFound` for a target that does not exist, `NotPermitted` and `Unsupported` for what the kernel refuses,
    /// `Exhausted` for limits; all with the remedy.
    pub fn open(plan: &Plan, clock: &Clock) -> Result<Sampler> {
        let root = Path::new("/");
        limits::raise_open_files();
        let mut event_requests = request::choose(plan, root)?;
        let mut notes = std::mem::take(&mut event_requests.notes);
        let (command, command_output) = start(plan)?;
        let cpus = cpus_of(&plan.target, root)?;
        let pid = command.as_ref().map(Started::pid);
        let attach_scope = attach::attach_scope(&plan.target, pid, &event_requests, &cpus, root, &mut notes)?;
        let switch_cost = side_band::switch_cost(&plan.target, &event_requests, &cpus);
        let (attach_scope, note) =
            side_band::afford(attach_scope, switch_cost, plan.max_sampling, &event_requests, &cpus, root);
        notes.extend(note);
        let on_threads = matches!(attach_scope, AttachScope::Processes(..) | AttachScope::Threads(_));
        let switch_cost = switch_cost.filter(|_| on_threads);
        let place = |group: &CgroupDirectory| group.directory.metadata().ok().map(|about| run::place(&about));
        let places = match &attach_scope {
            AttachScope::Cgroups(groups) => groups.iter().map(place).collect(),
            _ => Vec::new(),
        };
        // With a delay the events are started later, explicitly.
        let on_exec = command.is_some() && plan.delay.0 == 0;
        let mut attached = attach::attach(&event_requests, &attach_scope, &cpus, on_exec, root)
            .context(|| format!("cannot profile {}", plan.target.label()))?;
        let cost = sample_cost(&event_requests, &mut attached.rings, &cpus);
        let sampled: Vec<Request> = event_requests.sampled().cloned().collect();
        let sampling = SamplingRate::new(hertz(&sampled), plan.max_sampling, cost);
        let used = attached.events.len() + attached.everywhere.len() + attached.rings.all().len();
        let max_overhead = plan.max_overhead;
        let options =
            hardware::AttachOptions { attach_scope: &attach_scope, cpus: &cpus, on_exec, max_overhead, used, root };
        let (counters, kinds) = hardware::hardware_plan(&plan.hardware);
        let (hardware, counted) = Hardware::open(counters, &event_requests, &options);
        notes.append(&mut attached.notes);
        notes.extend(kinds.filter(|_| event_requests.hardware));
        notes.extend(counted);
        let place = Place { command: pid, cpus: &cpus, on_exec, root };
        let mut operations = Operations::open(plan, &place, &mut notes)?;
        let latency = CallLatency::open(plan, &place, event_requests.sums.as_ref(), *clock, &mut notes)?;
        let mut proc = LiveProc::new("/proc");
        proc.return_sites = latency.as_ref().and_then(CallLatency::return_sites);
        // A command has not begun yet.
        if let (Some(operations), None) = (&mut operations, pid) {
            notes.extend(expected_cost(operations, plan, &cpus, root));
        }
        let counted = hardware.plan().clone();
        let probes = latency.is_some() || operations.as_ref().is_some_and(Operations::is_probed);
        let own_frames = OwnFrames::of(event_requests.sums.as_ref(), probes, root);
        let first = event_requests.specs.first();
        let weighs_time = first.is_some_and(|spec| spec.unit == Unit::Nanos && !spec.exclude_kernel);
        let shows_kernel = weighs_time && plan.call_graph != CallGraph::None && !event_requests.exclude_kernel;
        let overhead = Arc::new(Overhead::new(shows_kernel && own_frames.knows_probes()));
        let counters = KernelCounters {
            hardware,
            operations,
            latency,
            stacks_time: event_requests.sums.as_ref().and_then(|sums| sums.stacks_time().ok()),
            overhead: Arc::clone(&overhead),
            switch_cost,
            first_switches: None,
            on_exec,
            clock: *clock,
            began: Nanos(0),
            too_costly: None,
        };
        let mut follow = FollowedTasks::new(&plan.target);
        pid.into_iter().for_each(|pid| follow.join(pid));
        let partial = event_requests.waits == Some(WaitSource::SwitchRecords);
        let mut assembler = Assembler::new(*clock, plan.call_graph, follow, partial, proc);
        if on_exec && attached.samples == SampleSource::Cpus {
            pid.into_iter().for_each(|pid| assembler.await_exec(pid));
        }
        assembler.leave_out(own_frames);
        assembler.overhead = shows_kernel.then(|| Arc::clone(&overhead));
        assembler.opened(std::mem::take(&mut attached.origins), std::mem::take(&mut attached.twice));
        let mut sampler = Sampler {
            plan: plan.clone(),
            clock: *clock,
            attached,
            hardware: counted,
            counters: Some(counters),
            assembler,
            command,
            command_output,
            places,
            cpus,
            events: event_requests.specs,
            sampling,
            turns: SamplingTurns::default(),
            overhead,
            switch_cost,
            wait_cost: None,
            sampled,
            waits: event_requests.waits,
            wait_sampler: None,
            sums: event_requests.sums,
            sums_read: LastRead::NEVER,
            busy_children: None,
            notes,
        };
        if let Some(note) = sampler.sampling.note_on_begin() {
            sampler.notes.push(note);
        }
        sampler.begin_periods();
        Ok(sampler)
    }
}

/// Starts the target if it is a command, with its output where that counts operations.
fn start(plan: &Plan) -> Result<(Option<Started>, Option<CommandOutput>)> {
    Ok(match &plan.target {
        Target::Command { argv } if reads_output(plan) => {
            let (command, output) = spawn::start_read(argv)?;
            (Some(command), Some(output))
        }
        Target::Command { argv } => (Some(spawn::start(argv)?), None),
        _ => (None, None),
    })
}

/// Whether the output of the target counts operations or says how long they took.
fn reads_output(plan: &Plan) -> bool {
    matches!(plan.ops, Some(OpsSpec::Output { .. })) || plan.latency.as_ref().is_some_and(LatencySpec::reads_output)
}

/// The CPUs that a target may run on.
pub(super) fn cpus_of(target: &Target, root: &Path) -> Result<Vec<u32>> {
    match target {
        Target::Cpus { cpus } if !cpus.is_empty() => Ok(cpus.clone()),
        _ => SysFs::new(root.join("sys")).online_cpus(),
    }
}

/// The frequency of the events that are sampled at one; 0 if there is none.
fn hertz(sampled: &[Request]) -> u64 {
    let frequency =
        |request: &Request| if let Some(Rate::Frequency(hertz)) = request.rate { Some(hertz) } else { None };
    sampled.iter().find_map(frequency).unwrap_or(0)
}

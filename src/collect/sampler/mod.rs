//! The live sampling path: opens events on a target, drains their rings by readiness and reassembles the stream. A slow
//! reader does not slow the draining. Frames are symbolized elsewhere.
//!
//! The kernel's side is in `attach`, `rings`, `hardware`, `operations` and `run`; everything between a record's bytes
//! and the event stream (`assemble` and what it uses) is fed with bytes and asks the system only through one small
//! trait.

mod address_map;
mod assemble;
mod attach;
mod counters;
mod coverage;
mod event_queue;
mod event_requests;
mod follow;
mod hardware;
mod intern;
mod maps;
mod modules;
mod new_threads;
mod off_cpu;
mod operations;
mod origin;
mod probe;
mod probe_file;
mod probe_names;
mod probe_point;
mod proc_source;
mod request;
mod rings;
mod run;
mod sorter;
mod stacks;
mod switches;
mod tasks;
mod waiting;

pub use address_map::AddressMap;
pub use counters::{KernelCounters, LastReading, Reader};
pub use event_queue::EventQueue;
pub use event_requests::STACK_BYTES;
pub use hardware::{HardwareTrial, try_hardware};
pub use intern::{Interner, NAMED_BELOW};
pub use modules::{KERNEL, ModuleFile, ModuleFiles, Placed};
pub use probe_point::build_id;
pub use run::{EndReason, Ended};

use crate::error::{Context, Result};
use crate::model::{EventSpec, HardwarePlan, Note, OpsSpec, Plan, SampleSource, Target, WaitSource};
use crate::sys::clock::Clock;
use crate::sys::limits;
use crate::sys::spawn::{self, Started};
use crate::sys::sysfs::SysFs;
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use assemble::Assembler;
use attach::{AttachScope, Attached};
use follow::Follow;
use hardware::Hardware;
use operations::Operations;
use proc_source::Proc;
use std::path::Path;
use std::sync::Arc;
use waiting::WaitSampler;

/// An opened capture: everything is in place and stopped until `run`.
pub struct Sampler {
    plan: Plan,
    clock: Clock,
    attached: Attached,
    hardware: HardwarePlan,
    counters: Option<KernelCounters>,
    assembler: Assembler<Proc>,
    command: Option<Started>,
    command_output: Option<CommandOutput>,
    /// Identity of the target's directory, if the target is a control group.
    place: Option<(u64, u64)>,
    cpus: Vec<u32>,
    events: Vec<EventSpec>,
    waits: Option<WaitSource>,
    wait_sampler: Option<WaitSampler>,
    notes: Vec<Note>,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").field("plan", &self.plan).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl Sampler {
    /// Finds the target and opens every event on it, stopped. A command is started, but waits before its `exec`.
    ///
    /// # Errors
    /// `NotFound` for a target that does not exist, `NotPermitted` and `Unsupported` for what the kernel refuses,
    /// `Exhausted` for limits; all with the remedy.
    pub fn open(plan: &Plan, clock: &Clock) -> Result<Sampler> {
        let root = Path::new("/");
        limits::raise_open_files();
        let mut menu = request::choose(plan, root)?;
        let mut notes = std::mem::take(&mut menu.notes);
        let (command, command_output) = match &plan.target {
            Target::Command { argv } if matches!(plan.ops, Some(OpsSpec::Output { .. })) => {
                let (command, command_output) = spawn::start_read(argv)?;
                (Some(command), Some(command_output))
            }
            Target::Command { argv } => (Some(spawn::start(argv)?), None),
            _ => (None, None),
        };
        let cpus = match &plan.target {
            Target::Cpus { cpus } if !cpus.is_empty() => cpus.clone(),
            _ => SysFs::new(root.join("sys")).online_cpus()?,
        };
        let pid = command.as_ref().map(Started::pid);
        let reach = attach::reach(&plan.target, pid, &menu, &cpus, root, &mut notes)?;
        let place = match &reach {
            AttachScope::Cgroup(directory) => directory.metadata().ok().map(|about| run::place(&about)),
            _ => None,
        };
        // With a delay the events are started later, explicitly.
        let on_exec = command.is_some() && plan.delay.0 == 0;
        let mut attached = attach::attach(&menu, &reach, &cpus, on_exec, root)
            .context(|| format!("cannot profile {}", plan.target.label()))?;
        let used = attached.events.len() + attached.everywhere.len() + attached.rings.all().len();
        let site = hardware::Site { reach: &reach, cpus: &cpus, on_exec, used, root };
        let (counters, kinds) = hardware::hardware_plan(&plan.hardware);
        let (hardware, counted) = Hardware::open(counters, &menu, &site);
        notes.append(&mut attached.notes);
        notes.extend(kinds.filter(|_| menu.hardware));
        notes.extend(counted);
        let operations = Operations::open(plan, pid, &cpus, on_exec, root, &mut notes)?;
        let counted = hardware.plan().clone();
        let counters = KernelCounters { hardware, operations, on_exec, clock: *clock, began: Nanos(0) };
        let mut follow = Follow::new(&plan.target);
        pid.into_iter().for_each(|pid| follow.join(pid));
        let partial = menu.waits == Some(WaitSource::SwitchRecords);
        let mut assembler = Assembler::new(*clock, plan.call_graph, follow, partial, Proc::new("/proc"));
        if on_exec && attached.samples == SampleSource::Cpus {
            pid.into_iter().for_each(|pid| assembler.await_exec(pid));
        }
        assembler.opened(std::mem::take(&mut attached.origins), std::mem::take(&mut attached.twice));
        Ok(Sampler {
            plan: plan.clone(),
            clock: *clock,
            attached,
            hardware: counted,
            counters: Some(counters),
            assembler,
            command,
            command_output,
            place,
            cpus,
            events: menu.specs,
            waits: menu.waits,
            wait_sampler: None,
            notes,
        })
    }

    /// Fallbacks taken and limits reached while opening.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Events actually sampled, in the order of the indices in `Sample::event`.
    #[must_use]
    pub fn events(&self) -> &[EventSpec] {
        &self.events
    }

    /// Where samples are taken.
    #[must_use]
    pub fn sample_source(&self) -> SampleSource {
        self.attached.samples
    }

    /// The source of off-CPU time, if that is requested.
    #[must_use]
    pub fn waits(&self) -> Option<WaitSource> {
        self.waits
    }

    /// Hardware events actually counted.
    #[must_use]
    pub fn hardware(&self) -> &HardwarePlan {
        &self.hardware
    }

    /// The kernel's other counters, for the thread that reads counters; `None` if they were already taken.
    pub fn take_counters(&mut self) -> Option<KernelCounters> {
        self.counters.take()
    }

    /// CPUs that events were opened on.
    #[must_use]
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// The process of a started command, which waits for `run`.
    #[must_use]
    pub fn command_pid(&self) -> Option<u32> {
        self.command.as_ref().map(Started::pid)
    }

    /// The output of a started command, if its operations are read from there; it must be read, or the command blocks.
    pub fn take_command_output(&mut self) -> Option<CommandOutput> {
        self.command_output.take()
    }

    /// Modules by id, with their files held open, for the symbolizer's thread.
    #[must_use]
    pub fn modules(&self) -> Arc<ModuleFiles> {
        self.assembler.modules().shared()
    }
}

//! What a capture was opened with.

use super::Sampler;
use super::counters::KernelCounters;
use super::modules::ModuleFiles;
use crate::model::{EventSpec, HardwarePlan, Note, SampleSource, WaitSource};
use crate::sys::spawn::Started;
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use std::sync::Arc;

impl Sampler {
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

    /// Time that a sample takes from the sampled thread, if that could be measured.
    #[must_use]
    pub fn sample_cost(&self) -> Option<Nanos> {
        self.sampling.cost
    }

    /// Time that events on the target's threads add to a switch to one, if there are such events and it could be measured.
    #[must_use]
    pub fn switch_cost(&self) -> Option<Nanos> {
        self.switch_cost
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

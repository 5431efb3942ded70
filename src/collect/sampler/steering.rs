//! Steers the sampling frequency of a running capture by what samples cost.

use super::Sampler;
use super::origin::{RingKind, Role};
use super::sampling_rate::SamplingCost;
use crate::model::{Rate, SampleSource, Target};
use crate::sys::clock::thread_cpu;

impl Sampler {
    /// Adapts the sampling frequency to what samples cost, once a window. Inherited events keep theirs, and the kernel
    /// exchanges them between threads, so these cannot be steered.
    pub(super) fn steer_sampling(&mut self) {
        let at = self.clock.now();
        let inherited =
            self.attached.samples == SampleSource::Threads && !matches!(self.plan.target, Target::Threads { .. });
        if inherited || !self.sampling.is_due(at, self.plan.interval) {
            return;
        }
        let (samples, records) = (self.assembler.samples, self.assembler.records.number_read(RingKind::Samples));
        let cost = SamplingCost { at, samples, drained: thread_cpu(), records };
        let events = self.sampled.iter().filter(|request| request.rate.is_some()).count();
        if self.sampling.next(cost, events) {
            self.set_frequency();
        }
    }

    /// Samples at the frequency that was chosen, from now on.
    pub(super) fn set_frequency(&mut self) {
        let hertz = self.sampling.hertz;
        for event in self.attached.all() {
            let origin = event.id().ok().and_then(|id| self.assembler.origins().get(&id));
            let Some(Role::Event(index)) = origin.map(|origin| origin.role) else { continue };
            let Some(request) = self.sampled.get(usize::from(index)) else { continue };
            if matches!(request.rate, Some(Rate::Frequency(_))) {
                // Fails only for a thread that has ended.
                let _ = event.set_frequency(hertz, request.is_clock());
            }
        }
        self.assembler.clocks.changed(self.clock.now(), hertz);
    }
}

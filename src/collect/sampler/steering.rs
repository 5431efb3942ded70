//! Steers the sampling frequency of a running capture by what samples cost.

use super::Sampler;
use super::origin::{RingKind, Role};
use super::sampling_rate::SamplingCost;
use crate::model::{Rate, SampleSource, Target};
use crate::sys::clock::thread_cpu;
use crate::sys::perf::event::PerfEvent;
use crate::units::Nanos;

impl Sampler {
    /// Adapts the sampling frequency to what the capture costs, once a window. Inherited events keep theirs, and the kernel
    /// exchanges them between threads, so these sample in turns.
    pub(super) fn steer_sampling(&mut self) {
        let at = self.clock.now();
        let inherited =
            self.attached.samples == SampleSource::Threads && !matches!(self.plan.target, Target::Threads { .. });
        if self.sampling.is_due(at, self.plan.interval) {
            let (samples, records) = (self.assembler.samples, self.assembler.records.number_read(RingKind::Samples));
            // Turns lose what happens meanwhile: only what the target pays is worth that.
            let drained = if inherited { Nanos(0) } else { thread_cpu() };
            let cost = SamplingCost { at, samples, drained, records, others: self.overhead.total() };
            let events = self.sampled.iter().filter(|request| request.rate.is_some()).count();
            if self.sampling.next(cost, events) {
                if inherited {
                    // Samples stand for the turns without samples as well.
                    let (hertz, share) = (self.sampling.hertz, self.sampling.share());
                    self.assembler.clocks.in_turns(at, hertz, share);
                } else {
                    self.set_frequency();
                }
            }
        }
        let turn = if inherited { self.turns.next(at, self.sampling.share()) } else { None };
        if let Some(samples) = turn {
            for event in self.at_a_frequency().map(|(event, _)| event) {
                // Fails only for a thread that has ended.
                let _ = if samples { event.enable() } else { event.disable() };
            }
        }
    }

    /// The events that sample at a frequency, and whether each is a clock.
    fn at_a_frequency(&self) -> impl Iterator<Item = (&PerfEvent, bool)> {
        self.attached.all().filter_map(|event| {
            let origin = self.assembler.origins().get(&event.id().ok()?)?;
            let Role::Event(index) = origin.role else { return None };
            let request = self.sampled.get(usize::from(index))?;
            matches!(request.rate, Some(Rate::Frequency(_))).then(|| (event, request.is_clock()))
        })
    }

    /// Samples at the frequency that was chosen, from now on.
    pub(super) fn set_frequency(&mut self) {
        let hertz = self.sampling.hertz;
        for (event, is_clock) in self.at_a_frequency() {
            // Fails only for a thread that has ended.
            let _ = event.set_frequency(hertz, is_clock);
        }
        self.assembler.clocks.changed(self.clock.now(), hertz);
    }
}

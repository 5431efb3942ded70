//! Steers the sampling frequency of a running capture: its mean by what samples cost, and each event's around that at random.

use super::Sampler;
use super::origin::{RingKind, Role};
use super::sample_periods::{NextPeriod, SamplePeriods};
use super::sampling_rate::SamplingCost;
use crate::model::{SampleSource, Target};
use crate::sys::clock::{Clock, monotonic_ns, thread_cpu};
use crate::sys::perf::event::PerfEvent;
use crate::units::Nanos;

impl Sampler {
    /// Adapts the sampling frequency to what the capture costs, once a window. Inherited events keep theirs, and the kernel
    /// exchanges them between threads, so these sample in turns.
    pub(super) fn steer_sampling(&mut self) {
        let at = self.clock.now();
        let inherited = self.is_inherited();
        if self.sampling.is_due(at, self.plan.interval) {
            let (samples, records) = (self.assembler.samples, self.assembler.records.number_read(RingKind::Samples));
            // Turns lose what happens meanwhile: only what the target pays is worth that.
            let drained = if inherited { Nanos(0) } else { thread_cpu() };
            let cost = SamplingCost { at, samples, drained, records, others: self.overhead.total() };
            let events = self.sampled.iter().filter(|request| request.rate.is_some()).count();
            if self.sampling.next(cost, events) {
                if inherited {
                    // Samples stand for the turns without samples as well.
                    self.assembler.periods.in_turns(at, self.sampling.share());
                } else {
                    self.set_frequency();
                }
            }
        }
        let turn = if inherited { self.turns.next(at, self.sampling.share()) } else { None };
        if let Some(samples) = turn {
            let periods = &self.assembler.periods;
            for (_, event) in self.attached.all().enumerate().filter(|(at, _)| periods.is_varied(*at)) {
                // Fails only for a thread that has ended.
                let _ = if samples { event.enable() } else { event.disable() };
            }
        }
    }

    fn is_inherited(&self) -> bool {
        self.attached.samples == SampleSource::Threads && !matches!(self.plan.target, Target::Threads { .. })
    }

    /// Knows the opened events, and gives each its first period.
    pub(super) fn begin_periods(&mut self) {
        let origins = self.assembler.origins();
        let whole = !matches!(self.plan.target, Target::Cgroup { .. });
        let sampled = self.attached.all().map(|event| {
            let id = event.id().ok()?;
            let origin = origins.get(&id)?;
            let Role::Event(index) = origin.role else { return None };
            Some((id, self.sampled.get(usize::from(index))?, whole && origin.owner.is_none()))
        });
        self.assembler.periods = SamplePeriods::of(sampled, monotonic_ns());
        self.set_frequency();
    }

    /// Samples at the mean frequency that was chosen, from now on.
    fn set_frequency(&mut self) {
        let (periods, attached, clock) = (&mut self.assembler.periods, &self.attached, &self.clock);
        periods.change_all(self.sampling.hertz, |at, next| set(attached.at(at)?, next, clock));
    }

    /// Changes the periods that have been kept for long enough. Inherited copies keep theirs.
    pub(super) fn vary_periods(&mut self) {
        // Turns change how long events sample, not how often meanwhile.
        let hertz = if self.is_inherited() { self.sampling.most() } else { self.sampling.hertz };
        let (periods, attached, clock) = (&mut self.assembler.periods, &self.attached, &self.clock);
        periods.vary(clock.now(), hertz, |at, next| set(attached.at(at)?, next, clock));
    }
}

/// When the kernel had set the period; `None` if the event's thread has ended.
fn set(event: &PerfEvent, next: NextPeriod, clock: &Clock) -> Option<Nanos> {
    event.set_period(if next.is_clock { next.period } else { next.hertz }).ok()?;
    Some(clock.now())
}

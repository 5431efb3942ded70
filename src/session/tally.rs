//! The few numbers a recorder can say at the end without having kept the session in memory.
//! It never replaces a report.

use crate::model::{Event, StackEnd};

/// What went by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Samples.
    pub samples: u64,
    /// Records lost because a ring was full.
    pub lost: u64,
    /// Stacks that were taken.
    pub stacks: u64,
    /// Of these, those that reached the program's or thread's start.
    pub whole: u64,
}

impl Tally {
    /// Counts one event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Sample(sample) => {
                self.samples += 1;
                self.stacks += u64::from(sample.end != StackEnd::NotTaken);
                self.whole += u64::from(sample.end == StackEnd::Whole);
            }
            Event::Lost(lost) if lost.kind.is_samples() => self.lost += lost.count,
            _ => {}
        }
    }

    /// Share of the stacks that are whole, 0 to 1; `None` if none were taken.
    #[must_use]
    pub fn whole_share(&self) -> Option<f64> {
        (self.stacks > 0).then(|| self.whole as f64 / self.stacks as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LossKind, Lost, Sample};
    use crate::units::Nanos;

    #[test]
    fn samples_without_a_stack_are_no_broken_stacks() {
        let mut tally = Tally::default();
        for end in [StackEnd::Whole, StackEnd::NotTaken, StackEnd::Broken, StackEnd::Truncated] {
            let (at, stack) = (Nanos(0), None);
            let sample = Sample { at, pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false };
            tally.add(&Event::Sample(sample));
        }
        for (kind, count) in [(LossKind::Ring, 5), (LossKind::Throttled, 1)] {
            tally.add(&Event::Lost(Lost { at: Nanos(0), cpu: 0, kind, count }));
        }
        assert_eq!(tally, Tally { samples: 4, lost: 5, stacks: 3, whole: 1 });
        assert_eq!((tally.whole_share(), Tally::default().whole_share()), (Some(1.0 / 3.0), None));
    }
}

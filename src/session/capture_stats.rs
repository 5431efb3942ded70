//! The few totals that a recorder can report at the end without keeping the session in memory.

use crate::model::{Event, StackEnd};

/// Totals of a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureStats {
    /// Samples.
    pub samples: u64,
    /// Records lost because a ring buffer was full.
    pub lost: u64,
    /// Stacks taken.
    pub stacks: u64,
    /// Of these, the stacks that reached the start of the program or thread.
    pub whole: u64,
}

impl CaptureStats {
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
        let mut capture_stats = CaptureStats::default();
        for end in [StackEnd::Whole, StackEnd::NotTaken, StackEnd::Broken, StackEnd::Truncated] {
            let (at, stack) = (Nanos(0), None);
            let sample = Sample { at, pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false };
            capture_stats.add(&Event::Sample(sample));
        }
        for (kind, count) in [(LossKind::Ring, 5), (LossKind::Throttled, 1)] {
            capture_stats.add(&Event::Lost(Lost { at: Nanos(0), cpu: 0, kind, count }));
        }
        assert_eq!(capture_stats, CaptureStats { samples: 4, lost: 5, stacks: 3, whole: 1 });
        assert_eq!((capture_stats.whole_share(), CaptureStats::default().whole_share()), (Some(1.0 / 3.0), None));
    }
}

//! How much of the blocked time has a known cause: from the span's own stack, from similar spans, or not at all.

use crate::model::{OffCpu, TaskState};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Share of the blocked time that may be in doubt without changing the conclusions. [P]
const DOUBTFUL: f64 = 0.1;
/// Half-widths of a 95% interval, in standard deviations.
const TWO_SIDED_95: f64 = 1.96;
/// Marks the waits of a thread and state in place of those of a thread and length.
const SUMMED: u8 = 0x80;

/// The blocked time by how its cause is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaitCoverage {
    blocked: u64,
    unseen: u64,
    /// By thread and length: spans with a stack of their own, and the time of the spans that borrow theirs.
    alike: FxHashMap<(u32, u8), (u64, u64)>,
}

impl WaitCoverage {
    /// Adds the selected part of a span.
    pub fn add(&mut self, span: &OffCpu, weight: u64) {
        if span.state == TaskState::Runnable {
            return;
        }
        self.blocked = self.blocked.saturating_add(weight);
        match (span.stack, span.estimated) {
            (None, _) => self.unseen = self.unseen.saturating_add(weight),
            // The stack of one wait, which stands for others of the thread and state.
            (Some(_), _) if span.count > 1 => {
                let (sampled, time) = self.alike.entry((span.tid, SUMMED | span.state as u8)).or_default();
                (*sampled, *time) = (*sampled + 1, time.saturating_add(weight));
            }
            (Some(_), false) => self.alike(span).0 += 1,
            (Some(_), true) => {
                let (_, time) = self.alike(span);
                *time = time.saturating_add(weight);
            }
        }
    }

    fn alike(&mut self, span: &OffCpu) -> &mut (u64, u64) {
        self.alike.entry((span.tid, span.length())).or_default()
    }

    /// Time blocked without any stack.
    #[must_use]
    pub fn unseen(&self) -> Nanos {
        Nanos(self.unseen)
    }

    /// Blocked time whose stacks were taken from other spans of the same thread and length.
    #[must_use]
    pub fn estimated(&self) -> Nanos {
        Nanos(self.alike.values().fold(0, |sum, (_, time)| sum.saturating_add(*time)))
    }

    /// Number of sampled spans that this time is distributed over.
    #[must_use]
    pub fn sampled(&self) -> u64 {
        self.alike.values().filter(|(_, time)| *time > 0).map(|(sampled, _)| sampled).sum()
    }

    /// Half-width of the 95% interval of the estimated time of a cause that has half of it; the others' are narrower.
    #[must_use]
    pub fn error(&self) -> Nanos {
        let of = |(sampled, time): &(u64, u64)| (*time as f64).powi(2) / (4 * (*sampled).max(1)) as f64;
        Nanos((TWO_SIDED_95 * self.alike.values().map(of).sum::<f64>().sqrt()) as u64)
    }

    /// The share of the blocked time whose cause is unknown or may be wrong, if it is too large for conclusions.
    #[must_use]
    pub fn doubtful(&self) -> Option<f64> {
        let doubtful = (self.unseen().0 as f64 + self.error().0 as f64) / self.blocked.max(1) as f64;
        (doubtful > DOUBTFUL).then_some(doubtful.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{StackEnd, StackId, WaitBegan};

    #[test]
    fn few_looks_make_estimates_rough_and_none_leaves_time_unseen() {
        let span = |blocked: u64, stack: Option<u32>, estimated| OffCpu {
            at: Nanos(0),
            pid: 1,
            tid: 1,
            state: TaskState::Sleeping,
            blocked: Nanos(blocked),
            queued: None,
            stack: stack.map(StackId),
            end: StackEnd::Whole,
            estimated,
            count: 1,
            longest: Nanos(blocked),
            began: WaitBegan::Seen,
        };
        // Sampled spans of a length, 1 us spans that borrow their stacks, unseen spans; unseen, estimated, error in us.
        for (looks, taking, none, expected, doubtful) in [
            (100, 0, 0, (0, 0, 0), false),
            (100, 900, 0, (0, 900, 88), false),
            (4, 996, 0, (0, 996, 488), true),
            (0, 0, 10, (10, 0, 0), true),
        ] {
            let mut coverage = WaitCoverage::default();
            let parts = [(looks, Some(1), false), (taking, Some(1), true), (none, None, false)];
            for (count, stack, estimated) in parts {
                (0..count).for_each(|_| coverage.add(&span(1_000, stack, estimated), 1_000));
            }
            let found = (coverage.unseen(), coverage.estimated(), coverage.error());
            assert_eq!((found.0.0 / 1000, found.1.0 / 1000, found.2.0 / 1000), expected, "{looks} {taking} {none}");
            assert_eq!(coverage.doubtful().is_some(), doubtful, "{looks} {taking} {none}");
            assert!(taking == 0 || coverage.sampled() == looks);
        }
    }
}

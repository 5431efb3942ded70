//! Computes the share of CPU time used by threads that were read: how well sums over threads represent the target.

use super::cache::TickTiming;
use crate::units::Nanos;

/// The two clocks are read one after the other: a difference below this share (a divisor) is not an unread thread.
const CLOCK_ERROR: u64 = 100;

/// CPU time of threads that ended unread, and of ended ones after their last reading.
#[derive(Debug, Default)]
pub(super) struct UnreadTime {
    cpu_ns: u64,
}

impl UnreadTime {
    /// The moment of sums over threads that account for `read` of the target's `total` nanoseconds of CPU time.
    pub(super) fn moment(&mut self, total: u64, read: u64, now: TickTiming) -> TickTiming {
        let beyond = total.saturating_sub(read).saturating_sub(total / CLOCK_ERROR);
        self.cpu_ns = self.cpu_ns.max(beyond).min(total);
        TickTiming { enabled: Nanos(total), running: Nanos(total - self.cpu_ns), ..now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_read_threads_stays_unread() {
        let mut unread = UnreadTime::default();
        let now = TickTiming::whole(Nanos(9), Nanos(9));
        for (total, read, running) in [(1000, 995, 1000), (2000, 1480, 1500), (3000, 2970, 2500), (4000, 1000, 1040)] {
            let moment = unread.moment(total, read, now);
            assert_eq!((moment.enabled.0, moment.running.0), (total, running), "{read} of {total}");
        }
    }
}

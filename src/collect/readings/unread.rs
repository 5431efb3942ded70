//! What share of the CPU time was used by threads whose counters were read: how far sums over threads speak for the target.

use super::sheet::Moment;
use crate::units::Nanos;

/// The two clocks are read one after the other: what they differ by below this share is no unread thread.
const CLOCK_ERROR: u64 = 100;

/// CPU time of threads that ended unread, and of ended ones after their last reading.
#[derive(Debug, Default)]
pub(super) struct Unread {
    cpu_ns: u64,
}

impl Unread {
    /// The moment of sums over threads, of which `read` nanoseconds of CPU time are known, where the target used `total`.
    pub(super) fn moment(&mut self, total: u64, read: u64, now: Moment) -> Moment {
        let beyond = total.saturating_sub(read).saturating_sub(total / CLOCK_ERROR);
        self.cpu_ns = self.cpu_ns.max(beyond).min(total);
        Moment { enabled: Nanos(total), running: Nanos(total - self.cpu_ns), ..now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_read_threads_stays_unread() {
        let mut unread = Unread::default();
        let now = Moment::whole(Nanos(9), Nanos(9));
        for (total, read, running) in [(1000, 995, 1000), (2000, 1480, 1500), (3000, 2970, 2500), (4000, 1000, 1040)] {
            let moment = unread.moment(total, read, now);
            assert_eq!((moment.enabled.0, moment.running.0), (total, running), "{read} of {total}");
        }
    }
}

//! What ironlaw costs the target besides the samples themselves. The threads that drain and that read counters find it out; one of
//! them bounds it, the other one records it.

use super::own_frames::OwnCode;
use crate::units::Nanos;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// CPU time of the target so far, by what took it.
#[derive(Debug, Default)]
pub struct Overhead {
    /// Whether samples show where probes are served.
    samples_show_probes: bool,
    waits_sampled: AtomicU64,
    waits_measured: AtomicU64,
    probes_sampled: AtomicU64,
    probes_expected: AtomicU64,
    counters: AtomicU64,
    switches: AtomicU64,
}

impl Overhead {
    /// Nothing so far. If samples show where probes are served, what these cost is counted by them.
    pub fn new(samples_show_probes: bool) -> Overhead {
        Overhead { samples_show_probes, ..Overhead::default() }
    }

    /// Whether what probes cost is counted by samples.
    pub fn samples_show_probes(&self) -> bool {
        self.samples_show_probes
    }

    /// A sample of this CPU time fell on own code.
    pub fn sampled(&self, code: OwnCode, time: u64) {
        let part = match code {
            OwnCode::Waits => &self.waits_sampled,
            OwnCode::Probes => &self.probes_sampled,
        };
        part.fetch_add(time, Relaxed);
    }

    /// By other means, seeing waits was found to have taken this long.
    pub fn waits_took(&self, time: Nanos) {
        self.waits_measured.fetch_max(time.0, Relaxed);
    }

    /// The hits of probes so far should have taken this long, by what one took in a trial.
    pub fn expect_of_probes(&self, time: Nanos) {
        self.probes_expected.store(time.0, Relaxed);
    }

    /// Counting took this long.
    pub fn counters_took(&self, time: Nanos) {
        self.counters.store(time.0, Relaxed);
    }

    /// Events on the target's threads made its switches so much longer.
    pub fn switches_took(&self, time: Nanos) {
        self.switches.store(time.0, Relaxed);
    }

    /// Sampling events at switches.
    pub fn switches(&self) -> Nanos {
        Nanos(self.switches.load(Relaxed))
    }

    /// Seeing waits. Each way to find it out leaves something out, so the larger one counts.
    pub fn waits(&self) -> Nanos {
        Nanos(self.waits_sampled.load(Relaxed).max(self.waits_measured.load(Relaxed)))
    }

    /// Hardware counters at switches.
    pub fn counters(&self) -> Nanos {
        Nanos(self.counters.load(Relaxed))
    }

    /// Probes of calls.
    pub fn probes(&self) -> Nanos {
        Nanos(if self.samples_show_probes { &self.probes_sampled } else { &self.probes_expected }.load(Relaxed))
    }

    /// All of these.
    pub fn total(&self) -> Nanos {
        self.waits() + self.counters() + self.probes() + self.switches()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_count_by_the_larger_finding_and_probes_by_samples_where_these_show_them() {
        for (shown, probes) in [(true, 40), (false, 7)] {
            let overhead = Overhead::new(shown);
            overhead.sampled(OwnCode::Waits, 10);
            assert_eq!(overhead.waits(), Nanos(10));
            overhead.waits_took(Nanos(90));
            overhead.waits_took(Nanos(60));
            overhead.sampled(OwnCode::Waits, 20);
            overhead.sampled(OwnCode::Probes, 40);
            overhead.expect_of_probes(Nanos(7));
            overhead.counters_took(Nanos(5));
            overhead.switches_took(Nanos(3));
            assert_eq!(
                (overhead.waits(), overhead.probes(), overhead.counters()),
                (Nanos(90), Nanos(probes), Nanos(5))
            );
            assert_eq!(overhead.total(), Nanos(98 + probes));
        }
    }
}

//! The only clock reads of the program, so that every time in a recording has one origin.
//! It never converts between clocks: instants are `CLOCK_MONOTONIC`, only the start is also kept as Unix time.

use crate::units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The recording's clock: `CLOCK_MONOTONIC`, counted from one instant.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start_ns: u64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Clock {
        Clock { start_ns: monotonic_ns() }
    }

    /// A clock whose zero is the given `CLOCK_MONOTONIC` time in nanoseconds.
    #[must_use]
    pub fn starting_at(start_ns: u64) -> Clock {
        Clock { start_ns }
    }

    /// Its zero on `CLOCK_MONOTONIC`, nanoseconds.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.instant(monotonic_ns())
    }

    /// A `CLOCK_MONOTONIC` time as a time since the start; earlier times become zero.
    #[must_use]
    pub fn instant(&self, monotonic_ns: u64) -> Nanos {
        Nanos(monotonic_ns.saturating_sub(self.start_ns))
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// Nanoseconds since the Unix epoch.
#[must_use]
pub fn unix_ns() -> u64 {
    read(ClockId::Realtime)
}

/// CPU time of the calling thread.
#[must_use]
pub fn thread_cpu() -> Nanos {
    Nanos(read(ClockId::ThreadCPUTime))
}

/// CPU time of this process, all threads.
#[must_use]
pub fn process_cpu() -> Nanos {
    Nanos(read(ClockId::ProcessCPUTime))
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_before_the_start_is_zero_and_later_ones_count_from_it() {
        let clock = Clock::starting_at(100);
        assert_eq!((clock.instant(40), clock.instant(140)), (Nanos(0), Nanos(40)));
    }

    #[test]
    fn cpu_time_grows_only_by_work() {
        let before = thread_cpu();
        let mut sum = 0u64;
        while thread_cpu() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(process_cpu() >= thread_cpu() - before);
    }
}

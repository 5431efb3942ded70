//! The only clock reads of the program, so that all times in a recording share one origin.
//! Instants are `CLOCK_MONOTONIC`; only the start is also kept as Unix time.

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

    /// The start on `CLOCK_MONOTONIC`, nanoseconds.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.instant(monotonic_ns())
    }

    /// Converts a `CLOCK_MONOTONIC` time to a time since the start; earlier times become zero.
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

/// Reads a process's CPU time; a fake proc tree has none.
pub type CpuClock = fn(u32) -> Option<Nanos>;

/// CPU time another process has used since its start, in nanoseconds, including threads that have ended. The time of a
/// running thread since the last scheduler tick is added at that tick. `None` when the process is gone.
/// Needs no privilege, and costs the kernel a walk over the threads (30 ns each).
#[must_use]
pub fn process_cpu_of(pid: u32) -> Option<Nanos> {
    // The kernel's encoding of process clocks (`CPUCLOCK_SCHED` = 2), as clock_getcpuclockid(3) builds it.
    let clock = !i32::try_from(pid).ok()? << 3 | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the duration of the call, which writes nothing else.
    if pid == 0 || unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Nanos(seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).ok()?)))
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
    fn the_clock_of_another_process_is_the_one_it_reads_itself() {
        let own = process_cpu_of(std::process::id()).unwrap_or_default();
        assert!(own > Nanos(0) && own <= process_cpu(), "{own:?}");
        assert_eq!(process_cpu_of(0), None, "0 would be this process itself");
        assert_eq!(process_cpu_of(u32::MAX), None);
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

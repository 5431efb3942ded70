//! Checks whether performance events work here by opening and counting them: a listed event may still not count.
//! Each event is open only for a moment.

use perf_event_open::config::{Cpu, Opts, Proc, SampleOn, Target};
use perf_event_open::count::Counter;
use perf_event_open::event::Event;
use perf_event_open::event::hw::Hardware;
use perf_event_open::event::sw::Software;
use perf_event_open::event::tp::Tracepoint;
use std::hint::black_box;
use std::io;

/// An event to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// Sample this thread in user mode by the clock: the minimum that profiling needs.
    UserClock,
    /// Sample this thread in user and kernel mode by the clock.
    KernelClock,
    /// Sample everything on one CPU.
    WholeCpu(u32),
    /// Count CPU cycles of this thread in user mode.
    Cycles,
    /// Sample a tracepoint on this thread, by its number.
    Tracepoint(u64),
}

/// Result of a trial: the count, or the kernel's error number (0 where there was none).
pub type Outcome = Result<u64, i32>;

/// Opens the event, runs a short loop and counts.
pub fn attempt(trial: Trial) -> Outcome {
    open_and_count(trial).map_err(|error| error.raw_os_error().unwrap_or(0))
}

fn open_and_count(trial: Trial) -> io::Result<u64> {
    let mut options = Opts::default();
    options.exclude.kernel = matches!(trial, Trial::UserClock | Trial::Cycles);
    options.exclude.hv = options.exclude.kernel;
    options.sample_on = match trial {
        Trial::Cycles => options.sample_on,
        Trial::Tracepoint(_) => SampleOn::Count(1),
        _ => SampleOn::Freq(97),
    };
    let own_thread = (Proc::CURRENT, Cpu::ALL);
    match trial {
        Trial::Cycles => count(Hardware::CpuCycle, own_thread, &options),
        Trial::Tracepoint(id) => count(Tracepoint { id }, own_thread, &options),
        Trial::WholeCpu(cpu) => count(Software::CpuClock, (Proc::ALL, Cpu(cpu)), &options),
        Trial::UserClock | Trial::KernelClock => count(Software::CpuClock, own_thread, &options),
    }
}

fn count(event: impl TryInto<Event, Error = io::Error>, target: impl Into<Target>, options: &Opts) -> io::Result<u64> {
    let counter = Counter::new(event, target, options)?;
    counter.enable()?;
    black_box((0..1_000_000u64).fold(0u64, |sum, step| black_box(sum.wrapping_add(step))));
    counter.disable()?;
    Ok(counter.stat()?.count)
}

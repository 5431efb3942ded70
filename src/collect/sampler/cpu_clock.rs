//! When a thread that does not run ran last. The kernel keeps that on the clock of the thread's CPU; a thread of our own
//! shows how far that clock lies behind `CLOCK_MONOTONIC`.

use super::proc_source::ProcSource;
use crate::sys::affinity::OneCpu;
use crate::sys::clock::monotonic_ns;
use crate::sys::procfs::{ProcFs, last_ran, task_stat};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// The two clocks are read within this, or again.
const CLOSE: u64 = 500_000;
/// How often they are read at most; the closest reading counts.
const READINGS: usize = 5;
/// Farther apart they are of no use.
const APART: u64 = 20_000_000;
/// Time for all CPUs together: on a busy one a new thread waits for its turn. Further CPUs stay unknown.
const AT_MOST: Nanos = Nanos(200_000_000);

/// The clocks of the CPUs that were asked for.
#[derive(Debug)]
pub struct CpuClocks {
    /// How far each lies behind `CLOCK_MONOTONIC`, nanoseconds; `None` if that could not be read.
    behind: FxHashMap<u32, Option<u64>>,
    left: Nanos,
}

impl CpuClocks {
    /// Knows no clock yet.
    pub fn new() -> CpuClocks {
        CpuClocks { behind: FxHashMap::default(), left: AT_MOST }
    }

    /// When this thread, which is blocked, ran last, on `CLOCK_MONOTONIC`, nanoseconds. The time that interrupts and the
    /// host have taken from its CPU since then is left out: it may have been that much earlier.
    pub fn last_ran(&mut self, tid: u32, proc: &mut impl ProcSource) -> Option<u64> {
        let Nanos(ran) = last_ran(&proc.read(tid, "sched").ok()?)?;
        let cpu = task_stat(&proc.read(tid, &format!("task/{tid}/stat")).ok()?)?.cpu?;
        let behind = match self.behind.get(&cpu) {
            Some(known) => *known,
            None => {
                let began = monotonic_ns();
                let read = if self.left > Nanos(0) { read_for(cpu, self.left) } else { None };
                self.left = self.left - Nanos(monotonic_ns() - began);
                self.behind.insert(cpu, read);
                read
            }
        };
        Some(ran + behind?)
    }
}

/// How far the clock of a CPU lies behind; `None` if it was not read within the time. A thread that is moved to a CPU waits
/// for it as long as others keep it, so another one goes there.
fn read_for(cpu: u32, at_most: Nanos) -> Option<u64> {
    let (tell, told) = sync_channel(1);
    // Nobody may wait for the answer any more.
    let there = move || tell.send(read(cpu)).unwrap_or_default();
    std::thread::Builder::new().name("cpu-clock".into()).spawn(there).ok()?;
    told.recv_timeout(Duration::from_nanos(at_most.0)).ok()?
}

/// The same, on the calling thread.
fn read(cpu: u32) -> Option<u64> {
    let _there = OneCpu::stay_on(cpu)?;
    let proc = ProcFs::new("/proc");
    let mut best: Option<(u64, u64)> = None;
    for _ in 0..READINGS {
        let before = monotonic_ns();
        // The kernel notes the time when a thread yields.
        std::thread::yield_now();
        let own = last_ran(&proc.read("thread-self/sched").ok()?)?.0;
        let after = monotonic_ns();
        let apart = after - before;
        if best.is_none_or(|(least, _)| apart < least) {
            best = Some((apart, before.checked_sub(own)?));
        }
        if apart < CLOSE {
            break;
        }
    }
    best.filter(|(apart, _)| *apart < APART).map(|(_, behind)| behind)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::proc_source::LiveProc;
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_that_sleeps_ran_last_when_it_began_to() {
        let (told, tid) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            told.send(link.file_name().unwrap().to_str().unwrap().parse::<u32>().unwrap()).unwrap();
            let _ = ended.recv();
        });
        let before = monotonic_ns();
        let tid = tid.recv().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let ran =
            CpuClocks::new().last_ran(tid, &mut LiveProc::new("/proc")).expect("this kernel prints when a thread ran");
        // What the host or interrupts took meanwhile is left out, and so is how far apart the clocks were read.
        let slack = 2 * APART;
        assert!(ran + slack > before, "it ran after {before}, not at {ran}");
        assert!(ran < monotonic_ns(), "it does not run in the future");
        drop(end);
        sleeper.join().unwrap();
        assert_eq!(CpuClocks::new().last_ran(u32::MAX - 1, &mut LiveProc::new("/proc")), None);
    }
}

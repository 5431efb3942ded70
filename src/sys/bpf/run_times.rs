//! Measures what programs on tracepoints cost the threads they run in. For a short time, a program before and one after each
//! of them read the clock: what lies between is the program with the way there and back, and with caches as the threads
//! leave them. Statistics of the kernel (`BPF_ENABLE_STATS`) leave that way out, a third of the cost, and count the runs in
//! all threads; samples of a clock come late, as two of the tracepoints lie where interrupts are off.

use super::calls::{self, Instruction};
use super::code::{AT_LEAST, Code, EQUAL, FRAME, GET_CURRENT_PID_TGID, KTIME_GET_NS, R0, R1, R2, R7, R8, TASK};
use crate::units::Nanos;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Tracepoints whose programs are measured.
pub(super) const MEASURED: usize = 3;
/// Longer runs were interrupted: a hypervisor took the CPU.
const LONGEST: i32 = 1 << 16;

/// Places in the frame: the thread, the index of the only entry.
const KEY: i16 = -4;
const FIRST: i16 = -8;

/// The links by which programs are attached, in the order of the programs.
pub(super) type Links = Arc<Mutex<Vec<OwnedFd>>>;

/// What programs cost in the followed threads, as far as it was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunTime {
    /// The time of all of them.
    pub time: Nanos,
    /// Times that the last of them ran.
    pub runs: u64,
}

/// Programs whose runs can be measured.
#[derive(Debug)]
pub struct RunTimes {
    programs: Vec<(OwnedFd, &'static CStr)>,
    /// What runs before and after each.
    around: Vec<[OwnedFd; 2]>,
    totals: OwnedFd,
    links: Links,
}

impl RunTimes {
    /// Loads what measures the first programs, which `links` attach, in the threads of this map.
    pub(super) fn open(programs: &[(OwnedFd, &'static CStr)], threads: &OwnedFd, links: Links) -> io::Result<RunTimes> {
        let starts = calls::create_map(calls::PERCPU_ARRAY, 8 * MEASURED as u32, 1, 0)?;
        let totals = calls::create_map(calls::ARRAY, 16 * MEASURED as u32, 1, 0)?;
        let load = |program: Vec<Instruction>| calls::load(calls::RAW_TRACEPOINT, &program);
        let around = |at: i16| Ok([load(before(&starts, at))?, load(after(&starts, &totals, threads, at))?]);
        let around = (0..MEASURED as i16).map(around).collect::<io::Result<_>>()?;
        let own = programs.iter().take(MEASURED).map(|(program, name)| Ok((program.try_clone()?, *name)));
        Ok(RunTimes { programs: own.collect::<io::Result<_>>()?, around, totals, links })
    }

    /// Measures for so long. Programs on a tracepoint run in the order in which they were attached, so the measured ones
    /// are attached anew, and for some microseconds twice: what they note is the same then.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn measure(&self, length: Duration) -> io::Result<()> {
        let mut around = Vec::new();
        {
            let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
            for (((program, name), [before, after]), link) in
                self.programs.iter().zip(&self.around).zip(links.iter_mut())
            {
                around.push(calls::attach(before, name)?);
                *link = calls::attach(program, name)?;
                around.push(calls::attach(after, name)?);
            }
        }
        if !around.is_empty() {
            std::thread::sleep(length);
        }
        Ok(())
    }

    /// What was measured so far.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn read(&self) -> io::Result<RunTime> {
        let totals: [u64; 2 * MEASURED] = calls::get(&self.totals, 0)?;
        let time = totals.iter().step_by(2).sum();
        Ok(RunTime { time: Nanos(time), runs: totals[2 * MEASURED - 1] })
    }
}

fn before(starts: &OwnedFd, at: i16) -> Vec<Instruction> {
    let mut code = Code::default();
    code.op(0x62, FRAME, 0, FIRST, 0).look_up(starts, FIRST).jump_if(EQUAL, R0, 0, "out").copy(TASK, R0);
    code.call(KTIME_GET_NS).store(TASK, 8 * at, R0).label("out").end(0);
    code.done()
}

/// Takes off what reading the clock takes. Looks the thread up last: the measured program should find its caches as without.
fn after(starts: &OwnedFd, totals: &OwnedFd, threads: &OwnedFd, at: i16) -> Vec<Instruction> {
    let mut code = Code::default();
    code.call(KTIME_GET_NS).copy(R7, R0).call(KTIME_GET_NS).copy(R8, R0).subtract(R8, R7);
    code.op(0x62, FRAME, 0, FIRST, 0).look_up(starts, FIRST).jump_if(EQUAL, R0, 0, "out");
    code.load(R1, R0, 8 * at).jump_if(EQUAL, R1, 0, "out").clear(R0, 8 * at).add(R8, R1);
    code.jump_if_both(AT_LEAST, R8, R7, "out").subtract(R7, R8).set(R2, LONGEST).jump_if_both(AT_LEAST, R7, R2, "out");
    code.call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0).look_up(threads, KEY).jump_if(EQUAL, R0, 0, "out");
    code.look_up(totals, FIRST).jump_if(EQUAL, R0, 0, "out").set(R1, 1);
    code.op(0xdb, R0, R7, 16 * at, 0).op(0xdb, R0, R1, 16 * at + 8, 0).label("out").end(0);
    code.done()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::{ProcessFilter, WaitSums};
    use super::*;
    use std::path::Path;
    use std::sync::mpsc::channel;

    /// Two threads that wake each other so often.
    fn ping_pong(rounds: u64) {
        let (there, from_there) = channel::<u64>();
        let (back, from_back) = channel::<u64>();
        let partner = std::thread::spawn(move || from_there.iter().all(|round| back.send(round).is_ok()));
        (0..rounds).for_each(|round| {
            there.send(round).unwrap();
            assert_eq!(from_back.recv().ok(), Some(round));
        });
        drop(there);
        assert!(partner.join().unwrap());
    }

    #[test]
    fn programs_are_measured_where_they_run_and_go_on_afterwards() {
        let filter = ProcessFilter::open(false, Path::new("/"));
        let opened = filter.and_then(|filter| {
            filter.add(std::process::id())?;
            WaitSums::open(Some(filter), None, Path::new("/"))
        });
        let Ok(mut sums) = opened.inspect_err(|error| crate::skips::skip("bpf", format!("no BPF here: {error}")))
        else {
            return;
        };
        let times = sums.run_times().unwrap();
        times.measure(Duration::ZERO).unwrap();
        assert_eq!(times.read().unwrap(), RunTime::default(), "nothing is attached");
        sums.start().unwrap();
        let (stop, stopped) = channel::<()>();
        let busy = std::thread::spawn(move || {
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                ping_pong(100);
            }
        });
        let measured = (0..50).find_map(|_| {
            times.measure(Duration::from_millis(20)).unwrap();
            times.read().ok().filter(|measured| measured.runs > 100)
        });
        drop(stop);
        busy.join().unwrap();
        let RunTime { time, runs } = measured.unwrap();
        let each = time.as_f64() / runs as f64;
        assert!((50.0..30_000.0).contains(&each), "{each} ns a switch");
        let waits = || {
            let mut count = 0;
            let sum = |thread: &super::super::ThreadSums| count += thread.sums.iter().map(|sum| sum.count).sum::<u64>();
            sums.read(sum).unwrap();
            count
        };
        let before = waits();
        std::thread::sleep(Duration::from_millis(5));
        assert!(waits() > before, "the programs run on");
        assert_eq!(times.read().unwrap().runs, runs, "and are measured no further");
    }
}

//! Reads and sets the CPU affinity of threads.

use crate::error::{Context, Error, ErrorKind, Result};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// Returns the CPUs a thread may run on, ascending. 0 is the calling thread.
///
/// # Errors
/// `NotFound` for a thread that has ended.
pub fn get(tid: u32) -> Result<Vec<u32>> {
    let set = sched_getaffinity(thread(tid)?).map_err(refusal).context(|| cannot("read", tid))?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Ok(cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// Restricts a thread to these CPUs. Threads it starts later inherit the affinity. 0 is the calling thread.
///
/// # Errors
/// `NotFound` for a thread that has ended, `NotPermitted` for another user's, `Usage` for a CPU number above 1,023.
pub fn set(tid: u32, cpus: &[u32]) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        let cpu = usize::try_from(*cpu).ok().filter(|cpu| *cpu < CpuSet::MAX_CPU);
        set.set(cpu.ok_or_else(|| Error::new(ErrorKind::Usage, "CPUs beyond number 1023 cannot be named here"))?);
    }
    sched_setaffinity(thread(tid)?, &set).map_err(refusal).context(|| cannot("set", tid))
}

/// Keeps the calling thread, and threads that it starts, on one CPU until it is dropped.
#[derive(Debug)]
pub struct OneCpu(Vec<u32>);

impl OneCpu {
    /// `None` if the thread may not run there.
    #[must_use]
    pub fn stay_on(cpu: u32) -> Option<OneCpu> {
        let allowed = get(0).ok()?;
        set(0, &[cpu]).ok().map(|()| OneCpu(allowed))
    }
}

impl Drop for OneCpu {
    fn drop(&mut self) {
        // They were allowed before.
        let _ = set(0, &self.0);
    }
}

fn refusal(errno: Errno) -> Error {
    match errno {
        Errno::SRCH => Error::new(ErrorKind::NotFound, "it has ended"),
        errno => Error::from(io::Error::from(errno)),
    }
}

fn thread(tid: u32) -> Result<Option<Pid>> {
    let none = || Error::new(ErrorKind::NotFound, format!("thread {tid} does not exist"));
    if tid == 0 { Ok(None) } else { i32::try_from(tid).ok().and_then(Pid::from_raw).map(Some).ok_or_else(none) }
}

fn cannot(what: &str, tid: u32) -> String {
    format!("cannot {what} the CPUs of thread {tid}")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read_back_and_inherited() {
        std::thread::spawn(|| {
            let before = get(0).unwrap();
            set(0, &before[..1]).unwrap();
            assert_eq!(get(0).unwrap(), before[..1]);
            assert_eq!(std::thread::spawn(|| get(0).unwrap()).join().unwrap(), before[..1]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_that_does_not_exist_is_named() {
        let error = get(4_194_303).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("4194303"), "{error}");
        assert_eq!(set(0, &[5000]).unwrap_err().kind(), ErrorKind::Usage);
    }
}

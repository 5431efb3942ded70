//! Measures the cost of one hit of a system call's tracepoint on this machine, on calls of our own.

use super::event::{self, Place, Request, TRACEPOINT};
use super::tracefs::{Format, reach};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::clock::monotonic_ns;
use std::path::Path;
use std::sync::OnceLock;

/// Calls per batch, and number of batches. The median batch is not disturbed by occasional preemptions.
const CALLS: u32 = 200;
const BATCHES: usize = 11;

/// The nanoseconds that a system call takes longer when its tracepoint is counted, measured once. The target's other
/// system calls become slower, too, by less.
///
/// # Errors
/// As `perf_event_open(2)`; `Unsupported` without tracefs, or when the calls were not counted.
pub fn measure(root: &Path) -> Result<f64> {
    static KNOWN: OnceLock<f64> = OnceLock::new();
    match KNOWN.get() {
        Some(cost) => Ok(*cost),
        None => measured(root).map(|cost| *KNOWN.get_or_init(|| cost)),
    }
}

fn measured(root: &Path) -> Result<f64> {
    let id = Format::read(&reach(root)?, "syscalls", "sys_enter_getppid")?.id;
    let plain = median();
    let events = event::open(&Request::counting(TRACEPOINT, [id, 0, 0]), &[], Place::Task { tid: 0, cpu: None })?;
    let event = events.first().ok_or_else(|| Error::new(ErrorKind::Io, "no event was opened"))?;
    event.enable()?;
    let counted = median();
    if event.read()?.value < u64::from(CALLS) * BATCHES as u64 {
        return Err(Error::new(ErrorKind::Unsupported, "our own system calls were not counted"));
    }
    Ok((counted - plain).max(0.0))
}

/// Nanoseconds per call.
fn median() -> f64 {
    let mut batches: [f64; BATCHES] = std::array::from_fn(|_| {
        let start = monotonic_ns();
        for _ in 0..CALLS {
            let _ = rustix::process::getppid();
        }
        (monotonic_ns() - start) as f64 / f64::from(CALLS)
    });
    batches.sort_by(f64::total_cmp);
    batches[BATCHES / 2]
}

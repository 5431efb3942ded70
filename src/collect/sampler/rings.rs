//! One ring per CPU, owned by an event that counts nothing and never ends, sized by what will flow through it.
//! Events of the target are redirected into them; nothing here knows of a target.

use super::merge::Source;
use super::request::{paranoid, refused};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::Note;
use crate::sys::perf::event::{self, PerfEvent, Place, Request};
use crate::sys::perf::record;
use crate::sys::perf::ring::Ring;
use std::path::Path;

/// Enough for samples of some hundred bytes: a fifth of a second and more at 5,000 Hz.
const SMALL: usize = 512 << 10;
/// No ring is made larger.
const LARGE: usize = 16 << 20;
/// A ring should hold this part of a second, so that a busy machine may keep the reader waiting for as long.
const SHARE_OF_SECOND: u64 = 4;
/// All rings together, on machines with many CPUs; below `SMALL` no ring is made smaller for this.
const MOST_TOGETHER: usize = 128 << 20;
/// A ring smaller than this would not hold a few samples.
const LEAST: usize = 64 << 10;

/// Opens a ring for each CPU, through which so many bytes a second may flow. When locked memory is short, the rings get
/// smaller and that is said.
///
/// # Errors
/// `NotPermitted` when the kernel refuses events altogether, `Exhausted` when not even small rings can be locked.
pub fn open(cpus: &[u32], bytes_per_second: u64, root: &Path) -> Result<(Vec<Ring>, Option<Note>)> {
    let wanted = size(cpus.len(), bytes_per_second);
    let mut bytes = wanted;
    let mut rings = Vec::with_capacity(cpus.len());
    while rings.len() < cpus.len() {
        let mut owner = owner(cpus[rings.len()], bytes, root)?;
        loop {
            match Ring::map(owner, bytes) {
                Ok(ring) => break rings.push(ring),
                Err((_, error)) if bytes / 2 < LEAST => return Err(exhausted(&error)),
                Err((back, _)) => {
                    bytes /= 2;
                    owner = back;
                }
            }
        }
    }
    let note = (bytes < wanted).then(|| Note {
        topic: "small-rings".to_string(),
        text: format!("Only {} KiB of buffer per CPU could be locked instead of {}.", bytes >> 10, wanted >> 10),
        fix: Some("Raise kernel.perf_event_mlock_kb or the locked-memory limit (ulimit -l).".to_string()),
    });
    Ok((rings, note))
}

fn size(cpus: usize, bytes_per_second: u64) -> usize {
    let wanted = usize::try_from(bytes_per_second / SHARE_OF_SECOND).unwrap_or(LARGE);
    let mut bytes = wanted.clamp(SMALL, LARGE).next_power_of_two();
    while bytes > SMALL && bytes * cpus > MOST_TOGETHER {
        bytes /= 2;
    }
    bytes
}

/// On our own main thread, which lives as long as the capture: an event of the target would hang up with its thread.
fn owner(cpu: u32, bytes: usize, root: &Path) -> Result<PerfEvent> {
    let mut request = Request::counting(event::SOFTWARE, [event::DUMMY, 0, 0]);
    (request.exclude.kernel, request.exclude.hv) = (true, true);
    request.watermark = (bytes / 4) as u32;
    let place = Place::Task { tid: std::process::id(), cpu: Some(cpu) };
    let opened = event::open(&request, &[], place).map_err(|error| refused(&error, "dummy", paranoid(root)));
    let no_event = || Error::new(ErrorKind::Io, "the kernel gave no event");
    opened.and_then(|events| events.into_iter().next().ok_or_else(no_event)).context(|| format!("cannot use CPU {cpu}"))
}

fn exhausted(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Exhausted, format!("no memory could be locked for the buffers ({error})"))
        .hint("Raise kernel.perf_event_mlock_kb or the locked-memory limit (ulimit -l), or end other profilers.")
}

impl Source for Ring {
    /// A record that does not even say when it was made comes first, to be stepped over.
    fn next_time(&mut self) -> Option<u64> {
        self.peek().map(|bytes| record::time(bytes).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_shrink_with_the_number_of_cpus_but_not_below_the_small_size() {
        let (chains, stacks, fast) = (400 * 997, 16_500 * 997, 16_500 * 4_999);
        let table = [
            (2, chains, SMALL),
            (2, stacks, 4 << 20),
            (2, fast, LARGE),
            (64, fast, 2 << 20),
            (512, fast, SMALL),
            (2, u64::MAX, LARGE),
        ];
        for (cpus, bytes_per_second, expected) in table {
            assert_eq!(size(cpus, bytes_per_second), expected, "{cpus} {bytes_per_second}");
        }
    }
}

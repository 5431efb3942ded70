//! The ring buffers: one per CPU for each kind of record, owned by an event that counts nothing and lives as long as
//! the capture, and sized by the expected flow. Events of the target are redirected into them; nothing here depends on
//! a target.
//!
//! With a ring per kind, a flood of one kind costs no records of another, and loss records show what was lost.

use super::event_requests::{EventRequests, Restrictions, refused};
use super::origin::RingKind;
use super::sorter::Source;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Note, RecordCount};
use crate::sys::perf::event::{self, PerfEvent, Place, Request};
use crate::sys::perf::record;
use crate::sys::perf::ring::Ring;
use std::io;
use std::path::Path;

/// A ring should hold this fraction of a second (a divisor), so that a busy machine may delay the reader for as long.
const SHARE_OF_SECOND: u64 = 4;
/// Enough for samples of some hundred bytes: at least a fifth of a second at 5,000 Hz.
const SMALL: usize = 512 << 10;
/// Maximum size of a ring.
const LARGE: usize = 16 << 20;
/// Limit for all rings of a kind together, on machines with many CPUs; it makes no ring smaller than `SMALL`.
const MOST_TOGETHER: usize = 128 << 20;
/// A smaller ring would not hold even a few samples.
const LEAST: usize = 64 << 10;

/// Records read and lost, by kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Records([(u64, u64); RingKind::ALL.len()]);

impl Records {
    /// Counts one record read.
    pub fn read(&mut self, ring_kind: RingKind) {
        self.0[ring_kind as usize].0 += 1;
    }

    /// Counts `count` lost records.
    pub fn lost(&mut self, ring_kind: RingKind, count: u64) {
        let lost = &mut self.0[ring_kind as usize].1;
        *lost = lost.saturating_add(count);
    }

    /// Number of records read: of a kind, and of all kinds.
    pub fn number_read(&self, ring_kind: RingKind) -> [u64; 2] {
        [self.0[ring_kind as usize].0, self.0.iter().map(|(read, _)| read).sum()]
    }

    /// The kinds that have any records.
    pub fn counts(&self) -> Vec<RecordCount> {
        let kinds = RingKind::ALL.into_iter().zip(self.0).filter(|(_, (read, lost))| read + lost > 0);
        kinds.map(|(ring_kind, (read, lost))| RecordCount { kind: ring_kind.loss(), read, lost }).collect()
    }
}

/// The rings of a capture.
#[derive(Debug, Default)]
pub struct Rings {
    /// Kind by kind, CPU by CPU.
    all: Vec<Ring>,
    kinds: Vec<RingKind>,
    cpus: usize,
}

impl Rings {
    /// Opens a ring for each CPU and each kind of record that the requested events produce. If locked memory is short,
    /// all rings shrink, with a note.
    ///
    /// # Errors
    /// `NotPermitted` if the kernel refuses events altogether, `Exhausted` if not even small rings can be locked.
    pub fn open(cpus: &[u32], event_requests: &EventRequests, root: &Path) -> Result<(Rings, Option<Note>)> {
        let bytes = |ring_kind| event_requests.bytes_per_second(|set| set.ring_kind() == ring_kind);
        let rates: Vec<(RingKind, u64)> =
            RingKind::ALL.map(|ring_kind| (ring_kind, bytes(ring_kind))).into_iter().filter(|(_, b)| *b > 0).collect();
        let kinds: Vec<RingKind> = rates.iter().map(|(ring_kind, _)| *ring_kind).collect();
        let wanted: Vec<usize> = rates.iter().map(|(_, rate)| size(cpus.len(), *rate)).collect();
        let mut sizes = wanted.clone();
        loop {
            match mapped(cpus, &sizes, root)? {
                Ok(all) => return Ok((Rings { all, kinds, cpus: cpus.len() }, smaller(&wanted, &sizes))),
                Err(error) if sizes.iter().all(|size| *size <= LEAST) => return Err(exhausted(&error)),
                Err(_) => sizes.iter_mut().for_each(|size| *size = (*size / 2).max(LEAST)),
            }
        }
    }

    /// The ring of a kind on the CPU at this index.
    pub fn of(&self, ring_kind: RingKind, cpu: usize) -> Option<&Ring> {
        let kind = self.kinds.iter().position(|kind| *kind == ring_kind)?;
        self.all.get(kind * self.cpus + cpu)
    }

    /// The same, for reading.
    pub fn of_mut(&mut self, ring_kind: RingKind, cpu: usize) -> Option<&mut Ring> {
        let kind = self.kinds.iter().position(|kind| *kind == ring_kind)?;
        self.all.get_mut(kind * self.cpus + cpu)
    }

    /// All of them, in a fixed order.
    pub fn all(&self) -> &[Ring] {
        &self.all
    }

    /// The same, for reading.
    pub fn all_mut(&mut self) -> &mut [Ring] {
        &mut self.all
    }
}

/// All rings, or the error of one that could not be locked.
fn mapped(cpus: &[u32], sizes: &[usize], root: &Path) -> Result<io::Result<Vec<Ring>>> {
    let mut rings = Vec::with_capacity(cpus.len() * sizes.len());
    for bytes in sizes {
        for cpu in cpus {
            match Ring::map(owner(*cpu, *bytes, root)?, *bytes) {
                Ok(ring) => rings.push(ring),
                Err((_, error)) => return Ok(Err(error)),
            }
        }
    }
    Ok(Ok(rings))
}

fn smaller(wanted: &[usize], sizes: &[usize]) -> Option<Note> {
    let [wanted, got] = [wanted, sizes].map(|sizes| sizes.iter().sum::<usize>() >> 10);
    (got < wanted).then(|| Note {
        topic: "small-rings".to_string(),
        text: format!("Only {got} KiB of buffers per CPU could be locked instead of {wanted}."),
        fix: Some("Raise kernel.perf_event_mlock_kb or the locked-memory limit (ulimit -l).".to_string()),
    })
}

fn size(cpus: usize, bytes_per_second: u64) -> usize {
    let wanted = usize::try_from(bytes_per_second / SHARE_OF_SECOND).unwrap_or(LARGE);
    let mut bytes = wanted.clamp(SMALL, LARGE).next_power_of_two();
    while bytes > SMALL && bytes * cpus > MOST_TOGETHER {
        bytes /= 2;
    }
    bytes
}

/// On our own main thread, which lives as long as the capture: an event on the target would hang up with its thread.
fn owner(cpu: u32, bytes: usize, root: &Path) -> Result<PerfEvent> {
    let mut request = Request::counting(event::SOFTWARE, [event::DUMMY, 0, 0]);
    (request.exclude.kernel, request.exclude.hv) = (true, true);
    request.watermark = (bytes / 4) as u32;
    let place = Place::Task { tid: std::process::id(), cpu: Some(cpu) };
    let opened = event::open(&request, &[], place).map_err(|error| refused(&error, "dummy", Restrictions::read(root)));
    let no_event = || Error::new(ErrorKind::Io, "the kernel gave no event");
    opened.and_then(|events| events.into_iter().next().ok_or_else(no_event)).context(|| format!("cannot use CPU {cpu}"))
}

fn exhausted(error: &io::Error) -> Error {
    Error::new(ErrorKind::Exhausted, format!("no memory could be locked for the buffers ({error})"))
        .hint("Raise kernel.perf_event_mlock_kb or the locked-memory limit (ulimit -l), or end other profilers.")
}

impl Source for Ring {
    /// A record without a time comes first, to be skipped.
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

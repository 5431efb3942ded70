//! Measures the cost of one uprobe hit on this machine, on empty functions of our own.

use super::event::{self, Place, Request};
use super::uprobe::HitAt;
use crate::abi::mappings;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::clock::monotonic_ns;
use std::ffi::{c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::OnceLock;

unsafe extern "C" {
    fn ironlaw_probe_target(kind: c_uint) -> *const c_void;
    fn ironlaw_probe_call(kind: c_uint, times: c_uint);
}

/// Calls per batch, and number of batches. The median batch is not disturbed by occasional preemptions.
const CALLS: u32 = 40;
const BATCHES: usize = 11;

/// First instruction of a probed function. The kernel emulates some instructions and single-steps the others, which
/// costs up to ten times as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A register push or a jump.
    Push,
    /// A long nop.
    Nop,
    /// `endbr64`.
    Endbr,
    /// Anything else, and everything on machines other than x86-64.
    Other,
}

impl Entry {
    /// Classifies a function by its first bytes.
    #[must_use]
    pub fn of(code: &[u8]) -> Entry {
        match code {
            _ if !cfg!(target_arch = "x86_64") => Entry::Other,
            [0x50..=0x57 | 0x70..=0x7f | 0x90 | 0xe8 | 0xe9 | 0xeb, ..] => Entry::Push,
            [0x41, 0x50..=0x57, ..] | [0x0f, 0x80..=0x8f, ..] => Entry::Push,
            [0x0f, 0x1f, ..] | [0x66, 0x0f, 0x1f, ..] => Entry::Nop,
            [0xf3, 0x0f, 0x1e, 0xfa, ..] => Entry::Endbr,
            _ => Entry::Other,
        }
    }
}

/// Returns the nanoseconds that a probed call of such a function takes longer, measured once. Takes about a tenth of a
/// second, most of which the kernel needs to remove the probe. The PMU's type is read below `root`.
///
/// # Errors
/// As `perf_event_open(2)`; `Unsupported` without the PMU, or when the calls were not counted.
pub fn measure(entry: Entry, root: &Path) -> Result<f64> {
    static KNOWN: [OnceLock<f64>; 4] = [const { OnceLock::new() }; 4];
    let Some(known) = KNOWN.get(entry as usize) else { return measured(entry, &[(HitAt::Place, None)], root) };
    match known.get() {
        Some(cost) => Ok(*cost),
        None => measured(entry, &[(HitAt::Place, None)], root).map(|cost| *known.get_or_init(|| cost)),
    }
}

/// Where a measured call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairEnd {
    /// At the function's return.
    Return,
    /// At another probe.
    Probe(Entry),
}

/// Returns the nanoseconds that a call takes longer with a probe and a program at its beginning and at its end. Takes up to
/// half a second.
///
/// # Errors
/// As for [`measure`].
pub fn measure_pair(begin: Entry, end: PairEnd, programs: [BorrowedFd<'_>; 2], root: &Path) -> Result<f64> {
    let [first, last] = programs.map(Some);
    match end {
        PairEnd::Return => measured(begin, &[(HitAt::Place, first), (HitAt::Return, last)], root),
        PairEnd::Probe(end) => {
            Ok(measured(begin, &[(HitAt::Place, first)], root)? + measured(end, &[(HitAt::Place, last)], root)?)
        }
    }
}

/// The cost of a call of such a function with these probes, each with the program that runs at it.
fn measured(entry: Entry, probes: &[(HitAt, Option<BorrowedFd<'_>>)], root: &Path) -> Result<f64> {
    let kind = entry as c_uint;
    let types = root.join("sys/bus/event_source/devices/uprobe/type");
    let pmu = std::fs::read_to_string(&types).context(|| format!("cannot read {}", types.display()))?;
    let pmu =
        pmu.trim().parse().map_err(|_| Error::new(ErrorKind::Corrupt, format!("{}: {pmu:?}", types.display())))?;
    let plain = batch(kind);
    let path = c"/proc/self/exe";
    let offset = offset_in_file(kind)?;
    let mut events = Vec::new();
    for (at, program) in probes {
        // The first bit of the configuration asks for returns.
        let request = Request::counting(pmu, [u64::from(*at == HitAt::Return), path.as_ptr() as u64, offset]);
        let opened = event::open(&request, &[], Place::Task { tid: 0, cpu: None })?;
        for event in &opened {
            program.map_or(Ok(()), |program| event.filter(program))?;
            event.enable()?;
        }
        events.extend(opened);
    }
    batch(kind);
    let mut batches: [f64; BATCHES] = std::array::from_fn(|_| batch(kind));
    let calls = u64::from(CALLS) * (BATCHES as u64 + 1);
    for event in &events {
        if event.read()?.value != calls {
            return Err(Error::new(ErrorKind::Unsupported, "calls of our own function were not counted"));
        }
    }
    batches.sort_by(f64::total_cmp);
    Ok((batches[BATCHES / 2] - plain).max(0.0))
}

/// Nanoseconds per call.
fn batch(kind: c_uint) -> f64 {
    let start = monotonic_ns();
    // SAFETY: the function calls an empty function `CALLS` times and checks its argument.
    unsafe { ironlaw_probe_call(kind, CALLS) };
    (monotonic_ns() - start) as f64 / f64::from(CALLS)
}

fn offset_in_file(kind: c_uint) -> Result<u64> {
    // SAFETY: the function only returns an address.
    let address = unsafe { ironlaw_probe_target(kind) } as u64;
    let maps = std::fs::read("/proc/self/maps").context(|| "cannot read /proc/self/maps")?;
    let mapping = mappings(&maps).find(|mapping| mapping.contains(address));
    let mapping = mapping.ok_or_else(|| Error::new(ErrorKind::Io, "our own code is not mapped"))?;
    Ok(address - mapping.start + mapping.offset)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn how_a_function_begins_is_told_by_its_first_bytes() {
        let table: [(&[u8], Entry); 8] = [
            (&[0x55, 0x48], Entry::Push),
            (&[0x41, 0x57], Entry::Push),
            (&[0x41, 0x89], Entry::Other),
            (&[0xf3, 0x0f, 0x1e, 0xfa], Entry::Endbr),
            (&[0x0f, 0x1f, 0x44, 0, 0], Entry::Nop),
            (&[0x48, 0x83, 0xec, 8], Entry::Other),
            (&[0x41], Entry::Other),
            (&[], Entry::Other),
        ];
        for (code, entry) in table {
            assert_eq!(Entry::of(code), entry, "{code:x?}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn each_target_begins_as_its_kind_says() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        for entry in [Entry::Push, Entry::Nop, Entry::Endbr, Entry::Other] {
            let offset = offset_in_file(entry as c_uint).unwrap() as usize;
            assert_eq!(Entry::of(&own[offset..]), entry);
        }
    }
}

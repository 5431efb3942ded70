//! Reads the latencies in the shared page of `native/ironlaw.h`: for each thread a count for each step, added up here.

use super::bins::{Interval, LatencyBins};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::LATENCY_PAGE_BYTES;
use crate::ops::page;
use crate::sys::files::read_from;
use std::path::Path;

/// `IRONLAW_LATENCY_VERSION`.
const VERSION: u32 = 1;
/// `IRONLAW_STEPS`.
const STEPS: u32 = 2369;
/// Steps below the first octave that has fewer steps than nanoseconds, and in each from there on.
const SINGLE: u32 = 128;
const IN_OCTAVE: u32 = 64;

/// The counts of all threads by step, and when they began from nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    started: u64,
    steps: Vec<u64>,
}

/// Reads the page.
///
/// # Errors
/// `NotFound` while there is no page; `Unsupported` for one without latencies; `Corrupt` for a file that is not one.
pub(super) fn read(path: &Path) -> Result<Counts> {
    let named = || format!("cannot read latencies from {}", path.display());
    let (file, head) = page::open(path).context(named)?;
    let (version, steps, offset) = head.latencies;
    if version == 0 {
        return Err(Error::new(ErrorKind::Unsupported, "the program counts no latencies in its page")
            .context(named())
            .hint(
                "Open it with ironlaw_open_latency and call ironlaw_latency(SLOT, NANOSECONDS) for each operation.",
            ));
    }
    if version != VERSION || steps != STEPS {
        return Err(Error::new(ErrorKind::Unsupported, format!("its latencies have version {version}, not {VERSION}"))
            .context(named())
            .hint("Build the program with the ironlaw.h of this version of ironlaw."));
    }
    let (slots, step) = (u64::from(head.taken.min(head.slots)), u64::from(STEPS) * 8);
    if slots * step > LATENCY_PAGE_BYTES {
        return Err(Error::new(ErrorKind::Exhausted, format!("{slots} threads count latencies in the page"))
            .context(named())
            .hint(format!("At most {} are read.", LATENCY_PAGE_BYTES / step)));
    }
    let short = || Error::new(ErrorKind::Corrupt, "the page is shorter than its header states").context(named());
    if offset > i64::MAX as u64 - LATENCY_PAGE_BYTES {
        return Err(short());
    }
    let once = || -> Result<Vec<u64>> {
        let bytes = read_from(&file, offset, slots * step).context(named)?;
        if (bytes.len() as u64) < slots * step {
            return Err(short());
        }
        Ok(bytes.chunks_exact(8).map(|bytes| bytes.try_into().map_or(0, u64::from_ne_bytes)).collect())
    };
    // As for counters: one of three readings may be torn.
    let [a, b, c] = [once()?, once()?, once()?];
    let mut sums = vec![0_u64; STEPS as usize];
    for (at, ((a, b), c)) in a.iter().zip(&b).zip(&c).enumerate() {
        let middle = (*a).max((*b).min(*c)).min((*b).max(*c));
        let sum = &mut sums[at % STEPS as usize];
        *sum = sum.saturating_add(middle);
    }
    Ok(Counts { started: head.started, steps: sums })
}

impl Counts {
    /// Adds the operations since an earlier reading, or all since the counts began anew.
    pub(super) fn since(&self, before: Option<&Counts>, bins: &mut LatencyBins) {
        let before = before.filter(|before| before.started == self.started);
        for (step, count) in self.steps.iter().enumerate() {
            let count = count.saturating_sub(before.map_or(0, |before| before.steps[step]));
            bins.add(interval(step as u32), count);
        }
    }
}

/// The latencies that a step counts.
fn interval(step: u32) -> Interval {
    let shortest = |step: u32| {
        let octave = if step < SINGLE { 0 } else { step / IN_OCTAVE - 1 };
        (u64::from(step - octave * IN_OCTAVE) << octave) as f64
    };
    let high = (step + 1 < STEPS).then(|| shortest(step + 1));
    Interval { low: shortest(step), high }
}

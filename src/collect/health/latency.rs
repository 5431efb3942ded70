//! Measures load latency by level, in small and in huge pages, and by working-set size. Each walk frees its memory.

use super::{Bounds, MIB};
use crate::error::Result;
use crate::model::{CurvePoint, LatencyRow};
use crate::sys::memory_walks::{LINE, Pages, PointerChase, Region, TimedWalk};
use crate::sys::procfs::ProcFs;

const BURSTS: u64 = 9;
/// Loads per burst: a few milliseconds at most on any level.
const MOST_LOADS: u64 = 32_768;
/// Lines of a flushed walk, each in its own small page.
const FLUSHED_LINES: u32 = 8192;
/// The value of the seed does not matter; equal seeds give walks in small and in huge pages the same lines.
const SEED: u64 = 0x1dea_0b5e;

/// Runs walks and records, once each, what could not be measured.
pub(super) struct LatencyWalks {
    proc: ProcFs,
    unknown: Vec<String>,
}

impl LatencyWalks {
    pub(super) fn new(proc: ProcFs) -> LatencyWalks {
        LatencyWalks { proc, unknown: Vec::new() }
    }

    pub(super) fn into_unknown(self) -> Vec<String> {
        self.unknown
    }

    /// Nanoseconds per load over all lines of `bytes`; `None`, with the reason recorded, without such pages.
    pub(super) fn dense(&mut self, bytes: u64, pages: Pages) -> Option<f64> {
        let lines = u32::try_from(bytes / LINE).unwrap_or(u32::MAX);
        let mut cycle = self.cycle(bytes, lines, pages, None)?;
        let loads = cycle.lines().min(MOST_LOADS);
        // Two passes: the first brings the lines into their level, the second puts them in order of use.
        cycle.walk(cycle.lines().saturating_mul(2));
        median((0..BURSTS).map(|_| cycle.burst(loads.max(4096))).collect())
    }

    /// Nanoseconds per load over flushed lines, so that each load goes to memory.
    pub(super) fn flushed(&mut self, bytes: u64, pages: Pages, node: Option<u32>) -> Option<f64> {
        let mut cycle = self.cycle(bytes, FLUSHED_LINES.min((bytes / 4096) as u32), pages, node)?;
        if !cycle.flush() {
            self.doubt("a program may not flush caches on this kind of CPU: DRAM is not measured".to_string());
            return None;
        }
        let loads = cycle.lines() / BURSTS;
        median((0..BURSTS).map(|_| cycle.burst_and_flush(loads)).collect())
    }

    fn cycle(&mut self, span: u64, lines: u32, pages: Pages, node: Option<u32>) -> Option<PointerChase> {
        match link(span, lines, pages, node) {
            Ok(mut cycle) if pages == Pages::Huge => {
                cycle.collapse();
                let smaps = self.proc.text("self/smaps").unwrap_or_default();
                let got = cycle.region().has_huge_pages(&smaps) == Some(true);
                if !got {
                    self.doubt("no huge pages were given: what translation adds is not known".to_string());
                }
                got.then_some(cycle)
            }
            Ok(cycle) => Some(cycle),
            Err(error) => {
                self.doubt(error.to_string());
                None
            }
        }
    }

    fn doubt(&mut self, text: String) {
        if !self.unknown.contains(&text) {
            self.unknown.push(text);
        }
    }
}

fn link(span: u64, lines: u32, pages: Pages, node: Option<u32>) -> Result<PointerChase> {
    let region = Region::map(span.div_ceil(2 * MIB) * 2 * MIB, pages, node)?;
    PointerChase::link(region, span, lines, SEED)
}

/// The median of the undisturbed bursts, or of all bursts if every one was disturbed.
fn median(bursts: Vec<TimedWalk>) -> Option<f64> {
    let undisturbed = bursts.iter().any(|burst| burst.undisturbed);
    let good = bursts.iter().filter(|burst| burst.undisturbed || !undisturbed).filter(|burst| burst.loads > 0);
    let mut each: Vec<f64> = good.map(|burst| burst.nanos as f64 / burst.loads as f64).collect();
    each.sort_by(f64::total_cmp);
    each.get(each.len() / 2).copied()
}

/// Latency at half of each cache, and in memory.
pub(super) fn by_level(walks: &mut LatencyWalks, bounds: &Bounds) -> Vec<LatencyRow> {
    let sizes = bounds.sizes;
    let half =
        |size: Option<u64>| size.map(|bytes| (bytes / 2).min(bounds.memory) / LINE * LINE).filter(|half| *half > 4096);
    let caches = [("L1", half(sizes.l1)), ("L2", half(sizes.l2)), ("LLC", half(sizes.llc))];
    let known = caches.into_iter().filter_map(|(level, bytes)| Some((level, bytes?)));
    let mut rows: Vec<LatencyRow> = known
        .map(|(level, bytes)| row(level, bytes, walks.dense(bytes, Pages::Small), walks.dense(bytes, Pages::Huge)))
        .collect();
    let bytes = bounds.beyond();
    let small = walks.flushed(bytes, Pages::Small, None);
    rows.push(row("DRAM", bytes, small, walks.flushed(bytes, Pages::Huge, None)));
    rows
}

fn row(level: &str, bytes: u64, small_ns: Option<f64>, huge_ns: Option<f64>) -> LatencyRow {
    let translation_ns = small_ns.zip(huge_ns).map(|(small, huge)| (small - huge).max(0.0));
    LatencyRow { level: level.to_string(), bytes, small_ns, huge_ns, translation_ns }
}

/// Latency of a node's memory, in huge pages if available, else in small ones.
pub(super) fn dram(walks: &mut LatencyWalks, bounds: &Bounds, node: Option<u32>) -> Option<f64> {
    let bytes = bounds.beyond().min(64 * MIB);
    walks.flushed(bytes, Pages::Huge, node).or_else(|| walks.flushed(bytes, Pages::Small, node))
}

/// The smallest working set.
const FIRST: u64 = 16 << 10;

/// Latency by working-set size, from 16 KiB up, each twice as large as the one before; a rise marks the end of a cache.
/// Nothing is interpolated.
pub(super) fn curve(walks: &mut LatencyWalks, bounds: &Bounds) -> Vec<CurvePoint> {
    let last = bounds.beyond().min(256 * MIB);
    let sizes = std::iter::successors(Some(FIRST), |bytes| bytes.checked_mul(2)).take_while(|bytes| *bytes <= last);
    let walk = |bytes| {
        let ns = walks.dense(bytes, Pages::Huge).or_else(|| walks.dense(bytes, Pages::Small))?;
        Some(CurvePoint { bytes, ns })
    };
    sizes.filter_map(walk).collect()
}

/// The latency at this size, or at the nearest measured size within a factor of 1.5.
pub(super) fn latency_at(curve: &[CurvePoint], bytes: u64) -> Option<f64> {
    let far = |point: &CurvePoint| (point.bytes as f64 / bytes as f64).ln().abs();
    let nearest = curve.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
    (far(nearest) < 1.5f64.ln()).then_some(nearest.ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_bursts_count_only_where_there_are_no_others() {
        let burst = |nanos, undisturbed| TimedWalk { nanos, loads: 10, undisturbed };
        assert_eq!(median(vec![burst(10, true), burst(90, false), burst(30, true), burst(20, true)]), Some(2.0));
        assert_eq!(median(vec![burst(10, false), burst(90, false), burst(30, false)]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn a_size_is_read_off_at_the_nearest_point_or_not_at_all() {
        let curve = [16u64, 32, 64].map(|kib| CurvePoint { bytes: kib << 10, ns: kib as f64 });
        let read = [16u64, 24, 48, 80, 128, 1].map(|kib| latency_at(&curve, kib << 10));
        assert_eq!(read, [Some(16.0), Some(32.0), Some(64.0), Some(64.0), None, None]);
        assert_eq!(latency_at(&[], 7), None);
    }
}

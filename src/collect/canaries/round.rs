//! Runs one round of a walk, timed so that bursts disturbed by an interrupt or a preemption do not count.

use super::layout::{Layout, MemoryLevel};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::memory_walks::{PointerChase, TimedWalk};

/// Bursts per round: the median represents all, and half of them may be disturbed.
const BURSTS: u64 = 8;

/// A walk ready to run.
#[derive(Debug)]
pub(super) struct Canary {
    pub layout: Layout,
    cycle: PointerChase,
}

/// Sums over rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// Nanoseconds.
    pub nanos: u64,
    /// Loads.
    pub loads: u64,
}

impl Canary {
    /// Takes the walk and flushes it if its layout asks for that; fails on CPUs where a program may not flush.
    pub(super) fn new(layout: Layout, cycle: PointerChase) -> Result<Canary> {
        if layout.flush && !cycle.flush() {
            return Err(Error::new(ErrorKind::Unsupported, "a program may not flush caches on this kind of CPU"));
        }
        Ok(Canary { layout, cycle })
    }

    /// Whether its memory is in huge pages; `None` if `smaps` does not show it.
    pub(super) fn has_huge_pages(&self, smaps: &str) -> Option<bool> {
        self.cycle.region().has_huge_pages(smaps)
    }

    /// The result of this round; `None` if too much of it was disturbed.
    pub(super) fn round(&mut self) -> Option<Sum> {
        let Layout { warm, timed, rest, flush, .. } = self.layout;
        self.cycle.walk(warm);
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
        let cycle = &mut self.cycle;
        let burst = |_| match flush {
            true => cycle.burst_and_flush(timed / BURSTS),
            false => cycle.burst(timed / BURSTS),
        };
        middle((0..BURSTS).map(burst).collect())
    }
}

/// The median of the undisturbed bursts, scaled to all of their loads.
fn middle(bursts: Vec<TimedWalk>) -> Option<Sum> {
    let all = bursts.len();
    let mut good: Vec<TimedWalk> = bursts.into_iter().filter(|burst| burst.undisturbed && burst.loads > 0).collect();
    if good.len() * 2 < all {
        return None;
    }
    good.sort_by(|a, b| (a.nanos as f64 / a.loads as f64).total_cmp(&(b.nanos as f64 / b.loads as f64)));
    let middle = good.get(good.len() / 2)?;
    let loads = good.iter().map(|burst| burst.loads).sum();
    Some(Sum { nanos: (middle.nanos as f64 / middle.loads as f64 * loads as f64) as u64, loads })
}

impl Sum {
    /// Adds another round.
    pub(super) fn add(&mut self, round: Sum) {
        self.nanos = self.nanos.saturating_add(round.nanos);
        self.loads = self.loads.saturating_add(round.loads);
    }
}

/// What a walk measures for a walker on `node`. A walk in node memory measures the walker's own memory, or, for one of
/// the other nodes in turn, remote memory; `None` if it is not that node's turn.
pub(super) fn seen_from(layout: &Layout, node: Option<u32>, nodes: &[u32], turn: usize) -> Option<MemoryLevel> {
    let (MemoryLevel::Dram, Some(own)) = (layout.place, layout.node) else { return Some(layout.place) };
    let node = node?;
    if own == node {
        return Some(MemoryLevel::Dram);
    }
    let others: Vec<u32> = nodes.iter().copied().filter(|other| *other != node).collect();
    (others.get(turn % others.len().max(1)) == Some(&own)).then_some(MemoryLevel::Remote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::canaries::layout::layouts;
    use crate::sys::sysfs::CacheSizes;

    fn burst(nanos: u64, undisturbed: bool) -> TimedWalk {
        TimedWalk { nanos, loads: 100, undisturbed }
    }

    #[test]
    fn the_middle_burst_stands_for_all_that_were_left_alone() {
        let bursts = vec![burst(900, true), burst(500, true), burst(9_000_000, false), burst(510, true)];
        assert_eq!(middle(bursts), Some(Sum { nanos: 1530, loads: 300 }));
        assert_eq!(middle(vec![burst(500, true), burst(500, false), burst(500, false)]), None);
        assert_eq!(middle(Vec::new()), None);
    }

    #[test]
    fn memory_is_near_or_far_as_seen_from_where_the_walker_is() {
        let nodes = [0, 1, 2];
        let (layouts, _) = layouts(CacheSizes::default(), &nodes);
        let seen = |node, turn| {
            let dram = layouts.iter().filter(|layout| layout.place == MemoryLevel::Dram);
            dram.map(|layout| seen_from(layout, node, &nodes, turn)).collect::<Vec<_>>()
        };
        assert_eq!(seen(Some(1), 0), [Some(MemoryLevel::Remote), Some(MemoryLevel::Dram), None]);
        assert_eq!(seen(Some(1), 1), [None, Some(MemoryLevel::Dram), Some(MemoryLevel::Remote)]);
        assert_eq!(seen(None, 0), [None, None, None]);
    }
}

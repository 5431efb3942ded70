//! One round of a walk, timed so that an interrupt or a preemption within it does not count.
//! It never decides when a round is due.

use super::canaries::{Layout, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::probes::{Burst, Cycle};

/// Into how many bursts a round is cut: the middle one stands for all, and half of them may be disturbed.
const BURSTS: u64 = 8;

/// A walk that is ready.
#[derive(Debug)]
pub(super) struct Canary {
    pub layout: Layout,
    cycle: Cycle,
}

/// What rounds took, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// Nanoseconds.
    pub nanos: u64,
    /// Loads.
    pub loads: u64,
}

impl Canary {
    /// Takes the walk; one that must be flushed is, and refused where a program may not.
    pub(super) fn new(layout: Layout, cycle: Cycle) -> Result<Canary> {
        if layout.flush && !cycle.flush() {
            return Err(Error::new(ErrorKind::Unsupported, "a program may not flush caches on this kind of CPU"));
        }
        Ok(Canary { layout, cycle })
    }

    /// Whether its memory lies in huge pages; `None` where `smaps` does not tell.
    pub(super) fn has_huge_pages(&self, smaps: &str) -> Option<bool> {
        self.cycle.region().has_huge_pages(smaps)
    }

    /// What this round of it measured; `None` when too much of it was disturbed.
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

/// The middle one of the bursts that nothing came between, for all of their loads.
fn middle(bursts: Vec<Burst>) -> Option<Sum> {
    let all = bursts.len();
    let mut good: Vec<Burst> = bursts.into_iter().filter(|burst| burst.undisturbed && burst.loads > 0).collect();
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

/// Of the walks in memory of several nodes, what each one measures for a walker on `node`: its own node's memory, or, for one
/// of the others in turn, another's.
pub(super) fn seen_from(layout: &Layout, node: Option<u32>, nodes: &[u32], turn: usize) -> Option<Place> {
    let (Place::Dram, Some(own)) = (layout.place, layout.node) else { return Some(layout.place) };
    let node = node?;
    if own == node {
        return Some(Place::Dram);
    }
    let others: Vec<u32> = nodes.iter().copied().filter(|other| *other != node).collect();
    (others.get(turn % others.len().max(1)) == Some(&own)).then_some(Place::Remote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::probe::canaries::layouts;
    use crate::sys::sysfs::CacheSizes;

    fn burst(nanos: u64, undisturbed: bool) -> Burst {
        Burst { nanos, loads: 100, undisturbed }
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
            let dram = layouts.iter().filter(|layout| layout.place == Place::Dram);
            dram.map(|layout| seen_from(layout, node, &nodes, turn)).collect::<Vec<_>>()
        };
        assert_eq!(seen(Some(1), 0), [Some(Place::Remote), Some(Place::Dram), None]);
        assert_eq!(seen(Some(1), 1), [None, Some(Place::Dram), Some(Place::Remote)]);
        assert_eq!(seen(None, 0), [None, None, None]);
    }
}

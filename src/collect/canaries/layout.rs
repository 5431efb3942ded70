//! Defines the walks on this machine: their lines, where they lie, and which are unavailable.

use crate::error::Result;
use crate::sys::memory_walks::{LINE, Pages, PointerChase, Region};
use crate::sys::sysfs::CacheSizes;
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// The largest region: a larger walk adds no information and takes memory from others.
const LARGEST: u64 = 64 * MIB;
/// How long the lines of the last-level cache are left alone between loading and timing them. Other traffic evicts some
/// of them meanwhile: a busy neighbour most of them, an ordinary one few. After a few milliseconds a busy host has
/// evicted all of them; without a pause, none.
const LEFT_ALONE: Duration = Duration::from_millis(1);
/// Some last-level caches accept only lines that the second level evicts: lines arrive with the second visit.
const VISITS: u64 = 2;
const LLC_TIMED: u64 = 4096;
/// Region of the DRAM walk: its lines are flushed, so the size need not exceed the caches.
const DRAM_SPAN: u64 = 16 * MIB;
const DRAM_LINES: u32 = 4096;
/// Pages of the walk that no TLB can hold; current TLBs hold up to 3,072 translations in their second level.
const TLB_LINES: u32 = 4096;
const PAGE: u64 = 4096;

/// What a canary measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryLevel {
    /// The second-level cache.
    L2,
    /// The last-level cache.
    Llc,
    /// Memory of the node the walker runs on.
    Dram,
    /// Memory of another node.
    Remote,
    /// The second level again, with each line in its own small page.
    SmallPages,
    /// The same lines in huge pages.
    HugePages,
}

impl MemoryLevel {
    /// All places.
    pub const ALL: [MemoryLevel; 6] = [
        MemoryLevel::L2,
        MemoryLevel::Llc,
        MemoryLevel::Dram,
        MemoryLevel::Remote,
        MemoryLevel::SmallPages,
        MemoryLevel::HugePages,
    ];
}

/// How a walk is laid out and timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub place: MemoryLevel,
    pub pages: Pages,
    pub span: u64,
    pub lines: u32,
    /// Untimed (`warm`) and timed loads of one round.
    pub warm: u64,
    pub timed: u64,
    /// Pause between them.
    pub rest: Duration,
    /// Whether visited lines are flushed afterwards.
    pub flush: bool,
    /// The memory node it lies on, if that is chosen.
    pub node: Option<u32>,
}

/// The walks for these cache sizes and memory nodes, and the places without a walk.
pub(super) fn layouts(sizes: CacheSizes, nodes: &[u32]) -> (Vec<Layout>, Vec<(MemoryLevel, &'static str)>) {
    let mut missing = Vec::new();
    let mut layouts = Vec::new();
    let huge = |place, span, lines, warm, timed| Layout {
        place,
        pages: Pages::Huge,
        span,
        lines,
        warm,
        timed,
        rest: Duration::ZERO,
        flush: false,
        node: None,
    };
    let in_l2 = |bytes: u64| u32::try_from(bytes / LINE).unwrap_or(u32::MAX);
    match sizes.l2 {
        Some(l2) if l2 >= MIB / 16 => {
            let lines = in_l2((l2 / 2).min(LARGEST));
            // Rounds have a fixed size: on a larger cache the walk takes several rounds to return to its start.
            layouts.push(huge(MemoryLevel::L2, u64::from(lines) * LINE, lines, u64::from(lines), 4096));
        }
        _ => missing.push((MemoryLevel::L2, "this machine does not say how large its second-level cache is")),
    }
    match (sizes.l2, sizes.llc) {
        (Some(l2), Some(llc)) if l2.saturating_mul(2) <= (llc / 2).min(LARGEST) && l2 >= MIB / 16 => {
            let lines = in_l2(2 * l2);
            let span = (llc / 2).min(LARGEST);
            let walk = huge(MemoryLevel::Llc, span, lines, VISITS * u64::from(lines), LLC_TIMED);
            layouts.push(Layout { rest: LEFT_ALONE, ..walk });
        }
        _ => missing.push((MemoryLevel::Llc, "this machine reports no cache beyond the second level")),
    }
    let flushed = |place, node| Layout { flush: true, node, ..huge(place, DRAM_SPAN, DRAM_LINES, 0, 1024) };
    match nodes {
        [] | [_] => {
            layouts.push(flushed(MemoryLevel::Dram, None));
            missing.push((MemoryLevel::Remote, "this machine has one memory node"));
        }
        several => layouts.extend(several.iter().map(|&node| flushed(MemoryLevel::Dram, Some(node)))),
    }
    let spread = u64::from(TLB_LINES) * PAGE;
    for (place, pages) in [(MemoryLevel::SmallPages, Pages::Small), (MemoryLevel::HugePages, Pages::Huge)] {
        let lines = u64::from(TLB_LINES);
        layouts.push(Layout { pages, ..huge(place, spread, TLB_LINES, lines, lines) });
    }
    (layouts, missing)
}

/// Builds the walk: touches its memory and asks once more for huge pages.
pub(super) fn build(layout: &Layout) -> Result<PointerChase> {
    let huge = 2 * MIB;
    let bytes = layout.span.div_ceil(huge) * huge;
    let region = Region::map(bytes, layout.pages, layout.node)?;
    // The value of the seed does not matter; equal seeds give walks in small and in huge pages the same lines.
    let mut cycle = PointerChase::link(region, layout.span, layout.lines, 0x1dea_0b5e)?;
    if layout.pages == Pages::Huge {
        cycle.collapse();
    }
    Ok(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(l2: u64, llc: u64) -> CacheSizes {
        let known = |bytes| (bytes > 0).then_some(bytes);
        CacheSizes { l1: Some(32 << 10), l2: known(l2), llc: known(llc) }
    }

    fn places(layouts: &[Layout]) -> Vec<MemoryLevel> {
        layouts.iter().map(|layout| layout.place).collect()
    }

    #[test]
    fn a_machine_with_three_levels_has_every_walk_but_that_to_another_node() {
        let (layouts, missing) = layouts(sizes(MIB / 2, 32 * MIB), &[0]);
        assert_eq!(
            places(&layouts),
            [MemoryLevel::L2, MemoryLevel::Llc, MemoryLevel::Dram, MemoryLevel::SmallPages, MemoryLevel::HugePages]
        );
        assert_eq!(missing.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [MemoryLevel::Remote]);
        let llc = layouts[1];
        assert_eq!((llc.span, u64::from(llc.lines) * LINE), (16 * MIB, MIB), "a thirty-second of the cache is touched");
    }

    #[test]
    fn whatever_the_machine_says_the_lines_fit_and_the_memory_is_bounded() {
        for l2 in [0, 1, MIB / 4, 2 * MIB, 64 * MIB, u64::MAX / 8] {
            for llc in [0, 1, MIB, 32 * MIB, 4096 * MIB, u64::MAX / 4] {
                let (layouts, missing) = layouts(sizes(l2, llc), &[0, 1, 2]);
                assert!(layouts.iter().all(|layout| layout.span / LINE >= u64::from(layout.lines)), "{l2} {llc}");
                assert!(layouts.iter().all(|layout| layout.span <= LARGEST && layout.lines >= 2), "{l2} {llc}");
                assert!(missing.iter().all(|(place, _)| !places(&layouts).contains(place)));
            }
        }
    }
}

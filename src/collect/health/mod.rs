//! Measures how fast this machine's caches and memory are right now: a few seconds of walks and streams, for a log. Run
//! it on an idle machine: unlike the canaries it fills caches and uses every CPU for a while. It changes no setting.
mod latency;
mod measure;
mod streams;

pub use measure::measure;

use crate::sys::sysfs::CacheSizes;

const MIB: u64 = 1 << 20;

/// Memory limit of a walk or stream; an eighth of the free memory is a second limit.
const MOST_MEMORY: u64 = 512 * MIB;

/// Cache sizes to measure, and the memory allowed.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    sizes: CacheSizes,
    /// The largest region.
    memory: u64,
}

impl Bounds {
    fn new(sizes: CacheSizes, free: Option<u64>) -> Bounds {
        let memory = free.map_or(64 * MIB, |free| free / 8).clamp(4 * MIB, MOST_MEMORY);
        Bounds { sizes, memory: memory / (2 * MIB) * (2 * MIB) }
    }

    /// A size beyond every cache, as far as memory allows.
    fn beyond(&self) -> u64 {
        let last = self.sizes.llc.or(self.sizes.l2).unwrap_or(16 * MIB);
        last.saturating_mul(4).max(32 * MIB).min(self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_by_what_is_free() {
        let sizes = CacheSizes { l1: None, l2: None, llc: Some(256 * MIB) };
        for (free, most) in [(None, 64), (Some(0), 4), (Some(800 * MIB), 100), (Some(u64::MAX), 512)] {
            assert_eq!(Bounds::new(sizes, free).beyond(), most * MIB, "{free:?}");
        }
        assert_eq!(Bounds::new(CacheSizes::default(), Some(u64::MAX)).beyond(), 64 * MIB);
    }
}

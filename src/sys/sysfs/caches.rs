//! Reads the caches that a CPU reports.
//! A virtual machine reports whatever its host chooses; nothing here checks it.

use super::SysFs;
use crate::abi::parse_cpu_list;
use serde::Serialize;

/// Maximum number of caches read per CPU.
const MOST: usize = 16;

/// A cache that holds data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 is nearest to the CPU.
    pub level: u8,
    /// Its size.
    pub bytes: u64,
    /// The CPUs that share it.
    pub cpus: Vec<u32>,
}

/// Sizes of the cache levels between a CPU and memory, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CacheSizes {
    /// Level 1, data.
    pub l1: Option<u64>,
    /// Level 2.
    pub l2: Option<u64>,
    /// The last level, where it is beyond the second.
    pub llc: Option<u64>,
}

impl CacheSizes {
    /// The sizes of the levels among these caches.
    #[must_use]
    pub fn of(caches: &[Cache]) -> CacheSizes {
        let level = |level| caches.iter().find(|cache| cache.level == level).map(|cache| cache.bytes);
        let last = caches.iter().filter(|cache| cache.level > 2).max_by_key(|cache| cache.level);
        CacheSizes { l1: level(1), l2: level(2), llc: last.map(|cache| cache.bytes) }
    }
}

impl SysFs {
    /// The data caches of a CPU, nearest first; empty where the kernel reports none.
    #[must_use]
    pub fn caches(&self, cpu: u32) -> Vec<Cache> {
        let mut caches: Vec<Cache> = (0..MOST).map_while(|index| self.cache(cpu, index)).flatten().collect();
        caches.sort_by_key(|cache| cache.level);
        caches
    }

    /// `None` past the last cache; `Some(None)` for one that holds no data.
    fn cache(&self, cpu: u32, index: usize) -> Option<Option<Cache>> {
        let text = |name: &str| self.text(&format!("devices/system/cpu/cpu{cpu}/cache/index{index}/{name}"));
        let kind = text("type")?;
        let cache = || {
            let cpus = text("shared_cpu_list").and_then(|list| parse_cpu_list(&list).ok()).unwrap_or_else(|| vec![cpu]);
            Some(Cache { level: text("level")?.parse().ok()?, bytes: size(&text("size")?)?, cpus })
        };
        Some(if kind == "Instruction" { None } else { cache() })
    }
}

/// `512K`, `32M` or plain bytes.
fn size(text: &str) -> Option<u64> {
    let unit = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)].into_iter();
    let found = unit.into_iter().find_map(|(letter, factor)| Some((text.strip_suffix(letter)?, factor)));
    let (digits, factor) = found.unwrap_or((text, 1u64));
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn caches_are_read_nearest_first_and_those_of_instructions_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in [
            (0, "1", "Data", "32K"),
            (1, "1", "Instruction", "64K"),
            (2, "3", "Unified", "32M"),
            (3, "2", "Unified", "512K"),
            (4, "x", "Unified", "-1K"),
        ] {
            let directory = root.path().join(format!("devices/system/cpu/cpu3/cache/index{index}"));
            std::fs::create_dir_all(&directory).unwrap();
            for (name, text) in [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", "2-3")] {
                std::fs::write(directory.join(name), text).unwrap();
            }
        }
        let caches = SysFs::new(root.path()).caches(3);
        let seen: Vec<_> = caches.iter().map(|cache| (cache.level, cache.bytes)).collect();
        assert_eq!(seen, [(1, 32 << 10), (2, 512 << 10), (3, 32 << 20)]);
        assert_eq!(caches[2].cpus, [2, 3]);
        let sizes = CacheSizes { l1: Some(32 << 10), l2: Some(512 << 10), llc: Some(32 << 20) };
        assert_eq!(CacheSizes::of(&caches), sizes);
        assert_eq!(CacheSizes::of(&caches[..2]).llc, None, "the second level is no last one of its own");
        assert!(SysFs::new(root.path()).caches(0).is_empty());
    }
}

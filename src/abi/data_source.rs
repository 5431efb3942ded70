//! Where the data of a sampled access was (`union perf_mem_data_src`).

/// Bits of each field (`PERF_MEM_*`).
pub mod bit {
    /// `mem_op`.
    pub const LOAD: u64 = 2;
    pub const STORE: u64 = 4;
    pub const PREFETCH: u64 = 8;
    pub const EXECUTE: u64 = 0x10;
    /// `mem_lvl`.
    pub const LEVEL_MISS: u64 = 4;
    pub const L1: u64 = 8;
    pub const FILL_BUFFER: u64 = 0x10;
    pub const L2: u64 = 0x20;
    pub const L3: u64 = 0x40;
    pub const LOCAL_RAM: u64 = 0x80;
    pub const REMOTE_RAM: u64 = 0x300;
    pub const REMOTE_CACHE: u64 = 0xc00;
    pub const IO: u64 = 0x1000;
    pub const UNCACHED: u64 = 0x2000;
    /// `mem_snoop`.
    pub const SNOOP_NONE: u64 = 2;
    pub const SNOOP_HIT: u64 = 4;
    pub const SNOOP_MISS: u64 = 8;
    pub const SNOOP_HITM: u64 = 0x10;
    /// `mem_snoopx`.
    pub const FORWARDED: u64 = 1;
    pub const PEER: u64 = 2;
    /// `mem_lock`.
    pub const LOCKED: u64 = 2;
    /// `mem_dtlb`.
    pub const TLB_HIT: u64 = 2;
    pub const TLB_MISS: u64 = 4;
}

/// Values of `mem_lvl_num`.
pub mod number {
    pub const L1: u64 = 1;
    pub const L2: u64 = 2;
    pub const L3: u64 = 3;
    pub const L4: u64 = 4;
    /// The buffer of requests between the first and second level.
    pub const L2_BUFFER: u64 = 5;
    pub const UNCACHED: u64 = 8;
    pub const CXL: u64 = 9;
    pub const IO: u64 = 10;
    pub const ANY_CACHE: u64 = 11;
    pub const FILL_BUFFER: u64 = 12;
    pub const RAM: u64 = 13;
    pub const PMEM: u64 = 14;
}

/// `PERF_MEM_HOPS_0`: another core of the same node. Higher values are other nodes.
pub const SAME_NODE: u64 = 1;

/// What a sample carries of a memory access; 0 for what was not recorded or not told by the hardware.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccessWords {
    /// The address of the data.
    pub address: u64,
    /// What the hardware measured of it, of loads mostly the latency in cycles.
    pub cost: u64,
    /// Where the data was (`union perf_mem_data_src`).
    pub source: u64,
}

/// The fields. They have the same places in the word on machines of either byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSource {
    /// Kind of operation, as bits.
    pub operation: u64,
    /// Level, as bits; the older encoding.
    pub level: u64,
    /// State of other caches, as bits.
    pub snoop: u64,
    /// More of it, as bits.
    pub snoop_more: u64,
    /// Locked or not, as bits.
    pub lock: u64,
    /// Translation, as bits.
    pub tlb: u64,
    /// Level, as a number; 0 where not filled in.
    pub number: u64,
    /// Whether another core, core complex or node had it.
    pub remote: bool,
    /// How far away, as a number; 0 where not filled in.
    pub hops: u64,
}

impl DataSource {
    /// Takes the word apart.
    #[must_use]
    pub fn of(word: u64) -> DataSource {
        let field = |shift: u32, bits: u32| word >> shift & ((1 << bits) - 1);
        DataSource {
            operation: field(0, 5),
            level: field(5, 14),
            snoop: field(19, 5),
            lock: field(24, 2),
            tlb: field(26, 7),
            number: field(33, 4),
            remote: field(37, 1) != 0,
            snoop_more: field(38, 2),
            hops: field(43, 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_real_samples_is_taken_apart_as_perf_does_it() {
        // `|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No`, of Skylake.
        let source = DataSource::of(0x118_6810_0242);
        assert_eq!((source.operation, source.level, source.number), (bit::LOAD, bit::FILL_BUFFER | 2, 12));
        assert_eq!((source.snoop, source.lock & bit::LOCKED, source.tlb & bit::TLB_HIT), (2, 0, bit::TLB_HIT));
        assert!(!source.remote && source.hops == 0);
        // `|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes`.
        let locked = DataSource::of(0x102_6a10_0142);
        assert_eq!((locked.lock & bit::LOCKED, locked.number), (bit::LOCKED, 1));
        // `|OP LOAD|LVL L3 hit|SNP None|TLB L2 miss|LCK No`.
        assert_eq!(DataSource::of(0x106_5010_0842).tlb & 6, bit::TLB_MISS);
    }
}

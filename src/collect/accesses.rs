//! The memory accesses of samples that carry the source of their data: sampled here, or by `perf mem record` and
//! `perf c2c record`.

use crate::abi::data_source::{AccessWords, DataSource, SAME_NODE, bit, number};
use crate::model::{AccessKind, MemoryAccess, MemoryLevel, Sample, Snoop, TlbResult};

/// The access of a sample; `None` if the hardware did not tell what the instruction did to memory.
#[must_use]
pub fn decode(words: AccessWords, own: &Sample) -> Option<MemoryAccess> {
    let source = DataSource::of(words.source);
    let Sample { at, pid, tid, cpu, event, stack, .. } = *own;
    Some(MemoryAccess {
        at,
        pid,
        tid,
        cpu,
        event,
        stack,
        address: Some(words.address).filter(|address| *address != 0),
        kind: kind(source)?,
        level: level(source),
        missed: source.level & bit::LEVEL_MISS != 0,
        snoop: snoop(source),
        tlb: tlb(source),
        locked: source.lock & bit::LOCKED != 0,
        // Hardware that did not measure it writes 0: AMD's IBS of hits, older processors of stores.
        latency: Some(words.cost).filter(|cycles| *cycles != 0),
    })
}

fn kind(source: DataSource) -> Option<AccessKind> {
    // An atomic operation may have both bits; as in `perf c2c`, it counts as the load whose latency was measured.
    let kinds = [
        (bit::LOAD, AccessKind::Load),
        (bit::STORE, AccessKind::Store),
        (bit::PREFETCH, AccessKind::Prefetch),
        (bit::EXECUTE, AccessKind::Fetch),
    ];
    kinds.into_iter().find(|(bit, _)| source.operation & bit != 0).map(|(_, kind)| kind)
}

/// The level by its number if there is one, else by the older bits.
fn level(source: DataSource) -> MemoryLevel {
    let cached = |level| match (source.remote, source.hops) {
        (false, _) => level,
        (true, SAME_NODE) => MemoryLevel::PeerCache,
        (true, _) => MemoryLevel::RemoteCache,
    };
    match source.number {
        number::L1 => cached(MemoryLevel::L1),
        number::L2 => cached(MemoryLevel::L2),
        number::L3 => cached(MemoryLevel::L3),
        number::L4 => cached(MemoryLevel::L4),
        number::ANY_CACHE => cached(by_bits(source)),
        number::FILL_BUFFER | number::L2_BUFFER => MemoryLevel::FillBuffer,
        number::RAM if source.remote || source.level & bit::REMOTE_RAM != 0 => MemoryLevel::RemoteDram,
        number::RAM => MemoryLevel::LocalDram,
        number::PMEM => MemoryLevel::Pmem,
        number::CXL => MemoryLevel::Cxl,
        number::IO => MemoryLevel::Io,
        number::UNCACHED => MemoryLevel::Uncached,
        _ => by_bits(source),
    }
}

fn by_bits(source: DataSource) -> MemoryLevel {
    let levels = [
        (bit::REMOTE_RAM, MemoryLevel::RemoteDram),
        (bit::REMOTE_CACHE, MemoryLevel::RemoteCache),
        (bit::LOCAL_RAM, MemoryLevel::LocalDram),
        (bit::L3, MemoryLevel::L3),
        (bit::L2, MemoryLevel::L2),
        (bit::FILL_BUFFER, MemoryLevel::FillBuffer),
        (bit::L1, MemoryLevel::L1),
        (bit::IO, MemoryLevel::Io),
        (bit::UNCACHED, MemoryLevel::Uncached),
    ];
    let found = levels.into_iter().find(|(bits, _)| source.level & bits != 0);
    found.map_or(MemoryLevel::Unknown, |(_, level)| level)
}

fn snoop(source: DataSource) -> Snoop {
    let has = |bits: u64| source.snoop & bits != 0;
    match source.snoop_more & (bit::FORWARDED | bit::PEER) {
        _ if has(bit::SNOOP_HITM) => Snoop::Modified,
        _ if has(bit::SNOOP_HIT) => Snoop::Hit,
        _ if has(bit::SNOOP_MISS) => Snoop::Miss,
        1.. => Snoop::Forwarded,
        0 if has(bit::SNOOP_NONE) => Snoop::None,
        0 => Snoop::Unknown,
    }
}

fn tlb(source: DataSource) -> TlbResult {
    match source.tlb & (bit::TLB_HIT | bit::TLB_MISS) {
        0 => TlbResult::Unknown,
        bit::TLB_HIT => TlbResult::Hit,
        _ => TlbResult::Miss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word of these fields.
    fn word(level: u64, number: u64, remote: bool, snoop: u64, more: u64, hops: u64) -> DataSource {
        let fields = [(bit::LOAD, 0), (level | 2, 5), (snoop, 19), (number, 33), (u64::from(remote), 37)];
        let all = fields.into_iter().chain([(more, 38), (hops, 43)]);
        DataSource::of(all.fold(0, |word, (value, shift)| word | value << shift))
    }

    #[test]
    fn levels_are_those_that_the_kernel_writes_for_each_processor() {
        use MemoryLevel as L;
        for (name, level_bits, number, remote, hops, expected) in [
            ("before numbers: L3", bit::L3, 0, false, 0, L::L3),
            ("before numbers: remote DRAM, one hop", 0x100, 0, false, 0, L::RemoteDram),
            ("before numbers: remote cache, two hops", 0x800, 0, false, 0, L::RemoteCache),
            ("Skylake: line fill buffer", bit::FILL_BUFFER, number::FILL_BUFFER, false, 0, L::FillBuffer),
            ("Skylake: remote HITM", 0, number::ANY_CACHE, true, 0, L::RemoteCache),
            ("Skylake: remote DRAM", 0, number::RAM, true, 0, L::RemoteDram),
            ("Cascade Lake: local persistent memory", 0, number::PMEM, false, 0, L::Pmem),
            ("Zen 4: cache of another complex", 0x400, number::ANY_CACHE, true, SAME_NODE, L::PeerCache),
            ("Zen 4: cache of another node", 0x800, number::ANY_CACHE, true, 2, L::RemoteCache),
            ("Zen 4: DRAM", bit::LOCAL_RAM, number::RAM, false, 0, L::LocalDram),
            ("Zen 4: DRAM of another node", 0x100, number::RAM, true, 2, L::RemoteDram),
            ("Zen 4: behind CXL", 0, number::CXL, false, 0, L::Cxl),
            ("not available", 1, 15, false, 0, L::Unknown),
        ] {
            assert_eq!(level(word(level_bits, number, remote, 2, 0, hops)), expected, "{name}");
        }
    }

    #[test]
    fn what_other_caches_had_is_the_strongest_of_what_is_said() {
        for (snooped, more, expected) in [
            (bit::SNOOP_HITM, 0, Snoop::Modified),
            (bit::SNOOP_HIT, bit::FORWARDED, Snoop::Hit),
            (bit::SNOOP_NONE, bit::PEER, Snoop::Forwarded),
            (0, bit::FORWARDED, Snoop::Forwarded),
            (bit::SNOOP_MISS, 0, Snoop::Miss),
            (bit::SNOOP_NONE, 0, Snoop::None),
            (1, 0, Snoop::Unknown),
        ] {
            assert_eq!(snoop(word(bit::L3, 3, false, snooped, more, 0)), expected);
        }
    }

    #[test]
    fn an_instruction_that_did_nothing_to_memory_is_no_access() {
        assert_eq!(kind(DataSource::of(1)), None, "PERF_MEM_OP_NA");
        assert_eq!(kind(DataSource::of(bit::LOAD | bit::STORE)), Some(AccessKind::Load));
    }
}

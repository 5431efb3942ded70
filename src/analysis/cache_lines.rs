//! Cache lines that several threads use, from sampled accesses: who reads and writes which bytes of them, and whether they
//! share the bytes or only the line.

use super::accesses::{Latency, chosen_accesses};
use super::names::Names;
use super::profile_tree::UNKNOWN;
use super::selection::Selection;
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{AccessKind, MemoryAccess};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How threads share a line, as far as sampled accesses show it. Samples have the first byte of an access, not its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Threads use different bytes of it, and at least one writes: copies on lines of their own would help.
    False,
    /// One thread writes bytes that another one uses.
    True,
    /// Several threads read it, and none was seen to write.
    ReadOnly,
    /// Someone modifies it, and samples do not show which bytes.
    Undecided,
}

/// The use of one offset of a line by one function.
#[derive(Debug, Clone, PartialEq)]
pub struct LineUse {
    /// First byte of the access within the line.
    pub offset: u64,
    /// The function.
    pub function: String,
    /// The path of its module.
    pub module: String,
    /// The threads, by id.
    pub tids: BTreeSet<u32>,
    /// Sampled loads.
    pub loads: u64,
    /// Sampled stores.
    pub stores: u64,
    /// Loads of it while a core of the same node had it modified.
    pub hitm_local: u64,
    /// Loads of it while a core of another node had it modified.
    pub hitm_remote: u64,
    /// Cycles of these accesses.
    pub latency: Latency,
}

/// A line that several threads use, or that was modified by another core.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLine {
    /// Address of its first byte.
    pub address: u64,
    /// The process whose address that is; `None` for one of the kernel.
    pub pid: Option<u32>,
    /// Sampled accesses.
    pub samples: u64,
    /// Number of threads.
    pub threads: usize,
    /// How they share it.
    pub sharing: Sharing,
    /// Who uses which offset, in the order of offsets; within one the most samples first.
    pub uses: Vec<LineUse>,
    /// Cycles of all accesses.
    pub latency: Latency,
}

impl CacheLine {
    /// Sums a count of its uses.
    #[must_use]
    pub fn sum(&self, count: fn(&LineUse) -> u64) -> u64 {
        self.uses.iter().map(count).sum()
    }

    /// Loads of it while another core had it modified.
    #[must_use]
    pub fn hitm(&self) -> u64 {
        self.sum(|it| it.hitm_local + it.hitm_remote)
    }
}

/// All lines of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLines {
    /// Bytes of a line.
    pub bytes: u64,
    /// Lines that are shared, those most often found modified first.
    pub shared: Vec<CacheLine>,
    /// Number of lines that one thread used alone.
    pub alone: usize,
}

/// Bytes of a common access: accesses within one of these may be of the same bytes though they begin at different ones.
const WORD: u64 = 8;

/// A thread. The idle tasks of all CPUs have one id.
type Thread = (u32, Option<u32>);

fn thread(access: &MemoryAccess) -> Thread {
    (access.tid, (access.tid == 0).then_some(access.cpu))
}

/// Bytes of a cache line on machines of this kind.
fn line_bytes(arch: &str) -> u64 {
    match arch {
        "ppc64" | "ppc64le" => 128,
        "s390x" => 256,
        _ => 64,
    }
}

/// Finds the shared lines. An address of a program belongs to its process: what processes share is not put together.
#[must_use]
pub fn cache_lines(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> CacheLines {
    let who = selection.who(tasks);
    let bytes = line_bytes(&profile.meta.host.arch);
    let mut by_line: FxHashMap<(Option<u32>, u64), Vec<&MemoryAccess>> = FxHashMap::default();
    for access in chosen_accesses(profile, selection, &who) {
        let Some(address) = access.address else { continue };
        let space = (address >> 63 == 0).then_some(access.pid);
        by_line.entry((space, address & !(bytes - 1))).or_default().push(access);
    }
    let found = by_line.len();
    let shared = by_line.into_iter().filter_map(|((pid, address), accesses)| {
        let threads = accesses.iter().map(|it| thread(it)).collect::<FxHashSet<_>>().len();
        (threads > 1 || accesses.iter().any(|it| it.is_hitm())).then(|| CacheLine {
            address,
            pid,
            samples: accesses.len() as u64,
            threads,
            sharing: sharing(&accesses, bytes),
            uses: uses(profile, names, &accesses, bytes),
            latency: Latency::of(accesses.iter().filter_map(|it| it.latency).collect()),
        })
    });
    let mut shared: Vec<CacheLine> = shared.collect();
    let alone = found - shared.len();
    let rank = |line: &CacheLine| (line.hitm(), line.sum(|it| it.stores), line.samples);
    shared.sort_by_cached_key(|line| (std::cmp::Reverse(rank(line)), line.pid, line.address));
    CacheLines { bytes, shared, alone }
}

fn uses(profile: &Profile, names: &Names, accesses: &[&MemoryAccess], bytes: u64) -> Vec<LineUse> {
    let mut groups: BTreeMap<(u64, Option<u32>), Vec<&MemoryAccess>> = BTreeMap::new();
    for access in accesses {
        let function = names.walk(profile, access.stack).next().map(|call| call.function);
        let offset = access.address.unwrap_or_default() % bytes;
        groups.entry((offset, function)).or_default().push(access);
    }
    let mut uses: Vec<LineUse> = groups
        .into_iter()
        .map(|((offset, function), group)| {
            let count = |is: &dyn Fn(&MemoryAccess) -> bool| group.iter().filter(|it| is(it)).count() as u64;
            let function = function.and_then(|at| names.functions.get(at as usize));
            LineUse {
                offset,
                function: function.map_or(UNKNOWN, |function| function.name.as_str()).to_string(),
                module: function.map_or("", |function| function.module.as_str()).to_string(),
                tids: group.iter().map(|it| it.tid).collect(),
                loads: count(&|it| it.kind == AccessKind::Load),
                stores: count(&|it| it.kind == AccessKind::Store),
                hitm_local: count(&MemoryAccess::is_local_hitm),
                hitm_remote: count(&MemoryAccess::is_remote_hitm),
                latency: Latency::of(group.iter().filter_map(|it| it.latency).collect()),
            }
        })
        .collect();
    uses.sort_by_key(|it| (it.offset, std::cmp::Reverse(it.loads + it.stores)));
    uses
}

/// What samples prove. A load that finds the line modified proves that someone wrote to it, but not where.
fn sharing(accesses: &[&MemoryAccess], bytes: u64) -> Sharing {
    let mut users: BTreeMap<u64, BTreeSet<Thread>> = BTreeMap::new();
    let mut writers: BTreeMap<u64, BTreeSet<Thread>> = BTreeMap::new();
    for access in accesses {
        let offset = access.address.unwrap_or_default() % bytes;
        users.entry(offset).or_default().insert(thread(access));
        if access.kind == AccessKind::Store {
            writers.entry(offset).or_default().insert(thread(access));
        }
    }
    let threads: BTreeSet<&Thread> = users.values().flatten().collect();
    let same_bytes = |offset: &u64| users.get(offset).is_some_and(|users| users.len() > 1);
    // An access may reach over bytes at which another one begins.
    let same_word = |offset: &u64| {
        let word = offset / WORD * WORD;
        users.range(word..word + WORD).flat_map(|(_, users)| users).collect::<BTreeSet<_>>().len() > 1
    };
    match (threads.len() > 1, writers.is_empty(), accesses.iter().any(|it| it.is_hitm())) {
        (true, false, _) if writers.keys().any(same_bytes) => Sharing::True,
        (true, false, _) if writers.keys().any(same_word) => Sharing::Undecided,
        (true, false, _) => Sharing::False,
        (true, true, false) => Sharing::ReadOnly,
        // It was modified, but nobody was seen to write: that may have been a thread that no sample shows.
        _ => Sharing::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MemoryLevel, Snoop, TlbResult};
    use crate::units::Nanos;

    /// An access as `thread offset kind`, kind `l`oad, `s`tore or `h`itm.
    fn access(text: &str) -> MemoryAccess {
        let words: Vec<&str> = text.split(' ').collect();
        MemoryAccess {
            at: Nanos(0),
            pid: 41,
            tid: words[0].parse().expect("a thread"),
            cpu: 0,
            event: 0,
            stack: None,
            address: Some(0x1000 + words[1].parse::<u64>().expect("an offset")),
            kind: if words[2] == "s" { AccessKind::Store } else { AccessKind::Load },
            level: MemoryLevel::L3,
            missed: false,
            snoop: if words[2] == "h" { Snoop::Modified } else { Snoop::None },
            tlb: TlbResult::Hit,
            locked: false,
            latency: None,
        }
    }

    fn verdict(text: &str) -> Sharing {
        let accesses: Vec<MemoryAccess> = text.split(", ").map(access).collect();
        sharing(&accesses.iter().collect::<Vec<_>>(), 64)
    }

    #[test]
    fn a_modified_line_from_an_unknown_node_is_neither_local_nor_remote() {
        for (level, expected) in [
            (MemoryLevel::L3, (true, false)),
            (MemoryLevel::RemoteCache, (false, true)),
            (MemoryLevel::FillBuffer, (false, false)),
        ] {
            let access = MemoryAccess { level, ..access("1 0 h") };
            assert_eq!((access.is_local_hitm(), access.is_remote_hitm()), expected, "{level:?}");
        }
    }

    #[test]
    fn only_threads_at_different_bytes_of_a_modified_line_share_it_falsely() {
        for (accesses, expected) in [
            ("1 0 s, 2 8 l", Sharing::False),
            ("1 0 s, 2 8 h, 1 0 l", Sharing::False),
            ("1 0 h, 2 8 h", Sharing::Undecided),
            ("1 0 s, 2 4 l", Sharing::Undecided),
            ("1 0 s, 2 0 l", Sharing::True),
            ("1 0 s, 2 0 s", Sharing::True),
            ("1 0 s, 2 8 l, 3 0 h", Sharing::True),
            ("1 0 l, 2 8 l", Sharing::ReadOnly),
            ("1 0 l, 2 0 l", Sharing::ReadOnly),
            ("1 0 h, 2 0 l", Sharing::Undecided),
            ("1 0 h, 2 8 l, 1 8 l", Sharing::Undecided),
            ("1 0 h, 1 0 s", Sharing::Undecided),
            ("1 0 s, 1 8 s", Sharing::Undecided),
        ] {
            assert_eq!(verdict(accesses), expected, "{accesses}");
        }
    }
}

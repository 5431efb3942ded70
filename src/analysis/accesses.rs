//! Sampled memory accesses by where their data was. The hardware chooses which it samples, mostly loads slower than a
//! threshold, so shares are shares of the sampled ones.

use super::selection::{Selection, ThreadSet};
use super::tasks::Tasks;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{AccessKind, AccessPlace, Measure, MemoryAccess, MemoryLevel, TlbResult, Why};
use std::collections::{BTreeMap, BTreeSet};

/// The selected accesses, of all events: loads and stores are sampled by different ones.
pub(super) fn chosen_accesses<'a>(
    profile: &'a Profile,
    selection: &'a Selection,
    who: &'a ThreadSet,
) -> impl Iterator<Item = &'a MemoryAccess> + 'a {
    let (time, cpus) = (selection.time, selection.cpus.as_slice());
    profile.accesses.iter().filter(move |access| {
        time.contains(access.at) && who.has(access.tid) && (cpus.is_empty() || cpus.contains(&access.cpu))
    })
}

/// Cycles that accesses took, of those whose latency was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Number of measured accesses.
    pub measured: u64,
    /// Their cycles together.
    pub cycles: u64,
    /// Cycles of one, on average.
    pub mean: Measure<f64>,
    /// Half of them took at most as many cycles.
    pub median: Measure<f64>,
}

impl Latency {
    /// Of these latencies, in any order.
    #[must_use]
    pub fn of(mut cycles: Vec<u64>) -> Latency {
        cycles.sort_unstable();
        let sum = cycles.iter().fold(0u64, |sum, it| sum.saturating_add(*it));
        let half = cycles.len() / 2;
        let median = match (cycles.len() % 2, half.checked_sub(1)) {
            (1, _) => cycles.get(half).map(|it| *it as f64),
            (_, below) => below.and_then(|below| Some((*cycles.get(below)? as f64 + *cycles.get(half)? as f64) / 2.0)),
        };
        let known = |value: Option<f64>| value.map_or(Measure::Missing(Why::NotRecorded), Measure::exact);
        let mean = (!cycles.is_empty()).then(|| sum as f64 / cycles.len() as f64);
        Latency { measured: cycles.len() as u64, cycles: sum, mean: known(mean), median: known(median) }
    }
}

/// Accesses whose data was at the same place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelRow {
    /// The place.
    pub place: AccessPlace,
    /// Number of sampled accesses.
    pub samples: u64,
    /// How long they took.
    pub latency: Latency,
}

/// Accesses of CPUs of one NUMA node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeAccesses {
    /// The node of the CPUs.
    pub node: u32,
    /// Accesses answered by their own node.
    pub local: u64,
    /// By a cache of another node.
    pub remote_cache: u64,
    /// By the memory of another node.
    pub remote_dram: u64,
    /// The hardware did not tell by whom.
    pub unknown: u64,
}

/// Accesses from the CPUs of one node that the memory or a cache of a known node answered. What the own caches answered
/// is left out: it does not tell where memory is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairAccesses {
    /// The node of the CPUs.
    pub cpu_node: u32,
    /// The node that answered; `None`: another one, and of several the hardware does not tell which.
    pub memory_node: Option<u32>,
    /// Answered by DRAM.
    pub dram: u64,
    /// By a cache of that node.
    pub cache: u64,
    /// How long they took.
    pub latency: Latency,
}

/// All sampled accesses of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessSummary {
    /// By kind and place, those with the most cycles first.
    pub levels: Vec<LevelRow>,
    /// Number of loads.
    pub loads: u64,
    /// Number of stores.
    pub stores: u64,
    /// Loads of a line that a core of the same node had modified.
    pub hitm_local: u64,
    /// Loads of a line that a core of another node had modified.
    pub hitm_remote: u64,
    /// Locked (atomic) operations.
    pub locked: u64,
    /// Accesses that missed all TLBs, of how many for which that is known.
    pub tlb_misses: (u64, u64),
    /// Accesses without the address of their data.
    pub without_address: u64,
    /// How long all took.
    pub latency: Latency,
    /// By the node of their CPU; empty on a machine of one node, or one whose nodes are unknown.
    pub nodes: Vec<NodeAccesses>,
    /// By pair of nodes; empty where `nodes` is.
    pub pairs: Vec<PairAccesses>,
}

/// Whether any access of the profile was sampled.
#[must_use]
pub fn has_accesses(profile: &Profile) -> bool {
    !profile.accesses.is_empty()
}

/// Refuses a profile in which none was sampled, with the remedy.
///
/// # Errors
/// `Unsupported`.
pub fn check_accesses(profile: &Profile) -> Result<()> {
    if has_accesses(profile) {
        return Ok(());
    }
    let text = "the recording holds no memory accesses: its samples carry no addresses of data";
    let hint = "Record with `ironlaw record --mem` on a machine whose CPU samples them, or with `perf mem record` or `perf c2c record` and read its perf.data.";
    Err(Error::new(ErrorKind::Unsupported, text).hint(hint))
}

/// Sums up the accesses of a selection.
#[must_use]
pub fn accesses(profile: &Profile, tasks: &Tasks, selection: &Selection) -> AccessSummary {
    let who = selection.who(tasks);
    let chosen: Vec<&MemoryAccess> = chosen_accesses(profile, selection, &who).collect();
    let count = |is: &dyn Fn(&MemoryAccess) -> bool| chosen.iter().filter(|it| is(it)).count() as u64;
    AccessSummary {
        levels: levels(&chosen),
        loads: count(&|it| it.kind == AccessKind::Load),
        stores: count(&|it| it.kind == AccessKind::Store),
        hitm_local: count(&MemoryAccess::is_local_hitm),
        hitm_remote: count(&MemoryAccess::is_remote_hitm),
        locked: count(&|it| it.locked),
        tlb_misses: (count(&|it| it.tlb == TlbResult::Miss), count(&|it| it.tlb != TlbResult::Unknown)),
        without_address: count(&|it| it.address.is_none()),
        latency: Latency::of(chosen.iter().filter_map(|it| it.latency).collect()),
        nodes: nodes(profile, &chosen),
        pairs: pairs(profile, &chosen),
    }
}

fn levels(chosen: &[&MemoryAccess]) -> Vec<LevelRow> {
    let mut found: BTreeMap<_, (u64, Vec<u64>)> = BTreeMap::new();
    for it in chosen {
        let row = found.entry(it.place()).or_default();
        row.0 += 1;
        row.1.extend(it.latency);
    }
    let mut rows: Vec<LevelRow> = found
        .into_iter()
        .map(|(place, (samples, cycles))| LevelRow { place, samples, latency: Latency::of(cycles) })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.latency.cycles, row.samples)));
    rows
}

/// The node of each CPU; empty on a machine of one node.
fn nodes_of_cpus(profile: &Profile) -> BTreeMap<u32, u32> {
    let node_of: BTreeMap<u32, u32> = profile.meta.host.cpus.iter().map(|it| (it.cpu, it.node)).collect();
    if node_of.values().collect::<BTreeSet<_>>().len() < 2 { BTreeMap::new() } else { node_of }
}

fn nodes(profile: &Profile, chosen: &[&MemoryAccess]) -> Vec<NodeAccesses> {
    let node_of = nodes_of_cpus(profile);
    let row = |node: &u32| (*node, NodeAccesses { node: *node, ..NodeAccesses::default() });
    let mut rows: BTreeMap<u32, NodeAccesses> = node_of.values().map(row).collect();
    for it in chosen {
        let Some(row) = node_of.get(&it.cpu).and_then(|node| rows.get_mut(node)) else { continue };
        match (it.level, it.level.is_remote()) {
            (MemoryLevel::RemoteCache, _) => row.remote_cache += 1,
            (MemoryLevel::RemoteDram, _) => row.remote_dram += 1,
            (_, Some(false)) => row.local += 1,
            _ => row.unknown += 1,
        }
    }
    rows.into_values().collect()
}

/// Of two nodes, what is not the own one is the other.
fn pairs(profile: &Profile, chosen: &[&MemoryAccess]) -> Vec<PairAccesses> {
    let node_of = nodes_of_cpus(profile);
    let all: BTreeSet<u32> = node_of.values().copied().collect();
    let other = |own: u32| if all.len() == 2 { all.iter().copied().find(|node| *node != own) } else { None };
    let mut rows: BTreeMap<(u32, Option<u32>), Vec<&MemoryAccess>> = BTreeMap::new();
    for it in chosen.iter().filter(|it| !it.missed) {
        let Some(own) = node_of.get(&it.cpu).copied() else { continue };
        let answered = match it.level {
            MemoryLevel::LocalDram => Some(own),
            MemoryLevel::RemoteDram | MemoryLevel::RemoteCache => other(own),
            _ => continue,
        };
        rows.entry((own, answered)).or_default().push(it);
    }
    let row = |((cpu_node, memory_node), accesses): ((u32, Option<u32>), Vec<&MemoryAccess>)| {
        let cache = accesses.iter().filter(|it| it.level == MemoryLevel::RemoteCache).count() as u64;
        let latency = Latency::of(accesses.iter().filter_map(|it| it.latency).collect());
        PairAccesses { cpu_node, memory_node, dram: accesses.len() as u64 - cache, cache, latency }
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::model::Snoop;
    use crate::units::Nanos;

    #[test]
    fn a_latency_is_of_those_that_were_measured() {
        let known = |measure: Measure<f64>| measure.value().copied();
        let latency = Latency::of(vec![70, 249, 89, 225, 96]);
        assert_eq!((latency.measured, latency.cycles), (5, 729));
        assert_eq!((known(latency.mean), known(latency.median)), (Some(145.8), Some(96.0)));
        assert_eq!(known(Latency::of(vec![1, 4]).median), Some(2.5));
        assert_eq!(Latency::of(vec![]).mean, Measure::Missing(Why::NotRecorded));
    }

    /// An access of a CPU.
    fn access(cpu: u32, level: MemoryLevel, missed: bool, cycles: u64) -> MemoryAccess {
        MemoryAccess {
            at: Nanos(0),
            pid: 41,
            tid: 41,
            cpu,
            event: 0,
            stack: None,
            address: None,
            kind: AccessKind::Load,
            level,
            missed,
            snoop: Snoop::None,
            tlb: TlbResult::Hit,
            locked: false,
            latency: Some(cycles),
        }
    }

    #[test]
    fn a_pair_of_nodes_is_known_only_where_the_hardware_names_both() {
        use MemoryLevel as L;
        let accesses = [
            access(0, L::LocalDram, false, 90),
            access(0, L::RemoteDram, false, 150),
            access(0, L::RemoteCache, false, 250),
            access(0, L::L3, false, 40),
            access(0, L::L1, true, 10),
            access(1, L::LocalDram, true, 10),
            access(1, L::RemoteDram, false, 170),
        ];
        let chosen: Vec<&MemoryAccess> = accesses.iter().collect();
        let found = |third: Option<u32>| {
            let mut profile = Synthetic::new().finish();
            profile.meta.host.cpus[1].node = 1;
            let more = third.map(|node| crate::model::CpuTopology { node, cpu: 9, ..profile.meta.host.cpus[0] });
            profile.meta.host.cpus.extend(more);
            let row =
                |it: PairAccesses| (it.cpu_node, it.memory_node, it.dram, it.cache, it.latency.mean.value().copied());
            pairs(&profile, &chosen).into_iter().map(row).collect::<Vec<_>>()
        };
        let two = [(0, Some(0), 1, 0, Some(90.0)), (0, Some(1), 1, 1, Some(200.0)), (1, Some(0), 1, 0, Some(170.0))];
        assert_eq!(found(None), two);
        let three = [(0, None, 1, 1, Some(200.0)), (0, Some(0), 1, 0, Some(90.0)), (1, None, 1, 0, Some(170.0))];
        assert_eq!(found(Some(2)), three, "the hardware does not name which of two others");
        let one = Synthetic::new().finish();
        assert_eq!(pairs(&one, &chosen), []);
    }
}

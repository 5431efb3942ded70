//! Where the memory of the target is, and on which NUMA nodes its threads run.

use super::selection::{Axis, Selection};
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{Measure, PageKind, Why};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The last reading of the target's memory in a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPlaces {
    /// When it was read; `None` if it never was.
    pub at: Option<Nanos>,
    /// Number of processes read.
    pub processes: usize,
    /// The nodes that have CPUs or memory of the target.
    pub nodes: Vec<NodePlaces>,
    /// Share of accesses that would leave their node if threads used all pages of their process alike.
    pub expected_remote: Measure<f64>,
    /// The same by pair of nodes; empty where that is not known.
    pub expected: Vec<ExpectedPair>,
}

/// Accesses from the CPUs of one node to the memory of one, if threads used all pages of their process alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedPair {
    /// The node of the CPUs.
    pub cpu_node: u32,
    /// The node of the memory.
    pub memory_node: u32,
    /// Their share of all accesses.
    pub share: f64,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePlaces {
    /// Its number.
    pub node: u32,
    /// Bytes of the target's pages on it, by kind in the order of [`PageKind`].
    pub bytes: [Measure<f64>; 3],
    /// Share of the target's samples on its CPUs.
    pub cpu_share: Measure<f64>,
    /// Threads with most of their samples on its CPUs.
    pub threads: usize,
}

/// The kinds, in the order of a node's bytes.
pub const KINDS: [PageKind; 3] = [PageKind::Anonymous, PageKind::File, PageKind::Huge];

/// Finds the places of memory and threads.
#[must_use]
pub fn memory_places(profile: &Profile, tasks: &Tasks, selection: &Selection) -> MemoryPlaces {
    let before = selection.time.to.unwrap_or(Nanos(u64::MAX));
    let chosen = |pid: u32| selection.pids.is_empty() || selection.pids.contains(&pid);
    let readings = profile.memory.iter().filter(|it| it.at <= before && chosen(it.pid));
    let at = readings.clone().map(|it| it.at).max();
    let mut bytes: BTreeMap<(u32, PageKind), u64> = BTreeMap::new();
    let mut held: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for it in readings.filter(|it| Some(it.at) == at) {
        let sum = bytes.entry((it.node, it.kind)).or_default();
        *sum = sum.saturating_add(it.bytes);
        let sum = held.entry(it.pid).or_default().entry(it.node).or_default();
        *sum = sum.saturating_add(it.bytes);
    }
    let (by_process, threads) = samples_by_node(profile, tasks, selection);
    let mut by_node: BTreeMap<u32, u128> = BTreeMap::new();
    by_process.values().flatten().for_each(|(node, weight)| *by_node.entry(*node).or_default() += weight);
    let of_cpus = profile.meta.host.cpus.iter().map(|cpu| cpu.node);
    let all: BTreeSet<u32> = of_cpus.chain(bytes.keys().map(|(node, _)| *node)).collect();
    let sampled: u128 = by_node.values().sum();
    let nodes: Vec<NodePlaces> = all
        .into_iter()
        .map(|node| NodePlaces {
            node,
            bytes: KINDS.map(|kind| match at {
                Some(_) => Measure::exact(bytes.get(&(node, kind)).copied().unwrap_or_default() as f64),
                None => Measure::Missing(Why::NotRecorded),
            }),
            cpu_share: share(by_node.get(&node).copied().unwrap_or_default(), sampled),
            threads: threads.values().filter(|home| **home == node).count(),
        })
        .collect();
    let expected = expected_pairs(&by_process, &held);
    let expected_remote = match at {
        None => Measure::Missing(Why::NotRecorded),
        Some(_) if bytes.values().all(|bytes| *bytes == 0) => Measure::Missing(Why::Idle),
        Some(_) if expected.is_empty() => Measure::Missing(Why::TooFewSamples),
        Some(_) => {
            let remote = expected.iter().filter(|pair| pair.cpu_node != pair.memory_node);
            Measure::exact(remote.map(|pair| pair.share).sum::<f64>().clamp(0.0, 1.0))
        }
    };
    MemoryPlaces { at, processes: held.len(), nodes, expected_remote, expected }
}

fn share(part: u128, whole: u128) -> Measure<f64> {
    if whole == 0 { Measure::Missing(Why::TooFewSamples) } else { Measure::exact(part as f64 / whole as f64) }
}

/// Weight of the samples on each node, by process.
type NodeWeights = BTreeMap<u32, BTreeMap<u32, u128>>;

/// Weights of the samples, and the node of most samples of each thread.
fn samples_by_node(profile: &Profile, tasks: &Tasks, selection: &Selection) -> (NodeWeights, FxHashMap<u32, u32>) {
    let node_of: FxHashMap<u32, u32> = profile.meta.host.cpus.iter().map(|it| (it.cpu, it.node)).collect();
    let event = match selection.axis {
        Axis::Event(event) => event,
        Axis::OffCpu => 0,
    };
    let who = selection.who(tasks);
    let (mut by_process, mut by_thread) = (NodeWeights::new(), FxHashMap::<u32, BTreeMap<u32, u128>>::default());
    for at in super::observe::chosen_samples(profile, event, selection, &who) {
        let samples = &profile.samples;
        let Some(node) = node_of.get(&samples.cpu[at]) else { continue };
        let weight = u128::from(samples.weight[at]);
        *by_process.entry(samples.pid[at]).or_default().entry(*node).or_default() += weight;
        *by_thread.entry(samples.tid[at]).or_default().entry(*node).or_default() += weight;
    }
    let home = |nodes: BTreeMap<u32, u128>| nodes.into_iter().max_by_key(|(node, weight)| (*weight, u32::MAX - node));
    let homes = by_thread.into_iter().filter_map(|(tid, nodes)| Some((tid, home(nodes)?.0)));
    (by_process, homes.collect())
}

/// A thread reaches the pages of its own process: processes that each keep to a node of their own have no remote accesses.
fn expected_pairs(used: &NodeWeights, held: &BTreeMap<u32, BTreeMap<u32, u64>>) -> Vec<ExpectedPair> {
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (pid, pages) in held {
        let all: u128 = pages.values().map(|bytes| u128::from(*bytes)).sum();
        for (cpu_node, weight) in used.get(pid).into_iter().flatten().filter(|_| all > 0) {
            for (memory_node, bytes) in pages {
                let share = *weight as f64 * (*bytes as f64 / all as f64);
                *pairs.entry((*cpu_node, *memory_node)).or_default() += share;
            }
        }
    }
    let whole: f64 = pairs.values().sum();
    let pair = |((cpu_node, memory_node), weight): ((u32, u32), f64)| {
        (weight > 0.0).then(|| ExpectedPair { cpu_node, memory_node, share: weight / whole })
    };
    pairs.into_iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::NodeMemory;

    fn memory(at: u64, node: u32, kind: PageKind, bytes: u64) -> NodeMemory {
        NodeMemory { at: ms(at), pid: 41, node, kind, bytes }
    }

    #[test]
    fn the_last_reading_counts_and_threads_use_the_node_of_their_cpus() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "io").samples(0, 41, "app!main", 3).samples(0, 42, "app!main", 1);
        // CPU 0, which all samples are on, belongs to node 0, CPU 1 to node 1.
        synthetic.meta.host.cpus[1].node = 1;
        let mut profile = synthetic.finish();
        use PageKind::{Anonymous, File};
        profile.memory = vec![memory(10, 0, Anonymous, 999), memory(50, 0, Anonymous, 100), memory(50, 1, File, 300)];
        let tasks = Tasks::of(&profile);
        let places = memory_places(&profile, &tasks, &Selection::default());
        assert_eq!((places.at, places.processes, places.nodes.len()), (Some(ms(50)), 1, 2));
        let bytes: Vec<_> = places.nodes.iter().map(|it| it.bytes.map(|it| it.value().copied())).collect();
        let known = |values: [f64; 3]| values.map(Some);
        assert_eq!(bytes, [known([100.0, 0.0, 0.0]), known([0.0, 300.0, 0.0])]);
        let threads: Vec<_> = places.nodes.iter().map(|it| (it.threads, it.cpu_share.value().copied())).collect();
        assert_eq!(threads, [(2, Some(1.0)), (0, Some(0.0))]);
        assert_eq!(places.expected_remote.value(), Some(&0.75));
        let pairs: Vec<_> = places.expected.iter().map(|it| (it.cpu_node, it.memory_node, it.share)).collect();
        assert_eq!(pairs, [(0, 0, 0.25), (0, 1, 0.75)]);
    }

    #[test]
    fn processes_that_each_keep_to_their_own_node_are_expected_to_stay_there() {
        let used = |rows: &[(u32, u32, u128)]| {
            let mut out = NodeWeights::new();
            rows.iter().for_each(|(pid, node, weight)| _ = out.entry(*pid).or_default().insert(*node, *weight));
            out
        };
        let held = BTreeMap::from([(1, BTreeMap::from([(0, 100), (1, 0)])), (2, BTreeMap::from([(1, 900)]))]);
        let shares = |pairs: Vec<ExpectedPair>| {
            pairs.into_iter().map(|it| (it.cpu_node, it.memory_node, it.share)).collect::<Vec<_>>()
        };
        let apart = expected_pairs(&used(&[(1, 0, 3), (2, 1, 1)]), &held);
        assert_eq!(shares(apart), [(0, 0, 0.75), (1, 1, 0.25)], "whatever the processes' sizes");
        let crossed = expected_pairs(&used(&[(1, 1, 3), (2, 0, 1), (3, 0, 9)]), &held);
        assert_eq!(shares(crossed), [(0, 1, 0.25), (1, 0, 0.75)], "of process 3 no pages were read");
        assert_eq!(expected_pairs(&used(&[]), &held), []);
    }

    #[test]
    fn what_was_never_read_is_missing_not_zero() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main");
        let profile = synthetic.finish();
        let places = memory_places(&profile, &Tasks::of(&profile), &Selection::default());
        assert_eq!((places.at, places.expected_remote.why()), (None, Some(Why::NotRecorded)));
        let node = &places.nodes[0];
        assert_eq!((node.bytes[0].why(), node.cpu_share.why()), (Some(Why::NotRecorded), Some(Why::TooFewSamples)));
    }
}

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
    /// Share of accesses that would leave their node if threads used all pages alike.
    pub expected_remote: Measure<f64>,
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
    let mut pids = BTreeSet::new();
    for it in readings.filter(|it| Some(it.at) == at) {
        let sum = bytes.entry((it.node, it.kind)).or_default();
        *sum = sum.saturating_add(it.bytes);
        pids.insert(it.pid);
    }
    let (by_node, threads) = samples_by_node(profile, tasks, selection);
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
    MemoryPlaces { at, processes: pids.len(), expected_remote: expected_remote(&nodes, at), nodes }
}

fn share(part: u128, whole: u128) -> Measure<f64> {
    if whole == 0 { Measure::Missing(Why::TooFewSamples) } else { Measure::exact(part as f64 / whole as f64) }
}

/// Weight of the samples on each node, and the node of most samples of each thread.
fn samples_by_node(
    profile: &Profile,
    tasks: &Tasks,
    selection: &Selection,
) -> (BTreeMap<u32, u128>, FxHashMap<u32, u32>) {
    let node_of: FxHashMap<u32, u32> = profile.meta.host.cpus.iter().map(|it| (it.cpu, it.node)).collect();
    let event = match selection.axis {
        Axis::Event(event) => event,
        Axis::OffCpu => 0,
    };
    let who = selection.who(tasks);
    let (mut by_node, mut by_thread) = (BTreeMap::new(), FxHashMap::<u32, BTreeMap<u32, u128>>::default());
    for at in super::observe::chosen_samples(profile, event, selection, &who) {
        let samples = &profile.samples;
        let Some(node) = node_of.get(&samples.cpu[at]) else { continue };
        let weight = u128::from(samples.weight[at]);
        *by_node.entry(*node).or_default() += weight;
        *by_thread.entry(samples.tid[at]).or_default().entry(*node).or_default() += weight;
    }
    let home = |nodes: BTreeMap<u32, u128>| nodes.into_iter().max_by_key(|(node, weight)| (*weight, u32::MAX - node));
    let homes = by_thread.into_iter().filter_map(|(tid, nodes)| Some((tid, home(nodes)?.0)));
    (by_node, homes.collect())
}

fn expected_remote(nodes: &[NodePlaces], at: Option<Nanos>) -> Measure<f64> {
    if at.is_none() {
        return Measure::Missing(Why::NotRecorded);
    }
    let held = |node: &NodePlaces| node.bytes.iter().filter_map(|it| it.value()).sum::<f64>();
    let all: f64 = nodes.iter().map(held).sum();
    let local: Option<f64> = nodes.iter().map(|node| Some(node.cpu_share.value()? * held(node) / all)).sum();
    match local {
        _ if all <= 0.0 => Measure::Missing(Why::Idle),
        None => Measure::Missing(Why::TooFewSamples),
        Some(local) => Measure::exact((1.0 - local).clamp(0.0, 1.0)),
    }
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

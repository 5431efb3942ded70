//! View model: where the memory of the target is, and on which NUMA nodes its threads run.

use super::{Measured, number};
use crate::analysis::{ExpectedPair, NodePlaces, Selection, Tasks, memory_places};
use crate::model::Unit;
use crate::model::profile::Profile;
use serde::Serialize;

/// Where the memory of the target is and where its threads run, in the last reading of the selected time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacesView {
    /// When it was read, seconds since the start; `None` if it never was.
    pub at_s: Option<f64>,
    /// Number of processes read.
    pub processes: usize,
    /// The nodes.
    pub nodes: Vec<NodePlacesView>,
    /// Share of accesses that would leave their node if threads used all pages of their process alike.
    pub expected_remote: Measured,
    /// The same by pair of nodes; empty where that is not known.
    pub expected_pairs: Vec<ExpectedPairView>,
}

/// Accesses to expect from the CPUs of one node to the memory of one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedPairView {
    /// The node of the CPUs.
    pub cpu_node: u32,
    /// The node of the memory.
    pub memory_node: u32,
    /// Their share of all accesses.
    pub share: f64,
}

/// One NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NodePlacesView {
    /// Its number.
    pub node: u32,
    /// Bytes of mappings without a file: heap, stacks, private memory.
    pub anonymous_bytes: Measured,
    /// Bytes of mappings of files and of shared memory.
    pub file_bytes: Measured,
    /// Bytes of huge pages of hugetlbfs.
    pub huge_bytes: Measured,
    /// Share of the target's samples on its CPUs.
    pub cpu_share: Measured,
    /// Threads with most of their samples on its CPUs.
    pub threads: usize,
}

/// Captions of [`NodePlacesView::cells`].
pub const NODE_CAPTIONS: [&str; 6] = ["node", "anonymous", "files and shared", "huge pages", "threads", "samples"];

impl PlacesView {
    /// The places of a selection; `None` if nothing is known of nodes.
    #[must_use]
    pub fn of(profile: &Profile, tasks: &Tasks, selection: &Selection) -> Option<PlacesView> {
        let found = memory_places(profile, tasks, selection);
        (!found.nodes.is_empty()).then(|| PlacesView {
            at_s: found.at.map(|at| at.seconds()),
            processes: found.processes,
            nodes: found.nodes.iter().map(NodePlacesView::of).collect(),
            expected_remote: found.expected_remote.into(),
            expected_pairs: found.expected.iter().map(ExpectedPairView::of).collect(),
        })
    }

    /// Of whose pages and when.
    #[must_use]
    pub fn about(&self) -> String {
        let many = if self.processes == 1 { "process" } else { "processes" };
        let read = |at| {
            format!("pages of {} {many} at {}", number::count(self.processes as u64), number::seconds(at).joined())
        };
        self.at_s.map_or("not read".to_string(), read)
    }

    /// Captions and rows of the accesses to expect, by the node of the CPU and of the memory; `None` of a single node, or
    /// where they are not known.
    #[must_use]
    pub fn expected_table(&self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        if self.nodes.len() < 2 || self.expected_pairs.is_empty() {
            return None;
        }
        let captions = std::iter::once("CPUs of".to_string())
            .chain(self.nodes.iter().map(|node| format!("memory of node {}", node.node)));
        let share = |cpu_node, memory_node| {
            let is_it = |pair: &&ExpectedPairView| (pair.cpu_node, pair.memory_node) == (cpu_node, memory_node);
            number::percent(self.expected_pairs.iter().find(is_it).map_or(0.0, |pair| pair.share)).joined()
        };
        let row = |of: &NodePlacesView| {
            let shares = self.nodes.iter().map(|to| share(of.node, to.node));
            std::iter::once(format!("node {}", of.node)).chain(shares).collect()
        };
        Some((captions.collect(), self.nodes.iter().map(row).collect()))
    }

    /// What the numbers mean on this machine, in one sentence.
    #[must_use]
    pub fn text(&self) -> String {
        match (self.nodes.as_slice(), self.expected_remote) {
            ([_], _) => "one NUMA node: all memory is local".to_string(),
            (nodes, Measured::Known { value, .. }) => format!(
                "{} NUMA nodes: if threads use all pages of their process alike, {} of their accesses leave their node",
                nodes.len(),
                number::percent(value).joined()
            ),
            (nodes, Measured::Missing { reason, .. }) => {
                format!("{} NUMA nodes; how many accesses leave their node: {reason}", nodes.len())
            }
        }
    }
}

/// Heading of [`PlacesView::expected_table`], and its scope.
pub const EXPECTED_HEADING: (&str, &str) =
    ("Accesses to expect", "not measured: if threads use all pages of their process alike");

impl ExpectedPairView {
    fn of(&ExpectedPair { cpu_node, memory_node, share }: &ExpectedPair) -> ExpectedPairView {
        ExpectedPairView { cpu_node, memory_node, share }
    }
}

impl NodePlacesView {
    fn of(node: &NodePlaces) -> NodePlacesView {
        let [anonymous, file, huge] = node.bytes;
        NodePlacesView {
            node: node.node,
            anonymous_bytes: anonymous.into(),
            file_bytes: file.into(),
            huge_bytes: huge.into(),
            cpu_share: node.cpu_share.into(),
            threads: node.threads,
        }
    }

    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let shown =
            |value: Measured, unit| value.value().map_or("-".to_string(), |it| number::quantity(it, unit).joined());
        let [anonymous, file, huge] =
            [self.anonymous_bytes, self.file_bytes, self.huge_bytes].map(|it| shown(it, Unit::Bytes));
        let threads = number::count(self.threads as u64);
        [self.node.to_string(), anonymous, file, huge, threads, shown(self.cpu_share, Unit::Share)]
    }
}

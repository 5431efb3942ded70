//! View model: where the memory of the target is, and on which NUMA nodes its threads run.

use super::{Measured, number};
use crate::analysis::{NodePlaces, Selection, Tasks, memory_places};
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
    /// Share of accesses that would leave their node if threads used all pages alike.
    pub expected_remote: Measured,
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

    /// What the numbers mean on this machine, in one sentence.
    #[must_use]
    pub fn text(&self) -> String {
        match (self.nodes.as_slice(), self.expected_remote) {
            ([_], _) => "one NUMA node: all memory is local".to_string(),
            (nodes, Measured::Known { value, .. }) => format!(
                "{} NUMA nodes: if threads use all pages alike, {} of their accesses leave their node",
                nodes.len(),
                number::percent(value).joined()
            ),
            (nodes, Measured::Missing { reason, .. }) => {
                format!("{} NUMA nodes; how many accesses leave their node: {reason}", nodes.len())
            }
        }
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

//! Samples grouped by thread in time order, for formats that draw a line per thread.
//! A moment is a few numbers without names, so ten million of them fit into memory.

use super::{PathId, Paths, Sampled};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// A thread's samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strand {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Total weight of its samples.
    pub weight: u64,
    /// The samples, in time order.
    pub moments: Vec<Moment>,
}

/// A sample, or a share of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Its time.
    pub at: Nanos,
    /// Its stack.
    pub path: PathId,
    /// Its weight.
    pub weight: u64,
}

impl Sampled<'_> {
    /// The rows by thread, the heaviest thread first.
    #[must_use]
    pub fn strands(&self, paths: &mut Paths) -> Vec<Strand> {
        let mut strands: BTreeMap<(u32, u32), Strand> = BTreeMap::new();
        for row in self.rows() {
            let (pid, tid) = (row.pid, row.tid);
            let new = || Strand { pid, tid, weight: 0, moments: Vec::new() };
            let strand = strands.entry((pid, tid)).or_insert_with(new);
            for share in row.shares() {
                strand.weight = strand.weight.saturating_add(share.weight);
                strand.moments.push(Moment { at: share.at, path: paths.id(share.path), weight: share.weight });
            }
        }
        let mut strands: Vec<_> = strands.into_values().collect();
        for strand in &mut strands {
            strand.moments.sort_by_key(|moment| moment.at);
        }
        strands.sort_by_key(|strand| std::cmp::Reverse(strand.weight));
        strands
    }
}

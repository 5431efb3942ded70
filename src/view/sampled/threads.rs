//! Samples grouped by thread in time order, for formats that draw a line per thread.
//! A sample is a few numbers without names, so ten million of them fit into memory.

use super::path::{PathId, Paths};
use super::rows::Sampled;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// A thread's samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSamples {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Total weight of its samples.
    pub weight: u64,
    /// The samples, in time order.
    pub samples: Vec<ThreadSample>,
}

/// A sample, or a share of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSample {
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
    pub fn threads(&self, paths: &mut Paths) -> Vec<ThreadSamples> {
        let mut threads: BTreeMap<(u32, u32), ThreadSamples> = BTreeMap::new();
        for row in self.rows() {
            let (pid, tid) = (row.pid, row.tid);
            let new = || ThreadSamples { pid, tid, weight: 0, samples: Vec::new() };
            let thread = threads.entry((pid, tid)).or_insert_with(new);
            for share in row.shares() {
                thread.weight = thread.weight.saturating_add(share.weight);
                thread.samples.push(ThreadSample { at: share.at, path: paths.id(share.path), weight: share.weight });
            }
        }
        let mut threads: Vec<_> = threads.into_values().collect();
        for thread in &mut threads {
            thread.samples.sort_by_key(|sample| sample.at);
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.weight));
        threads
    }
}

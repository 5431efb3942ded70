//! Where a target's hardware events are opened: its threads, its CPUs, or its control group on each CPU.
//! It never opens one.

use crate::collect::sampler::attach::{Reach, threads_of};
use crate::sys::perf::event::{Inherit, Place};
use std::path::Path;

/// The threads that events are opened on now; none where they are opened on CPUs.
pub(super) fn tasks(reach: &Reach, root: &Path) -> Vec<u32> {
    match reach {
        Reach::Processes(pids, _) => pids.iter().flat_map(|pid| threads_of(root, *pid)).collect(),
        Reach::Threads(tids) => tids.clone(),
        Reach::Cpus(_) | Reach::Cgroup(_) => Vec::new(),
    }
}

/// Each of these threads on whatever CPU it runs, or each CPU; nothing when whole CPUs stand in for a few processes.
pub(super) fn places<'a>(reach: &'a Reach, cpus: &'a [u32], tids: &[u32]) -> (Vec<Place<'a>>, Inherit) {
    let each = |tid: &u32| Place::Task { tid: *tid, cpu: None };
    match reach {
        Reach::Processes(_, inherit) => (tids.iter().map(each).collect(), *inherit),
        Reach::Threads(_) => (tids.iter().map(each).collect(), Inherit::No),
        Reach::Cpus(None) => (cpus.iter().map(|cpu| Place::Cpu(*cpu)).collect(), Inherit::No),
        Reach::Cpus(Some(_)) => (Vec::new(), Inherit::No),
        Reach::Cgroup(directory) => {
            (cpus.iter().map(|cpu| Place::Cgroup { directory, cpu: *cpu }).collect(), Inherit::No)
        }
    }
}

//! Where a target's hardware events are opened: its threads, its CPUs, or its control group on each CPU.
//! It never opens one.

use crate::collect::sampler::attach::{Reach, threads_of};
use crate::sys::perf::event::{Inherit, Place};
use std::path::Path;

/// Each thread on whatever CPU it runs, or each CPU; nothing when whole CPUs stand in for a few processes.
pub(super) fn places<'a>(reach: &'a Reach, cpus: &'a [u32], root: &Path) -> (Vec<Place<'a>>, Inherit) {
    let task = |tid: u32| Place::Task { tid, cpu: None };
    match reach {
        Reach::Processes(pids, inherit) => {
            (pids.iter().flat_map(|pid| threads_of(root, *pid)).map(task).collect(), *inherit)
        }
        Reach::Threads(tids) => (tids.iter().copied().map(task).collect(), Inherit::No),
        Reach::Cpus(None) => (cpus.iter().map(|cpu| Place::Cpu(*cpu)).collect(), Inherit::No),
        Reach::Cpus(Some(_)) => (Vec::new(), Inherit::No),
        Reach::Cgroup(directory) => {
            (cpus.iter().map(|cpu| Place::Cgroup { directory, cpu: *cpu }).collect(), Inherit::No)
        }
    }
}

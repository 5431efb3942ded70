//! Lists where a target's hardware events are opened: its threads, its CPUs, or its control group on each CPU.

use crate::collect::sampler::attach::AttachScope;
use crate::collect::sampler::new_threads::threads_of;
use crate::sys::perf::event::{Inherit, Place};
use std::path::Path;

/// The threads that events are opened on now; empty if they are opened on CPUs.
pub(super) fn tasks(attach_scope: &AttachScope, root: &Path) -> Vec<u32> {
    match attach_scope {
        AttachScope::Processes(pids, _) => pids.iter().flat_map(|pid| threads_of(root, *pid)).collect(),
        AttachScope::Threads(tids) => tids.clone(),
        AttachScope::Cpus(_) | AttachScope::Cgroup(_) => Vec::new(),
    }
}

/// Each of these threads on any CPU, or each CPU; empty if whole CPUs are sampled for a few processes.
pub(super) fn places<'a>(attach_scope: &'a AttachScope, cpus: &'a [u32], tids: &[u32]) -> (Vec<Place<'a>>, Inherit) {
    let each = |tid: &u32| Place::Task { tid: *tid, cpu: None };
    match attach_scope {
        AttachScope::Processes(_, inherit) => (tids.iter().map(each).collect(), *inherit),
        AttachScope::Threads(_) => (tids.iter().map(each).collect(), Inherit::No),
        AttachScope::Cpus(None) => (cpus.iter().map(|cpu| Place::Cpu(*cpu)).collect(), Inherit::No),
        AttachScope::Cpus(Some(_)) => (Vec::new(), Inherit::No),
        AttachScope::Cgroup(directory) => {
            (cpus.iter().map(|cpu| Place::Cgroup { directory, cpu: *cpu }).collect(), Inherit::No)
        }
    }
}

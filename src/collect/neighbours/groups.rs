//! Control groups beside the target: CPU time and storage traffic of each with all below it.
//! It reads a few hundred at most, the highest first, and never one that holds part of the target.

use super::ledger::{Ledger, Said, Used, Who};
use super::{Ours, is_ours};
use crate::model::{Event, NeighbourKind};
use crate::sys::cgroupfs::{CgroupFs, Hierarchy, directories_within, membership};
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// How many groups are read.
const MOST: usize = 400;

/// How deep below the root they may lie; a pod's container lies at 5.
const DEEPEST: usize = 8;

/// How many of the target's processes are asked for their group at each reading.
const ASKED: usize = 256;

/// The groups met.
#[derive(Debug)]
pub(super) struct Groups {
    cgroups: CgroupFs,
    hierarchy: Option<Hierarchy>,
    proc: ProcFs,
    known: FxHashMap<PathBuf, Group>,
}

#[derive(Debug, Default)]
struct Group {
    cpu_before: Nanos,
    io_before: Option<u64>,
    said: Option<Said>,
}

/// The hierarchy that counts CPU time: version 1's where it is mounted, because version 2's beside it has no groups of
/// the controllers.
pub(super) fn hierarchy(cgroups: &CgroupFs) -> Option<Hierarchy> {
    cgroups.v1("cpuacct").or_else(|| cgroups.v2()).cloned()
}

/// What a group's directory is called: its path below the mount point, as /proc writes it.
pub(super) fn name(hierarchy: &Hierarchy, directory: &Path) -> Option<String> {
    Some(format!("/{}", directory.strip_prefix(&hierarchy.mount).ok()?.display()))
}

/// The target's group as `hierarchy` has it, where it was named by its directory in another one.
pub(super) fn same_place(hierarchy: &Hierarchy, target: &Path) -> Option<PathBuf> {
    if target.starts_with(&hierarchy.mount) {
        return Some(target.to_path_buf());
    }
    // A hierarchy's mount point is a sibling of this one's: what lies below both is the group.
    let below = target.strip_prefix(hierarchy.mount.parent()?).ok()?;
    let group: PathBuf = below.components().skip(1).collect();
    Some(hierarchy.mount.join(group))
}

impl Groups {
    pub(super) fn new(cgroups: CgroupFs, hierarchy: Option<Hierarchy>, proc: ProcFs) -> Groups {
        Groups { cgroups, hierarchy, proc, known: FxHashMap::default() }
    }

    /// Groups made later count from their beginning.
    pub(super) fn take_baseline(&mut self, ours: &Ours) {
        for directory in self.list(ours) {
            let (cpu_before, io_before) = (self.cpu(&directory).unwrap_or_default(), self.io(&directory));
            self.known.insert(directory, Group { cpu_before, io_before, said: None });
        }
    }

    /// Reads all of them and says what those used that ran.
    pub(super) fn scan(&mut self, ours: &Ours, at: Nanos, ledger: &mut Ledger, out: &mut Vec<Event>) {
        let listed = self.list(ours);
        let mut before = std::mem::take(&mut self.known);
        for directory in listed {
            let Some(cpu) = self.cpu(&directory) else { continue };
            let io = self.io(&directory);
            let born = || Group { io_before: Some(0), ..Group::default() };
            let mut group = before.remove(&directory).unwrap_or_else(born);
            let io_bytes = io.zip(group.io_before).map(|(now, before)| now.saturating_sub(before));
            let used = Used { cpu: cpu - group.cpu_before, io_bytes, ..Used::default() };
            let name = self.hierarchy.as_ref().and_then(|own| name(own, &directory)).unwrap_or_default();
            let who = || Who { kind: NeighbourKind::Cgroup, name, pid: None, cgroup: None };
            ledger.say(&mut group.said, who, used, at, out);
            self.known.insert(directory, group);
        }
    }

    fn list(&self, ours: &Ours) -> Vec<PathBuf> {
        let Some(hierarchy) = &self.hierarchy else { return Vec::new() };
        let target = ours.group.as_deref().and_then(|target| same_place(hierarchy, target));
        let mut holding: Vec<PathBuf> = target.iter().cloned().collect();
        holding.extend(ours.pids.iter().take(ASKED).filter_map(|&pid| self.group_of(pid, hierarchy)));
        holding.sort_unstable();
        holding.dedup();
        let depth = hierarchy.mount.components().count() + DEEPEST;
        let mut found = directories_within(&hierarchy.mount, MOST);
        found.retain(|path| path.components().count() <= depth && !is_ours(path, &holding, target.as_deref()));
        found
    }

    fn group_of(&self, pid: u32, hierarchy: &Hierarchy) -> Option<PathBuf> {
        Some(hierarchy.directory(membership(&self.proc.text(format!("{pid}/cgroup")).ok()?, hierarchy)?))
    }

    fn cpu(&self, directory: &Path) -> Option<Nanos> {
        self.cgroups.cpu_usage(directory)?.usage_ns.map(Nanos)
    }

    fn io(&self, directory: &Path) -> Option<u64> {
        self.cgroups.storage_bytes(directory)
    }
}

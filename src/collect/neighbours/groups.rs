//! Reads the control groups outside the target: CPU time and storage traffic of each, everything below it included. It
//! reads a few hundred at most, those nearest the root first, and skips groups that contain part of the target.

use super::usage::{NeighbourIdentity, NeighbourTotals, NeighbourUsage, ReportedUsage};
use super::{TargetUsage, is_ours};
use crate::model::{Event, NeighbourKind};
use crate::sys::cgroupfs::{CgroupFs, Hierarchy, directories_within, membership};
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// Maximum number of groups read.
const MOST: usize = 400;

/// Maximum depth below the root; a pod's container is at depth 5.
const DEEPEST: usize = 8;

/// How many of the target's processes have their group read in each reading.
const ASKED: usize = 256;

/// The groups seen so far.
#[derive(Debug)]
pub(super) struct Groups {
    cgroups: CgroupFs,
    hierarchy: Option<Hierarchy>,
    proc: ProcFs,
    known: FxHashMap<PathBuf, Group>,
    /// All groups present at the last reading, the target's included; `None` if unknown.
    there: Option<FxHashSet<PathBuf>>,
}

/// The groups present now.
struct Listed {
    others: Vec<PathBuf>,
    all: Option<FxHashSet<PathBuf>>,
}

#[derive(Debug, Default)]
struct Group {
    cpu_before: Nanos,
    io_before: Option<u64>,
    reported: ReportedUsage,
}

/// The hierarchy that counts CPU time. Version 1 wins where it is mounted, because a version 2 hierarchy mounted
/// alongside has no groups for the controllers.
pub(super) fn hierarchy(cgroups: &CgroupFs) -> Option<Hierarchy> {
    cgroups.v1("cpuacct").or_else(|| cgroups.v2()).cloned()
}

/// The name of a group's directory: its path below the mount point, as /proc writes it.
pub(super) fn name(hierarchy: &Hierarchy, directory: &Path) -> Option<String> {
    Some(format!("/{}", directory.strip_prefix(&hierarchy.mount).ok()?.display()))
}

/// The directory of the target's group in `hierarchy`, even if the target was given by its directory in another one.
pub(super) fn same_place(hierarchy: &Hierarchy, target: &Path) -> Option<PathBuf> {
    if target.starts_with(&hierarchy.mount) {
        return Some(target.to_path_buf());
    }
    // The mount points of two hierarchies are siblings; the path below them is the group.
    let below = target.strip_prefix(hierarchy.mount.parent()?).ok()?;
    let group: PathBuf = below.components().skip(1).collect();
    Some(hierarchy.mount.join(group))
}

impl Groups {
    pub(super) fn new(cgroups: CgroupFs, hierarchy: Option<Hierarchy>, proc: ProcFs) -> Groups {
        Groups { cgroups, hierarchy, proc, known: FxHashMap::default(), there: None }
    }

    /// Records the starting values. Groups created later count from zero.
    pub(super) fn take_baseline(&mut self, ours: &TargetUsage) {
        let listed = self.list(ours);
        for directory in listed.others {
            if let Some(group) = self.as_now(&directory) {
                self.known.insert(directory, group);
            }
        }
        self.there = listed.all;
    }

    /// Reads every group and reports the usage of those that were active.
    pub(super) fn scan(&mut self, ours: &TargetUsage, at: Nanos, usages: &mut NeighbourUsage, out: &mut Vec<Event>) {
        let listed = self.list(ours);
        let mut before = std::mem::take(&mut self.known);
        let there = std::mem::take(&mut self.there);
        // If the list was incomplete, a group that is new on it may be an old one.
        let whole = there.as_ref().filter(|_| listed.all.is_some());
        for directory in listed.others {
            let born = || whole.is_some_and(|there| !there.contains(&directory));
            let met = || {
                if born() { Some(Group { io_before: Some(0), ..Group::default() }) } else { self.as_now(&directory) }
            };
            let Some(mut group) = before.remove(&directory).or_else(met) else { continue };
            let Some(cpu) = self.cpu(&directory) else {
                // One failed read does not mean that the group is gone.
                self.known.insert(directory, group);
                continue;
            };
            let io = self.io(&directory);
            let io_bytes = io.zip(group.io_before).map(|(now, before)| now.saturating_sub(before));
            let used = NeighbourTotals { cpu: cpu - group.cpu_before, io_bytes, ..NeighbourTotals::default() };
            let name = self.hierarchy.as_ref().and_then(|own| name(own, &directory)).unwrap_or_default();
            let who = || NeighbourIdentity { kind: NeighbourKind::Cgroup, name, pid: None, cgroup: None };
            usages.report(&mut group.reported, who, used, at, out);
            self.known.insert(directory, group);
        }
        self.there = listed.all;
    }

    /// A group that counts from now.
    fn as_now(&self, directory: &Path) -> Option<Group> {
        Some(Group {
            cpu_before: self.cpu(directory)?,
            io_before: self.io(directory),
            reported: ReportedUsage::default(),
        })
    }

    fn list(&self, ours: &TargetUsage) -> Listed {
        let Some(hierarchy) = &self.hierarchy else { return Listed { others: Vec::new(), all: None } };
        let targets: Vec<PathBuf> = ours.groups.iter().filter_map(|target| same_place(hierarchy, target)).collect();
        let mut holding = targets.clone();
        holding.extend(ours.pids.iter().take(ASKED).filter_map(|&pid| self.group_of(pid, hierarchy)));
        holding.sort_unstable();
        holding.dedup();
        let depth = hierarchy.mount.components().count() + DEEPEST;
        let mut others = directories_within(&hierarchy.mount, MOST);
        // An empty list means that the root could not be read.
        let all = (1..MOST).contains(&others.len()).then(|| others.iter().cloned().collect());
        others.retain(|path| path.components().count() <= depth && !is_ours(path, &holding, &targets));
        Listed { others, all }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hierarchy(mount: &str) -> Hierarchy {
        Hierarchy { version: 1, controllers: vec!["cpuacct".to_string()], mount: mount.into(), root: "/".into() }
    }

    #[test]
    fn the_targets_group_is_the_one_of_the_same_name_in_the_hierarchy_that_counts() {
        let own = hierarchy("/sys/fs/cgroup/cpuacct");
        for (target, expected) in [
            ("/sys/fs/cgroup/cpuacct/web/a", Some("/sys/fs/cgroup/cpuacct/web/a")),
            ("/sys/fs/cgroup/perf_event/web/a", Some("/sys/fs/cgroup/cpuacct/web/a")),
            ("/sys/fs/cgroup/perf_event", Some("/sys/fs/cgroup/cpuacct/")),
            ("/elsewhere/web", None),
        ] {
            assert_eq!(same_place(&own, Path::new(target)).as_deref(), expected.map(Path::new), "{target}");
        }
        assert_eq!(same_place(&hierarchy("/"), Path::new("/web")).as_deref(), Some(Path::new("/web")));
    }

    #[test]
    fn a_group_is_called_by_its_path_below_the_mount() {
        let own = hierarchy("/sys/fs/cgroup");
        for (directory, expected) in
            [("/sys/fs/cgroup/web/a b", Some("/web/a b")), ("/sys/fs/cgroup", Some("/")), ("/sys/fs/cgroup2/web", None)]
        {
            assert_eq!(name(&own, Path::new(directory)).as_deref(), expected, "{directory}");
        }
    }

    #[test]
    fn the_old_hierarchy_counts_where_both_are_mounted() {
        let both = |old: &str| CgroupFs {
            hierarchies: vec![
                Hierarchy { version: 2, controllers: vec![], mount: "/two".into(), root: "/".into() },
                Hierarchy { controllers: vec![old.to_string()], ..hierarchy("/one") },
            ],
        };
        for (cgroups, mount) in [(both("cpuacct"), "/one"), (both("pids"), "/two")] {
            assert_eq!(super::hierarchy(&cgroups).map(|found| found.mount), Some(PathBuf::from(mount)));
        }
        assert!(super::hierarchy(&CgroupFs::default()).is_none());
    }
}

//! Lists the cgroups that contain processes, with the CPU time each used since the last listing.
//! Includes only cgroups that can be profiled: those of version 2 and of version 1's `perf_event`.

use super::processes::cpus_used;
use crate::model::{CgroupChoice, Measure, Why};
use crate::sys::cgroupfs::{CgroupFs, directories};
use crate::units::Nanos;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The cgroups of the last listing.
#[derive(Debug)]
pub(super) struct Cgroups {
    fs: CgroupFs,
    used_ns: HashMap<String, u64>,
}

impl Cgroups {
    /// The cgroups of `fs`.
    pub fn new(fs: CgroupFs) -> Cgroups {
        Cgroups { fs, used_ns: HashMap::new() }
    }

    /// Lists the cgroups by path. `span` is the time since the last listing.
    pub fn list(&mut self, span: Option<Nanos>) -> Vec<CgroupChoice> {
        let before = std::mem::take(&mut self.used_ns);
        let groups = self.groups();
        groups.into_iter().map(|(path, group)| self.choice(path, &group, &before, span)).collect()
    }

    fn choice(
        &mut self,
        path: String,
        group: &Group,
        before: &HashMap<String, u64>,
        span: Option<Nanos>,
    ) -> CgroupChoice {
        let used = self.fs.cpu_usage(&group.directory).and_then(|usage| usage.usage_ns);
        let cpu = match used {
            Some(used) => {
                // A cgroup created since the last listing has used its CPU time since then.
                let then = before.get(&path).copied().unwrap_or(0);
                self.used_ns.insert(path.clone(), used);
                cpus_used(Some(then), used, Nanos(1), span)
            }
            None => Measure::Missing(Why::NotSupported),
        };
        CgroupChoice { path, processes: group.processes, cpu }
    }

    /// Cgroups with processes by path, parents first. If both versions have the same path, version 2 wins, as it does
    /// when the path is resolved.
    fn groups(&self) -> BTreeMap<String, Group> {
        let mut all = BTreeMap::new();
        for hierarchy in self.fs.v2().into_iter().chain(self.fs.v1("perf_event")) {
            for (path, group) in populated(&hierarchy.mount) {
                all.entry(path).or_insert(group);
            }
        }
        all
    }
}

/// What a cgroup contains and has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CgroupTotal {
    /// Its path below the hierarchy's root.
    pub path: String,
    /// Number of processes in it and below it.
    pub processes: usize,
    /// CPU time of it and all below it since it was created, in nanoseconds; `None` where the kernel does not account it.
    pub cpu_ns: Option<u64>,
}

/// All cgroups that can be profiled, the busiest first; those without processes come last.
#[must_use]
pub fn totals(fs: &CgroupFs) -> Vec<CgroupTotal> {
    let mut all: BTreeMap<String, CgroupTotal> = BTreeMap::new();
    // Version 2 wins, as in [`Cgroups::groups`].
    for hierarchy in fs.v2().into_iter().chain(fs.v1("perf_event")) {
        let inside = populated(&hierarchy.mount);
        for directory in directories(&hierarchy.mount) {
            let Some(path) = below(&hierarchy.mount, &directory) else { continue };
            let processes = inside.get(&path).map_or(0, |group| group.processes);
            let cpu_ns = || fs.cpu_usage(&directory).and_then(|usage| usage.usage_ns);
            all.entry(path.clone()).or_insert_with(|| CgroupTotal { path, processes, cpu_ns: cpu_ns() });
        }
    }
    let mut all: Vec<CgroupTotal> = all.into_values().collect();
    // The sort is stable: equals stay in the order of their paths.
    all.sort_by_key(|group| Reverse((group.processes > 0, group.cpu_ns)));
    all
}

/// A cgroup's directory, and the processes in it and below.
#[derive(Debug)]
struct Group {
    directory: PathBuf,
    processes: usize,
}

/// The cgroups below `mount` that contain processes, without the root, which contains processes that are in no cgroup.
fn populated(mount: &Path) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    // Children first, because the processes of a cgroup also count in its parent.
    for directory in directories(mount).into_iter().rev() {
        let Some(path) = below(mount, &directory) else { continue };
        let inside = groups.get(&path).map_or(0, |group| group.processes);
        let processes = inside + members(&directory);
        if processes == 0 {
            groups.remove(&path);
            continue;
        }
        if let (Some(parent), Some(above)) = (directory.parent(), directory.parent().and_then(|up| below(mount, up))) {
            let entry = groups.entry(above).or_insert_with(|| Group { directory: parent.to_path_buf(), processes: 0 });
            entry.processes += processes;
        }
        groups.insert(path, Group { directory, processes });
    }
    groups
}

/// The path below the hierarchy's root; `None` for the root itself and for names that are not valid UTF-8.
fn below(mount: &Path, directory: &Path) -> Option<String> {
    let path = directory.strip_prefix(mount).ok()?.to_str()?;
    (!path.is_empty()).then(|| format!("/{path}"))
}

/// Number of processes directly in a cgroup. A threaded cgroup refuses to list them.
fn members(directory: &Path) -> usize {
    let text = std::fs::read(directory.join("cgroup.procs")).unwrap_or_default();
    text.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::collect::resolve;
    use crate::model::Target;
    use crate::sys::cgroupfs::Hierarchy;
    use crate::sys::procfs::ProcFs;

    fn write(path: PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn hierarchy(version: u8, controller: &[&str], mount: PathBuf) -> Hierarchy {
        let controllers = controller.iter().map(ToString::to_string).collect();
        Hierarchy { version, controllers, mount, root: PathBuf::from("/") }
    }

    #[test]
    fn groups_with_processes_are_listed_with_what_they_used() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        write(at("cgroup.procs"), "1\n2\n");
        write(at("web.slice/cgroup.procs"), "");
        write(at("web.slice/a/cgroup.procs"), "5\n6\n");
        write(at("web.slice/b/cgroup.procs"), "7\n");
        write(at("web.slice/empty/cgroup.procs"), "");
        write(at("web.slice/cpu.stat"), "usage_usec 1000\nuser_usec 1\nsystem_usec 1\n");
        let fs = CgroupFs { hierarchies: vec![hierarchy(2, &[], root.path().into())] };
        let mut cgroups = Cgroups::new(fs.clone());
        let first = cgroups.list(None);
        let listed: Vec<_> = first.iter().map(|group| (group.path.as_str(), group.processes)).collect();
        assert_eq!(listed, [("/web.slice", 3), ("/web.slice/a", 2), ("/web.slice/b", 1)]);
        assert_eq!(first[0].cpu.why(), Some(Why::NotRecorded));
        write(at("web.slice/cpu.stat"), "usage_usec 501000\nuser_usec 1\nsystem_usec 1\n");
        let second = cgroups.list(Some(Nanos(1_000_000_000)));
        assert_eq!((second[0].cpu.value(), second[1].cpu.why()), (Some(&0.5), Some(Why::NotSupported)));
        for group in second {
            let resolved = resolve::cgroups(&fs, &group.path).unwrap();
            let Target::Cgroup { path, .. } = resolved else { panic!("{resolved:?}") };
            assert_eq!(path, root.path().join(&group.path[1..]), "what is listed can be chosen");
        }
    }

    #[test]
    fn totals_have_every_group_the_busiest_first_and_the_empty_last() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for (group, processes, used_us) in
            [("a", "", Some(9)), ("b", "1\n2\n", Some(5)), ("c", "3\n", Some(7)), ("d", "4\n", None), ("e/f", "", None)]
        {
            write(at(group).join("cgroup.procs"), processes);
            if let Some(used) = used_us {
                write(at(group).join("cpu.stat"), &format!("usage_usec {used}\nuser_usec 1\nsystem_usec 1\n"));
            }
        }
        let all = totals(&CgroupFs { hierarchies: vec![hierarchy(2, &[], root.path().into())] });
        let seen: Vec<_> = all.iter().map(|group| (group.path.as_str(), group.processes, group.cpu_ns)).collect();
        let expected = [
            ("/c", 1, Some(7000)),
            ("/b", 2, Some(5000)),
            ("/d", 1, None),
            ("/a", 0, Some(9000)),
            ("/e", 0, None),
            ("/e/f", 0, None),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_old_hierarchy_of_perf_is_listed_beside_the_new_one() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        write(at("unified/both/cgroup.procs"), "1\n");
        write(at("perf/both/cgroup.procs"), "1\n2\n");
        write(at("perf/old/cgroup.procs"), "3\n");
        write(at("cpuacct/old/cpuacct.usage"), "4000\n");
        write(at("memory/other/cgroup.procs"), "3\n");
        let hierarchies = vec![
            hierarchy(1, &["perf_event"], at("perf")),
            hierarchy(1, &["memory"], at("memory")),
            hierarchy(1, &["cpuacct"], at("cpuacct")),
            hierarchy(2, &[], at("unified")),
        ];
        let mut cgroups = Cgroups::new(CgroupFs { hierarchies });
        let listed: Vec<_> = cgroups.list(None).into_iter().map(|group| (group.path, group.processes)).collect();
        assert_eq!(listed, [("/both".to_string(), 1), ("/old".to_string(), 1)]);
        write(at("cpuacct/old/cpuacct.usage"), "2000004000\n");
        assert_eq!(cgroups.list(Some(Nanos(1_000_000_000)))[1].cpu.value(), Some(&2.0));
    }

    #[test]
    fn the_real_machine_is_listed_whatever_it_has_mounted() {
        let fs = CgroupFs::open(&ProcFs::new("/proc")).unwrap();
        for group in Cgroups::new(fs).list(None) {
            assert!(group.path.starts_with('/') && group.processes > 0, "{group:?}");
        }
    }
}

//! A group's directory: its processes and threads, limits and use of CPUs.

use super::mounts::{Hierarchy, groups_around, hierarchies};
use super::usage::{CpuUsage, cpu_stat_v1, cpu_stat_v2, io_stat_v1, io_stat_v2};
use crate::error::{Context, Result};
use crate::sys::procfs::{self, Pressure, ProcFs};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of directories a search visits: far above what a node with 1,000 containers has.
const SEARCH_LIMIT: usize = 200_000;

/// The control group hierarchies of this mount namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupFs {
    /// In the order of /proc/self/mountinfo.
    pub hierarchies: Vec<Hierarchy>,
}

impl CgroupFs {
    /// Finds the hierarchies through `self/mountinfo`.
    pub fn open(proc: &ProcFs) -> Result<CgroupFs> {
        Ok(CgroupFs { hierarchies: hierarchies(&proc.text("self/mountinfo")?) })
    }

    /// The version 2 hierarchy, at /sys/fs/cgroup, or together with version 1 at /sys/fs/cgroup/unified.
    #[must_use]
    pub fn v2(&self) -> Option<&Hierarchy> {
        self.hierarchies.iter().find(|hierarchy| hierarchy.version == 2)
    }

    /// The version 1 hierarchy of a controller, e.g. `perf_event`.
    #[must_use]
    pub fn v1(&self, controller: &str) -> Option<&Hierarchy> {
        self.hierarchies.iter().find(|hierarchy| hierarchy.controllers.iter().any(|name| name == controller))
    }

    /// The hierarchy whose groups perf's samples name: version 1's `perf_event` where that is mounted, else version 2.
    #[must_use]
    pub fn of_perf(&self) -> Option<&Hierarchy> {
        self.v1("perf_event").or_else(|| self.v2())
    }

    /// The hierarchy of a directory: the one with the longest mount point above it.
    #[must_use]
    pub fn hierarchy_of(&self, path: &Path) -> Option<&Hierarchy> {
        let above = self.hierarchies.iter().filter(|hierarchy| path.starts_with(&hierarchy.mount));
        above.max_by_key(|hierarchy| hierarchy.mount.as_os_str().len())
    }

    /// The directories of the groups that limit a task's CPU time, by the text of its `cgroup` file: its own and those
    /// around it, innermost first. They are version 1's `cpu` groups where that controller is mounted, else version 2's.
    #[must_use]
    pub fn limits_of(&self, text: &str) -> Vec<PathBuf> {
        let groups = |hierarchy: &Hierarchy| groups_around(hierarchy, text);
        self.v1("cpu").and_then(groups).or_else(|| self.v2().and_then(groups)).unwrap_or_default()
    }

    /// CPU time and throttling of a group, from the hierarchies that report them; `None` where none does.
    #[must_use]
    pub fn cpu_usage(&self, group: &Path) -> Option<CpuUsage> {
        let hierarchy = self.hierarchy_of(group)?;
        if hierarchy.version == 2 {
            return cpu_stat_v2(&fs::read(group.join("cpu.stat")).ok()?);
        }
        let below = group.strip_prefix(&hierarchy.mount).ok()?;
        let file = |controller: &str, name: &str| fs::read(self.v1(controller)?.mount.join(below).join(name)).ok();
        cpu_stat_v1(file("cpuacct", "cpuacct.usage").as_deref(), file("cpu", "cpu.stat").as_deref())
    }

    /// Bytes a group and its descendants read from and wrote to storage since its creation; `None` if not reported.
    #[must_use]
    pub fn storage_bytes(&self, group: &Path) -> Option<u64> {
        let hierarchy = self.hierarchy_of(group)?;
        if hierarchy.version == 2 {
            return io_stat_v2(&fs::read(group.join("io.stat")).ok()?);
        }
        let group = self.v1("blkio")?.mount.join(group.strip_prefix(&hierarchy.mount).ok()?);
        // Older kernels lack the recursive file. The other counts the group alone: exact only without groups below.
        let names = ["blkio.throttle.io_service_bytes_recursive", "blkio.throttle.io_service_bytes"];
        names.into_iter().find_map(|name| io_stat_v1(&fs::read(group.join(name)).ok()?))
    }
}

/// Pressure of a group: `resource` is `cpu`, `memory` or `io`; `None` where the kernel does not account it.
#[must_use]
pub fn group_pressure(group: &Path, resource: &str) -> Option<Pressure> {
    procfs::pressure(&fs::read(group.join(format!("{resource}.pressure"))).ok()?)
}

/// Processes of a group and of all groups below it.
pub fn processes(group: &Path) -> Result<BTreeSet<u32>> {
    members(group, "cgroup.procs")
}

/// Threads of a group and of all groups below it.
pub fn threads(group: &Path) -> Result<BTreeSet<u32>> {
    // Version 1 calls the file `tasks`.
    let name = if group.join("cgroup.threads").exists() { "cgroup.threads" } else { "tasks" };
    members(group, name)
}

fn members(group: &Path, file: &str) -> Result<BTreeSet<u32>> {
    let read = |directory: &Path| fs::read_to_string(directory.join(file));
    let ids = |text: String| text.lines().filter_map(|line| line.trim().parse().ok()).collect::<Vec<u32>>();
    let own = read(group).context(|| format!("cannot read {}", group.join(file).display()))?;
    let mut all: BTreeSet<u32> = ids(own).into_iter().collect();
    // Groups below may be removed at any time, and a threaded domain refuses cgroup.procs. Neither is a failure.
    for directory in directories(group) {
        all.extend(read(&directory).map(ids).unwrap_or_default());
    }
    // 0 is a process outside this pid namespace.
    all.remove(&0);
    Ok(all)
}

/// All groups below `root`, parents before children, without `root` itself.
#[must_use]
pub fn directories(root: &Path) -> Vec<PathBuf> {
    directories_within(root, SEARCH_LIMIT)
}

/// Like [`directories`], but stops at `most` groups; the highest levels come first.
#[must_use]
pub fn directories_within(root: &Path, most: usize) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next = root.to_path_buf();
    let mut visited = 0;
    loop {
        let entries = fs::read_dir(&next).into_iter().flatten().flatten();
        // `file_type` does not follow links: a hierarchy contains none, and a loop of links must not trap the search.
        found.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
        let Some(directory) = found.get(visited).filter(|_| found.len() < most) else {
            found.truncate(most);
            return found;
        };
        next.clone_from(directory);
        visited += 1;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn members_of_groups_below_count_and_foreign_ones_do_not() {
        let root = tempfile::tempdir().unwrap();
        write(root.path().join("cgroup.threads"), "5\n0\n");
        write(root.path().join("a/b/cgroup.threads"), "7\n8\n");
        write(root.path().join("a/cgroup.procs"), "99\n");
        assert_eq!(threads(root.path()).unwrap().into_iter().collect::<Vec<_>>(), [5, 7, 8]);
        let names: Vec<_> = directories(root.path()).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(processes(root.path()).is_err(), "no cgroup.procs: not a control group");
    }

    #[test]
    fn a_group_of_the_old_hierarchies_gathers_from_each_controller() {
        let root = tempfile::tempdir().unwrap();
        let mount = |name: &str| root.path().join(name);
        let hierarchy = |name: &str| Hierarchy {
            version: 1,
            controllers: vec![name.to_string()],
            mount: mount(name),
            root: PathBuf::from("/"),
        };
        let cgroups = CgroupFs { hierarchies: ["perf_event", "cpu", "cpuacct"].map(hierarchy).to_vec() };
        write(mount("cpuacct").join("web/cpuacct.usage"), "4000\n");
        write(mount("cpu").join("web/cpu.stat"), "nr_periods 9\nnr_throttled 2\nthrottled_time 77\n");
        let usage = cgroups.cpu_usage(&mount("perf_event").join("web")).unwrap();
        assert_eq!((usage.usage_ns, usage.periods, usage.throttled_ns), (Some(4000), Some(9), Some(77)));
        assert_eq!(cgroups.cpu_usage(Path::new("/elsewhere")), None);
    }

    #[test]
    fn the_old_cpu_hierarchy_limits_a_process_where_it_is_mounted() {
        let root = tempfile::tempdir().unwrap();
        let text = "3:cpu,cpuacct:/old/er\n0::/new\n";
        let line = |mount: &str, kind: &str| format!("1 0 0:1 / {mount} rw - {kind}\n");
        let (v1, v2) = (line("/c/cpu", "cgroup cgroup rw,cpu,cpuacct"), line("/c/unified", "cgroup2 cgroup2 rw"));
        let rows = [
            (format!("{v1}{v2}"), &["/c/cpu/old/er", "/c/cpu/old", "/c/cpu"][..]),
            (v2, &["/c/unified/new", "/c/unified"]),
            (String::new(), &[]),
        ];
        for (mountinfo, expected) in rows {
            write(root.path().join("self/mountinfo"), &mountinfo);
            let groups = CgroupFs::open(&ProcFs::new(root.path())).unwrap().limits_of(text);
            assert_eq!(groups, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{mountinfo}");
        }
    }
}

//! Reads the resource control file system: its groups, and their monitors of cache occupancy and memory traffic.
//! All access is read-only.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of groups read; hardware distinguishes a few hundred at most.
const MOST: usize = 512;

/// A mounted resctrl; tests use a directory of their own.
#[derive(Debug, Clone)]
pub struct ResctrlFs {
    root: PathBuf,
}

/// A monitored group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonGroup {
    /// `CONTROL`, `CONTROL/MONITOR`, or `/MONITOR` for a monitor of the default control group.
    pub name: String,
    directory: PathBuf,
}

/// Readings of a group's monitors, summed over all cache domains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Monitored {
    /// Bytes of last-level cache occupied now.
    pub llc_bytes: Option<u64>,
    /// Bytes moved to and from memory since the group was created.
    pub memory_bytes: Option<u64>,
}

impl ResctrlFs {
    /// The file system at `root`, normally `/sys/fs/resctrl`; `None` where it is not mounted.
    #[must_use]
    pub fn open(root: impl Into<PathBuf>) -> Option<ResctrlFs> {
        let root = root.into();
        root.join("schemata").exists().then_some(ResctrlFs { root })
    }

    /// The groups that users created. The default group, which contains everything else, is not among them.
    #[must_use]
    pub fn groups(&self) -> Vec<MonGroup> {
        let mut groups = monitors(&self.root, "");
        for (name, directory) in subdirectories(&self.root) {
            if matches!(name.as_str(), "info" | "mon_groups" | "mon_data") || !directory.join("tasks").exists() {
                continue;
            }
            groups.extend(monitors(&directory, &name));
            groups.push(MonGroup { name, directory });
        }
        groups.sort();
        groups.truncate(MOST);
        groups
    }
}

impl MonGroup {
    /// The threads assigned to it.
    #[must_use]
    pub fn tasks(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.directory.join("tasks")).unwrap_or_default();
        text.lines().filter_map(|line| line.trim().parse().ok()).collect()
    }

    /// Reads its monitors. A value that one cache domain does not report is `None` for the whole group.
    #[must_use]
    pub fn read(&self) -> Monitored {
        let domains = subdirectories(&self.directory.join("mon_data"));
        let sum = |file: &str| {
            let mut values = domains.iter().map(|(_, domain)| number(&domain.join(file))).peekable();
            values.peek()?;
            values.try_fold(0u64, |sum, value| Some(sum.saturating_add(value?)))
        };
        Monitored { llc_bytes: sum("llc_occupancy"), memory_bytes: sum("mbm_total_bytes") }
    }
}

fn monitors(control: &Path, name: &str) -> Vec<MonGroup> {
    let group = |(monitor, directory)| MonGroup { name: format!("{name}/{monitor}"), directory };
    subdirectories(&control.join("mon_groups")).into_iter().map(group).collect()
}

/// `None` for a monitor without a counter at the moment, which reads `Unavailable`, `Unassigned` or `Error`.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn subdirectories(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).take(MOST).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn groups_of_both_kinds_are_found_and_their_domains_added_up() {
        let root = tempfile::tempdir().unwrap();
        assert!(ResctrlFs::open(root.path()).is_none(), "not mounted");
        for (path, text) in [
            ("schemata", "L3:0=ffff"),
            ("tasks", "1\n"),
            ("info/L3_MON/tasks", ""),
            ("mon_groups/web/tasks", "7\n8\n"),
            ("mon_groups/web/mon_data/mon_L3_00/llc_occupancy", "4096\n"),
            ("mon_groups/web/mon_data/mon_L3_01/llc_occupancy", "1024\n"),
            ("mon_groups/web/mon_data/mon_L3_00/mbm_total_bytes", "99\n"),
            ("mon_groups/web/mon_data/mon_L3_01/mbm_total_bytes", "Unavailable\n"),
            ("batch/tasks", "9\n"),
            ("batch/mon_groups/inner/tasks", ""),
        ] {
            write(root.path(), path, text);
        }
        let groups = ResctrlFs::open(root.path()).unwrap().groups();
        let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["/web", "batch", "batch/inner"]);
        assert_eq!(groups[0].read(), Monitored { llc_bytes: Some(5120), memory_bytes: None });
        assert_eq!(groups[0].tasks(), [7, 8]);
        assert_eq!(groups[1].read(), Monitored::default(), "a control group that is not monitored");
    }
}

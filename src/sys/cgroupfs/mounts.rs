//! Finds the mounted control group hierarchies, and the group of a process in each of them.

use std::path::{Path, PathBuf};

/// A mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// 1 or 2.
    pub version: u8,
    /// Controllers of a version 1 hierarchy; empty for version 2.
    pub controllers: Vec<String>,
    /// Where it is mounted.
    pub mount: PathBuf,
    /// The group at the mount point: `/`, or deeper inside a container that sees only its own part.
    pub root: PathBuf,
}

impl Hierarchy {
    /// The directory of the group that /proc calls `group`.
    #[must_use]
    pub fn directory(&self, group: &str) -> PathBuf {
        let group = Path::new(group);
        // In a cgroup namespace /proc already counts from the mount's root, so the prefix is absent.
        let below = group.strip_prefix(&self.root).unwrap_or(group);
        self.mount.join(below.strip_prefix("/").unwrap_or(below))
    }

    /// The path of a group from the root of the hierarchy, `/` for the root itself; `None` if it is outside, or not UTF-8.
    #[must_use]
    pub fn path_of(&self, directory: &Path) -> Option<String> {
        Some(format!("/{}", directory.strip_prefix(&self.mount).ok()?.to_str()?))
    }
}

/// The hierarchies in a mountinfo file; see `proc_pid_mountinfo(5)`.
#[must_use]
pub fn hierarchies(mountinfo: &str) -> Vec<Hierarchy> {
    mountinfo.lines().filter_map(hierarchy).collect()
}

fn hierarchy(line: &str) -> Option<Hierarchy> {
    // Optional fields end with a lone dash; a dash inside a path is part of a longer field.
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (unescape(place.next()?), unescape(place.next()?));
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup2" => 2,
        "cgroup" => 1,
        _ => return None,
    };
    let options = kind.nth(1).unwrap_or("");
    let is_controller = |option: &&str| !matches!(*option, "rw" | "ro") && !option.contains('=');
    let controllers = match version {
        1 => options.split(',').filter(is_controller).map(str::to_string).collect(),
        _ => Vec::new(),
    };
    Some(Hierarchy { version, controllers, mount: mount.into(), root: root.into() })
}

/// Mount points encode blanks, tabs, line ends and backslashes as three octal digits.
fn unescape(field: &str) -> String {
    let mut plain = field.to_string();
    for (code, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(code, character);
    }
    plain
}

/// The group of `hierarchy` in the text of `/proc/PID/cgroup`.
#[must_use]
pub fn membership<'a>(text: &'a str, hierarchy: &Hierarchy) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let belongs = match hierarchy.version {
            2 => number == "0" && controllers.is_empty(),
            _ => controllers.split(',').any(|name| hierarchy.controllers.iter().any(|own| own == name)),
        };
        belongs.then_some(path)
    })
}

/// A task's own group and those around it in a hierarchy, innermost first; `None` if it is in none.
pub(super) fn groups_around(hierarchy: &Hierarchy, text: &str) -> Option<Vec<PathBuf>> {
    let own = hierarchy.directory(membership(text, hierarchy)?);
    Some(own.ancestors().take_while(|group| group.starts_with(&hierarchy.mount)).map(Path::to_path_buf).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 /kubepods/pod7 /odd\\040place rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn both_versions_are_told_apart_on_a_hybrid_machine() {
        let found = hierarchies(HYBRID);
        assert_eq!(found.iter().map(|hierarchy| hierarchy.version).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(found[0].controllers, ["cpu", "cpuacct"]);
        assert_eq!(found[2].mount, Path::new("/odd place"));
    }

    #[test]
    fn a_group_is_found_below_the_mount_whether_or_not_the_root_is_hidden() {
        let found = hierarchies(HYBRID);
        let text = "9:cpu,cpuacct:/a\n0::/kubepods/pod7/c:1\n";
        assert_eq!(membership(text, &found[0]), Some("/a"));
        assert_eq!(membership(text, &found[2]), Some("/kubepods/pod7/c:1"));
        assert_eq!(found[2].directory("/kubepods/pod7/c:1"), Path::new("/odd place/c:1"));
        assert_eq!(found[2].directory("/c:1"), Path::new("/odd place/c:1"));
        assert_eq!(found[0].directory("/"), Path::new("/sys/fs/cgroup/cpu,cpuacct"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([0-9:/ \\\\-]|cgroup2?|\\PC){0,40}\n?") {
            for hierarchy in hierarchies(&text) {
                let _ = membership(&text, &hierarchy).map(|group| hierarchy.directory(group));
            }
        }
    }
}

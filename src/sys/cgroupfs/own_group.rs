//! Control groups that ironlaw makes for programs that it started itself, and removes again.

use super::groups::CgroupFs;
use crate::error::{Context, Error, ErrorKind, Result};
use std::fs;
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The names of all groups that ironlaw makes begin so; nothing else is ever removed.
const PREFIX: &str = "ironlaw-";
/// The period of a quota, microseconds: the kernel's default.
const PERIOD_US: f64 = 100_000.0;
/// The kernel refuses smaller quotas.
const LEAST_US: f64 = 1_000.0;
/// A group is busy until the last of its killed processes has been reaped.
const TRIES: usize = 200;
const STEP: Duration = Duration::from_millis(10);

/// A group of our own that limits CPU time, or caches and memory bandwidth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnGroup {
    path: PathBuf,
    /// Files with what is written into each.
    settings: Vec<(&'static str, String)>,
    /// The file that takes its members.
    members: &'static str,
}

impl OwnGroup {
    /// A group with a quota of this many CPUs, which is not created yet: below the root of the version 1 `cpu` hierarchy,
    /// else of version 2.
    ///
    /// # Errors
    /// `Unsupported` where no hierarchy limits CPU time.
    pub fn quota(cgroups: &CgroupFs, name: &str, cpus: f64) -> Result<OwnGroup> {
        let name = format!("{PREFIX}{name}");
        let (quota, members) = (format!("{:.0}", (cpus * PERIOD_US).max(LEAST_US)), "cgroup.procs");
        if let Some(hierarchy) = cgroups.v1("cpu") {
            let settings = vec![("cpu.cfs_period_us", format!("{PERIOD_US:.0}")), ("cpu.cfs_quota_us", quota)];
            return Ok(OwnGroup { path: hierarchy.mount.join(name), settings, members });
        }
        let none = |text: String| Error::new(ErrorKind::Unsupported, text);
        let hierarchy = cgroups.v2().ok_or_else(|| none("no control groups are mounted".to_string()))?;
        let file = hierarchy.mount.join("cgroup.subtree_control");
        let enabled = fs::read_to_string(&file).unwrap_or_default();
        if !enabled.split_whitespace().any(|controller| controller == "cpu") {
            return Err(none(format!("{} does not enable the cpu controller", file.display())));
        }
        let settings = vec![("cpu.max", format!("{quota} {PERIOD_US:.0}"))];
        Ok(OwnGroup { path: hierarchy.mount.join(name), settings, members })
    }

    /// A group of the resource control file system at `root` with a quarter of what the default group has: ways of caches,
    /// memory bandwidth. It is not created yet.
    ///
    /// # Errors
    /// `Unsupported` where it is not mounted or controls nothing.
    pub fn resctrl(root: &Path, name: &str) -> Result<OwnGroup> {
        let schemata = fs::read_to_string(root.join("schemata")).map_err(|_| {
            let text =
                format!("{} is not mounted: the CPU has no cache or bandwidth control, or it is off", root.display());
            Error::new(ErrorKind::Unsupported, text).hint("mount -t resctrl resctrl /sys/fs/resctrl")
        })?;
        let number = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
        let lines: Vec<String> = schemata
            .lines()
            .filter_map(|line| {
                let (resource, domains) = line.trim().split_once(':')?;
                let info = root.join("info").join(resource);
                let is_bandwidth = resource.starts_with("MB");
                let least = number(info.join(if is_bandwidth { "min_bandwidth" } else { "min_cbm_bits" })).unwrap_or(1);
                let quarter = |domain: &str| quarter(domain, is_bandwidth, least);
                let domains: Option<Vec<String>> = domains.split(';').map(quarter).collect();
                Some(format!("{resource}:{}", domains?.join(";")))
            })
            .collect();
        if lines.is_empty() {
            let text = format!("{} controls nothing", root.join("schemata").display());
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let settings = vec![("schemata", lines.join("\n") + "\n")];
        Ok(OwnGroup { path: root.join(format!("{PREFIX}{name}")), settings, members: "tasks" })
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates it with its limits.
    ///
    /// # Errors
    /// `NotPermitted` without the right to create groups; any other error of the file system.
    pub fn create(&self) -> Result<()> {
        fs::create_dir(&self.path).context(|| format!("cannot create {}", self.path.display()))?;
        self.settings.iter().try_for_each(|(file, text)| self.write(file, text))
    }

    /// Moves a process with a single thread into it; what that forks later is born there.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn add(&self, pid: u32) -> Result<()> {
        self.write(self.members, &pid.to_string())
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.path.join(file);
        fs::write(&path, text).context(|| format!("cannot write {}", path.display()))
    }
}

/// A quarter of a domain's share, `0=ff` or `0=100`: the lowest bits, or the number, but not less than `least`.
fn quarter(domain: &str, is_bandwidth: bool, least: u64) -> Option<String> {
    let (id, value) = domain.split_once('=')?;
    if is_bandwidth {
        let all: u64 = value.trim().parse().ok()?;
        return Some(format!("{id}={}", (all / 4).max(least)));
    }
    let all = u64::from_str_radix(value.trim(), 16).ok().filter(|mask| *mask != 0)?;
    let bits = u64::from(all.count_ones() / 4).max(least).clamp(1, 63);
    // Bits of a mask must adjoin: those from its lowest on.
    let mask = ((1_u64 << bits) - 1) << all.trailing_zeros();
    Some(format!("{id}={:x}", mask & all))
}

/// Removes a group that ironlaw made. Processes that are left in it go back to the group above. Does nothing if it is gone.
///
/// # Errors
/// `Usage` for a group that ironlaw did not make; processes remain in it, or any error of the file system.
pub fn remove_own(path: &Path) -> Result<()> {
    let is_own = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let Some(parent) = path.parent().filter(|_| is_own) else {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("ironlaw did not create the control group {}", path.display()),
        ));
    };
    let mut tried = 0;
    loop {
        match fs::remove_dir(path) {
            Err(error) if error.kind() == Io::NotFound => return Ok(()),
            Err(error) if error.kind() == Io::ResourceBusy && tried < TRIES => {
                let left = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
                for pid in left.lines() {
                    // One that ends meanwhile needs no move.
                    let _ = fs::write(parent.join("cgroup.procs"), pid);
                }
            }
            done => return done.context(|| format!("cannot remove {}", path.display())),
        }
        tried += 1;
        std::thread::sleep(STEP);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::mounts::Hierarchy;
    use super::*;

    fn cgroups(mount: &Path, version: u8, controllers: &[&str]) -> CgroupFs {
        let controllers = controllers.iter().map(ToString::to_string).collect();
        let root = PathBuf::from("/");
        CgroupFs { hierarchies: vec![Hierarchy { version, controllers, mount: mount.to_path_buf(), root }] }
    }

    #[test]
    fn a_limit_is_written_as_each_version_wants_it() {
        for (version, controllers, file, text) in
            [(1, &["cpu"][..], "cpu.cfs_quota_us", "25000"), (2, &[][..], "cpu.max", "25000 100000")]
        {
            let root = tempfile::tempdir().unwrap();
            fs::write(root.path().join("cgroup.subtree_control"), "cpu io\n").unwrap();
            let group = OwnGroup::quota(&cgroups(root.path(), version, controllers), "7", 0.25).unwrap();
            group.create().unwrap();
            group.add(12).unwrap();
            let read = |file: &str| fs::read_to_string(root.path().join("ironlaw-7").join(file)).unwrap();
            assert_eq!((read(file).as_str(), read("cgroup.procs").as_str()), (text, "12"));
        }
    }

    #[test]
    fn a_quarter_of_caches_and_bandwidth_is_no_less_than_the_hardware_takes() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(OwnGroup::resctrl(root.path(), "7").unwrap_err().kind(), ErrorKind::Unsupported);
        fs::write(root.path().join("schemata"), "    L3:0=7ff0;1=3\n    MB:0=100;1=30\n    X:what\n").unwrap();
        for (folder, file, text) in [("L3", "min_cbm_bits", "2"), ("MB", "min_bandwidth", "10")] {
            fs::create_dir_all(root.path().join("info").join(folder)).unwrap();
            fs::write(root.path().join("info").join(folder).join(file), text).unwrap();
        }
        let group = OwnGroup::resctrl(root.path(), "7").unwrap();
        group.create().unwrap();
        group.add(12).unwrap();
        let read = |file: &str| fs::read_to_string(root.path().join("ironlaw-7").join(file)).unwrap();
        assert_eq!(read("schemata"), "L3:0=30;1=3\nMB:0=25;1=10\n");
        assert_eq!(read("tasks"), "12");
    }

    #[test]
    fn without_a_controller_there_is_no_group_and_the_reason_names_the_file() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.subtree_control"), "io memory\n").unwrap();
        let error = OwnGroup::quota(&cgroups(root.path(), 2, &[]), "7", 1.0).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.to_string().contains("subtree_control"), "{error}");
        assert!(OwnGroup::quota(&CgroupFs::default(), "7", 1.0).is_err());
    }

    #[test]
    fn only_groups_of_our_own_are_removed() {
        let root = tempfile::tempdir().unwrap();
        for (name, removed) in [("ironlaw-7", true), ("web", false)] {
            fs::create_dir(root.path().join(name)).unwrap();
            assert_eq!(remove_own(&root.path().join(name)).is_ok(), removed);
            assert_eq!(root.path().join(name).exists(), !removed);
        }
        remove_own(&root.path().join("ironlaw-7")).unwrap();
    }
}

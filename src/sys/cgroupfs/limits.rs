//! The limits of the control groups around a task, in the file formats of both versions.

use super::groups::CgroupFs;
use super::mounts::groups_around;
use crate::model::{Bound, GroupLimits};
use std::fs;
use std::path::{Path, PathBuf};

/// Version 1 writes the largest number of whole pages where nothing is limited; no machine has this much memory.
const UNLIMITED_BYTES: u64 = 1 << 62;

impl CgroupFs {
    /// The limits around a task, by the text of its `cgroup` file. Groups outside a container's own part of the hierarchy
    /// cannot be seen from within.
    #[must_use]
    pub fn bounds_of(&self, text: &str) -> GroupLimits {
        let cpu = self.around(text, "cpu");
        let memory = self.around(text, "memory");
        let quota = |version, group: &Path| if version == 1 { quota_v1(group) } else { quota_v2(group) };
        let bytes = |names: [&'static str; 2]| {
            move |version, group: &Path| bound_of_bytes(&read(group, names[usize::from(version != 1)])?)
        };
        GroupLimits {
            cpu_quota: cpu.as_ref().map(|around| around.least(quota)),
            cpu_weight: cpu.as_ref().and_then(Around::weight),
            // Version 1 has no such limit.
            memory_high: memory
                .as_ref()
                .filter(|around| around.version == 2)
                .map(|it| it.least(bytes(["", "memory.high"]))),
            memory_max: memory.map(|around| around.least(bytes(["memory.limit_in_bytes", "memory.max"]))),
        }
    }

    /// A task's group and those around it in the hierarchy that has the controller: version 1's where that is mounted.
    fn around(&self, text: &str, controller: &str) -> Option<Around> {
        let hierarchy = self.v1(controller).or_else(|| self.v2())?;
        let groups = groups_around(hierarchy, text)?;
        Some(Around { version: hierarchy.version, groups })
    }
}

/// A group and those around it.
struct Around {
    version: u8,
    groups: Vec<PathBuf>,
}

impl Around {
    /// The smallest limit. A group without the file limits nothing: the root, or one whose parent does not enable the
    /// controller.
    fn least(&self, of: impl Fn(u8, &Path) -> Option<Bound>) -> Bound {
        self.groups.iter().filter_map(|group| of(self.version, group)).min().unwrap_or(Bound::Unlimited)
    }

    fn weight(&self) -> Option<u64> {
        let name = if self.version == 1 { "cpu.shares" } else { "cpu.weight" };
        read(self.groups.first()?, name)?.trim().parse().ok()
    }
}

fn read(group: &Path, name: &str) -> Option<String> {
    fs::read_to_string(group.join(name)).ok()
}

fn quota_v1(group: &Path) -> Option<Bound> {
    let number = |name: &str| read(group, name)?.trim().parse::<i64>().ok();
    let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
    // -1: unlimited.
    Some(u64::try_from(quota).map_or(Bound::Unlimited, |quota| thousandths(quota, u64::try_from(period).unwrap_or(0))))
}

fn quota_v2(group: &Path) -> Option<Bound> {
    let text = read(group, "cpu.max")?;
    let (quota, period) = text.trim().split_once(' ')?;
    if quota == "max" {
        return Some(Bound::Unlimited);
    }
    Some(thousandths(quota.parse().ok()?, period.parse().ok()?))
}

fn thousandths(quota: u64, period: u64) -> Bound {
    quota.saturating_mul(1000).checked_div(period).map_or(Bound::Unlimited, Bound::At)
}

fn bound_of_bytes(text: &str) -> Option<Bound> {
    match text.trim() {
        "max" => Some(Bound::Unlimited),
        number => {
            number.parse().ok().map(|bytes| if bytes < UNLIMITED_BYTES { Bound::At(bytes) } else { Bound::Unlimited })
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::mounts::Hierarchy;
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hierarchy(version: u8, controllers: &[&str], mount: PathBuf) -> Hierarchy {
        let controllers = controllers.iter().map(|name| (*name).to_string()).collect();
        Hierarchy { version, controllers, mount, root: PathBuf::from("/") }
    }

    #[test]
    fn the_smallest_limit_around_counts_and_a_group_without_the_file_limits_nothing() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let groups = CgroupFs { hierarchies: vec![hierarchy(2, &[], at(""))] };
        let text = "0::/pod/web\n";
        let unlimited = GroupLimits {
            cpu_quota: Some(Bound::Unlimited),
            cpu_weight: None,
            memory_high: Some(Bound::Unlimited),
            memory_max: Some(Bound::Unlimited),
        };
        assert_eq!(groups.bounds_of(text), unlimited);
        write(at("pod/cpu.max"), "50000 100000\n");
        write(at("pod/web/cpu.max"), "max 100000\n");
        write(at("pod/web/cpu.weight"), "20\n");
        write(at("pod/memory.max"), "max\n");
        write(at("pod/web/memory.max"), "1048576\n");
        write(at("pod/memory.high"), "nonsense\n");
        let found = GroupLimits {
            cpu_quota: Some(Bound::At(500)),
            cpu_weight: Some(20),
            memory_max: Some(Bound::At(1 << 20)),
            ..unlimited
        };
        assert_eq!(groups.bounds_of(text), found);
        assert_eq!(groups.bounds_of("4:cpu:/pod\n"), GroupLimits::default(), "not in this hierarchy");
    }

    #[test]
    fn limits_of_the_old_hierarchies_come_from_each_controller() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let mounted = [("cpu", &["cpu", "cpuacct"][..]), ("memory", &["memory"])];
        let hierarchies = mounted.map(|(name, controllers)| hierarchy(1, controllers, at(name))).to_vec();
        let groups = CgroupFs { hierarchies };
        write(at("cpu/a/cpu.cfs_quota_us"), "250000\n");
        write(at("cpu/a/cpu.cfs_period_us"), "100000\n");
        write(at("cpu/cpu.cfs_quota_us"), "-1\n");
        write(at("cpu/cpu.cfs_period_us"), "100000\n");
        write(at("cpu/a/cpu.shares"), "1024\n");
        write(at("memory/b/memory.limit_in_bytes"), "9223372036854771712\n");
        let found = groups.bounds_of("2:memory:/b\n3:cpu,cpuacct:/a\n");
        assert_eq!((found.cpu_quota, found.cpu_weight), (Some(Bound::At(2500)), Some(1024)));
        assert_eq!((found.memory_max, found.memory_high), (Some(Bound::Unlimited), None));
    }
}

//! Reads the control groups that are the target: CPU time, throttling, pressure. The counters of their members are read
//! elsewhere.

use crate::collect::catalog::{
    CGROUP_PERIODS, CGROUP_THROTTLED_PERIODS, CGROUP_THROTTLED_TIME, PSI_CPU_SOME, PSI_IO_FULL, PSI_IO_SOME,
    PSI_MEMORY_FULL, PSI_MEMORY_SOME, SYSTEM_TIME, TASK_CLOCK, USER_TIME,
};
use crate::model::CounterId;
use crate::sys::cgroupfs::{self, CgroupFs, CpuUsage};
use crate::sys::procfs::Pressure;
use std::path::PathBuf;

/// Control groups whose counters are read, and added up. The pressures of several cannot be: they are left out here.
#[derive(Debug)]
pub(super) struct Group {
    cgroups: CgroupFs,
    paths: Vec<PathBuf>,
    /// What each of them has used, by its last reading: one that is removed keeps it.
    usages: Vec<CpuUsage>,
    baseline: Vec<(CounterId, u64)>,
}

impl Group {
    /// Starts counting.
    pub(super) fn open(cgroups: CgroupFs, paths: Vec<PathBuf>) -> Group {
        let usages = vec![CpuUsage::default(); paths.len()];
        let mut group = Group { cgroups, paths, usages, baseline: Vec::new() };
        group.read();
        group.baseline = group.absolute();
        group
    }

    /// Values since the capture began; a counter that appears later counts from zero.
    pub(super) fn values(&mut self) -> Vec<(CounterId, u64)> {
        self.read();
        self.since_opened()
    }

    fn since_opened(&self) -> Vec<(CounterId, u64)> {
        let before = |counter| self.baseline.iter().find(|(known, _)| *known == counter).map_or(0, |&(_, value)| value);
        self.absolute().into_iter().map(|(counter, value)| (counter, value.saturating_sub(before(counter)))).collect()
    }

    /// The target's CPU time since the capture began in nanoseconds; `None` if the kernel does not count it.
    pub(super) fn cpu(&self) -> Option<u64> {
        self.since_opened().into_iter().find_map(|(counter, value)| (counter == TASK_CLOCK).then_some(value))
    }

    fn read(&mut self) {
        for (path, usage) in self.paths.iter().zip(&mut self.usages) {
            *usage = self.cgroups.cpu_usage(path).unwrap_or(*usage);
        }
    }

    fn absolute(&self) -> Vec<(CounterId, u64)> {
        let usage = self.usages.iter().copied().reduce(CpuUsage::plus).unwrap_or_default();
        let time = [(TASK_CLOCK, usage.usage_ns), (USER_TIME, usage.user_ns), (SYSTEM_TIME, usage.system_ns)];
        let known = time.into_iter().filter_map(|(counter, value)| Some((counter, value?))).chain(throttling(usage));
        let single = if let [path] = self.paths.as_slice() { Some(path) } else { None };
        known.chain(pressures(|resource| cgroupfs::group_pressure(single?, resource))).collect()
    }
}

/// What a group counts of its quota.
pub(super) fn throttling(usage: CpuUsage) -> impl Iterator<Item = (CounterId, u64)> {
    let counts = [
        (CGROUP_PERIODS, usage.periods),
        (CGROUP_THROTTLED_PERIODS, usage.throttled_periods),
        (CGROUP_THROTTLED_TIME, usage.throttled_ns),
    ];
    counts.into_iter().filter_map(|(counter, value)| Some((counter, value?)))
}

/// The counters of the three pressure files in nanoseconds. CPU has no `full` value: all tasks cannot wait at once.
pub(super) fn pressures(read: impl Fn(&str) -> Option<Pressure>) -> Vec<(CounterId, u64)> {
    let resources = [
        ("cpu", PSI_CPU_SOME, None),
        ("memory", PSI_MEMORY_SOME, Some(PSI_MEMORY_FULL)),
        ("io", PSI_IO_SOME, Some(PSI_IO_FULL)),
    ];
    let mut values = Vec::new();
    for (resource, some, full) in resources {
        let Some(pressure) = read(resource) else { continue };
        values.push((some, pressure.some_us.saturating_mul(1000)));
        values.extend(full.zip(pressure.full_us.map(|full| full.saturating_mul(1000))));
    }
    values
}

//! Facts of this machine for the recording.
//! It never fails: what the machine does not say stays empty, and a recording made there still opens.

use crate::model::HostFacts;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::sysfs::SysFs;

/// Gathers what /proc and /sys say about the machine.
#[must_use]
pub fn facts(proc: &ProcFs, sys: &SysFs) -> HostFacts {
    let setting = |name: &str| proc.text(name).map(|text| text.trim().to_string()).unwrap_or_default();
    let cpuinfo = proc.text("cpuinfo").unwrap_or_default();
    let cpus = sys.topology().unwrap_or_default();
    HostFacts {
        hostname: setting("sys/kernel/hostname"),
        kernel: setting("sys/kernel/osrelease"),
        arch: std::env::consts::ARCH.to_string(),
        cpu_model: procfs::cpu_model(&cpuinfo).unwrap_or_default(),
        memory_bytes: proc.text("meminfo").ok().as_deref().and_then(procfs::memory_total).unwrap_or(0),
        virtual_machine: procfs::hypervisor_flag(&cpuinfo) || sys.hypervisor().is_some(),
        governor: cpus.first().and_then(|first| sys.governor(first.cpu)),
        cpus,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn facts_come_from_both_trees_and_absent_ones_stay_empty() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let (proc, sys) = (ProcFs::new(root.path().join("proc")), SysFs::new(root.path().join("sys")));
        let empty = facts(&proc, &sys);
        assert_eq!(empty, HostFacts { arch: std::env::consts::ARCH.to_string(), ..HostFacts::default() });

        write("proc/sys/kernel/hostname", "node7\n");
        write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
        write("proc/cpuinfo", "model name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n");
        write("proc/meminfo", "MemTotal: 2 kB\n");
        write("sys/devices/system/cpu/online", "2-3\n");
        write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
        let facts = facts(&proc, &sys);
        assert_eq!((facts.hostname.as_str(), facts.kernel.as_str()), ("node7", "6.1.0-18-amd64"));
        assert_eq!((facts.cpu_model.as_str(), facts.memory_bytes), ("AMD EPYC", 2048));
        assert!(facts.virtual_machine);
        assert_eq!((facts.cpus.len(), facts.governor.as_deref()), (2, Some("powersave")));
    }
}

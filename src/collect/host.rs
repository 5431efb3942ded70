//! Gathers facts about this machine for the recording. Facts that the machine does not report stay empty, and the
//! recording still opens.

use super::kernel_config;
use crate::model::HostFacts;
use crate::pmu::detect::{Processor, X86};
use crate::sys::procfs::{self, ProcFs};
use crate::sys::sysfs::SysFs;

/// The facts by which a machine and its kernel are recognised; the others stay empty.
#[must_use]
pub fn identity(proc: &ProcFs) -> HostFacts {
    let setting = |name: &str| proc.text(name).map(|text| text.trim().to_string()).unwrap_or_default();
    let (hostname, kernel) = (setting("sys/kernel/hostname"), setting("sys/kernel/osrelease"));
    HostFacts { hostname, kernel, ..HostFacts::default() }
}

/// Gathers what /proc and /sys report about the machine.
#[must_use]
pub fn facts(proc: &ProcFs, sys: &SysFs) -> HostFacts {
    let HostFacts { hostname, kernel, .. } = identity(proc);
    let cpuinfo = proc.text("cpuinfo").unwrap_or_default();
    let cpus = sys.topology().unwrap_or_default();
    let hypervisor = sys.hypervisor();
    let virtual_machine = procfs::hypervisor_flag(&cpuinfo) || hypervisor.is_some();
    // Xen subtracts stolen time from CPU time on some versions only.
    let known = virtual_machine && hypervisor.as_deref() != Some("xen");
    HostFacts {
        hostname,
        stolen_in_cpu_time: known.then(|| stolen_in_cpu_time(proc, &kernel)).flatten(),
        kernel,
        arch: std::env::consts::ARCH.to_string(),
        cpu_model: procfs::cpu_model(&cpuinfo).unwrap_or_default(),
        cpuid: cpuid(&cpuinfo),
        memory_bytes: proc.text("meminfo").ok().as_deref().and_then(procfs::memory_total).unwrap_or(0),
        virtual_machine,
        governor: cpus.first().and_then(|first| sys.governor(first.cpu)),
        huge_pages: sys.huge_pages(),
        mitigations: sys.mitigations(),
        cpus,
    }
}

fn cpuid(cpuinfo: &str) -> Option<String> {
    match Processor::from_cpuinfo(cpuinfo) {
        Processor::X86(X86 { vendor, family, model, stepping }) => {
            Some(format!("{vendor},{family},{model},{stepping}"))
        }
        Processor::Arm(_) | Processor::Unknown => None,
    }
}

/// Whether CPU time includes stolen time. With paravirtual time accounting the kernel does not charge it to tasks.
fn stolen_in_cpu_time(proc: &ProcFs, kernel: &str) -> Option<bool> {
    let accounted = kernel_config::option(proc, kernel, "CONFIG_PARAVIRT_TIME_ACCOUNTING")?;
    let refused = proc.text("cmdline").ok()?.split_whitespace().any(|word| word == "no-steal-acc");
    Some(!accounted || refused)
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
        write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        write("sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable\n");
        let facts = facts(&proc, &sys);
        assert_eq!((facts.hostname.as_str(), facts.kernel.as_str()), ("node7", "6.1.0-18-amd64"));
        assert_eq!((facts.cpu_model.as_str(), facts.memory_bytes), ("AMD EPYC", 2048));
        assert!(facts.virtual_machine);
        assert_eq!((facts.cpus.len(), facts.governor.as_deref()), (2, Some("powersave")));
        assert_eq!(facts.huge_pages.as_deref(), Some("madvise"));
        assert_eq!(facts.mitigations, [("mds".to_string(), "Vulnerable".to_string())].into());
    }

    #[test]
    fn stolen_time_is_in_cpu_time_unless_the_kernel_takes_it_off_and_is_let() {
        const ON: &str = "CONFIG_PARAVIRT=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n";
        const OFF: &str = "CONFIG_PARAVIRT=y\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set\n";
        for (cpuinfo, config, cmdline, xen, expected) in [
            ("flags : hypervisor\n", Some(ON), "quiet", false, Some(false)),
            ("flags : hypervisor\n", Some(ON), "quiet no-steal-acc", false, Some(true)),
            ("flags : hypervisor\n", Some(OFF), "quiet", false, Some(true)),
            ("flags : hypervisor\n", None, "quiet", false, None),
            ("flags : hypervisor\n", Some(ON), "quiet", true, None),
            ("flags : fpu\n", Some(ON), "quiet", false, None),
        ] {
            let root = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            };
            write("proc/sys/kernel/osrelease", "6.1.0\n");
            write("proc/cpuinfo", cpuinfo);
            write("proc/cmdline", cmdline);
            if let Some(config) = config {
                write("boot/config-6.1.0", config);
            }
            if xen {
                write("sys/hypervisor/type", "xen\n");
            }
            let facts = facts(&ProcFs::new(root.path().join("proc")), &SysFs::new(root.path().join("sys")));
            assert_eq!(facts.stolen_in_cpu_time, expected, "{cpuinfo} {config:?} {cmdline} {xen}");
        }
    }
}

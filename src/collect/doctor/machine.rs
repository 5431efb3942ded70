//! Checks of the machine itself: accounting, control groups, topology, frequency.

use super::check::{Check, Status};
use super::probe::Probe;
use crate::sys::sysfs::Resctrl;

/// A rule checks one topic; it returns `None` if the topic does not apply.
pub(super) type Rule = fn(&Probe) -> Option<Check>;

/// In display order.
pub(super) const RULES: &[Rule] = &[cgroups, pressure, schedstat, delay_accounting, resctrl, numa, smt, frequency];

fn limited(topic: &str, text: &str, detail: &str) -> Check {
    Check::new(topic, Status::Limited, text).detail(detail)
}

fn cgroups(probe: &Probe) -> Option<Check> {
    let v2 = probe.cgroups.v2();
    let v1 = probe.cgroups.v1("perf_event");
    Some(match (v2, v1) {
        (Some(v2), _) => {
            let hybrid = if probe.cgroups.v1("cpu").is_some() { ", CPU limits in version 1" } else { "" };
            Check::works("cgroups", format!("version 2 at {}{hybrid}", v2.mount.display()))
        }
        (None, Some(v1)) => Check::works("cgroups", format!("version 1, perf_event at {}", v1.mount.display())),
        (None, None) => limited("cgroups", "no hierarchy that can be profiled is mounted", "-G needs one")
            .fix("sudo mount -t cgroup2 none /sys/fs/cgroup"),
    })
}

fn pressure(probe: &Probe) -> Option<Check> {
    Some(match probe.pressure {
        true => Check::works("pressure", "time lost to CPU, memory and I/O shortage is accounted"),
        false => limited("pressure", "not accounted", "time lost to CPU, memory and I/O shortage stays unknown")
            .fix("Boot with psi=1 on a kernel built with CONFIG_PSI=y."),
    })
}

fn schedstat(probe: &Probe) -> Option<Check> {
    Some(match probe.schedstat {
        true => Check::works("schedstat", "run-queue delay is accounted per thread"),
        false => limited(
            "schedstat",
            "absent",
            "run-queue delay stays unknown, and CPU time per thread is known to 10 ms only",
        )
        .fix(
            "Boot a kernel built with CONFIG_SCHED_INFO=y (CONFIG_SCHEDSTATS=y or CONFIG_TASK_DELAY_ACCT=y bring it).",
        ),
    })
}

fn delay_accounting(probe: &Probe) -> Option<Check> {
    Some(match probe.delay_accounting? {
        0 => limited("delay-accounting", "off", "time waiting for block I/O stays unknown per thread")
            .fix("sudo sysctl kernel.task_delayacct=1"),
        _ => Check::works("delay-accounting", "on: time waiting for block I/O is accounted per thread"),
    })
}

fn resctrl(probe: &Probe) -> Option<Check> {
    Some(match probe.resctrl? {
        Resctrl::Mounted => Check::works("resctrl", "mounted"),
        Resctrl::NotMounted => {
            limited("resctrl", "supported, not mounted", "cache and memory bandwidth per group stay unknown")
                .fix("sudo mount -t resctrl resctrl /sys/fs/resctrl")
        }
        Resctrl::Absent => limited(
            "resctrl",
            "absent",
            "this CPU, virtual machine or kernel does not measure cache and memory bandwidth per group",
        ),
    })
}

fn numa(probe: &Probe) -> Option<Check> {
    Some(match probe.nodes.len() {
        0 => limited("numa", "no nodes reported", "the kernel was built without NUMA: everything counts as node 0"),
        1 => Check::works("numa", "one memory node"),
        nodes => Check::works("numa", format!("{nodes} memory nodes")),
    })
}

fn smt(probe: &Probe) -> Option<Check> {
    let text = match probe.smt? {
        true => "on: two threads of a core share its time, so CPU time depends on the neighbour",
        false => "off or absent: a CPU is a core",
    };
    Some(Check::works("smt", text))
}

fn frequency(probe: &Probe) -> Option<Check> {
    Some(match probe.governor.as_deref() {
        Some("performance") => Check::works("frequency", "governor performance"),
        Some(governor) => {
            limited("frequency", &format!("governor {governor}"), "the clock may change between compared runs")
                .fix("sudo cpupower frequency-set -g performance")
        }
        None => limited(
            "frequency",
            "not controlled by this kernel",
            "a virtual machine or firmware sets it: changes are not reported",
        ),
    })
}

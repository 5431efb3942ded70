//! The checks that decide what can be captured: permissions, events, limits, tracing.

use super::check::{Check, PERF_EVENTS, Status};
use super::probe::errno::{EACCES, EMFILE, ENOENT, ENOSYS, EOPNOTSUPP, EPERM};
use super::probe::{Probe, Tracefs};
use crate::model::WaitSource;
use crate::sys::caps::Capability;
use crate::sys::perf_probe::Outcome;
use crate::sys::procfs::KernelSymbols;

/// A rule checks one topic; it returns `None` if the topic does not apply.
type Rule = fn(&Probe) -> Option<Check>;

/// In display order.
pub(super) const RULES: &[Rule] = &[
    perf_events,
    kernel_samples,
    whole_machine,
    hardware_counters,
    hardware_events,
    paranoid,
    capabilities,
    seccomp,
    lockdown,
    apparmor,
    nmi_watchdog,
    kernel_symbols,
    locked_memory,
    open_files,
    sample_rate,
    stack_depth,
    waits,
    tracefs,
    uprobes,
    bpf,
    ptrace_scope,
];

const GRANT: &str = "sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog,cap_bpf=ep \"$(command -v ironlaw)\"";

const MOUNT: &str = "sudo mount -t tracefs tracefs /sys/kernel/tracing";
const REMOUNT: &str = "sudo mount -o remount,mode=750,gid=$(id -g) /sys/kernel/tracing";

fn perf_events(probe: &Probe) -> Option<Check> {
    let failed = |text: &str| Check::new(PERF_EVENTS, Status::Fails, text);
    let paranoid = probe.paranoid.unwrap_or(2);
    let by_setting = paranoid > 2 && !probe.privileges.may_profile_anything();
    let container = "docker run --security-opt seccomp=unconfined --cap-add PERFMON --cap-add SYS_PTRACE ...";
    Some(match probe.user_clock? {
        Ok(_) => Check::works(PERF_EVENTS, "user code of your own processes can be sampled"),
        Err(EACCES | EPERM) if by_setting => failed("perf_event_open is refused to this user")
            .detail(format!("kernel.perf_event_paranoid is {paranoid}: above 2 only CAP_PERFMON may open events"))
            .fix(format!("sudo sysctl kernel.perf_event_paranoid=2, or {GRANT}")),
        Err(EPERM | EACCES | ENOSYS) if probe.privileges.seccomp == Some(2) => failed("perf_event_open is blocked")
            .detail("a seccomp filter is in force, as container runtimes set one; neither paranoid nor a capability explains it")
            .fix(container),
        Err(ENOSYS) => failed("this kernel has no perf_event_open")
            .detail("it was built without performance events, or a sandbox such as gVisor hides them")
            .fix("Boot a kernel built with CONFIG_PERF_EVENTS=y."),
        Err(EMFILE) => failed("no file descriptor was left for an event").detail("the limit of open files is reached").fix("ulimit -n 65536"),
        Err(EACCES | EPERM) => failed("perf_event_open is refused to this user")
            .detail("a security module refuses it: neither paranoid nor seccomp explains it")
            .fix("ausearch -m avc -c ironlaw (SELinux), or journalctl -k -g apparmor"),
        Err(other) => failed("perf_event_open fails").detail(format!("the kernel's error number is {other}")),
    })
}

/// Whether the kernel refused for lack of privilege.
fn refused(outcome: Outcome) -> bool {
    matches!(outcome, Err(EACCES | EPERM))
}

fn kernel_samples(probe: &Probe) -> Option<Check> {
    let topic = "kernel-samples";
    Some(match probe.kernel_clock? {
        Ok(_) => Check::works(topic, "kernel code can be sampled too"),
        outcome => Check::new(topic, Status::Limited, "only user code can be sampled")
            .detail(if refused(outcome) {
                "perf_event_paranoid of 2 or more keeps the kernel's part from users without CAP_PERFMON"
            } else {
                "the kernel refuses the event"
            })
            .fix(format!("sudo sysctl kernel.perf_event_paranoid=1, or {GRANT}")),
    })
}

fn whole_machine(probe: &Probe) -> Option<Check> {
    let topic = "whole-machine";
    Some(match probe.whole_cpu? {
        Ok(_) => Check::works(topic, "whole CPUs can be sampled (-a, -C, -G)"),
        outcome => {
            Check::new(topic, Status::Limited, "only single processes can be sampled, not CPUs or control groups")
                .detail(if refused(outcome) {
                    "perf_event_paranoid of 1 or more keeps whole CPUs from users without CAP_PERFMON"
                } else {
                    "the kernel refuses the event"
                })
                .fix(format!("sudo sysctl kernel.perf_event_paranoid=0, or {GRANT}"))
        }
    })
}

fn hardware_counters(probe: &Probe) -> Option<Check> {
    let topic = "hardware-counters";
    let listed = probe.event_sources.iter().any(|name| name.starts_with("cpu") || name.starts_with("armv"));
    let limited = |text: &str| Check::new(topic, Status::Limited, text);
    let without = "sampling goes by the clock instead, which shows kernel code with interrupts off where they come back on; cycles, \
         instructions and IPC stay unknown";
    let ask = "In the hypervisor, give the guest a PMU (QEMU: -cpu host,pmu=on; libvirt: <pmu state='on'/>; cloud: a metal or whole-socket instance).";
    Some(match probe.cycles? {
        Ok(count) if count > 0 && probe.virtual_machine => {
            Check::works(topic, "cycles count, through the hypervisor's virtual PMU")
        }
        Ok(count) if count > 0 => Check::works(topic, "cycles count"),
        Ok(_) if probe.virtual_machine => limited("cycles can be opened but stay at zero")
            .detail(format!("the hypervisor shows a PMU that does not count: {without}"))
            .fix(ask),
        Ok(_) => limited("cycles can be opened but stay at zero")
            .detail(format!("other users may hold all counters: {without}"))
            .fix("sudo sysctl kernel.nmi_watchdog=0"),
        Err(ENOENT | EOPNOTSUPP) if probe.virtual_machine => {
            limited("absent").detail(format!("this virtual machine has no PMU: {without}")).fix(ask)
        }
        Err(ENOENT | EOPNOTSUPP) if listed => limited("a PMU is listed, but counts no cycles").detail(without),
        Err(ENOENT | EOPNOTSUPP) => {
            limited("absent").detail(format!("the kernel has no driver for this CPU's PMU: {without}"))
        }
        Err(EACCES | EPERM) => Check::new(topic, Status::Unknown, "could not be tried")
            .detail("perf_event_open is refused: see perf-events"),
        Err(other) => limited("cannot be opened").detail(format!("the kernel's error number is {other}: {without}")),
    })
}

fn hardware_events(probe: &Probe) -> Option<Check> {
    let trial = probe.hardware.as_ref()?;
    let (topic, groups) = ("hardware-events", trial.groups);
    let text =
        format!("{} of {} count, in {groups} group{}", trial.events, trial.uarch, if groups == 1 { "" } else { "s" });
    Some(match trial.left_out.is_empty() {
        true => Check::works(topic, text),
        false => Check::new(topic, Status::Limited, text).detail(format!(
            "not counted: {}; `ironlaw metrics` lists the metrics that are missing",
            trial.left_out.join("; ")
        )),
    })
}

fn paranoid(probe: &Probe) -> Option<Check> {
    let topic = "perf-event-paranoid";
    let Some(value) = probe.paranoid else {
        return Some(
            Check::new(topic, Status::Unknown, "not readable")
                .detail("/proc/sys is hidden, or the kernel has no performance events"),
        );
    };
    let allowed = match value {
        ..=-1 => "everything is allowed to everyone",
        0 => "users may sample whole CPUs, but not raw tracepoints",
        1 => "users may sample their own processes, kernel included",
        2 => "users may sample user code of their own processes",
        _ => "users may open no event",
    };
    if value <= 1 || probe.privileges.may_profile_anything() {
        let exempt = if probe.privileges.may_profile_anything() { "; this process is exempt" } else { "" };
        return Some(Check::works(topic, format!("{value}: {allowed}{exempt}")));
    }
    Some(
        Check::new(topic, Status::Limited, format!("{value}: {allowed}"))
            .detail("this process holds neither CAP_PERFMON nor CAP_SYS_ADMIN, so the setting binds it")
            .fix("sudo sysctl kernel.perf_event_paranoid=1"),
    )
}

fn capabilities(probe: &Probe) -> Option<Check> {
    let wanted = [
        (Capability::Perfmon, "CAP_PERFMON"),
        (Capability::SysPtrace, "CAP_SYS_PTRACE"),
        (Capability::Syslog, "CAP_SYSLOG"),
        (Capability::Bpf, "CAP_BPF"),
    ];
    let admin = probe.privileges.has(Capability::SysAdmin);
    let stands_in =
        |capability| admin && matches!(capability, Capability::Perfmon | Capability::Syslog | Capability::Bpf);
    let missing =
        wanted.into_iter().filter(|&(capability, _)| !probe.privileges.has(capability) && !stands_in(capability));
    let missing: Vec<&str> = missing.map(|(_, name)| name).collect();
    if missing.is_empty() {
        return Some(Check::works("capabilities", "all that profiling needs are present"));
    }
    let check = Check::new("capabilities", Status::Limited, format!("not held: {}", missing.join(", ")))
        .detail("without them only your own processes can be profiled, and kernel names may be hidden");
    Some(match probe.privileges.no_new_privs {
        true => check
            .fix("Start ironlaw outside this sandbox: no_new_privs is set, so neither sudo nor setcap can add any."),
        false => check.fix(GRANT),
    })
}

fn seccomp(probe: &Probe) -> Option<Check> {
    let works = probe.user_clock.is_some_and(|outcome| outcome.is_ok());
    match probe.privileges.seccomp {
        Some(0) | None => None,
        Some(_) if works => Some(Check::works("seccomp", "a filter is in force, and lets perf_event_open through")),
        Some(_) => Some(
            Check::new("seccomp", Status::Limited, "a filter is in force")
                .detail("it may refuse perf_event_open: see perf-events"),
        ),
    }
}

fn lockdown(probe: &Probe) -> Option<Check> {
    let line = probe.lockdown.as_deref()?;
    let mode = line.split('[').nth(1)?.split(']').next()?;
    Some(match mode {
        "confidentiality" => Check::new("lockdown", Status::Limited, "confidentiality")
            .detail("the kernel then keeps tracefs, kernel samples and BPF reads even from root")
            .fix("Boot with lockdown=integrity, or without Secure Boot."),
        mode => Check::works("lockdown", mode),
    })
}

fn apparmor(probe: &Probe) -> Option<Check> {
    let profile = probe.apparmor.as_deref().filter(|profile| !profile.is_empty() && *profile != "unconfined")?;
    Some(
        Check::new("apparmor", Status::Limited, format!("confined by {profile}"))
            .detail("the profile may refuse ptrace-like reads of other processes")
            .fix("docker run --security-opt apparmor=unconfined ..."),
    )
}

fn nmi_watchdog(probe: &Probe) -> Option<Check> {
    let counts = matches!(probe.cycles, Some(Ok(count)) if count > 0);
    Some(match probe.nmi_watchdog? {
        0 => Check::works("nmi-watchdog", "off: no hardware counter is taken"),
        _ if !counts => Check::works("nmi-watchdog", "on, without a hardware counter to take"),
        _ => Check::new("nmi-watchdog", Status::Limited, "on: it holds one hardware counter")
            .detail("one event fewer fits at once before counters take turns")
            .fix("sudo sysctl kernel.nmi_watchdog=0"),
    })
}

fn kernel_symbols(probe: &Probe) -> Option<Check> {
    let topic = "kernel-symbols";
    Some(match probe.kernel_symbols {
        KernelSymbols::Readable => Check::works(topic, "readable"),
        KernelSymbols::Hidden => Check::new(topic, Status::Limited, "hidden: every address in /proc/kallsyms is zero")
            .detail(format!(
                "kernel.kptr_restrict is {} and perf_event_paranoid {}: kernel frames stay bare addresses",
                known(probe.kptr_restrict),
                known(probe.paranoid)
            ))
            .fix("sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run as root"),
        KernelSymbols::Absent => Check::new(topic, Status::Limited, "absent: /proc/kallsyms cannot be read")
            .detail("kernel frames stay bare addresses")
            .fix("Boot a kernel built with CONFIG_KALLSYMS=y."),
    })
}

fn known(value: Option<i64>) -> String {
    value.map_or_else(|| "unknown".to_string(), |value| value.to_string())
}

fn locked_memory(probe: &Probe) -> Option<Check> {
    let kib = probe.mlock_kb?;
    if kib >= 2048 || probe.privileges.may_profile_anything() {
        return Some(Check::works("locked-memory", format!("{kib} KiB per user and CPU for ring buffers")));
    }
    Some(
        Check::new("locked-memory", Status::Limited, format!("{kib} KiB per user and CPU for ring buffers"))
            .detail("rings are smaller then: at high rates with stack copies, samples are lost")
            .fix("sudo sysctl kernel.perf_event_mlock_kb=8192"),
    )
}

fn open_files(probe: &Probe) -> Option<Check> {
    let (soft, hard) = probe.open_files?;
    let show = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_string(), |limit| limit.to_string());
    let text = format!("{} (raised to {} when needed)", show(soft), show(hard));
    if hard.is_none_or(|hard| hard >= 16_384) {
        return Some(Check::works("open-files", text));
    }
    Some(
        Check::new("open-files", Status::Limited, text)
            .detail("an unprivileged capture needs one event per thread and CPU: processes with thousands of threads will not fit")
            .fix("sudo prlimit --pid $$ --nofile=65536:65536"),
    )
}

fn sample_rate(probe: &Probe) -> Option<Check> {
    let rate = probe.max_sample_rate?;
    if rate >= 10_000 {
        return Some(Check::works("sample-rate", format!("up to {rate} per second and CPU")));
    }
    Some(
        Check::new("sample-rate", Status::Limited, format!("at most {rate} per second and CPU"))
            .detail("the kernel lowers it when sampling takes too long, and does not raise it again")
            .fix("sudo sysctl kernel.perf_event_max_sample_rate=100000"),
    )
}

fn stack_depth(probe: &Probe) -> Option<Check> {
    let depth = probe.max_stack?;
    if depth >= 127 {
        return Some(Check::works("stack-depth", format!("{depth} frames where the kernel walks the stack")));
    }
    Some(
        Check::new("stack-depth", Status::Limited, format!("{depth} frames where the kernel walks the stack"))
            .detail("deeper stacks are cut off")
            .fix("sudo sysctl kernel.perf_event_max_stack=127"),
    )
}

fn waits(probe: &Probe) -> Option<Check> {
    let topic = "waits";
    probe.user_clock?.ok()?;
    let source = source(probe);
    let found = Check::new(topic, Status::Limited, source.text()).detail(source.blind_spot());
    Some(match source {
        WaitSource::KernelSums | WaitSource::Tracepoints => Check::works(topic, source.text()),
        WaitSource::SwitchEvents if probe.tracefs == Tracefs::Absent => found.fix(MOUNT),
        WaitSource::SwitchEvents => found.fix(format!("{GRANT}, and {REMOUNT}; or run as root")),
        WaitSource::SwitchRecords => found.fix(format!("sudo sysctl kernel.perf_event_paranoid=1, or {GRANT}")),
    })
}

/// The wait source that a capture would use.
fn source(probe: &Probe) -> WaitSource {
    let works = |outcome: Option<Outcome>| matches!(outcome, Some(Ok(_)));
    let privileged = probe.privileges.may_profile_anything() || probe.paranoid.is_some_and(|level| level < 0);
    if !works(probe.kernel_clock) {
        WaitSource::SwitchRecords
    } else if probe.kernel_sums && works(probe.whole_cpu) {
        WaitSource::KernelSums
    } else if works(probe.sched_switch) && works(probe.whole_cpu) && privileged {
        WaitSource::Tracepoints
    } else {
        WaitSource::SwitchEvents
    }
}

fn tracefs(probe: &Probe) -> Option<Check> {
    let limited = |text: &str| Check::new("tracefs", Status::Limited, text);
    let without = "without it no tracepoint can be an event of -e, and wake-ups are not seen";
    Some(match (probe.tracefs, probe.sched_switch) {
        (Tracefs::Readable(_), Some(Ok(_))) => {
            Check::works("tracefs", "mounted and readable; sched:sched_switch opens")
        }
        (Tracefs::Readable(_), outcome) => limited("readable, but sched:sched_switch cannot be opened")
            .detail(match outcome {
                Some(Err(error)) => format!("the kernel's error number is {error}: {without}"),
                _ => without.to_string(),
            })
            .fix(GRANT),
        (Tracefs::Unreadable, _) => {
            limited("not readable for this user").detail(without).fix(format!("{REMOUNT}, or run as root"))
        }
        (Tracefs::Absent, _) => limited("not mounted").detail(without).fix(MOUNT),
    })
}

fn uprobes(probe: &Probe) -> Option<Check> {
    if probe.event_sources.iter().any(|name| name == "uprobe") {
        return Some(Check::works("uprobes", "available"));
    }
    Some(
        Check::new("uprobes", Status::Limited, "absent")
            .detail("operations cannot be counted at a function of an unmodified program")
            .fix("Boot a kernel built with CONFIG_UPROBE_EVENTS=y."),
    )
}

fn bpf(probe: &Probe) -> Option<Check> {
    let allowed = probe.privileges.has(Capability::Bpf) || probe.privileges.has(Capability::SysAdmin);
    Some(match probe.unprivileged_bpf_disabled {
        None => Check::new("bpf", Status::Limited, "absent")
            .detail("samples of one process among many threads are filtered in this process instead of the kernel")
            .fix("Boot a kernel built with CONFIG_BPF_SYSCALL=y."),
        Some(_) if allowed => Check::works("bpf", "programs may be loaded"),
        Some(_) => Check::new("bpf", Status::Limited, "programs may not be loaded by this user")
            .detail("samples of one process among many threads are filtered in this process instead of the kernel")
            .fix(GRANT),
    })
}

fn ptrace_scope(probe: &Probe) -> Option<Check> {
    let scope = probe.ptrace_scope?;
    if scope == 0 || probe.privileges.has(Capability::SysPtrace) {
        return Some(Check::works("ptrace-scope", format!("{scope}: does not bind this process")));
    }
    Some(
        Check::new("ptrace-scope", Status::Limited, format!("{scope}: attaching needs CAP_SYS_PTRACE"))
            .detail(
                "events on a process that is not your child are then refused even to its owner, and so are its files",
            )
            .fix("sudo sysctl kernel.yama.ptrace_scope=0"),
    )
}

//! Every check on every state of a machine that it tells apart, and what is gathered from trees that are not well.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::check::{Check, Status};
use super::examine;
use super::probe::errno::{EACCES, EMFILE, ENOENT, ENOSYS, EOPNOTSUPP, EPERM};
use super::probe::{Probe, Roots, Tracefs, gather};
use crate::sys::caps::{Capability, Privileges};
use crate::sys::cgroupfs::{CgroupFs, Hierarchy};
use crate::sys::procfs::{KernelSymbols, ProcFs};
use crate::sys::sysfs::{Resctrl, SysFs};
use Status::{Fails, Limited, Unknown, Works};
use std::path::PathBuf;

/// A state of the machine, the topic it decides, the expected status, and words of its text, its reason and its remedy.
type Row = (&'static str, Probe, &'static str, Status, &'static str, &'static str, &'static str);

fn check(rows: &[Row]) {
    for (name, probe, topic, status, text, detail, fix) in rows {
        let checks = examine(probe);
        let found: Vec<&Check> = checks.iter().filter(|check| check.topic == *topic).collect();
        let [check] = found[..] else { panic!("{name}: {} results of {topic}", found.len()) };
        assert_eq!(check.status, *status, "{name}: {check:?}");
        assert!(check.text.contains(text) && check.detail.contains(detail), "{name}: {check:?}");
        assert!(check.fix.as_deref().unwrap_or_default().contains(fix), "{name}: {check:?}");
        assert_eq!(check.fix.is_some(), !fix.is_empty(), "{name}: {check:?}");
    }
}

fn silent(topic: &str, probe: &Probe) -> bool {
    examine(probe).iter().all(|check| check.topic != topic)
}

fn none() -> Probe {
    Probe::default()
}

fn holding(capabilities: &[Capability]) -> Privileges {
    let effective = capabilities.iter().fold(0, |bits, capability| bits | 1 << *capability as u32);
    Privileges { effective, ..Privileges::default() }
}

fn filtered() -> Privileges {
    Privileges { seccomp: Some(2), ..Privileges::default() }
}

#[test]
fn what_perf_refuses_is_told_apart_by_its_number() {
    let topic = "perf-events";
    let tried = |outcome, paranoid, privileges| Probe { user_clock: Some(outcome), paranoid, privileges, ..none() };
    let plain = Privileges::default();
    check(&[
        ("it works", tried(Ok(5), Some(2), plain), topic, Works, "user code", "", ""),
        (
            "by the setting",
            tried(Err(EACCES), Some(3), plain),
            topic,
            Fails,
            "refused",
            "is 3",
            "paranoid=2, or sudo setcap",
        ),
        ("by a module", tried(Err(EACCES), Some(2), plain), topic, Fails, "refused", "security module", "ausearch"),
        (
            "exempt, so by a module",
            tried(Err(EPERM), Some(4), holding(&[Capability::Perfmon])),
            topic,
            Fails,
            "",
            "security module",
            "apparmor",
        ),
        ("by a filter", tried(Err(ENOSYS), Some(1), filtered()), topic, Fails, "blocked", "seccomp", "docker run"),
        (
            "by the kernel",
            tried(Err(ENOSYS), Some(1), plain),
            topic,
            Fails,
            "no perf_event_open",
            "gVisor",
            "CONFIG_PERF_EVENTS",
        ),
        ("no descriptor", tried(Err(EMFILE), Some(1), plain), topic, Fails, "descriptor", "limit", "ulimit"),
        ("a number nobody knows", tried(Err(99), Some(1), plain), topic, Fails, "fails", "number is 99", ""),
    ]);
    assert!(silent(topic, &none()), "what was not tried is not judged");
}

#[test]
fn samples_of_the_kernel_and_of_whole_cpus_need_what_they_name() {
    let kernel = |outcome| Probe { kernel_clock: Some(outcome), ..none() };
    let whole = |outcome| Probe { whole_cpu: Some(outcome), ..none() };
    check(&[
        ("kernel", kernel(Ok(1)), "kernel-samples", Works, "kernel code", "", ""),
        (
            "kernel, no right",
            kernel(Err(EACCES)),
            "kernel-samples",
            Limited,
            "only user code",
            "2 or more",
            "paranoid=1",
        ),
        (
            "kernel, otherwise",
            kernel(Err(ENOENT)),
            "kernel-samples",
            Limited,
            "only user code",
            "kernel refuses",
            "paranoid=1",
        ),
        ("CPUs", whole(Ok(0)), "whole-machine", Works, "whole CPUs", "", ""),
        ("CPUs, no right", whole(Err(EPERM)), "whole-machine", Limited, "single processes", "1 or more", "paranoid=0"),
        (
            "CPUs, otherwise",
            whole(Err(EMFILE)),
            "whole-machine",
            Limited,
            "single processes",
            "kernel refuses",
            "paranoid=0",
        ),
    ]);
}

#[test]
fn a_hardware_counter_that_does_not_count_says_whose_fault_it_is() {
    let topic = "hardware-counters";
    let tried = |cycles, virtual_machine, listed: &[&str]| Probe {
        cycles: Some(cycles),
        virtual_machine,
        event_sources: listed.iter().map(ToString::to_string).collect(),
        ..none()
    };
    check(&[
        ("it counts", tried(Ok(9), false, &[]), topic, Works, "cycles count", "", ""),
        ("in a guest", tried(Ok(9), true, &[]), topic, Works, "virtual PMU", "", ""),
        ("a guest's stays at zero", tried(Ok(0), true, &[]), topic, Limited, "zero", "hypervisor", "pmu=on"),
        ("a host's stays at zero", tried(Ok(0), false, &[]), topic, Limited, "zero", "other users", "nmi_watchdog"),
        ("a guest has none", tried(Err(ENOENT), true, &["cpu"]), topic, Limited, "absent", "no PMU", "pmu=on"),
        ("listed only, x86", tried(Err(EOPNOTSUPP), false, &["cpu_core"]), topic, Limited, "listed", "clock", ""),
        ("listed only, Arm", tried(Err(ENOENT), false, &["armv8_pmuv3_0"]), topic, Limited, "listed", "clock", ""),
        ("a host has none", tried(Err(ENOENT), false, &["software"]), topic, Limited, "absent", "no driver", ""),
        ("refused", tried(Err(EPERM), false, &[]), topic, Unknown, "not be tried", "perf-events", ""),
        ("another number", tried(Err(EMFILE), false, &[]), topic, Limited, "cannot be opened", "number is 24", ""),
    ]);
}

#[test]
fn the_setting_binds_those_without_the_capability() {
    let topic = "perf-event-paranoid";
    let at = |paranoid, privileges| Probe { paranoid, privileges, ..none() };
    let (plain, exempt) = (Privileges::default(), holding(&[Capability::SysAdmin]));
    check(&[
        ("hidden", at(None, plain), topic, Unknown, "not readable", "hidden", ""),
        ("lowest", at(Some(-1), plain), topic, Works, "-1: everything", "", ""),
        ("below the lowest", at(Some(-5), plain), topic, Works, "-5: everything", "", ""),
        ("zero", at(Some(0), plain), topic, Works, "0: users may sample whole CPUs", "", ""),
        ("one", at(Some(1), plain), topic, Works, "kernel included", "", ""),
        ("two", at(Some(2), plain), topic, Limited, "2: users may sample user code", "binds it", "paranoid=1"),
        ("four", at(Some(4), plain), topic, Limited, "4: users may open no event", "binds it", "paranoid=1"),
        ("four, exempt", at(Some(4), exempt), topic, Works, "this process is exempt", "", ""),
    ]);
}

#[test]
fn only_the_capabilities_that_are_missing_are_asked_for() {
    use Capability::{Bpf, Perfmon, SysAdmin, SysPtrace, Syslog};
    let topic = "capabilities";
    let with = |list: &[Capability]| Probe { privileges: holding(list), ..none() };
    let sandboxed = Probe { privileges: Privileges { no_new_privs: true, ..Privileges::default() }, ..none() };
    check(&[
        ("all", with(&[Perfmon, SysPtrace, Syslog, Bpf]), topic, Works, "all", "", ""),
        ("admin stands in", with(&[SysAdmin, SysPtrace]), topic, Works, "all", "", ""),
        ("admin is no ptrace", with(&[SysAdmin]), topic, Limited, "not held: CAP_SYS_PTRACE", "", "setcap"),
        ("none", none(), topic, Limited, "CAP_PERFMON, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_BPF", "own processes", "setcap"),
        ("none, and none to be had", sandboxed, topic, Limited, "not held", "", "outside this sandbox"),
    ]);
}

#[test]
fn modules_that_confine_are_named_and_absent_ones_are_silent() {
    let lockdown = |line: &str| Probe { lockdown: Some(line.to_string()), ..none() };
    let apparmor = |line: &str| Probe { apparmor: Some(line.to_string()), ..none() };
    let filter = |outcome| Probe { privileges: filtered(), user_clock: Some(outcome), ..none() };
    check(&[
        ("off", lockdown("[none] integrity confidentiality"), "lockdown", Works, "none", "", ""),
        ("integrity", lockdown("none [integrity] confidentiality"), "lockdown", Works, "integrity", "", ""),
        (
            "all",
            lockdown("none integrity [confidentiality]"),
            "lockdown",
            Limited,
            "confidentiality",
            "root",
            "lockdown=integrity",
        ),
        (
            "a profile",
            apparmor("docker-default (enforce)"),
            "apparmor",
            Limited,
            "by docker-default",
            "ptrace",
            "unconfined",
        ),
        ("a filter lets through", filter(Ok(1)), "seccomp", Works, "lets perf_event_open through", "", ""),
        ("a filter may refuse", filter(Err(EPERM)), "seccomp", Limited, "in force", "perf-events", ""),
    ]);
    for line in ["", "none integrity", "none integrity]"] {
        assert!(silent("lockdown", &lockdown(line)), "{line:?}");
    }
    for line in ["", "unconfined"] {
        assert!(silent("apparmor", &apparmor(line)), "{line:?}");
    }
    assert!(silent("seccomp", &none()) && silent("lockdown", &none()) && silent("apparmor", &none()));
}

#[test]
fn limits_are_judged_by_what_profiling_takes() {
    let watchdog = |on, cycles| Probe { nmi_watchdog: Some(on), cycles, ..none() };
    let locked = |kib, privileges| Probe { mlock_kb: Some(kib), privileges, ..none() };
    let files = |soft, hard| Probe { open_files: Some((soft, hard)), ..none() };
    let rate = |rate| Probe { max_sample_rate: Some(rate), ..none() };
    let depth = |depth| Probe { max_stack: Some(depth), ..none() };
    let plain = Privileges::default();
    check(&[
        ("no watchdog", watchdog(0, Some(Ok(1))), "nmi-watchdog", Works, "off", "", ""),
        ("nothing to take", watchdog(1, Some(Ok(0))), "nmi-watchdog", Works, "without a hardware counter", "", ""),
        ("not tried", watchdog(1, None), "nmi-watchdog", Works, "without a hardware counter", "", ""),
        (
            "it holds one",
            watchdog(1, Some(Ok(7))),
            "nmi-watchdog",
            Limited,
            "holds one",
            "take turns",
            "nmi_watchdog=0",
        ),
        ("enough to lock", locked(2048, plain), "locked-memory", Works, "2048 KiB", "", ""),
        (
            "little to lock",
            locked(516, plain),
            "locked-memory",
            Limited,
            "516 KiB",
            "samples are lost",
            "mlock_kb=8192",
        ),
        ("exempt", locked(516, holding(&[Capability::Perfmon])), "locked-memory", Works, "516 KiB", "", ""),
        ("files", files(Some(1024), Some(16_384)), "open-files", Works, "1024 (raised to 16384 when needed)", "", ""),
        ("unlimited files", files(None, None), "open-files", Works, "unlimited (raised to unlimited", "", ""),
        ("few files", files(Some(1024), Some(4096)), "open-files", Limited, "4096", "will not fit", "prlimit"),
        ("fast", rate(10_000), "sample-rate", Works, "10000", "", ""),
        ("throttled", rate(9_999), "sample-rate", Limited, "9999", "does not raise it again", "max_sample_rate"),
        ("deep", depth(127), "stack-depth", Works, "127", "", ""),
        ("flat", depth(126), "stack-depth", Limited, "126", "cut off", "max_stack=127"),
    ]);
    for topic in ["nmi-watchdog", "locked-memory", "open-files", "sample-rate", "stack-depth", "ptrace-scope"] {
        assert!(silent(topic, &none()), "{topic}: a setting that cannot be read is not judged");
    }
}

#[test]
fn names_tracing_and_programs_need_what_they_name() {
    let symbols = |kernel_symbols| Probe { kernel_symbols, kptr_restrict: Some(1), ..none() };
    let traced = |tracefs, sched_switch| Probe { tracefs, sched_switch, ..none() };
    let bpf = |disabled, privileges| Probe { unprivileged_bpf_disabled: disabled, privileges, ..none() };
    let scope = |scope, privileges| Probe { ptrace_scope: Some(scope), privileges, ..none() };
    let probes = Probe { event_sources: vec!["uprobe".to_string()], ..none() };
    let plain = Privileges::default();
    check(&[
        ("names", symbols(KernelSymbols::Readable), "kernel-symbols", Works, "readable", "", ""),
        (
            "no addresses",
            symbols(KernelSymbols::Hidden),
            "kernel-symbols",
            Limited,
            "zero",
            "restrict is 1 and perf_event_paranoid unknown",
            "kptr_restrict=0",
        ),
        ("no names", symbols(KernelSymbols::Absent), "kernel-symbols", Limited, "absent", "bare", "KALLSYMS"),
        ("tracing", traced(Tracefs::Readable(3), Some(Ok(0))), "tracefs", Works, "opens", "", ""),
        (
            "no tracepoint",
            traced(Tracefs::Readable(3), Some(Err(EACCES))),
            "tracefs",
            Limited,
            "cannot be opened",
            "number is 13",
            "setcap",
        ),
        ("not tried", traced(Tracefs::Readable(3), None), "tracefs", Limited, "cannot be opened", "wake-ups", "setcap"),
        ("closed", traced(Tracefs::Unreadable, None), "tracefs", Limited, "this user", "wake-ups", "remount"),
        (
            "not mounted",
            traced(Tracefs::Absent, None),
            "tracefs",
            Limited,
            "not mounted",
            "wake-ups",
            "mount -t tracefs",
        ),
        ("probes", probes, "uprobes", Works, "available", "", ""),
        ("no probes", none(), "uprobes", Limited, "absent", "unmodified program", "UPROBE"),
        ("no programs", bpf(None, plain), "bpf", Limited, "absent", "instead of the kernel", "BPF_SYSCALL"),
        ("programs", bpf(Some(2), holding(&[Capability::Bpf])), "bpf", Works, "may be loaded", "", ""),
        ("not by this user", bpf(Some(0), plain), "bpf", Limited, "by this user", "filtered", "setcap"),
        ("own children only", scope(1, plain), "ptrace-scope", Limited, "1: attaching", "its owner", "ptrace_scope=0"),
        ("anyone", scope(0, plain), "ptrace-scope", Works, "0", "", ""),
        ("exempt", scope(3, holding(&[Capability::SysPtrace])), "ptrace-scope", Works, "3", "", ""),
    ]);
}

#[test]
fn the_machine_says_what_stays_unknown_on_it() {
    let mount = |version, controllers: &[&str], mount: &str| Hierarchy {
        version,
        controllers: controllers.iter().map(ToString::to_string).collect(),
        mount: PathBuf::from(mount),
        root: PathBuf::from("/"),
    };
    let groups = |hierarchies: Vec<Hierarchy>| Probe { cgroups: CgroupFs { hierarchies }, ..none() };
    let v2 = || mount(2, &[], "/sys/fs/cgroup");
    let resctrl = |state| Probe { resctrl: Some(state), ..none() };
    let nodes = |nodes: &[u32]| Probe { nodes: nodes.to_vec(), ..none() };
    let governor = |name: &str| Probe { governor: Some(name.to_string()), ..none() };
    let accesses = |found| Probe { access_events: Some(found), ..none() };
    let uncore = |count, whole| Probe { uncore_counters: Some(count), whole_cpu: Some(whole), ..none() };
    let delays = |on| Probe { delay_accounting: Some(on), ..none() };
    check(&[
        ("one hierarchy", groups(vec![v2()]), "cgroups", Works, "version 2 at /sys/fs/cgroup", "", ""),
        (
            "two of them",
            groups(vec![v2(), mount(1, &["cpu", "cpuacct"], "/c")]),
            "cgroups",
            Works,
            "CPU limits in version 1",
            "",
            "",
        ),
        (
            "the old one",
            groups(vec![mount(1, &["perf_event"], "/perf")]),
            "cgroups",
            Works,
            "perf_event at /perf",
            "",
            "",
        ),
        (
            "an old one of no use",
            groups(vec![mount(1, &["pids"], "/pids")]),
            "cgroups",
            Limited,
            "no hierarchy",
            "-G",
            "mount -t cgroup2",
        ),
        ("pressure", Probe { pressure: true, ..none() }, "pressure", Works, "accounted", "", ""),
        ("no pressure", none(), "pressure", Limited, "not accounted", "unknown", "psi=1"),
        ("run queues", Probe { schedstat: true, ..none() }, "schedstat", Works, "per thread", "", ""),
        ("no run queues", none(), "schedstat", Limited, "absent", "10 ms", "SCHED_INFO"),
        ("delays", delays(1), "delay-accounting", Works, "on", "", ""),
        ("no delays", delays(0), "delay-accounting", Limited, "off", "block I/O", "task_delayacct=1"),
        ("cache groups", resctrl(Resctrl::Mounted), "resctrl", Works, "mounted", "", ""),
        ("not mounted", resctrl(Resctrl::NotMounted), "resctrl", Limited, "not mounted", "unknown", "mount -t resctrl"),
        ("no cache groups", resctrl(Resctrl::Absent), "resctrl", Limited, "absent", "does not measure", ""),
        ("no nodes", nodes(&[]), "numa", Limited, "no nodes", "node 0", ""),
        ("a node", nodes(&[0]), "numa", Works, "one memory node", "", ""),
        ("nodes", nodes(&[0, 2]), "numa", Works, "2 memory nodes", "", ""),
        ("threads of a core", Probe { smt: Some(true), ..none() }, "smt", Works, "on", "", ""),
        ("one a core", Probe { smt: Some(false), ..none() }, "smt", Works, "off or absent", "", ""),
        ("a steady clock", governor("performance"), "frequency", Works, "performance", "", ""),
        ("a changing one", governor("powersave"), "frequency", Limited, "powersave", "compared", "cpupower"),
        ("an unseen one", none(), "frequency", Limited, "not controlled", "not reported", ""),
        ("accesses", accesses(Ok(vec!["mem-loads".into()])), "memory-accesses", Works, "by mem-loads", "", ""),
        ("none", accesses(Err("no PEBS".into())), "memory-accesses", Limited, "not sampled", "no PEBS", ""),
        ("units", uncore(24, Ok(1)), "uncore", Works, "24 counters", "", ""),
        ("no units", uncore(0, Ok(1)), "uncore", Limited, "no counters", "stay unknown", ""),
        ("refused units", uncore(24, Err(EACCES)), "uncore", Limited, "may not open", "", "paranoid=0"),
    ]);
    for topic in ["delay-accounting", "resctrl", "smt", "memory-accesses", "uncore"] {
        assert!(silent(topic, &none()), "{topic}");
    }
}

/// Facts of a machine whose /proc and /sys hold these files.
fn gathered(files: &[(&str, &str)]) -> Probe {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let roots = Roots { proc: ProcFs::new(root.path().join("proc")), sys: SysFs::new(root.path().join("sys")) };
    gather(&roots, &[], Some(1))
}

#[test]
fn a_machine_that_shows_nothing_is_examined_all_the_same() {
    let probe = gathered(&[]);
    assert_eq!((probe.paranoid, probe.whole_cpu, probe.open_files), (None, None, None));
    assert_eq!((probe.tracefs, probe.kernel_symbols), (Tracefs::Absent, KernelSymbols::Absent));
    assert!(probe.event_sources.is_empty() && !probe.schedstat && !probe.pressure);
    let process = examine(&probe).into_iter().filter(|check| check.topic.starts_with("debug-info")).collect::<Vec<_>>();
    let [process] = &process[..] else { panic!("{process:?}") };
    assert!(process.status != Works && process.detail.contains("1/maps"), "{process:?}");
}

#[test]
fn facts_come_from_their_files_and_rubbish_is_no_fact() {
    let probe = gathered(&[
        ("proc/sys/kernel/perf_event_paranoid", "-1\n"),
        ("proc/sys/kernel/nmi_watchdog", "on\n"),
        ("proc/sys/kernel/kptr_restrict", "2"),
        ("proc/sys/kernel/perf_event_mlock_kb", "99999999999999999999\n"),
        ("proc/sys/kernel/yama/ptrace_scope", "1\n"),
        ("proc/self/status", "Uid:\t0\t1000\t0\t0\nCapEff:\t0000004000000000\nSeccomp:\t2\nNoNewPrivs:\t1\n"),
        ("proc/self/limits", "Max open files     1024      unlimited     files\n"),
        ("proc/self/schedstat", "1 2 3\n"),
        ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\nrubbish\n"),
        ("proc/self/attr/apparmor/current", "snap.x (complain)\n"),
        ("proc/pressure/cpu", ""),
        ("proc/kallsyms", "0000000000000000 T _text\n"),
        ("proc/cpuinfo", "flags\t: fpu hypervisor\n"),
        ("sys/kernel/tracing/events/sched/sched_switch/id", "x\n"),
        ("sys/kernel/debug/tracing/events/sched/sched_switch/id", "372\n"),
        ("sys/kernel/security/lockdown", "[none] integrity\n"),
        ("sys/bus/event_source/devices/uprobe/type", "9\n"),
    ]);
    assert_eq!((probe.paranoid, probe.nmi_watchdog, probe.kptr_restrict), (Some(-1), None, Some(2)));
    assert_eq!((probe.mlock_kb, probe.ptrace_scope, probe.open_files), (None, Some(1), Some((Some(1024), None))));
    assert_eq!((probe.privileges.uid, probe.privileges.seccomp, probe.privileges.no_new_privs), (1000, Some(2), true));
    assert!(probe.privileges.has(Capability::Perfmon) && !probe.privileges.has(Capability::Bpf));
    assert_eq!((probe.tracefs, probe.kernel_symbols), (Tracefs::Readable(372), KernelSymbols::Hidden));
    assert!(probe.virtual_machine && probe.schedstat && probe.pressure && probe.cgroups.v2().is_some());
    assert_eq!(probe.apparmor.as_deref(), Some("snap.x (complain)"));
    assert_eq!(probe.event_sources, ["uprobe"]);
    assert_eq!(probe.lockdown.as_deref(), Some("[none] integrity"));
    assert_eq!(probe.delay_accounting, None);
}

//! Gathers the input of the checks: opens events briefly and reads /proc and /sys. Unreadable facts are `None`.

use super::debug_info::{self, ModuleFacts};
use crate::collect::sampler::{HardwareTrial, try_hardware};
use crate::model::HardwarePlan;
use crate::pmu::{access_events, uncore_counters};
use crate::sys::bpf::WaitSums;
use crate::sys::caps::Privileges;
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::perf_probe::{Outcome, Trial, attempt};
use crate::sys::procfs::{self, KernelSymbols, ProcFs};
use crate::sys::sysfs::{Resctrl, SysFs};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `perf_event_open(2)` error numbers that the checks distinguish; the same on every supported Linux architecture.
pub(super) mod errno {
    pub const EPERM: i32 = 1;
    pub const ENOENT: i32 = 2;
    pub const EACCES: i32 = 13;
    pub const EMFILE: i32 = 24;
    pub const ENOSYS: i32 = 38;
    pub const EOPNOTSUPP: i32 = 95;
}

/// The two trees that all facts are read from.
#[derive(Debug, Clone)]
pub struct Roots {
    /// /proc.
    pub proc: ProcFs,
    /// /sys.
    pub sys: SysFs,
}

/// State of tracefs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tracefs {
    /// Not mounted.
    #[default]
    Absent,
    /// Mounted, but this user may not read it.
    Unreadable,
    /// Readable; contains the id of the tracepoint `sched:sched_switch`.
    Readable(u64),
}

/// Input of all checks. `None`: not tried, or not reported by the kernel.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// Privileges of this process.
    pub privileges: Privileges,
    /// `perf_event_paranoid`.
    pub paranoid: Option<i64>,
    /// Sampling this thread's user code.
    pub user_clock: Option<Outcome>,
    /// Sampling it in the kernel too.
    pub kernel_clock: Option<Outcome>,
    /// Sampling a whole CPU.
    pub whole_cpu: Option<Outcome>,
    /// Counting cycles.
    pub cycles: Option<Outcome>,
    /// Counting all hardware events that a capture would count; `None` if no plan was given or the plan is empty.
    pub hardware: Option<HardwareTrial>,
    /// Sampling `sched:sched_switch`.
    pub sched_switch: Option<Outcome>,
    /// Whether the kernel accepts the programs that sum waits.
    pub kernel_sums: bool,
    /// Whether a hypervisor is present.
    pub virtual_machine: bool,
    /// Event sources the kernel lists.
    pub event_sources: Vec<String>,
    /// The events that sample memory accesses, or why there are none; `None` if it was not checked.
    pub access_events: Option<Result<Vec<String>, String>>,
    /// How many counters of memory controllers and of links between sockets there are; `None` if it was not checked.
    pub uncore_counters: Option<usize>,
    /// Whether the watchdog holds a hardware counter.
    pub nmi_watchdog: Option<i64>,
    /// `kptr_restrict`.
    pub kptr_restrict: Option<i64>,
    /// Whether kernel addresses can be read.
    pub kernel_symbols: KernelSymbols,
    /// `perf_event_mlock_kb`.
    pub mlock_kb: Option<i64>,
    /// Soft and hard limit of open files; `None` inside: unlimited.
    pub open_files: Option<(Option<u64>, Option<u64>)>,
    /// `perf_event_max_sample_rate`.
    pub max_sample_rate: Option<i64>,
    /// `perf_event_max_stack`.
    pub max_stack: Option<i64>,
    /// tracefs.
    pub tracefs: Tracefs,
    /// `unprivileged_bpf_disabled`; `None` also on a kernel without BPF.
    pub unprivileged_bpf_disabled: Option<i64>,
    /// The control group hierarchies.
    pub cgroups: CgroupFs,
    /// Whether pressure is accounted.
    pub pressure: bool,
    /// Whether run-queue delay is accounted per thread.
    pub schedstat: bool,
    /// `task_delayacct`.
    pub delay_accounting: Option<i64>,
    /// State of resctrl; `None` if it was not checked.
    pub resctrl: Option<Resctrl>,
    /// Memory nodes.
    pub nodes: Vec<u32>,
    /// Whether SMT is active.
    pub smt: Option<bool>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// The kernel's lockdown line, e.g. `none [integrity] confidentiality`.
    pub lockdown: Option<String>,
    /// The AppArmor profile this process runs under.
    pub apparmor: Option<String>,
    /// Yama's `ptrace_scope`.
    pub ptrace_scope: Option<i64>,
    /// The files whose code the given process runs.
    pub modules: Vec<ModuleFacts>,
}

/// Runs all trials, including the hardware events of `plans`, and reads all settings. With `pid`, also reads the debug
/// information of that process.
#[must_use]
pub fn gather(roots: &Roots, plans: &[HardwarePlan], pid: Option<u32>) -> Probe {
    let Roots { proc, sys } = roots;
    let cpus = sys.online_cpus().unwrap_or_default();
    let first_cpu = cpus.first().copied();
    let tracefs = tracefs(sys);
    let kernel = |name: &str| proc.setting(&format!("kernel/{name}"));
    let cpuinfo = proc.text("cpuinfo").unwrap_or_default();
    let sources = EventSourceFiles::open(sys.root());
    let access_events = access_events(&sources, &[]).map_err(|error| error.to_string());
    let uarch = plans.first().map_or("", |plan| plan.uarch.as_str());
    let kernel_clock = attempt(Trial::KernelClock);
    let cycles = attempt(Trial::Cycles);
    Probe {
        privileges: Privileges::open(proc).unwrap_or_default(),
        paranoid: kernel("perf_event_paranoid"),
        user_clock: Some(attempt(Trial::UserClock)),
        kernel_clock: Some(kernel_clock),
        whole_cpu: first_cpu.map(|cpu| attempt(Trial::WholeCpu(cpu))),
        cycles: Some(cycles),
        hardware: cycles.is_ok_and(|count| count > 0).then(|| try_hardware(plans, kernel_clock.is_err())).flatten(),
        sched_switch: if let Tracefs::Readable(id) = tracefs { Some(attempt(Trial::Tracepoint(id))) } else { None },
        kernel_sums: WaitSums::open(None, None, Path::new("/")).is_ok(),
        virtual_machine: procfs::hypervisor_flag(&cpuinfo) || sys.hypervisor().is_some(),
        event_sources: sys.event_sources().into_keys().collect(),
        access_events: Some(access_events.map(|found| found.into_iter().map(|event| event.name).collect())),
        uncore_counters: Some(uncore_counters(&sources, uarch).iter().map(|counter| counter.cpus.len()).sum()),
        nmi_watchdog: kernel("nmi_watchdog"),
        kptr_restrict: kernel("kptr_restrict"),
        kernel_symbols: proc.kernel_symbols(),
        mlock_kb: kernel("perf_event_mlock_kb"),
        open_files: proc.text("self/limits").ok().and_then(|text| procfs::limit(&text, "Max open files")),
        max_sample_rate: kernel("perf_event_max_sample_rate"),
        max_stack: kernel("perf_event_max_stack"),
        tracefs,
        unprivileged_bpf_disabled: kernel("unprivileged_bpf_disabled"),
        cgroups: CgroupFs::open(proc).unwrap_or_default(),
        pressure: proc.read("pressure/cpu").is_ok(),
        schedstat: proc.read("self/schedstat").ok().as_deref().and_then(procfs::sched_stat).is_some(),
        delay_accounting: kernel("task_delayacct"),
        resctrl: Some(sys.resctrl()),
        nodes: sys.nodes(),
        smt: sys.smt_active(),
        governor: first_cpu.and_then(|cpu| sys.governor(cpu)),
        lockdown: sys.text("kernel/security/lockdown"),
        apparmor: proc.text("self/attr/apparmor/current").ok().map(|text| text.trim().to_string()),
        ptrace_scope: kernel("yama/ptrace_scope"),
        modules: pid.map(|pid| debug_info::of_process(proc, pid)).unwrap_or_default(),
    }
}

fn tracefs(sys: &SysFs) -> Tracefs {
    let places = ["kernel/tracing", "kernel/debug/tracing"].map(|place| sys.root().join(place));
    let id = |place: &PathBuf| fs::read_to_string(place.join("events/sched/sched_switch/id"));
    let tried: Vec<_> = places.iter().map(id).collect();
    let number = tried.iter().flatten().find_map(|text| text.trim().parse().ok());
    let refused =
        tried.iter().any(|read| read.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied));
    match number {
        Some(number) => Tracefs::Readable(number),
        // An unprivileged user cannot enter even a debugfs without tracefs. Mounted or not, this user needs root.
        None if refused => Tracefs::Unreadable,
        None => Tracefs::Absent,
    }
}

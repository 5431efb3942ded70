//! The core PMUs of a machine: one for all cores, or one for each kind of core of a hybrid, each with what its core is.
//! It never opens an event, so it cannot say whether a virtual machine's PMU really counts.

use super::detect::{self, Processor};
use super::table::{Table, Uarch};
use super::{EventSources, core_pmus};

/// `PERF_TYPE_RAW`: the core PMU, whatever its name.
const PERF_TYPE_RAW: u32 = 4;
/// Counters that are certain where no table says how many there are.
const FEW: u8 = 2;
/// The counter that the sampling event holds all the time. Where cycles have a counter of their own, a group's cycles then
/// take a general one.
const SAMPLING: u8 = 1;

/// A machine as it describes itself in /proc and /sys. What it does not say is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// `/proc/cpuinfo`.
    pub cpuinfo: String,
    /// CPUs with the text of their `regs/identification/midr_el1`.
    pub midr: Vec<(u32, String)>,
    /// `/proc/sys/kernel/nmi_watchdog`.
    pub nmi_watchdog: Option<String>,
    /// `/sys/devices/system/cpu/smt/control`.
    pub smt: Option<String>,
    /// How many memory nodes it has; 0: it does not say.
    pub nodes: usize,
}

/// One kind of core.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreType {
    /// Its PMU's name below `/sys/bus/event_source/devices`.
    pub pmu: String,
    /// Its CPUs; empty: all.
    pub cpus: Vec<u32>,
    /// What it is.
    pub uarch: Uarch,
    /// What may be counted at once.
    pub capacity: Capacity,
}

/// What may be counted at once on a core, and what metrics need to know beyond events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capacity {
    /// Whether the kernel shows a PMU at all.
    pub present: bool,
    /// The number the kernel knows the PMU by.
    pub kind: u32,
    /// It is one of several kinds: the kernel's generic events have to say which.
    pub hybrid: bool,
    /// General counters that are free: the sampling event and the NMI watchdog hold theirs.
    pub general: u8,
    /// Counters the NMI watchdog holds, of those that would be free.
    pub watchdog: u8,
    /// Pipeline slots per cycle.
    pub slots_per_cycle: Option<u8>,
    /// Two threads may run on a core.
    pub smt: bool,
    /// Memory nodes; 0: not known.
    pub nodes: usize,
    /// CPUID says that a hypervisor is below.
    pub is_virtual: bool,
}

/// The kinds of core of this machine; at least one, though its PMU may be absent.
#[must_use]
pub fn core_types(machine: &Machine, sources: &dyn EventSources, table: &Table) -> Vec<CoreType> {
    let pmus = core_pmus(sources);
    // A hybrid kernel may keep `cpu` as well; the kinds say more.
    let kinds: Vec<&String> = pmus.iter().filter(|pmu| pmus.len() == 1 || *pmu != "cpu").collect();
    if kinds.is_empty() {
        return vec![core_type(machine, sources, table, None, false)];
    }
    let hybrid = kinds.len() > 1;
    kinds.into_iter().map(|pmu| core_type(machine, sources, table, Some(pmu), hybrid)).collect()
}

/// A core of a machine that is told of in words only, for a look at a CPU that is not here.
#[must_use]
pub fn assumed(machine: &Machine, uarch: &Uarch) -> CoreType {
    let present = Capacity { present: true, kind: PERF_TYPE_RAW, ..Capacity::default() };
    let capacity = Capacity { slots_per_cycle: uarch.slots_per_cycle, ..capacity(machine, uarch, present) };
    let pmu = uarch.pmu.clone().unwrap_or_else(|| "cpu".to_string());
    CoreType { pmu, cpus: Vec::new(), uarch: uarch.clone(), capacity }
}

fn core_type(
    machine: &Machine,
    sources: &dyn EventSources,
    table: &Table,
    pmu: Option<&String>,
    hybrid: bool,
) -> CoreType {
    // A sysfs that shows nothing at all is not mounted: the PMU may be there all the same.
    let unseen = pmu.is_none() && sources.list("").is_empty();
    let name = pmu.map_or("cpu", String::as_str);
    let cpus = hybrid.then(|| sources.read(&format!("{name}/cpus"))).flatten();
    let cpus = cpus.map(|text| cpu_numbers(&text)).unwrap_or_default();
    let processor = processor(machine, &cpus);
    let uarch = table.find(&processor, name).unwrap_or_default();
    let uarch = Uarch { general: if uarch.general == 0 { FEW } else { uarch.general }, ..uarch };
    let read = |file: &str| sources.read(&format!("{name}/{file}"));
    // Arm says `0x00000005`; a PMU of another version has no such file.
    let slots = read("caps/slots").and_then(|text| u8::from_str_radix(text.trim_start_matches("0x"), 16).ok());
    let seen = Capacity {
        present: pmu.is_some() || unseen,
        kind: read("type").and_then(|text| text.parse().ok()).unwrap_or(PERF_TYPE_RAW),
        hybrid,
        slots_per_cycle: slots.filter(|slots| *slots > 0).or(uarch.slots_per_cycle),
        ..Capacity::default()
    };
    let capacity = capacity(machine, &uarch, seen);
    CoreType { pmu: name.to_string(), cpus, uarch, capacity }
}

fn capacity(machine: &Machine, uarch: &Uarch, seen: Capacity) -> Capacity {
    let smt = machine.smt.as_deref().map(str::trim);
    let is_virtual = detect::is_virtual(&machine.cpuinfo);
    // Only firmware without hyperthreading gives the other half; a hypervisor says the same and gives less.
    let whole = smt == Some("notsupported") && !is_virtual;
    let general = if whole { uarch.general_without_smt.max(uarch.general) } else { uarch.general };
    let watchdog = u8::from(machine.nmi_watchdog.as_deref().is_some_and(|text| text.trim() == "1"));
    Capacity {
        // Cycles and instructions are counted anyway, in turn with the samples if need be.
        general: general.saturating_sub(watchdog + SAMPLING).max(general.min(FEW)),
        watchdog,
        smt: !matches!(smt, Some("off" | "forceoff" | "notsupported" | "notimplemented")),
        nodes: machine.nodes,
        is_virtual,
        ..seen
    }
}

fn processor(machine: &Machine, cpus: &[u32]) -> Processor {
    let own = machine.midr.iter().find(|(cpu, _)| cpus.is_empty() || cpus.contains(cpu));
    own.and_then(|(_, text)| Processor::from_midr(text)).unwrap_or_else(|| Processor::from_cpuinfo(&machine.cpuinfo))
}

/// `0-3,8` as numbers; what is no list is left out.
fn cpu_numbers(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.trim().parse::<u32>().ok()?, high.trim().parse::<u32>().ok()?);
        // Linux has room for 8192 CPUs.
        (low <= high && high < 1 << 16).then_some(low..=high)
    };
    text.split(',').filter_map(range).flatten().collect()
}

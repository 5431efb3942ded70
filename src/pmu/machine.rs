//! The core PMUs of a machine, each with its microarchitecture: one, or one per core type of a hybrid CPU.
//! Only opening an event shows whether a virtual machine's PMU really counts.

use super::detect::{self, Processor};
use super::table::{Table, Uarch};
use super::{EventSources, core_pmus};
use crate::abi::parse_cpu_list;

/// `PERF_TYPE_RAW`: the core PMU, whatever its name is.
const PERF_TYPE_RAW: u32 = 4;
/// Number of counters assumed if no table states it.
const FEW: u8 = 2;
/// The counter that the sampling event occupies all the time. If cycles have a fixed counter, a group's cycles then
/// take a general one.
const SAMPLING: u8 = 1;

/// A machine as it describes itself in /proc and /sys. Anything not reported is `None` or empty.
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
    /// Number of NUMA nodes; 0 if unknown.
    pub nodes: usize,
}

/// One core type.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreType {
    /// Its PMU's name below `/sys/bus/event_source/devices`.
    pub pmu: String,
    /// Its CPUs; empty means all.
    pub cpus: Vec<u32>,
    /// Its microarchitecture.
    pub uarch: Uarch,
    /// Its counting capacity.
    pub capacity: Capacity,
}

/// The events that a core can count at the same time, and the properties that metrics need in addition to events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capacity {
    /// Whether the kernel exposes a PMU at all.
    pub present: bool,
    /// The PMU's type number in the kernel.
    pub kind: u32,
    /// Whether this is one of several core types: generic events must then select the type.
    pub hybrid: bool,
    /// Free general counters: without those of the sampling event and the NMI watchdog.
    pub general: u8,
    /// Counters that the NMI watchdog occupies and that would otherwise be free.
    pub watchdog: u8,
    /// Pipeline slots per cycle.
    pub slots_per_cycle: Option<u8>,
    /// Whether two threads can run on a core.
    pub smt: bool,
    /// NUMA nodes; 0 if unknown.
    pub nodes: usize,
    /// Whether CPUID reports a hypervisor.
    pub is_virtual: bool,
}

/// The core types of this machine; at least one, though its PMU may be absent.
#[must_use]
pub fn core_types(machine: &Machine, sources: &dyn EventSources, table: &Table) -> Vec<CoreType> {
    let pmus = core_pmus(sources);
    // A hybrid kernel may also list `cpu`; the PMUs of the core types carry more information.
    let kinds: Vec<&String> = pmus.iter().filter(|pmu| pmus.len() == 1 || *pmu != "cpu").collect();
    if kinds.is_empty() {
        return vec![core_type(machine, sources, table, None, false)];
    }
    let hybrid = kinds.len() > 1;
    kinds.into_iter().map(|pmu| core_type(machine, sources, table, Some(pmu), hybrid)).collect()
}

/// A core of the given microarchitecture with assumed capacity, to plan for a CPU other than this machine's.
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
    // An empty sysfs is not mounted, so the PMU may still exist.
    let unseen = pmu.is_none() && sources.list("").is_empty();
    let name = pmu.map_or("cpu", String::as_str);
    let cpus = hybrid.then(|| sources.read(&format!("{name}/cpus"))).flatten();
    let cpus = cpus.and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_default();
    let processor = processor(machine, &cpus);
    let uarch = table.find(&processor, name).unwrap_or_default();
    let uarch = Uarch { general: if uarch.general == 0 { FEW } else { uarch.general }, ..uarch };
    let read = |file: &str| sources.read(&format!("{name}/{file}"));
    // Arm writes `0x00000005`. A PMU of another version does not have this file.
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
    // Only disabling SMT in the firmware frees the sibling's counters. A hypervisor also reports `notsupported` but
    // provides fewer counters.
    let whole = smt == Some("notsupported") && !is_virtual;
    let general = if whole { uarch.general_without_smt.max(uarch.general) } else { uarch.general };
    let watchdog = u8::from(machine.nmi_watchdog.as_deref().is_some_and(|text| text.trim() == "1"));
    Capacity {
        // Cycles and instructions are always counted, multiplexed with the sampling event if necessary.
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

//! The core PMUs of a machine, each with its microarchitecture: one, or one per core type of a hybrid CPU.
//! Only opening an event shows whether a virtual machine's PMU really counts.

use super::detect::{self, Processor};
use super::table::{Table, Uarch};
use super::{EventSources, core_pmus};
use crate::abi::parse_cpu_list;
use crate::error::Result;

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

/// The built-in tables that this machine's cores may be in.
///
/// # Errors
/// As [`Table::built_in`].
pub fn own_table(machine: &Machine) -> Result<Table> {
    Table::for_vendor_of(&processor(machine, &[]))
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::pmu::fake::{FakeSources, INTEL};
    use crate::pmu::perf_syntax::{perf_event, perf_group};

    const SKYLAKE: &str = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nstepping : 4\nflags : fpu vme\n";
    const GUEST: &str = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nstepping : 4\nflags : fpu hypervisor\n";

    fn table() -> Table {
        Table::built_in().unwrap()
    }

    fn machine(cpuinfo: &str, watchdog: Option<&str>, smt: Option<&str>) -> Machine {
        let text = |text: Option<&str>| text.map(str::to_string);
        Machine { cpuinfo: cpuinfo.to_string(), nmi_watchdog: text(watchdog), smt: text(smt), ..Machine::default() }
    }

    fn only(machine: &Machine, sources: &FakeSources) -> CoreType {
        let cores = core_types(machine, sources, &table());
        let [core] = &cores[..] else { panic!("{} kinds of core", cores.len()) };
        core.clone()
    }

    #[test]
    fn counters_that_others_hold_are_not_planned_with() {
        let (with_smt, without) = {
            let uarch = table().by_id("intel-skx").unwrap().clone();
            (uarch.general, uarch.general_without_smt)
        };
        assert!(with_smt < without, "a core without hyperthreading has its sibling's counters");
        for (name, cpuinfo, watchdog, smt, general, held) in [
            ("nothing said", SKYLAKE, None, None, with_smt - 1, 0),
            ("a watchdog", SKYLAKE, Some("1\n"), Some("on"), with_smt - 2, 1),
            ("no watchdog", SKYLAKE, Some("0\n"), Some("on"), with_smt - 1, 0),
            ("rubbish for a watchdog", SKYLAKE, Some("yes"), Some("on"), with_smt - 1, 0),
            ("threads off by the kernel", SKYLAKE, None, Some("off\n"), with_smt - 1, 0),
            ("threads off by the firmware", SKYLAKE, None, Some("notsupported\n"), without - 1, 0),
            ("a guest that claims so", GUEST, None, Some("notsupported\n"), with_smt - 1, 0),
        ] {
            let core = only(&machine(cpuinfo, watchdog, smt), &INTEL);
            assert_eq!(core.uarch.id, "intel-skx", "{name}");
            assert_eq!((core.capacity.general, core.capacity.watchdog), (general, held), "{name}");
        }
    }

    #[test]
    fn threads_share_a_core_unless_the_machine_says_otherwise() {
        for (smt, shared) in [
            (None, true),
            (Some("on"), true),
            (Some("rubbish"), true),
            (Some("off\n"), false),
            (Some("forceoff"), false),
            (Some("notsupported"), false),
            (Some("notimplemented"), false),
        ] {
            assert_eq!(only(&machine(SKYLAKE, None, smt), &INTEL).capacity.smt, shared, "{smt:?}");
        }
    }

    #[test]
    fn a_cpu_that_nobody_knows_is_planned_with_few_counters_and_never_none() {
        let unknown = "vendor_id : Somebody\ncpu family : 1\nmodel : 1\n";
        for watchdog in [None, Some("1")] {
            let core = only(&machine(unknown, watchdog, None), &INTEL);
            assert!(core.capacity.general >= 1 && core.capacity.present, "{:?}", core.capacity);
        }
        let core = only(&Machine::default(), &FakeSources(&[]));
        assert!(core.capacity.present, "without sysfs the PMU may be there all the same");
        assert_eq!((core.pmu.as_str(), core.capacity.kind), ("cpu", PERF_TYPE_RAW));
    }

    #[test]
    fn sysfs_without_a_core_pmu_means_there_is_none() {
        const UNCORE: FakeSources = FakeSources(&[("uncore_imc_0/type", "14"), ("software/type", "1")]);
        let core = only(&machine(GUEST, None, None), &UNCORE);
        assert!(!core.capacity.present && core.capacity.is_virtual);
    }

    #[test]
    fn a_hybrid_has_its_kinds_of_core_with_their_cpus_and_numbers() {
        const HYBRID: FakeSources = FakeSources(&[
            ("cpu/type", "4"),
            ("cpu_atom/type", "10"),
            ("cpu_atom/cpus", "8-15"),
            ("cpu_core/type", "rubbish"),
            ("cpu_core/cpus", "0-"),
        ]);
        let cores = core_types(&machine(SKYLAKE, None, None), &HYBRID, &table());
        let kinds: Vec<_> = cores.iter().map(|core| (core.pmu.as_str(), core.capacity.kind, core.cpus.len())).collect();
        assert_eq!(kinds, [("cpu_atom", 10, 8), ("cpu_core", PERF_TYPE_RAW, 0)], "rubbish is not believed");
        assert!(cores.iter().all(|core| core.capacity.hybrid && core.capacity.present));
    }

    #[test]
    fn the_slots_of_the_kernel_go_before_those_of_the_table() {
        const ARM: FakeSources =
            FakeSources(&[("armv8_pmuv3_0/type", "8"), ("armv8_pmuv3_0/caps/slots", "0x00000005")]);
        const ZERO: FakeSources =
            FakeSources(&[("armv8_pmuv3_0/type", "8"), ("armv8_pmuv3_0/caps/slots", "0x00000000")]);
        const RUBBISH: FakeSources = FakeSources(&[("armv8_pmuv3_0/type", "8"), ("armv8_pmuv3_0/caps/slots", "many")]);
        let n1 = Machine { midr: vec![(0, "0x00000000410fd0c0".to_string())], ..Machine::default() };
        let known = table().by_id("arm-neoverse-n1").unwrap().slots_per_cycle;
        for (sources, slots) in [(&ARM, Some(5)), (&ZERO, known), (&RUBBISH, known)] {
            let core = only(&n1, sources);
            assert_eq!((core.uarch.id.as_str(), core.capacity.slots_per_cycle), ("arm-neoverse-n1", slots));
        }
    }

    #[test]
    fn each_kind_of_core_is_found_by_a_register_of_its_own_cpus() {
        const TWO: FakeSources = FakeSources(&[
            ("armv8_a/type", "8"),
            ("armv8_a/cpus", "0-1"),
            ("armv8_b/type", "9"),
            ("armv8_b/cpus", "2-3"),
        ]);
        let midr = [(0, "0x00000000410fd0c0"), (2, "0x00000000410fd490")].map(|(cpu, text)| (cpu, text.to_string()));
        let cores = core_types(&Machine { midr: midr.to_vec(), ..Machine::default() }, &TWO, &table());
        let ids: Vec<_> = cores.iter().map(|core| core.uarch.id.as_str()).collect();
        assert_eq!(ids, ["arm-neoverse-n1", "arm-neoverse-n2"]);
    }

    #[test]
    fn events_are_written_as_perf_reads_them() {
        let uarch = table().by_id("intel-skx").unwrap().clone();
        let core = assumed(&Machine::default(), &uarch);
        let roles = ["cycles", "l3-miss-ocr", "unheard-of"].map(|role| perf_event(&core, role));
        let [Some(cycles), Some(offcore), None] = roles else { panic!("{roles:?}") };
        assert!(cycles.starts_with("cpu/config=0x") && !cycles.contains("config1"), "{cycles}");
        assert!(offcore.contains(",config1=0x") && offcore.ends_with('/'), "{offcore}");
        let read = crate::pmu::list::parse(&format!("{{{cycles},{offcore}}}"), &FormatsOfConfig).unwrap();
        assert_eq!(read.len(), 2, "what is written can be read again");
        let plan = crate::pmu::planner::plan(&core.uarch, &core.capacity, &crate::pmu::wanted("none").unwrap());
        let group = perf_group(&core, &plan.groups[0]);
        assert!(group.starts_with('{') && group.ends_with('}') && group.contains(&cycles), "{group}");
    }

    #[test]
    fn a_generic_event_of_a_hybrid_names_its_kind_of_core() {
        let uarch = table().by_id("generic").unwrap().clone();
        let mut core = assumed(&Machine::default(), &uarch);
        assert_eq!(perf_event(&core, "cycles").as_deref(), Some("cycles"));
        (core.pmu, core.capacity.hybrid) = ("cpu_atom".to_string(), true);
        assert_eq!(perf_event(&core, "cycles").as_deref(), Some("cpu_atom/cycles/"));
    }

    /// A core PMU that takes whole config words.
    struct FormatsOfConfig;

    impl EventSources for FormatsOfConfig {
        fn read(&self, path: &str) -> Option<String> {
            (path == "cpu/type").then(|| "4".to_string())
        }

        fn list(&self, folder: &str) -> Vec<String> {
            if folder.is_empty() { vec!["cpu".to_string()] } else { Vec::new() }
        }
    }
}

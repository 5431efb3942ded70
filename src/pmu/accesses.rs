//! The events that sample memory accesses, as `perf mem record` opens them: those that the kernel lists by name.

use super::{CoreType, EventSources, core_pmus, event};
use crate::abi::parse_cpu_list;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{AccessSampling, EventSpec};

/// Loads that take fewer cycles are not sampled: perf's default.
const LEAST_CYCLES: u32 = 30;
/// AMD's instruction-based sampling: each sample is an instruction with all that it did.
const IBS: &str = "ibs_op";
/// The beginning of the names of Arm's sampling units.
const SPE: &str = "arm_spe";

/// The events of this machine: on Intel loads slower than 30 cycles, and stores, of each core type; on AMD instructions.
///
/// # Errors
/// `Unsupported` where the kernel lists none, with the reason as far as it is known.
pub fn access_events(sources: &dyn EventSources, cores: &[CoreType]) -> Result<Vec<EventSpec>> {
    let mut pmus = core_pmus(sources);
    // A hybrid kernel may also list `cpu`.
    let several = pmus.len() > 1;
    pmus.retain(|pmu| !several || pmu != "cpu");
    let mut found = Vec::new();
    for pmu in &pmus {
        let has = |event: &str| sources.read(&format!("{pmu}/events/{event}")).is_some();
        let cpus = several.then(|| sources.read(&format!("{pmu}/cpus"))).flatten();
        let cpus = cpus.and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_default();
        if has("mem-loads") {
            let loads = of_core(pmu, &format!("{pmu}/mem-loads,ldlat={LEAST_CYCLES}/P"), sources)?;
            // Without it, loads tell no latency on Sapphire Rapids and its likes, and the kernel refuses them.
            let leader = has("mem-loads-aux").then(|| of_core(pmu, &format!("{pmu}/mem-loads-aux/"), sources));
            let leader = leader.transpose()?.map(|leader| leader.kind);
            found.push(EventSpec { access: Some(AccessSampling { leader, cpus: cpus.clone() }), ..loads });
        }
        if has("mem-stores") {
            let stores = of_core(pmu, &format!("{pmu}/mem-stores/P"), sources)?;
            found.push(EventSpec { access: Some(AccessSampling { leader: None, cpus }), ..stores });
        }
    }
    if found.is_empty() && sources.read(&format!("{IBS}/type")).is_some() {
        let every = event::parse(&format!("{IBS}//"), "", sources)?;
        found.push(EventSpec { access: Some(AccessSampling::default()), ..every });
    }
    if found.is_empty() { Err(missing(sources, &pmus, cores)) } else { Ok(found) }
}

/// An event with the precision of its own core type.
fn of_core(pmu: &str, text: &str, sources: &dyn EventSources) -> Result<EventSpec> {
    let event = event::parse(text, "", sources)?;
    let own = sources.read(&format!("{pmu}/caps/max_precise")).and_then(|text| text.parse().ok());
    let precise = if text.ends_with('P') { own.unwrap_or(event.precise) } else { event.precise };
    Ok(EventSpec { precise, ..event })
}

fn missing(sources: &dyn EventSources, pmus: &[String], cores: &[CoreType]) -> Error {
    let unread = sources.list("").into_iter().find(|name| name.starts_with(SPE));
    let (why, hint) = match unread {
        Some(unit) => (
            format!("Arm's {unit} writes packets, which ironlaw does not read"),
            "`perf mem record` and `perf mem report` read them; their perf.data has no accesses for ironlaw either.",
        ),
        None if cores.iter().any(|core| core.capacity.is_virtual) => (
            "this virtual machine sees neither mem-loads (PEBS, Intel) nor ibs_op (IBS, AMD)".to_string(),
            "Have its host expose the PMU with PEBS or IBS, or record on the host.",
        ),
        None if pmus.is_empty() => (
            "the kernel lists no PMU of the cores".to_string(),
            "See what works here with `ironlaw doctor`; `perf mem record` on a machine that samples them writes what `report -i perf.data` reads.",
        ),
        None => (
            format!("the kernel lists neither mem-loads of {} nor {IBS}", pmus.join(", ")),
            "CPUs with PEBS (Intel) or IBS (AMD) sample them; see `ironlaw list pmu`.",
        ),
    };
    Error::new(ErrorKind::Unsupported, format!("memory accesses cannot be sampled here: {why}")).hint(hint)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::model::EventKind;
    use crate::pmu::fake::FakeSources;

    const SKYLAKE: FakeSources = FakeSources(&[
        ("cpu/type", "4"),
        ("cpu/caps/max_precise", "3"),
        ("cpu/format/event", "config:0-7"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/format/ldlat", "config1:0-15"),
        ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
        ("cpu/events/mem-stores", "event=0xd0,umask=0x82"),
    ]);
    const ALDER_LAKE: FakeSources = FakeSources(&[
        ("cpu_atom/type", "10"),
        ("cpu_atom/cpus", "16-23"),
        ("cpu_atom/caps/max_precise", "2"),
        ("cpu_atom/format/event", "config:0-7"),
        ("cpu_atom/format/umask", "config:8-15"),
        ("cpu_atom/format/ldlat", "config1:0-15"),
        ("cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3"),
        ("cpu_atom/events/mem-stores", "event=0xd0,umask=0x6"),
        ("cpu_core/type", "4"),
        ("cpu_core/cpus", "0-15"),
        ("cpu_core/caps/max_precise", "3"),
        ("cpu_core/format/event", "config:0-7"),
        ("cpu_core/format/umask", "config:8-15"),
        ("cpu_core/format/ldlat", "config1:0-15"),
        ("cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
        ("cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82"),
        ("cpu_core/events/mem-stores", "event=0xcd,umask=0x2"),
    ]);
    const ZEN: FakeSources = FakeSources(&[
        ("cpu/type", "4"),
        ("cpu/format/event", "config:0-7,32-35"),
        ("ibs_op/type", "9"),
        ("ibs_op/format/cnt_ctl", "config:19"),
    ]);

    fn raw(pmu: u32, config: u64, config1: u64) -> EventKind {
        EventKind::Raw { pmu, config, config1, config2: 0 }
    }

    /// Name, encoding, precision, leader and CPUs of each event.
    type Row = (String, EventKind, u8, Option<EventKind>, usize);

    fn rows(sources: &FakeSources) -> Vec<Row> {
        let row = |event: EventSpec| {
            let access = event.access.unwrap();
            (event.name, event.kind, event.precise, access.leader, access.cpus.len())
        };
        access_events(sources, &[]).unwrap().into_iter().map(row).collect()
    }

    #[test]
    fn loads_and_stores_are_those_that_perf_mem_record_opens() {
        let row = |name: &str, kind, precise, leader, cpus| (name.to_string(), kind, precise, leader, cpus);
        let loads = row("cpu/mem-loads,ldlat=30/P", raw(4, 0x1cd, 30), 3, None, 0);
        assert_eq!(rows(&SKYLAKE), [loads, row("cpu/mem-stores/P", raw(4, 0x82d0, 0), 3, None, 0)]);
        let expected = [
            row("cpu_atom/mem-loads,ldlat=30/P", raw(10, 0x5d0, 30), 2, None, 8),
            row("cpu_atom/mem-stores/P", raw(10, 0x6d0, 0), 2, None, 8),
            row("cpu_core/mem-loads,ldlat=30/P", raw(4, 0x1cd, 30), 3, Some(raw(4, 0x8203, 0)), 16),
            row("cpu_core/mem-stores/P", raw(4, 0x2cd, 0), 3, None, 16),
        ];
        assert_eq!(rows(&ALDER_LAKE), expected);
        assert_eq!(rows(&ZEN), [row("ibs_op//", raw(9, 0, 0), 0, None, 0)]);
    }

    #[test]
    fn a_machine_that_samples_none_says_why() {
        let refused = |sources: &FakeSources, is_virtual| {
            let capacity = crate::pmu::machine::Capacity { is_virtual, ..Default::default() };
            let core = CoreType { pmu: "cpu".into(), cpus: vec![], uarch: Default::default(), capacity };
            let error = access_events(sources, &[core]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            format!("{error} {}", error.remedy().unwrap())
        };
        let plain = FakeSources(&[("cpu/type", "4"), ("cpu/format/event", "config:0-7")]);
        let arm = FakeSources(&[("arm_spe_0/type", "8"), ("armv8_pmuv3_0/type", "7")]);
        for (sources, is_virtual, expected) in [
            (&plain, false, "neither mem-loads of cpu nor ibs_op"),
            (&plain, true, "Have its host expose the PMU"),
            (&arm, false, "Arm's arm_spe_0 writes packets, which ironlaw does not read"),
            (&FakeSources(&[]), false, "no PMU of the cores"),
        ] {
            let text = refused(sources, is_virtual);
            assert!(text.contains(expected), "{text}");
        }
    }
}

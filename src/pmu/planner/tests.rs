#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
use super::*;
use crate::model::{EventKind, MetricDef, MetricId};
use crate::pmu::sets::{Wanted, wanted};
use crate::pmu::{Machine, Table, assumed};
use proptest::prelude::*;
use std::sync::OnceLock;

static TABLE: OnceLock<Table> = OnceLock::new();

fn core(id: &str) -> (Uarch, Capacity) {
    let machine = Machine { nodes: 2, smt: Some("off".to_string()), ..Machine::default() };
    let core = assumed(&machine, TABLE.get_or_init(|| Table::built_in().unwrap()).by_id(id).unwrap());
    (core.uarch, core.capacity)
}

fn roles(plan: &HardwarePlan) -> Vec<Vec<&str>> {
    plan.groups.iter().map(|group| group.events.iter().map(|event| event.role.as_str()).collect()).collect()
}

fn planned(id: &str, list: &str) -> HardwarePlan {
    let (uarch, capacity) = core(id);
    plan(&uarch, &capacity, &wanted(list).unwrap())
}

fn hardware() -> Vec<&'static MetricDef> {
    MetricId::from_events().map(MetricId::def).collect()
}

fn why(plan: &HardwarePlan, metric: &str) -> String {
    plan.absent.iter().find(|absent| absent.metric == metric).unwrap().why.clone()
}

#[test]
fn the_first_group_is_the_laws_and_stands_alone_if_nothing_is_wanted() {
    for (id, expected) in [
        ("intel-spr", vec!["cycles", "instructions", "ref-cycles"]),
        ("amd-zen3", vec!["cycles", "instructions"]),
        ("arm-neoverse-n1", vec!["cycles", "instructions"]),
        ("generic", vec!["cycles", "instructions"]),
    ] {
        assert_eq!(roles(&planned(id, "none")), [expected], "{id}");
    }
    let with_branches = planned("amd-zen4", "cache,base");
    assert_eq!(roles(&with_branches)[0], ["cycles", "instructions", "ref-cycles", "branch-misses"]);
}

#[test]
fn topdown_events_follow_slots_and_take_no_counter() {
    let plan = planned("intel-spr", "topdown");
    assert_eq!(plan.groups.len(), 2);
    assert_eq!(roles(&plan)[1][..3], ["slots", "cycles", "instructions"]);
    assert!(roles(&plan)[1].contains(&"td-mem-bound"));
    assert!(plan.formulas.is_empty());
}

#[test]
fn a_pipelines_width_is_in_the_plans_formula() {
    let zen = planned("amd-zen5", "tma_frontend");
    assert_eq!(zen.formulas, [("tma_frontend".to_string(), "td-fe-slots / (8 * cycles)".to_string())]);
    let narrow = planned("amd-zen4", "tma_frontend");
    assert_eq!(narrow.formulas[0].1, "td-fe-slots / (6 * cycles)");
}

#[test]
fn events_of_the_first_four_counters_are_at_most_four_to_a_group() {
    let plan = planned("intel-icx", "all");
    let (uarch, _) = core("intel-icx");
    for group in roles(&plan) {
        let narrow = |role: &&&str| uarch.event(role).unwrap().first_counters.is_some();
        assert!(group.iter().filter(narrow).count() <= 4, "{group:?}");
    }
}

#[test]
fn no_more_than_two_offcore_filters_are_counted_at_once() {
    let (uarch, capacity) = core("intel-skx");
    let group = |roles: &[&str]| fits(&uarch, &capacity, &roles.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert!(group(&["cycles", "local-dram-ocr", "remote-dram-ocr"]));
    assert!(!group(&["cycles", "local-dram-ocr", "remote-dram-ocr", "l3-miss-ocr"]));
    assert!(!group(&["cycles", "unheard-of"]));
}

#[test]
fn what_cannot_be_had_says_why() {
    let (uarch, capacity) = core("intel-skx");
    let all = wanted("all").unwrap();
    let with = |change: &dyn Fn(&mut Capacity)| {
        let mut capacity = capacity.clone();
        change(&mut capacity);
        plan(&uarch, &capacity, &all)
    };
    assert_eq!(why(&with(&|_| {}), "tma_memory_bound"), "Skylake-SP has no event for it");
    assert!(why(&with(&|c| c.smt = true), "tma_frontend").contains("with hyperthreading on"));
    assert!(why(&with(&|c| c.nodes = 1), "remote_dram_share").contains("one memory node"));
    let tight = with(&|c| (c.general, c.watchdog) = (2, 1));
    assert!(why(&tight, "page_walk_share").contains("take 3 of 2 general counters; the NMI watchdog holds one"));
    let absent = with(&|c| (c.present, c.is_virtual) = (false, true));
    assert_eq!((absent.groups.len(), absent.absent.len()), (0, hardware().len()));
    assert_eq!(why(&absent, "llc_mpki"), "this virtual machine was given no PMU");
    assert!(why(&planned("amd-zen4", "tlb"), "page_walk_share").starts_with("the CPU counts page walks"));
}

#[test]
fn generic_cache_misses_have_the_role_of_what_the_vendor_counts() {
    for (id, expected) in [
        ("generic-intel", Some("llc-miss")),
        ("generic-amd", Some("l2-miss")),
        ("generic-arm", Some("l1d-miss")),
        ("generic", None),
    ] {
        let plan = planned(id, "cache");
        let events = plan.groups.iter().flat_map(|group| &group.events);
        let of_misses = events.filter(|event| event.event.kind == EventKind::Hardware(3));
        assert_eq!(of_misses.map(|event| event.role.as_str()).next(), expected, "{id}");
        assert_eq!(
            plan.absent.iter().any(|absent| absent.metric == "llc_mpki"),
            matches!(id, "generic-amd" | "generic")
        );
    }
}

#[test]
fn on_a_hybrid_a_generic_event_names_its_kind_of_core() {
    let (uarch, capacity) = core("generic-intel");
    let plan = plan(&uarch, &Capacity { hybrid: true, kind: 10, ..capacity }, &wanted("llc_mpki").unwrap());
    let cycles = &plan.groups[0].events[0].event;
    assert_eq!(cycles.kind, EventKind::Hardware(10 << 32));
}

#[test]
fn early_neoverse_n2_counts_a_cycle_too_many() {
    let table = Table::built_in().unwrap();
    let formula = |midr: &str| {
        let processor = crate::pmu::detect::Processor::from_midr(midr).unwrap();
        let uarch = table.find(&processor, "armv8_pmuv3_0").unwrap();
        assert_eq!(uarch.id, "arm-neoverse-n2");
        uarch.formulas.iter().find(|(metric, _)| metric == "tma_retiring").cloned()
    };
    assert!(formula("0x00000000410fd490").unwrap().1.contains("stall-slot - cycles"));
    assert_eq!(formula("0x00000000410fd493"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any request on any core: groups can be scheduled, and each metric is either formed in one group or absent.
    #[test]
    fn every_plan_holds_what_it_promises(
        which in 0_usize..64,
        mut asked in prop::collection::vec(0_usize..hardware().len(), 0..hardware().len()),
        general in 2_u8..=8,
        smt: bool,
        nodes in 0_usize..3,
        slots in prop::option::of(4_u8..=10),
        most_groups in prop::option::of(2_usize..8),
    ) {
        let table = TABLE.get_or_init(|| Table::built_in().unwrap());
        let uarch = &table.uarchs[which % table.uarchs.len()];
        let capacity = Capacity { present: true, kind: 4, general, smt, nodes, slots_per_cycle: slots, ..Capacity::default() };
        let mut seen = std::collections::BTreeSet::new();
        asked.retain(|number| seen.insert(*number));
        let metrics: Vec<&'static MetricDef> = asked.iter().map(|number| hardware()[*number]).collect();
        let plan = plan(uarch, &capacity, &Wanted { metrics: metrics.clone(), most_groups });
        prop_assert!(most_groups.is_none_or(|most| plan.groups.len() <= most));
        for (number, group) in plan.groups.iter().enumerate() {
            let roles: Vec<String> = group.events.iter().map(|event| event.role.clone()).collect();
            prop_assert!(fits(uarch, &capacity, &roles), "{} of {}: {roles:?}", number, uarch.id);
            prop_assert_eq!(roles.iter().collect::<std::collections::BTreeSet<_>>().len(), roles.len());
            prop_assert!(group.events.iter().all(|event| event.event.group == Some(number as u16)));
            let led = roles.iter().any(|role| uarch.led_by_slots.contains(role));
            prop_assert!(!led || roles[0] == "slots");
        }
        for metric in &metrics {
            let absent = plan.absent.iter().filter(|absent| absent.metric == metric.name).count();
            let formed = usize::from(formed(&plan, metric).is_some());
            // An absent metric may be formed from other metrics' events, unless the core makes it meaningless.
            prop_assert!(absent + formed >= 1 && absent <= 1, "{} on {}", metric.name, uarch.id);
            let chosen = plan.formulas.iter().any(|(name, _)| name == metric.name);
            prop_assert!(absent == 0 || !chosen);
        }
        // The first available metric in order of priority is in the first or second group.
        if let Some(first) = metrics.iter().find(|metric| !plan.absent.iter().any(|absent| absent.metric == metric.name)) {
            prop_assert!(formed(&plan, first).is_some_and(|(_, group)| group <= 1));
        }
        let _ = plan.definitions(0);
    }
}

/// The plan of one core for a list, with so many free counters.
fn tight(id: &str, list: &str, general: u8) -> HardwarePlan {
    let (uarch, capacity) = core(id);
    plan(&uarch, &Capacity { general, ..capacity }, &wanted(list).unwrap())
}

#[test]
fn with_few_counters_the_law_is_counted_all_the_same() {
    for (id, general, first) in [
        // Both have fixed counters on Intel.
        ("intel-spr", 0, vec!["cycles", "instructions", "ref-cycles"]),
        ("intel-skx", 1, vec!["cycles", "instructions", "ref-cycles"]),
        // Elsewhere each takes a general one; the kernel lets them take turns if it must.
        ("amd-zen4", 3, vec!["cycles", "instructions", "ref-cycles"]),
        ("amd-zen4", 2, vec!["cycles", "instructions"]),
        ("amd-zen4", 1, vec!["cycles", "instructions"]),
        ("amd-zen4", 0, vec!["cycles", "instructions"]),
        ("generic", 0, vec!["cycles", "instructions"]),
    ] {
        assert_eq!(roles(&tight(id, "none", general)), [first], "{id} with {general}");
    }
}

#[test]
fn with_fewer_counters_fewer_metrics_are_formed_and_each_loss_says_why() {
    for id in ["intel-spr", "intel-skx", "amd-zen3", "amd-zen5", "arm-neoverse-n1", "arm-neoverse-v2", "generic-intel"]
    {
        let mut before = usize::MAX;
        for general in (0..=8).rev() {
            let plan = tight(id, "all", general);
            let formed = hardware().iter().filter(|metric| formed(&plan, metric).is_some()).count();
            assert!(formed <= before, "{id}: {formed} metrics with {general} counters, {before} with one more");
            before = formed;
            for group in roles(&plan).iter().skip(1) {
                let (uarch, capacity) = core(id);
                let roles: Vec<String> = group.iter().map(ToString::to_string).collect();
                assert!(fits(&uarch, &Capacity { general, ..capacity }, &roles), "{id} with {general}: {group:?}");
            }
            for absent in &plan.absent {
                assert!(!absent.why.is_empty() && !absent.why.ends_with('.'), "{id} with {general}: {absent:?}");
            }
        }
        let none = tight(id, "all", 0);
        let tight: Vec<_> = none.absent.iter().filter(|absent| absent.why.contains("of 0 general counters")).collect();
        assert!(!tight.is_empty(), "{id}: {:?}", none.absent);
        assert!(tight.iter().all(|absent| !absent.why.contains("watchdog")), "{id}: it is off");
    }
}

#[test]
fn a_limit_of_groups_keeps_what_was_wanted_first_and_names_the_set_of_the_rest() {
    let (uarch, capacity) = core("amd-zen5");
    let metrics = wanted("all").unwrap().metrics;
    for most in 1..=6 {
        let plan = plan(&uarch, &capacity, &Wanted { metrics: metrics.clone(), most_groups: Some(most) });
        assert!(plan.groups.len() <= most, "{most}");
        let left_out: Vec<_> = plan.absent.iter().filter(|absent| absent.why.starts_with("left out")).collect();
        for absent in &left_out {
            let set = absent.why.rsplit("-M ").next().unwrap();
            let again = wanted(set).unwrap().metrics;
            assert!(again.iter().any(|metric| metric.name == absent.metric), "-M {set} brings {} back", absent.metric);
        }
        let first = metrics.iter().find(|metric| formed(&plan, metric).is_some()).unwrap();
        assert!(formed(&plan, first).unwrap().1 <= 1 && (most > 2 || !left_out.is_empty()), "{most}");
    }
}

#[test]
fn of_several_reasons_the_one_nearest_to_success_is_told() {
    let (mut uarch, capacity) = core("generic-intel");
    let metric = MetricId::LlcMpki.def();
    let told = |uarch: &Uarch, capacity: &Capacity| {
        let plan = plan(uarch, capacity, &Wanted { metrics: vec![metric], most_groups: None });
        why(&plan, metric.name)
    };
    uarch.events.retain(|event| event.role != "llc-miss");
    assert_eq!(told(&uarch, &capacity), format!("{} has no event for it", uarch.name));
    uarch.formulas = vec![("llc_mpki".to_string(), "1000 * (llc-miss + l2-miss) / instructions".to_string())];
    uarch.events.push(crate::pmu::table::TableEvent {
        role: "l2-miss".to_string(),
        name: "L2".to_string(),
        code: crate::pmu::table::EventEncoding::Raw { config: 1, config1: 0 },
        first_counters: None,
        samples_only: false,
        note: None,
    });
    assert_eq!(told(&uarch, &capacity), format!("{} has no event for 'llc-miss'", uarch.name));
    uarch.formulas[0].1 = "1000 * l2-miss / instructions".to_string();
    let text = told(&uarch, &Capacity { general: 0, watchdog: 1, ..capacity.clone() });
    assert!(text.contains("of 0 general counters; the NMI watchdog holds one"), "{text}");
    uarch.formulas[0].1 = "l2-miss / (slots-per-cycle * cycles)".to_string();
    let text = told(&uarch, &Capacity { slots_per_cycle: None, ..capacity.clone() });
    assert!(text.contains("caps/slots"), "{text}");
    uarch.topdown_per_core = true;
    let text = told(&uarch, &Capacity { smt: true, slots_per_cycle: Some(4), ..capacity.clone() });
    assert!(text.contains("a core's two threads together"), "{text}");
    uarch.absent = vec![("llc_mpki".to_string(), "its counter is broken".to_string())];
    assert_eq!(told(&uarch, &capacity), "its counter is broken", "what the table says goes before");
    assert_eq!(
        told(&uarch, &Capacity { present: false, ..capacity }),
        "the kernel shows no core PMU",
        "and the PMU first"
    );
}

#[test]
fn an_event_that_only_samples_forms_no_metric() {
    let (mut uarch, capacity) = core("generic-intel");
    let metrics = vec![MetricId::LlcMpki.def()];
    let wanted = Wanted { metrics, most_groups: None };
    assert!(plan(&uarch, &capacity, &wanted).absent.is_empty());
    uarch.events.iter_mut().filter(|event| event.role == "llc-miss").for_each(|event| event.samples_only = true);
    assert_eq!(plan(&uarch, &capacity, &wanted).absent.len(), 1);
}

#[test]
fn formulas_without_a_meaning_need_nothing() {
    for (formula, expected) in [
        ("1000 * llc-miss / instructions", Some(vec!["llc-miss", "instructions"])),
        ("cycles / task-clock", Some(vec!["cycles"])),
        ("64 * local-dram / wall", Some(vec!["local-dram"])),
        ("1 / slots-per-cycle", None),
        ("1 +", None),
        ("", None),
    ] {
        let roles = choice::roles_of(formula);
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let expected = expected.map(|names| sorted(names.iter().map(ToString::to_string).collect()));
        assert_eq!(roles.map(sorted), expected, "{formula:?}");
    }
}

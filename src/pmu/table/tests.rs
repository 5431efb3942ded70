#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
use super::*;
use crate::model::Formula;
use crate::pmu::detect::X86;
use proptest::prelude::*;

fn found(processor: Processor, pmu: &str) -> Option<String> {
    Table::built_in().unwrap().find(&processor, pmu).map(|uarch| uarch.id)
}

fn x86(vendor: &str, family: u32, model: u32, stepping: u32) -> Processor {
    Processor::X86(X86 { vendor: vendor.to_string(), family, model, stepping })
}

#[test]
fn every_cpu_finds_its_own_table() {
    let intel = |model, stepping| found(x86("GenuineIntel", 6, model, stepping), "cpu").unwrap();
    let amd = |family, model| found(x86("AuthenticAMD", family, model, 1), "cpu").unwrap();
    for (id, expected) in [
        (intel(0x55, 4), "intel-skx"),
        (intel(0x55, 7), "intel-clx"),
        (intel(0x6a, 6), "intel-icx"),
        (intel(0x6c, 1), "intel-icx"),
        (intel(0x8f, 8), "intel-spr"),
        (intel(0xcf, 2), "intel-emr"),
        (intel(0xad, 1), "intel-gnr"),
        (intel(0xaf, 3), "generic-intel"),
        (amd(0x17, 0x31), "amd-zen2"),
        (amd(0x17, 0x01), "generic-amd"),
        (amd(0x19, 0x01), "amd-zen3"),
        (amd(0x19, 0x50), "amd-zen3"),
        (amd(0x19, 0x11), "amd-zen4"),
        (amd(0x19, 0xa0), "amd-zen4"),
        (amd(0x1a, 0x02), "amd-zen5"),
    ] {
        assert_eq!(id, expected);
    }
    for (midr, expected) in [
        ("0x00000000413fd0c1", "arm-neoverse-n1"),
        ("0x00000000410fd493", "arm-neoverse-n2"),
        ("0x00000000411fd401", "arm-neoverse-v1"),
        ("0x00000000410fd4f0", "arm-neoverse-v2"),
        ("0x00000000410fd8e0", "arm-neoverse-n3"),
        ("0x00000000410fd840", "arm-neoverse-v3"),
        ("0x00000000610f0220", "generic-arm"),
    ] {
        assert_eq!(found(Processor::from_midr(midr).unwrap(), "armv8_pmuv3_0").unwrap(), expected);
    }
    assert_eq!(found(Processor::Unknown, "cpu").unwrap(), "generic");
    assert_eq!(found(x86("CentaurHauls", 7, 1, 1), "cpu").unwrap(), "generic");
    // The server tables do not cover the core types of a hybrid CPU.
    assert_eq!(found(x86("GenuineIntel", 6, 0x8f, 1), "cpu_atom").unwrap(), "generic-intel");
}

#[test]
fn the_tables_of_a_vendor_are_all_that_its_processors_need() {
    let all = Table::built_in().unwrap();
    let vendors = ["GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls"];
    let x86 = vendors.into_iter().flat_map(|vendor| {
        let models = (0..=0xff).flat_map(move |model| [4, 7].map(|stepping| (model, stepping)));
        let models = models.flat_map(|(model, stepping)| [6, 0x17, 0x19, 0x1a].map(|family| (family, model, stepping)));
        models.map(move |(family, model, stepping)| x86(vendor, family, model, stepping))
    });
    let arm = (0xd00..0xdff).flat_map(|part| [0x41, 0x61].map(|implementer| (implementer << 24) | (part << 4)));
    let arm = arm.filter_map(|midr: u64| Processor::from_midr(&format!("{midr:#x}")));
    let mut own: Vec<(std::mem::Discriminant<Processor>, String, Table)> = Vec::new();
    for processor in x86.chain(arm).chain([Processor::Unknown]) {
        let vendor = if let Processor::X86(X86 { vendor, .. }) = &processor { vendor.clone() } else { String::new() };
        let key = (std::mem::discriminant(&processor), vendor);
        if own.last().is_none_or(|(kind, vendor, _)| (kind, vendor) != (&key.0, &key.1)) {
            own.push((key.0, key.1, Table::for_vendor_of(&processor).unwrap()));
        }
        let (_, _, table) = own.last().unwrap();
        for pmu in ["cpu", "cpu_atom", "armv8_pmuv3_0"] {
            let id = |table: &Table| {
                table
                    .uarchs
                    .iter()
                    .find(|uarch| uarch.cpus.contain(&processor) && uarch.is_of(pmu))
                    .map(|uarch| uarch.id.clone())
            };
            assert_eq!(id(table), id(&all), "{processor:?} {pmu}");
        }
    }
    assert!(own.iter().any(|(_, _, table)| table.uarchs.len() < all.uarchs.len() / 2));
}

#[test]
fn every_table_names_only_its_own_roles_and_known_metrics() {
    for uarch in Table::built_in().unwrap().uarchs {
        for role in uarch.fixed.iter().chain(&uarch.led_by_slots) {
            assert!(uarch.event(role).is_some(), "{}: {role}", uarch.id);
        }
        assert!(uarch.event("cycles").is_some() && uarch.event("instructions").is_some(), "{}", uarch.id);
        let errata = uarch.errata.iter().flat_map(|erratum| &erratum.formulas);
        for (metric, formula) in uarch.formulas.iter().chain(errata) {
            let parsed = Formula::parse(formula).unwrap();
            let known = |name: &&str| uarch.event(name).is_some() || matches!(*name, "slots-per-cycle" | "wall");
            assert!(parsed.names().iter().all(known), "{}: {metric} = {formula}", uarch.id);
        }
        for (metric, _) in uarch.formulas.iter().chain(&uarch.absent).chain(&uarch.notes) {
            assert!(
                crate::model::MetricId::named(metric).is_some_and(|id| id.def().set.is_some()),
                "{}: {metric}",
                uarch.id
            );
        }
        for (at, event) in uarch.events.iter().enumerate() {
            let twin = uarch.events[..at].iter().find(|other| other.code == event.code);
            assert!(twin.is_none(), "{}: {} and {:?}", uarch.id, event.role, twin);
        }
    }
}

#[test]
fn encodings_are_those_of_the_vendors_lists() {
    let table = Table::built_in().unwrap();
    for (id, role, name, config, config1) in [
        ("intel-skx", "llc-miss", "LONGEST_LAT_CACHE.MISS", 0x412e, 0),
        ("intel-skx", "dtlb-load-walk-active", "DTLB_LOAD_MISSES.WALK_ACTIVE", 0x100_1008, 0),
        ("intel-spr", "dtlb-load-walk-active", "DTLB_LOAD_MISSES.WALK_ACTIVE", 0x100_1012, 0),
        ("intel-spr", "remote-dram-ocr", "OCR.READS_TO_CORE.REMOTE_DRAM", 0x12a, 0x7_3000_4477),
        ("intel-icx", "td-be-bound", "topdown-be-bound", 0x8300, 0),
        ("amd-zen3", "dram-far", "ls_any_fills_from_sys.mem_io_remote", 0x4044, 0),
        ("amd-zen4", "ref-cycles", "ls_not_halted_p0_cyc.p0_freq_cyc", 0x1_0000_0120, 0),
        ("intel-icx", "local-xsnp-fwd", "MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", 0x4d2, 0),
        ("intel-icx", "demand-rd-local-fwd-ocr", "OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HIT_WITH_FWD", 0x1b7, 0x8_003c_0001),
        ("intel-gnr", "demand-rd-local-fwd-ocr", "OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HIT_WITH_FWD", 0x12a, 0x8_003c_0001),
        ("amd-zen4", "itlb-walk-completed", "bp_l1_tlb_miss_l2_tlb_miss.all", 0xf85, 0),
        ("amd-zen4", "l2-pf-miss-l3-miss", "l2_pf_miss_l2_l3", 0x1f72, 0),
        ("amd-zen5", "l2-fill-dram-near", "l2_fill_rsp_src.dram_io_near", 0x1_0000_0865, 0),
        ("amd-zen5", "llc-miss", "l2_fill_rsp_src.dram_io_near+far+near_cache+far_cache", 0x1_0000_5c65, 0),
        ("amd-zen5", "td-fe-slots", "de_no_dispatch_per_slot.no_ops_from_frontend", 0x1_0000_01a0, 0),
        ("arm-neoverse-n1", "llc-miss", "LL_CACHE_MISS_RD", 0x37, 0),
        ("arm-neoverse-v2", "stall-slot", "STALL_SLOT", 0x3f, 0),
    ] {
        let event = table.by_id(id).unwrap().event(role).unwrap();
        assert_eq!(event.code, EventEncoding::Raw { config, config1 }, "{id} {role}");
        assert!(event.name.eq_ignore_ascii_case(name) || id == "amd-zen3", "{id}: {}", event.name);
    }
}

#[test]
fn a_users_table_wins() {
    let text = r#"
        [[uarch]]
        id = "intel-spr"
        general_counters = 6
        [uarch.events]
        llc_miss = { name = "MINE", config = 0x99 }
        [uarch.formulas]
        llc_mpki = "llc-miss / instructions"

        [[uarch]]
        id = "my-core"
        vendor = "GenuineIntel"
        family = 6
        models = ["0xaf"]
        [uarch.events]
        cycles = { name = "cycles", generic = "cycles" }
    "#;
    let table = Table::built_in().unwrap().with(text, "mine.toml").unwrap();
    let spr = table.by_id("intel-spr").unwrap();
    assert_eq!(
        (spr.general, spr.name.as_str(), spr.event("llc-miss").unwrap().name.as_str()),
        (6, "Sapphire Rapids", "MINE")
    );
    assert!(spr.event("llc-ref").is_some() && spr.formulas.iter().any(|(metric, _)| metric == "llc_mpki"));
    assert_eq!(table.find(&x86("GenuineIntel", 6, 0xaf, 0), "cpu").unwrap().id, "my-core");
    assert_eq!(table.find(&x86("GenuineIntel", 6, 0x8f, 0), "cpu").unwrap().id, "intel-spr");
}

#[test]
fn a_slip_in_a_users_table_is_told_with_its_place() {
    for (text, expected) in [
        ("[[uarch]]\nid = \"Bad Id\"", "an id holds small letters"),
        ("[[uarch]]\nid = \"a\"\nsteps = 1", "steps"),
        ("[[uarch]]\nid = \"a\"\nmodels = [\"9-1\"]", "invalid range '9-1'"),
        ("[[uarch]]\nid = \"a\"\nimplementer = 0x41", "implementer and part go together"),
        ("[[uarch]]\nid = \"a\"\ngeneral_counters = 0", "0 general counters"),
        (
            "[[uarch]]\nid = \"a\"\n[uarch.events]\nllc_miss = { name = \"X\" }",
            "event 'llc_miss': it has neither config nor generic",
        ),
        ("[[uarch]]\nid = \"a\"\n[uarch.events]\n\"x y\" = { name = \"X\", config = 1 }", "invalid role 'x y'"),
        (
            "[[uarch]]\nid = \"a\"\n[uarch.events]\nx = { name = \"X\", generic = \"nothing\" }",
            "unknown generic event 'nothing'",
        ),
        ("[[uarch]]\nid = \"a\"\n[uarch.events]\nx = { name = \"\\u001b[m\", config = 1 }", "cannot be shown"),
        ("[[uarch]]\nid = \"a\"\n[uarch.formulas]\nllc_mpki = \"1 +\"", "invalid formula '1 +' of llc_mpki"),
        ("[[uarch]]\nid = \"a\"\n[[uarch.errata]]\nup_to = \"2\"\nformulas = {}", "invalid revision '2'"),
        ("what", "cannot read mine.toml"),
    ] {
        let error = Table::built_in().unwrap().with(text, "mine.toml").unwrap_err();
        assert!(error.to_string().contains(expected) && error.to_string().contains("mine.toml"), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-z0-9_= \\[\\]{}\"#.,\n-]{0,200}") {
        let _ = Table { uarchs: vec![] }.with(&text, "mine.toml");
    }
}

//! The metrics formed from hardware counters in one table: name, formulas over roles, bounds and meaning.
//! A recording uses its plan's own formula if there is one, else the first formula here whose roles are all counted.

use super::Unit;

/// A metric formed from hardware counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardwareMetric {
    /// Its stable name, e.g. `llc_mpki`.
    pub name: &'static str,
    /// A short label for display.
    pub label: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Formulas over roles, best first ([`super::Formula`]). They may also contain `task-clock` (nanoseconds), `wall`
    /// (nanoseconds) and `slots-per-cycle`, which a plan replaces by a number ([`super::HardwarePlan::formulas`]).
    pub formulas: &'static [&'static str],
    /// Valid range; a value outside is wrong.
    pub bounds: (f64, f64),
    /// Values above this deserve attention. From the vendor, if it publishes one.
    pub threshold: Option<f64>,
    /// One sentence: what the metric shows, and what it does not.
    pub about: &'static str,
}

impl HardwareMetric {
    /// Looks up a metric by name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static HardwareMetric> {
        HARDWARE_METRICS.iter().find(|metric| metric.name == name)
    }
}

const fn metric(
    name: &'static str,
    label: &'static str,
    unit: Unit,
    formulas: &'static [&'static str],
    about: &'static str,
) -> HardwareMetric {
    let bounds = match unit {
        Unit::Share => (0.0, 1.0),
        Unit::PerKiloInstructions => (0.0, 1000.0),
        Unit::Seconds => (0.0, 1e-4),
        // Ten terabytes per second: more than any socket reaches.
        Unit::BytesPerSecond => (0.0, 1e13),
        _ => (0.0, 1e6),
    };
    HardwareMetric { name, label, unit, formulas, bounds, threshold: None, about }
}

impl HardwareMetric {
    const fn above(self, threshold: f64) -> HardwareMetric {
        HardwareMetric { threshold: Some(threshold), ..self }
    }

    const fn within(self, low: f64, high: f64) -> HardwareMetric {
        HardwareMetric { bounds: (low, high), ..self }
    }

    /// A share of pipeline slots. Counters are read one after the other, so values may overshoot 0 and 1 slightly.
    const fn of_slots(self) -> HardwareMetric {
        self.within(-0.05, 1.05)
    }
}

/// All metrics, most informative first.
pub const HARDWARE_METRICS: &[HardwareMetric] = &[
    metric(
        "llc_mpki",
        "LLC misses per 1000 instr",
        Unit::PerKiloInstructions,
        &[
            "1000 * llc-miss / instructions",
            "1000 * (dram-all + remote-cache-all + l2-pf-miss-l3-miss) / instructions",
        ],
        "Misses of the last-level cache, prefetches by it left out; a growing path length hides them.",
    )
    .above(10.0),
    metric(
        "l2_mpki",
        "L2 misses per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * l2-miss / instructions"],
        "Misses of the second-level cache; the last level may still serve them.",
    )
    .above(10.0),
    metric(
        "l1d_mpki",
        "L1D misses per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * l1d-miss / instructions", "1000 * l1d-replacement / instructions"],
        "Misses of the first-level data cache.",
    )
    .above(20.0)
    .within(0.0, 4000.0),
    metric(
        "memory_bandwidth",
        "memory bandwidth",
        Unit::BytesPerSecond,
        &[
            "64000000000 * llc-miss / wall",
            "64000000000 * (dram-all + l2-pf-miss-l3-miss) / wall",
        ],
        "64 bytes for each line read from beyond the last-level cache; lines written back are not counted.",
    ),
    metric(
        "memory_stall_share",
        "stalled on memory",
        Unit::Share,
        &["(stalls-mem-any + bound-on-stores) / cycles", "noretire-load / cycles", "stall-backend-mem / cycles"],
        "Cycles in which nothing went on while memory was waited for.",
    )
    .above(0.2),
    metric(
        "page_walk_share",
        "page walks",
        Unit::Share,
        &["(dtlb-load-walk-active + dtlb-store-walk-active + itlb-walk-active) / cycles"],
        "Cycles in which a page walk was under way: an upper bound of what walks cost, as they overlap with work.",
    )
    .above(0.1)
    .within(0.0, 3.0),
    metric(
        "walks_per_kinstr",
        "page walks per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * (dtlb-load-walk-completed + dtlb-store-walk-completed + itlb-walk-completed) / instructions"],
        "Misses of all TLBs that were walked to their end, for data and code.",
    ),
    metric(
        "mean_walk_cycles",
        "cycles of one page walk",
        Unit::Ratio,
        &["dtlb-load-walk-pending / dtlb-load-walk-completed"],
        "Mean length of a page walk for data; walks whose tables lie in memory take hundreds of cycles.",
    )
    .within(0.0, 10000.0),
    metric(
        "remote_dram_share",
        "remote memory",
        Unit::Share,
        &[
            "remote-dram-load / (local-dram-load + remote-dram-load)",
            "l2-fill-dram-far / (l2-fill-dram-near + l2-fill-dram-far)",
            "dram-far / (dram-near + dram-far)",
            "remote-dram-ocr / (local-dram-ocr + remote-dram-ocr)",
        ],
        "Of what came from memory, what came from another node.",
    )
    .above(0.1),
    metric(
        "remote_access_per_kinstr",
        "accesses to other sockets per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * remote-access / instructions"],
        "Accesses to another socket, to its caches and its memory alike.",
    ),
    metric(
        "remote_cache_per_kinstr",
        "from other caches per 1000 instr",
        Unit::PerKiloInstructions,
        &[
            "1000 * (remote-cache-hitm + remote-cache-fwd) / instructions",
            "1000 * l2-fill-remote-cache / instructions",
            "1000 * remote-cache-all / instructions",
        ],
        "Lines that came from a cache beyond the own last level, modified or clean.",
    ),
    metric(
        "hitm_per_kinstr",
        "modified lines of others per 1000 instr",
        Unit::PerKiloInstructions,
        &[
            "1000 * (local-hitm + remote-cache-hitm) / instructions",
            // Since Ice Lake, one event counts both modified and clean forwarded lines. The ratio of requests separates
            // the two, as in the top-down method's Contested_Accesses.
            "1000 * (local-xsnp-fwd * demand-rd-local-hitm-ocr / max(1, demand-rd-local-hitm-ocr + demand-rd-local-fwd-ocr) \
             + remote-cache-hitm) / instructions",
        ],
        "Loads of a line that another core had modified: the mark of shared data that is written.",
    )
    .above(0.5),
    metric(
        "order_clears_per_kinstr",
        "ordering clears per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * machine-clears-memory-ordering / instructions"],
        "Pipeline flushes because another core wrote a line that was read ahead of its turn.",
    ),
    metric(
        "lock_share",
        "locked loads",
        Unit::Share,
        &["lock-loads / loads"],
        "Of all loads, those of locked instructions.",
    ),
    metric(
        "locks_per_kinstr",
        "locked instructions per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * lock-loads / instructions", "1000 * locks / instructions", "1000 * strex-spec / instructions"],
        "Atomic operations; each is cheap alone and dear when the line is shared.",
    )
    .above(10.0),
    metric(
        "strex_fail_share",
        "failed exclusive stores",
        Unit::Share,
        &["strex-fail-spec / strex-spec"],
        "Exclusive stores that failed, of all: threads that contend for the same line.",
    ),
    metric(
        "pause_share",
        "spinning",
        Unit::Share,
        &["pause-cycles / cycles"],
        "Cycles in the PAUSE instruction: threads that spin for a lock.",
    )
    .above(0.05),
    metric(
        "l3_miss_latency",
        "latency of an L3 miss",
        Unit::Seconds,
        &["1e-9 * (offcore-l3miss-outstanding / offcore-l3miss-requests * task-clock / cycles)"],
        "Mean time of a demand read that missed the L3, by Little's law; needs the cycles of both modes.",
    ),
    metric(
        "mlp",
        "reads under way at once",
        Unit::Ratio,
        &["offcore-rd-outstanding / offcore-rd-cycles"],
        "Mean number of data reads under way while there is any: few is a chain of dependent loads.",
    )
    .within(0.0, 256.0),
    metric(
        "clock_ratio",
        "clock over base clock",
        Unit::Ratio,
        &["cycles / ref-cycles"],
        "Cycles over cycles of the base clock while on a CPU: above 1 is turbo, below it the CPU is held back.",
    )
    .within(0.0, 20.0),
    metric(
        "branch_mpki",
        "branch misses per 1000 instr",
        Unit::PerKiloInstructions,
        &["1000 * branch-misses / instructions"],
        "Mispredicted branches.",
    )
    .above(10.0),
    metric(
        "branch_miss_share",
        "mispredicted branches",
        Unit::Share,
        &["branch-misses / branches"],
        "Of all branches, those that were mispredicted.",
    ),
    metric(
        "tma_frontend",
        "frontend bound",
        Unit::Share,
        &[
            "td-fe-bound / slots",
            "td-fe-undelivered / (slots-per-cycle * cycles)",
            "td-fe-slots / (slots-per-cycle * cycles)",
        ],
        "Pipeline slots that got no operation: code that misses caches, or is hard to decode.",
    )
    .above(0.15)
    .of_slots(),
    metric(
        "tma_bad_speculation",
        "bad speculation",
        Unit::Share,
        &[
            "td-bad-spec / slots",
            "(td-uops-issued - td-uops-retired-slots + slots-per-cycle * td-recovery) / (slots-per-cycle * cycles)",
            "(td-ops-dispatched - td-ops-retired) / (slots-per-cycle * cycles)",
        ],
        "Slots of work that was thrown away, mostly after mispredicted branches.",
    )
    .above(0.15)
    .of_slots(),
    metric(
        "tma_backend",
        "backend bound",
        Unit::Share,
        &[
            "td-be-bound / slots",
            "1 - (td-fe-undelivered + td-uops-issued + slots-per-cycle * td-recovery) / (slots-per-cycle * cycles)",
            "td-be-slots / (slots-per-cycle * cycles)",
        ],
        "Slots in which work waited for data or for execution units.",
    )
    .above(0.2)
    .of_slots(),
    metric(
        "tma_retiring",
        "retiring",
        Unit::Share,
        &[
            "td-retiring / slots",
            "td-uops-retired-slots / (slots-per-cycle * cycles)",
            "td-ops-retired / (slots-per-cycle * cycles)",
            "op-retired / op-spec * (1 - stall-slot / (slots-per-cycle * cycles))",
        ],
        "Slots of work that was kept: much of it is good, or a sign of too many instructions.",
    )
    .above(0.7)
    .of_slots(),
    metric(
        "tma_smt_contention",
        "given to the sibling",
        Unit::Share,
        &["td-smt-slots / (slots-per-cycle * cycles)"],
        "Slots that the other thread of the core took.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_memory_bound",
        "memory bound",
        Unit::Share,
        &["td-mem-bound / slots", "td-be-slots / (slots-per-cycle * cycles) * noretire-load / noretire-notcomplete"],
        "Of all slots, those lost in the backend to memory.",
    )
    .above(0.2)
    .of_slots(),
    metric(
        "tma_core_bound",
        "core bound",
        Unit::Share,
        &[
            "(td-be-bound - td-mem-bound) / slots",
            "td-be-slots / (slots-per-cycle * cycles) * (1 - noretire-load / noretire-notcomplete)",
        ],
        "Of all slots, those lost in the backend, but not to memory.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_fetch_latency",
        "fetch latency",
        Unit::Share,
        &["td-fetch-lat / slots", "td-fe-latency-cycles / cycles"],
        "Slots of cycles in which the frontend gave nothing at all.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_branch_mispredicts",
        "branch mispredicts",
        Unit::Share,
        &["td-br-mispredict / slots"],
        "Slots lost to mispredicted branches.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_heavy_operations",
        "heavy operations",
        Unit::Share,
        &["td-heavy-ops / slots"],
        "Slots of instructions that take several operations.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_l3_bound",
        "L3 bound",
        Unit::Share,
        &["(stalls-l2-miss - stalls-l3-miss) / cycles"],
        "Cycles stalled on loads that missed the L2 and not the L3: also on lines that other cores hold.",
    )
    .above(0.05)
    .of_slots(),
    metric(
        "tma_dram_bound",
        "DRAM bound",
        Unit::Share,
        &["stalls-l3-miss / cycles"],
        "Cycles stalled on loads that missed the L3.",
    )
    .above(0.1),
    metric(
        "tma_memory_bandwidth",
        "bound by memory bandwidth",
        Unit::Share,
        &["min(cycles, offcore-rd-ge4) / cycles"],
        "Cycles with four or more data reads under way beyond the L2.",
    )
    .above(0.2),
    metric(
        "tma_memory_latency",
        "bound by memory latency",
        Unit::Share,
        &["(min(cycles, offcore-rd-cycles) - min(cycles, offcore-rd-ge4)) / cycles"],
        "Cycles with one to three data reads under way beyond the L2.",
    )
    .above(0.1)
    .of_slots(),
    metric(
        "tma_store_bound",
        "store bound",
        Unit::Share,
        &["bound-on-stores / cycles"],
        "Cycles stalled because the store buffer was full.",
    )
    .above(0.2),
    metric(
        "tma_dtlb_load",
        "data TLB bound",
        Unit::Share,
        &["dtlb-load-walk-active / cycles"],
        "Cycles in which loads waited for the second-level TLB or a walk: an upper bound.",
    )
    .above(0.1)
    .within(0.0, 3.0),
    metric(
        "frontend_stall_share",
        "frontend stalls",
        Unit::Share,
        &["stall-frontend / cycles", "fe-stall / cycles"],
        "Cycles in which the frontend gave no operation.",
    ),
    metric(
        "backend_stall_share",
        "backend stalls",
        Unit::Share,
        &["stall-backend / cycles"],
        "Cycles in which the backend took no operation.",
    ),
    metric(
        "avx_license_share",
        "cycles at AVX frequency",
        Unit::Share,
        &["(core-power-lvl1 + core-power-lvl2) / cycles"],
        "Cycles in which wide vector instructions lowered the highest frequency.",
    ),
];

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Formula;

    /// The value of a metric's formula, by index, for the given counts of roles.
    fn value(name: &str, formula: usize, counts: &[(&str, f64)]) -> Option<f64> {
        let text = HardwareMetric::named(name).unwrap().formulas[formula];
        Formula::parse(text).unwrap().value(&mut |role| Some(counts.iter().find(|(known, _)| *known == role)?.1))
    }

    #[test]
    fn every_metric_is_named_once_and_every_formula_can_be_read() {
        for (at, metric) in HARDWARE_METRICS.iter().enumerate() {
            let first = HARDWARE_METRICS.iter().position(|other| other.name == metric.name);
            assert_eq!(first, Some(at), "{}", metric.name);
            assert!(metric.bounds.0 < metric.bounds.1 && !metric.formulas.is_empty(), "{}", metric.name);
            assert!(metric.about.ends_with('.') && metric.label.len() <= 40, "{}", metric.name);
            let outside = |value: f64| value <= metric.bounds.0 || value >= metric.bounds.1;
            assert!(!metric.threshold.is_some_and(outside), "{}", metric.name);
            for text in metric.formulas {
                assert!(Formula::parse(text).is_some(), "{}: {text}", metric.name);
            }
        }
    }

    #[test]
    fn known_counts_give_known_values() {
        let close = |name: &str, formula, counts: &[(&str, f64)], expected: f64| {
            let found = value(name, formula, counts).unwrap();
            assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{name}: {found} is not {expected}");
        };
        close("llc_mpki", 0, &[("llc-miss", 30.0), ("instructions", 2000.0)], 15.0);
        let zen4 = [
            ("dram-all", 20.0),
            ("remote-cache-all", 10.0),
            ("l2-pf-miss-l3-miss", 70.0),
            ("instructions", 2000.0),
            ("wall", 1e9),
        ];
        close("llc_mpki", 1, &zen4, 50.0);
        close("memory_bandwidth", 1, &zen4, 64.0 * 90.0);
        // A quarter of 40 forwarded lines were modified.
        let forwarded = |modified: f64, clean: f64| {
            [
                ("local-xsnp-fwd", 40.0),
                ("remote-cache-hitm", 5.0),
                ("demand-rd-local-hitm-ocr", modified),
                ("demand-rd-local-fwd-ocr", clean),
                ("instructions", 10_000.0),
            ]
        };
        close("hitm_per_kinstr", 1, &forwarded(20.0, 60.0), 1.5);
        close("hitm_per_kinstr", 1, &forwarded(0.0, 0.0), 0.5);
        // A billion lines in two seconds.
        close("memory_bandwidth", 0, &[("llc-miss", 1e9), ("wall", 2e9)], 32e9);
        // 300 cycles at 3 GHz.
        let latency = [
            ("offcore-l3miss-outstanding", 6e6),
            ("offcore-l3miss-requests", 2e4),
            ("task-clock", 1e9),
            ("cycles", 3e9),
        ];
        close("l3_miss_latency", 0, &latency, 1e-7);
        close("remote_dram_share", 0, &[("remote-dram-load", 19.0), ("local-dram-load", 81.0)], 0.19);
        let walks = [
            ("dtlb-load-walk-active", 50.0),
            ("dtlb-store-walk-active", 30.0),
            ("itlb-walk-active", 20.0),
            ("cycles", 1e3),
        ];
        close("page_walk_share", 0, &walks, 0.1);
        close(
            "tma_memory_latency",
            0,
            &[("cycles", 100.0), ("offcore-rd-cycles", 120.0), ("offcore-rd-ge4", 30.0)],
            0.7,
        );
    }

    #[test]
    fn the_four_parts_of_the_first_level_are_the_whole() {
        let names = ["tma_frontend", "tma_bad_speculation", "tma_backend", "tma_retiring"];
        let skylake = [
            ("slots-per-cycle", 4.0),
            ("cycles", 1000.0),
            ("td-fe-undelivered", 700.0),
            ("td-uops-issued", 2300.0),
            ("td-uops-retired-slots", 2000.0),
            ("td-recovery", 40.0),
        ];
        let zen = [
            ("slots-per-cycle", 6.0),
            ("cycles", 1000.0),
            ("td-fe-slots", 1200.0),
            ("td-be-slots", 1800.0),
            ("td-ops-dispatched", 2700.0),
            ("td-ops-retired", 2400.0),
            ("td-smt-slots", 300.0),
        ];
        let sum = |formula, counts: &[(&str, f64)]| -> f64 {
            names.iter().map(|name| value(name, formula, counts).unwrap()).sum()
        };
        assert!((sum(1, &skylake) - 1.0).abs() < 1e-12);
        assert!((sum(2, &zen) + value("tma_smt_contention", 0, &zen).unwrap() - 1.0).abs() < 1e-12);
    }
}

//! Programs on a machine with hardware counters: each factor of CPU time has its own rule.

use super::*;
use synthetic::OperationCost;

/// Threads whose lines no longer fit into the last level, at a constant number of accesses to it.
fn outgrown(load: OperationCost, more: f64) -> OperationCost {
    load.metric("llc_mpki", 1.0 + more).metric("l2_mpki", 30.0)
}

fn slower(more: f64) -> OperationCost {
    even().stretched(1.0 + 0.05 * more)
}

/// 9 GB/s however many threads there are, and reads that take longer with each.
fn strained(more: f64) -> OperationCost {
    slower(more).metric("memory_bandwidth", 9e9).metric("l3_miss_latency", 90e-9 * (1.0 + 0.1 * more))
}

/// A program with the given instructions per operation and clock in GHz.
fn counted(load: fn(f64) -> (OperationCost, f64, f64)) -> SyntheticProgram {
    SyntheticProgram::of(&WIDTHS, move |n| {
        let (load, path, ghz) = load(f64::from(n - 1));
        OperationCost { counted: Some((path, ghz)), ..load }
    })
}

fn programs() -> Vec<(&'static str, SyntheticProgram)> {
    let mut siblings = counted(|more| {
        let joined = if more > 14.0 { 1.8 } else { 1.0 };
        (OperationCost { siblings: joined, ..even().stretched(joined) }, 2000.0, 3.0)
    });
    siblings.widths[4].1 = Region::Smt;
    vec![
        ("frequency", counted(|more| (even().stretched(1.0 + 0.03 * more), 2000.0, 3.0 / (1.0 + 0.03 * more)))),
        ("spin-wait", counted(|more| (even().on_cpu("worker;retry", 20.0 + 80.0 * more), 2000.0 + 150.0 * more, 3.0))),
        ("more-work", counted(|more| (even().stretched(1.0 + 0.05 * more), 2000.0 * (1.0 + 0.05 * more), 3.0))),
        ("false-sharing", counted(|more| (even().on_cpu("worker;count", 20.0 + 80.0 * more), 2000.0, 3.0))),
        ("cpi-growth", counted(|more| (slower(more), 2000.0, 3.0))),
        ("memory-bandwidth", counted(|more| (strained(more), 2000.0, 3.0))),
        ("cache-capacity", counted(|more| (outgrown(slower(more), more), 2000.0, 3.0))),
        ("page-walks", counted(|more| (slower(more).metric("page_walk_share", 0.03 * more), 2000.0, 3.0))),
        ("remote-memory", counted(|more| (slower(more).metric("remote_dram_share", 0.04 * more), 2000.0, 3.0))),
        ("smt-sharing", siblings),
        (
            "kernel-lock-spin",
            counted(|more| {
                let spin = "worker;open;[kernel]!__x64_sys_openat;[kernel]!native_queued_spin_lock_slowpath";
                (even().on_cpu(spin, 60.0 * more), 2000.0 + 60.0 * more, 3.0)
            }),
        ),
        ("lock-wait", counted(|more| (even().off_cpu(&lock("take"), 90.0 * more), 2000.0, 3.0))),
    ]
}

#[test]
fn each_program_is_found_by_its_own_rule_first_and_time_alone_is_no_finding() {
    for (rule, program) in programs() {
        let results = program.results();
        let found: Vec<&str> = results.found.iter().map(|finding| finding.rule).collect();
        assert_eq!(found.first(), Some(&rule), "{:#?}", results.found);
        assert!(!found.contains(&"cpu-time-growth") && !found.contains(&"contended-line"), "{found:?}");
        assert_eq!(found.len(), 1, "{rule}: {:#?}", results.found);
    }
}

#[test]
fn instructions_that_other_code_may_hold_are_no_retries_of_the_function_that_grows_most() {
    let program = counted(|more| {
        let load = even().on_cpu("worker;chase", 20.0 + 800.0 * more).on_cpu("worker;fill", 1.0 + 40.0 * more);
        (load, 2000.0 + 150.0 * more, 3.0)
    });
    let results = program.results();
    assert!(results.clear.contains(&"spin-wait"), "{:#?}", results.found);
    assert!(!results.found.is_empty());
}

#[test]
fn without_counters_the_same_programs_get_the_finding_that_says_what_cannot_be_told_apart() {
    for (rule, mut program) in programs() {
        let load = program.load;
        program.load = Box::new(move |n| OperationCost { counted: None, ..load(n) });
        let results = program.results();
        let expected = match rule {
            "spin-wait" | "false-sharing" => "contended-line",
            "frequency" | "more-work" | "cpi-growth" => "cpu-time-growth",
            known => known,
        };
        assert_eq!(results.found.iter().map(|found| found.rule).collect::<Vec<_>>(), [expected], "{rule}");
        if expected != rule {
            assert!(results.found[0].claim.contains("look the same without hardware counters"), "{rule}");
        }
    }
}

/// RocksDB 9.2.0 `readrandom` on two Xeon Platinum 8383C: cycles per operation and function, published
/// (91.4% of their growth, 91.2% of that of time, as the clock falls too).
#[test]
fn cache_line_sharing_leads_where_instructions_stay_and_one_function_slows_down_twentyfold() {
    let cycles = |one: bool| -> [(&str, f64); 6] {
        let rows = [
            ("FinishedOps", 24.5, 13_443.0),
            ("Version::Get", 26.1, 317.9),
            ("Swap", 10.1, 263.9),
            ("GetImpl", 47.9, 246.9),
            ("ReadRandom", 22.1, 149.7),
            ("elsewhere", 621.8, 1_012.6),
        ];
        rows.map(|(name, before, after)| (name, if one { before } else { after }))
    };
    let mut program = SyntheticProgram::of(&[1, 160], move |n| {
        let (one, ghz) = (n == 1, if n == 1 { 3.798_451 } else { 3.596_507 });
        let cpu = cycles(one).map(|(name, cycles)| (format!("worker;{name}"), cycles / ghz)).to_vec();
        let path = if one { 2_072.445 } else { 2_033.614 };
        OperationCost { cpu, unseen: if one { 0.58 } else { 23.2 }, counted: Some((path, ghz)), ..even() }
    });
    program.off_cpu = false;
    let results = program.results();
    let found: Vec<&str> = results.found.iter().map(|finding| finding.rule).collect();
    assert_eq!(found, ["false-sharing"], "{:#?}", results.found);
    let first = &results.found[0];
    assert!(first.claim.contains("take 20.9 times the cycles"), "{}", first.claim);
    assert!(first.claim.contains("91.2% of the growth is in `FinishedOps`"), "{}", first.claim);
    assert!(first.share.unwrap() > 0.85);
    assert_eq!(first.place.as_ref().unwrap().frames, ["worker", "FinishedOps"]);
    let load = program.load;
    program.load = Box::new(move |n| OperationCost { counted: None, ..load(n) });
    let joint = program.results();
    assert_eq!(joint.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["contended-line"]);
    assert!(joint.found[0].share.unwrap() > 0.9);
}

#[test]
fn modified_lines_of_others_make_sharing_certain_and_their_absence_rules_it_out() {
    let shared = |hitm: f64| {
        SyntheticProgram::of(&WIDTHS, move |n| {
            let more = f64::from(n - 1);
            let load = even().on_cpu("worker;count", 20.0 + 80.0 * more).metric("hitm_per_kinstr", 0.1 + hitm * more);
            OperationCost { counted: Some((2000.0, 3.0)), ..load }
        })
    };
    let certain = finding(&shared(0.2).results(), "false-sharing");
    assert_eq!(certain.confidence, Confidence::High);
    let results = shared(0.0).results();
    assert!(results.clear.contains(&"false-sharing"));
    assert_eq!(results.found[0].rule, "cpi-growth");
}

#[test]
fn misses_belong_to_used_up_bandwidth_but_two_reasons_for_the_same_cycles_are_both_named() {
    let program = counted(|more| (strained(more).metric("llc_mpki", 1.0 + more), 2000.0, 3.0));
    let results = program.results();
    assert_eq!(results.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["memory-bandwidth"]);
    let both = counted(|more| {
        let load = even().stretched(1.0 + 0.05 * more).metric("remote_dram_share", 0.04 * more);
        (outgrown(load, more), 2000.0, 3.0)
    });
    let both = both.results();
    assert_eq!(both.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["remote-memory", "cache-capacity"]);
    // Each would explain all of them alone.
    let shares: Vec<f64> = both.found.iter().map(|found| found.share.unwrap()).collect();
    assert!((shares[0] - shares[1]).abs() < 1e-9 && (shares[0] + shares[1] - 1.0).abs() < 0.01, "{shares:?}");
    let told = "other reasons too (last-level cache too small): 50.0% of the lost cores count here.";
    assert!(both.found[0].claim.ends_with(told), "{}", both.found[0].claim);
    let growing = counted(|more| {
        let load = strained(more).metric("memory_bandwidth", 9e9 * (1.0 + more));
        (load, 2000.0, 3.0)
    });
    assert!(growing.results().clear.contains(&"memory-bandwidth"));
}

#[test]
fn bytes_that_stay_flat_are_no_proof_that_memory_gives_no_more() {
    let program = |bytes: f64, latency: Option<f64>| {
        SyntheticProgram::of(&WIDTHS, move |n| {
            let more = f64::from(n - 1);
            let load = slower(more).metric("memory_bandwidth", bytes);
            let load = match latency {
                Some(growth) => load.metric("l3_miss_latency", 90e-9 * (1.0 + growth * more)),
                None => load,
            };
            OperationCost { counted: Some((2000.0, 3.0)), ..load }
        })
        .results()
    };
    let rule = "memory-bandwidth";
    assert!(program(9e9, Some(0.0)).clear.contains(&rule), "reads take as long as before");
    assert!(program(2e7, Some(0.1)).clear.contains(&rule), "hardly anything is read");
    assert!(program(9e9, None).undecided.iter().any(|(id, ..)| *id == rule), "nobody timed a read");
    assert_eq!(finding(&program(9e9, Some(0.1)), rule).confidence, Confidence::High);
}

#[test]
fn a_guest_whose_cpus_stand_still_is_not_told_that_its_clock_is_slow() {
    let program = |clock_ratio: Option<f64>| {
        let mut program = SyntheticProgram::of(&WIDTHS, move |n| {
            let times = 1.0 + 0.05 * f64::from(n - 1);
            let load = even().stretched(times);
            let load = match clock_ratio {
                Some(power) => load.metric("clock_ratio", 1.2 / times.powf(power)),
                None => load,
            };
            OperationCost { counted: Some((2000.0, 3.0 / times)), ..load }
        });
        program.guest = true;
        program.results()
    };
    let without_counter = program(None);
    assert!(without_counter.undecided.iter().any(|(id, ..)| *id == "frequency"), "{:?}", without_counter.undecided);
    assert_eq!(without_counter.found[0].rule, "cpu-time-growth");
    assert!(
        without_counter.found[0].claim.contains("the virtual CPU did not run"),
        "{}",
        without_counter.found[0].claim
    );
    let steady = program(Some(0.0));
    assert!(steady.clear.contains(&"frequency") && steady.found[0].rule == "cpu-time-growth", "{:#?}", steady.found);
    let slow = program(Some(1.0));
    assert_eq!(slow.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["frequency"]);
}

/// No counter distinguishes them: lines that move between caches are misses too, in one function that stands out.
#[test]
fn lines_that_move_are_not_taken_for_a_cache_that_is_too_small() {
    let program = |queued: f64| {
        counted(|more| {
            let load = even().on_cpu("worker;take_lock", 20.0 + 80.0 * more);
            (load.metric("llc_mpki", 0.1 + more), 2000.0, 3.0)
        })
        .with(move |load, more| OperationCost { queued: queued * more, ..load })
    };
    // Waiting for a CPU is not idleness.
    for queued in [0.0, 100.0] {
        let results = program(queued).results();
        assert!(results.found.iter().any(|finding| finding.rule == "false-sharing"), "{:#?}", results.found);
        assert!(results.undecided.iter().any(|(id, ..)| *id == "cache-capacity"), "{:#?}", results.undecided);
    }
    let sooner = counted(|more| {
        let load = slower(more).metric("llc_mpki", 1.0 + more).metric("l2_mpki", 2.0 + 2.0 * more);
        (load, 2000.0, 3.0)
    });
    assert!(sooner.results().clear.contains(&"cache-capacity"), "each thread touches more");
    let moved = counted(|more| {
        let load = slower(more).metric("llc_mpki", 0.01 + more).metric("l2_mpki", 0.02 + more);
        (load, 2000.0, 3.0)
    });
    assert!(moved.results().clear.contains(&"cache-capacity"), "lines that were at home in the caches of their cores");
    let without_counter = counted(|more| (slower(more).metric("llc_mpki", 1.0 + more), 2000.0, 3.0)).results();
    assert!(
        without_counter.undecided.iter().any(|(id, ..)| *id == "cache-capacity"),
        "nothing tells lines that move apart"
    );
}

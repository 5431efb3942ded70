//! What the whole set of rules makes of a sweep: nothing of noise, undecided without numbers, one finding per cause.

use super::*;
use crate::analysis::sweep::{Coefficient, Peak, Point, RegionFit, Usl};

#[test]
fn a_program_that_scales_has_no_findings() {
    for load in [1.0, 1.05] {
        let mut program = SyntheticProgram::of(&WIDTHS, move |n| if n == 1 { even() } else { even().stretched(load) });
        for repeats in [1, 3] {
            program.repeats = repeats;
            let results = program.results();
            assert_eq!(results.found, []);
            assert_eq!(results.undecided, []);
            assert_eq!(results.clear.len(), RULES.len());
        }
    }
}

#[test]
fn a_loss_within_the_scatter_of_runs_is_none() {
    let mut program = SyntheticProgram::of(&WIDTHS, |n| if n == 1 { even() } else { even().stretched(1.15) });
    assert!(!program.results().found.is_empty());
    program.scatter = 0.05;
    let results = program.results();
    assert_eq!((results.found.len(), results.clear.len(), results.undecided.len()), (0, 0, RULES.len()));
}

#[test]
fn a_cost_that_grew_within_the_scatter_of_runs_is_neither_found_nor_denied() {
    let mut program = SyntheticProgram::of(&WIDTHS, |n| {
        if n == 1 { even() } else { OperationCost { queued: 600.0, ..even().stretched(1.1) } }
    });
    let cost = |program: &SyntheticProgram| {
        let results = program.results();
        let found: Vec<_> = results.found.iter().map(|finding| finding.rule).collect();
        let why = results.undecided.iter().find(|(rule, ..)| *rule == "cpu-time-growth").map(|(.., why)| *why);
        (found, why)
    };
    assert_eq!(cost(&program), (vec!["cpu-queue", "cpu-time-growth"], None));
    program.scatter = 0.06;
    assert_eq!(cost(&program), (vec!["cpu-queue"], Some(Why::RunsScatter)));
}

#[test]
fn causes_share_what_was_lost_also_where_operations_became_cheaper() {
    // Of 1,500 ns that each operation takes longer, cheaper code gives 400 back: queue and lock took 1,500 in all.
    let program = SyntheticProgram::of(&WIDTHS, |n| match n {
        1 => even(),
        _ => OperationCost { queued: 600.0, ..even().stretched(0.6).off_cpu(&lock("take"), 900.0) },
    });
    let results = program.results();
    let shares: Vec<f64> = results.found.iter().filter_map(|finding| finding.share).collect();
    let sum: f64 = shares.iter().sum();
    assert!(shares.len() >= 2 && sum <= 1.0 + 1e-9, "{shares:?} {:#?}", results.found);
    assert!((finding(&results, "lock-wait").share.unwrap() - 0.6).abs() < 0.02, "{shares:?}");
}

#[test]
fn a_finding_names_the_widths_it_holds_at_and_the_code() {
    let results = locked().results();
    let found = finding(&results, "lock-wait");
    let numbers = "At n=16, and from n=2 on: 100% of the lost cores are blocked on locks that other threads hold, most of \
                   it in `take`, by `pthread_mutex_lock`; locks block each operation for 2.25 us, 0 ns at n=1.";
    assert_eq!(found.claim, numbers);
    assert_eq!(found.confidence, Confidence::High);
    let place = found.place.unwrap();
    assert_eq!((place.frames, place.axis, place.threads), (vec!["worker".into(), "take".into()], Axis::OffCpu, vec![]));
}

#[test]
fn a_single_run_of_each_width_leaves_the_finding_less_sure() {
    let mut program = locked();
    program.repeats = 1;
    assert_eq!(finding(&program.results(), "lock-wait").confidence, Confidence::Medium);
}

#[test]
fn without_operations_or_other_widths_nothing_is_decided() {
    let mut sweep = locked().sweep();
    for point in &mut sweep.points {
        point.numbers.efficiency = crate::model::Measure::Missing(Why::NoOpsSource);
    }
    let evaluate = |points: &[Point]| evaluate_sweep(points, 0, &sweep.stacks, &sweep.losses, &[]);
    let whole = evaluate(&sweep.points);
    assert!(whole.found.is_empty() && whole.clear.is_empty());
    assert!(whole.undecided.iter().all(|(.., why)| *why == Why::NoOpsSource));
    for points in [&sweep.points[..1], &[]] {
        assert_eq!(evaluate(points).undecided.len(), RULES.len());
        assert!(evaluate(points).undecided.iter().all(|(.., why)| *why == Why::NotRecorded));
    }
}

#[test]
fn a_width_without_a_stack_is_undecided_and_a_base_out_of_range_is_no_panic() {
    let sweep = locked().sweep();
    let results = evaluate_sweep(&sweep.points, 0, &[], &[], &[]);
    assert_eq!((results.found.len(), results.undecided.len()), (0, RULES.len()));
    for base in [4, 5, usize::MAX] {
        assert_eq!(evaluate_sweep(&sweep.points, base, &sweep.stacks, &sweep.losses, &[]).found, []);
    }
}

#[test]
fn a_serial_section_is_told_from_uneven_load_by_its_constant_fraction() {
    // One thread does a tenth of the work, or one of n workers has twice the work of another.
    let serial = |n: f64| (0.1 + 0.9 / n, (1.0 / n) / (0.1 + 0.9 / n));
    let uneven = |n: f64| (2.0 / (n + 1.0), (n + 1.0) / n / 2.0);
    let program = |of: fn(f64) -> (f64, f64)| {
        SyntheticProgram::of(&WIDTHS, move |n| {
            let (elapsed, balance) = of(f64::from(n));
            let mut load = even().off_cpu(&signal("join_in"), 1000.0 * (elapsed * f64::from(n) - 1.0));
            load.balance = balance;
            load
        })
    };
    let (first, second) = (program(serial).results(), program(uneven).results());
    assert_eq!(first.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["serial-section"]);
    assert!(first.found[0].claim.contains("10.0% of the work is serial"), "{}", first.found[0].claim);
    assert_eq!(second.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["load-imbalance"]);
    let mut two = program(serial);
    two.widths.truncate(1);
    two.widths.push((8, Region::Cores));
    let found = finding(&two.results(), "load-imbalance");
    assert!(found.claim.contains("a serial section looks the same"), "{}", found.claim);
    assert_eq!(found.confidence, Confidence::Low);
}

#[test]
fn the_law_of_the_region_is_evidence() {
    let mut sweep = SyntheticProgram::of(&WIDTHS, |n| even().on_cpu("worker;count", 20.0 * f64::from(n * n))).sweep();
    let bound = |value| Coefficient { value, error: None, half: None };
    let law =
        Usl { gamma: bound(1e6), alpha: bound(0.01), beta: bound(0.02), residual: 1.0, freedom: 2, peak: Peak::None };
    sweep.fits.push(RegionFit { region: Region::Cores, widths: WIDTHS.to_vec(), law: Ok(law) });
    let results = evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &sweep.fits);
    let found = finding(&results, "contended-line");
    assert!(found.evidence.iter().any(|row| row.label.starts_with("coherency") && row.value == 0.02));
}

#[test]
fn runs_that_lack_a_number_do_not_hide_it_in_others() {
    let mut sweep = locked().sweep();
    for point in &mut sweep.points {
        point.runs[1].totals.ops = crate::model::Measure::Missing(Why::NoOpsSource);
        point.runs[2].metrics.clear();
    }
    let results = evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
    assert_eq!(results.found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["lock-wait"]);
}

#[test]
fn growth_that_a_few_samples_show_is_noise() {
    let mut sweep = SyntheticProgram::of(&WIDTHS, |n| {
        even().on_cpu("worker;count", 20.0 * f64::from(n)).on_cpu("worker;malloc", 30.0 * f64::from(n - 1))
    })
    .sweep();
    let evaluate = |sweep: &SyntheticSweep| evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
    assert!(evaluate(&sweep).found.iter().any(|found| found.rule == "allocator"));
    for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
        run.cpu.samples = 150;
        run.cpu.paths.iter_mut().for_each(|path| path.samples = 1);
    }
    assert!(!evaluate(&sweep).found.iter().any(|found| found.rule == "allocator"));
    for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
        run.cpu.samples = 20;
    }
    assert!(evaluate(&sweep).undecided.contains(&("allocator", allocator::RULE.title, Why::TooFewSamples)));
}

#[test]
fn each_region_is_judged_and_the_finding_that_weighs_most_is_kept() {
    let mut program = SyntheticProgram::of(&WIDTHS, |n| {
        let mut load = even().off_cpu(&lock("take"), 100.0 * f64::from(n.min(8) - 1));
        load.queued = if n == 16 { 1700.0 } else { 0.0 };
        load
    });
    program.widths[4].1 = Region::Oversubscribed;
    let results = program.results();
    assert!(finding(&results, "lock-wait").claim.starts_with("At n=8, and from n=4 on: 100%"));
    let queue = finding(&results, "cpu-queue");
    assert!(queue.claim.starts_with("At n=16: ") && queue.claim.contains("more threads than CPUs"), "{}", queue.claim);
}

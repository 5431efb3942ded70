//! Compares simulated programs with a known true change: how often an interval contains it, how often an unchanged
//! program is called changed, and how often a change is found.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::change::Verdict;
use super::comparison::Comparison;
use super::expect::obstacle;
use super::load::{CurveBasis, LoadAdjustment, LoadMeasure};
use super::settings::Settings;
use super::testing::{digest, simulated};
use crate::analysis::stats::Random;
use crate::analysis::stats::simulate::{Frequency, STEADY, SimulatedProgram, trials};

/// Load patterns.
const LOADS: [(&str, SimulatedProgram); 4] = [
    ("steady load", STEADY),
    ("load within runs", SimulatedProgram { rate_within: 0.35, ..STEADY }),
    ("load between runs", SimulatedProgram { rate_between: 0.25, ..STEADY }),
    ("load within and between runs", SimulatedProgram { rate_within: 0.35, rate_between: 0.25, ..STEADY }),
];

/// Results of many comparisons of two programs.
#[derive(Debug, Default)]
struct Outcome {
    /// Comparisons with an interval that contains the true change, of those that have one.
    covered: Frequency,
    /// Comparisons with a verdict of change.
    beyond: Frequency,
    /// Comparisons whose loads and runs allow a decision.
    decided: Frequency,
    /// Sum of the changes that four of five such comparisons should find.
    detectable: f64,
}

/// Compares `base` with the same program made costlier by a fraction, with this many runs a side.
fn compare(base: &SimulatedProgram, costlier: f64, runs: [usize; 2], trials: u32, seed: u64) -> Outcome {
    let (mut random, mut out) = (Random::new(seed), Outcome::default());
    let like = digest(Some(5000.0));
    let new = base.costlier(costlier);
    for _ in 0..trials {
        let mut side = |program: &SimulatedProgram, runs: usize| {
            simulated(&like, &(0..runs).map(|_| program.run(&mut random)).collect::<Vec<_>>())
        };
        let (a, b) = (side(base, runs[0]), side(&new, runs[1]));
        let found = Comparison::of(&a, &b, &Settings::default());
        let Some(answer) = &found.answer else { continue };
        let decided = answer.interval.filter(|_| obstacle(answer, &found).is_none());
        out.decided.count(decided.is_some());
        out.beyond.count(matches!(answer.verdict, Verdict::More | Verdict::Less));
        if let Some((low, high)) = decided {
            out.covered.count(low <= costlier && costlier <= high);
        }
        out.detectable += answer.detectable.unwrap_or(0.0);
    }
    out
}

/// Whether the frequency fits the claim; the seed is fixed, so the test can be strict.
fn fits(found: &Frequency, low: f64, high: f64) -> bool {
    let (least, most) = found.interval(0.01);
    least <= high && most >= low
}

#[test]
fn nothing_is_taken_for_something_and_intervals_hold_the_truth_as_often_as_they_claim() {
    for (name, program) in &LOADS {
        for (runs, trials) in [(3, 100), (5, 60), (10, 20)] {
            for costlier in [0.0, 0.1] {
                let found = compare(program, costlier, [runs, runs], trials, 11);
                let case = format!("{name}, {runs} runs a side, {costlier}: {found:?}");
                assert!(fits(&found.covered, 0.93, 0.97), "{case}");
                assert!(costlier > 0.0 || fits(&found.beyond, 0.0, 0.05), "{case}");
                assert!(found.decided.part() > 0.7, "{case}");
            }
        }
    }
}

#[test]
fn the_change_that_four_of_five_comparisons_are_said_to_find_is_found_by_four_of_five() {
    // 5 runs a side that scatter by 2.2%, 0.8% of it from windows: Cohen's d of 2.02.
    let found = compare(&STEADY, 0.0437, [5, 5], 300, 5);
    assert!(fits(&found.beyond, 0.76, 0.82), "{found:?}");
    let said = found.detectable / f64::from(found.beyond.trials);
    assert!((0.038..0.052).contains(&said), "{said}");
}

#[test]
fn single_runs_are_never_beyond_chance_and_one_against_several_is_as_often_as_it_claims() {
    let found = compare(&STEADY, 0.4, [1, 1], 10, 3);
    assert_eq!((found.decided.hits, found.beyond.hits), (0, 0), "{found:?}");
    let found = compare(&STEADY, 0.0, [5, 1], 120, 3);
    assert!(fits(&found.beyond, 0.0, 0.05) && fits(&found.covered, 0.93, 0.97), "{found:?}");
}

#[test]
fn runs_at_loads_of_their_own_are_not_taken_for_a_curve_that_knows_no_scatter() {
    // One program at six loads from 2,000 to 3,700 operations a second, with every choice of three as the base.
    let (mut random, like) = (Random::new(9), digest(Some(5000.0)));
    let program = SimulatedProgram { cost_ns: 2e5, fixed: 0.1, rate_within: 0.01, windows: 30, ..STEADY };
    let (mut beyond, mut decided) = (Frequency::default(), Frequency::default());
    for _ in 0..8 {
        let rates = [2000.0, 2340.0, 2680.0, 3020.0, 3360.0, 3700.0];
        let runs = rates.map(|rate| SimulatedProgram { rate, ..program }.run(&mut random));
        for chosen in (0_u32..64).filter(|chosen| chosen.count_ones() == 3) {
            let side = |wanted: bool| {
                let of = (0..6).filter(|at| (chosen >> at & 1 == 1) == wanted).map(|at: usize| runs[at].clone());
                simulated(&like, &of.collect::<Vec<_>>())
            };
            let found = Comparison::of(&side(true), &side(false), &Settings::default());
            let verdict = found.answer.as_ref().unwrap().verdict;
            beyond.count(matches!(verdict, Verdict::More | Verdict::Less));
            decided.count(matches!(found.load.adjustment, LoadAdjustment::Done { curve_basis: CurveBasis::Runs, .. }));
        }
    }
    assert!(fits(&beyond, 0.0, 0.05) && decided.part() > 0.6, "{beyond:?} {decided:?}");
}

#[test]
fn requests_from_outside_are_the_load_however_dear_each_becomes() {
    let (mut random, like) = (Random::new(17), digest(Some(5000.0)));
    for rate_within in [0.05, 0.1, 0.35] {
        let (program, mut by_rate) = (SimulatedProgram { rate_within, ..STEADY }, Frequency::default());
        for _ in 0..60 {
            let mut side = |program: SimulatedProgram| {
                simulated(&like, &(0..3).map(|_| program.run(&mut random)).collect::<Vec<_>>())
            };
            let found = Comparison::of(&side(program), &side(program.costlier(0.4)), &Settings::default());
            by_rate.count(found.load.measure == Some(LoadMeasure::OpsPerS));
        }
        assert!(fits(&by_rate, 0.99, 1.0), "{rate_within}: {by_rate:?}");
    }
}

/// The whole table, for `just calibrate`.
#[test]
#[ignore = "minutes: what `just calibrate` prints"]
fn simulated_table() {
    let trials = trials();
    for (name, program) in &LOADS {
        for runs in [3, 5, 10] {
            for percent in [0, 1, 3, 10, 40] {
                let costlier = f64::from(percent) / 100.0;
                let found = compare(program, costlier, [runs, runs], trials, 1 + percent as u64);
                let name = format!("diff, {name}, {runs} runs a side, +{percent}%");
                found.decided.report(&format!("{name}: can be decided"), "-");
                found.covered.report(&format!("{name}: interval holds the truth"), "95%");
                match percent {
                    0 => found.beyond.report(&format!("{name}: beyond chance"), "5%"),
                    _ => found.beyond.report(
                        &format!("{name}: found (80% would find {:.1}%)", found.detectable / f64::from(trials) * 100.0),
                        "-",
                    ),
                }
            }
        }
    }
}

//! Compares simulated latencies with a known true change of their quantiles: how often an interval contains it, how often
//! an unchanged program is called changed, and how often a change is found.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::change::{Change, Verdict};
use super::comparison::Comparison;
use super::digest::{Digest, Side};
use super::gate::{Gate, GateStatus};
use super::quantity::{PRIMARY, RATE, RatioCell};
use super::settings::Settings;
use super::testing::{LoadShape, digest, loaded};
use crate::analysis::operation_latency::{Bin, LatencyCounts, quantile, quantile_errors};
use crate::analysis::stats::simulate::{Autoregression, Frequency, trials};
use crate::analysis::stats::{Random, welch};
use crate::model::{Measure, MetricId, Role, Why};
use crate::units::Nanos;

/// A program whose operations take exponentially distributed times.
#[derive(Debug, Clone, Copy)]
struct Program {
    /// Mean latency, nanoseconds.
    mean: f64,
    /// The share of operations that are slow, and how many times as long they take.
    slow: (f64, f64),
    /// Standard deviation of a run's latency, as a fraction.
    run_sd: f64,
    /// Standard deviation of a window's within its run, as a fraction, and its correlation with that of the window before.
    window_sd: f64,
    autocorrelation: f64,
    /// Operations of a window, and windows of a run.
    operations: f64,
    windows: usize,
    /// Standard deviation of a window's number of operations, as a fraction.
    load_sd: f64,
    stalls: Option<Stalls>,
}

/// Rare pauses of the whole program: operations that arrive during one wait for its end.
#[derive(Debug, Clone, Copy)]
struct Stalls {
    /// How many a run has on average.
    number: f64,
    /// The median of their length in nanoseconds; lengths vary from run to run.
    length: f64,
    /// The standard deviation of its logarithm.
    run_sd: f64,
}

const STEADY: Program = Program {
    mean: 1e6,
    slow: (0.03, 5.0),
    run_sd: 0.02,
    window_sd: 0.1,
    autocorrelation: 0.5,
    operations: 2000.0,
    windows: 60,
    load_sd: 0.0,
    stalls: None,
};

/// The upper ends of bins: steps of a fiftieth where quantiles lie, wide ones below and above.
fn ends() -> Vec<f64> {
    let (below, above) = ((0..8).map(|at| 1e5 * 1.2_f64.powi(at)), (1..20).map(|at| 34.4e6 * 1.1_f64.powi(at)));
    below.chain((0..220).map(|at| 4.5e5 * 1.02_f64.powi(at))).chain(above).collect()
}

/// The longest stall, below the last end.
const LONGEST: f64 = 150e6;

impl Program {
    /// The share of operations that take longer, where a window's latency is `factor` times the mean.
    fn beyond(&self, ns: f64, factor: f64) -> f64 {
        let (share, times) = self.slow;
        let at = |mean: f64| (-ns / mean).exp();
        (1.0 - share) * at(self.mean * factor) + share * at(self.mean * factor * times)
    }

    /// The operations to expect in each bin of each window of one run. Windows have true quantiles of `factor` times that
    /// of the program.
    fn run(&self, random: &mut Random) -> Vec<Vec<f64>> {
        let around_one = |sd: f64, normal: f64| (sd * normal).exp();
        let run = around_one(self.run_sd, random.normal());
        let mut noise = Autoregression::new(self.autocorrelation, random);
        let stalls = self.stalls.map(|stalls| {
            let length = stalls.length * around_one(stalls.run_sd, random.normal());
            (stalls.number / self.windows as f64, length.min(LONGEST))
        });
        let ends = ends();
        let mut load = Autoregression::new(0.9, random);
        let mut window = || {
            let operations = self.operations * around_one(self.load_sd, load.next(random));
            let factor = run * around_one(self.window_sd, noise.next(random));
            let (stalled, length) =
                stalls.map_or((0.0, 1.0), |(number, length)| (random.poisson(number) as f64 * length / 1e9, length));
            let (mut low, mut left) = (0.0, 1.0);
            let expected = ends.iter().map(|high| {
                let beyond = self.beyond(*high, factor);
                let waiting = stalled * (high.min(length) - f64::min(low, length)) / length;
                let share = (1.0 - stalled) * (left - beyond) + waiting;
                (low, left) = (*high, beyond);
                operations * share
            });
            expected.collect()
        };
        (0..self.windows).map(|_| window()).collect()
    }

    fn slower(&self, by: f64) -> Program {
        Program { mean: self.mean * (1.0 + by), ..*self }
    }
}

/// Operations in bins, where these are expected.
fn counted(expected: &[f64], ends: &[f64], random: &mut Random) -> LatencyCounts {
    let (mut counts, mut low) = (LatencyCounts::default(), 0.0);
    for (mean, high) in expected.iter().zip(ends) {
        let count = random.poisson(*mean);
        if count > 0 {
            counts.add(Bin { low: Nanos(low as u64), high: Some(Nanos(*high as u64)) }, count);
        }
        low = *high;
    }
    counts
}

/// The windows of one run; of a repeat at a steady load, whose windows the comparison does not look at, their sum.
fn windows(program: &Program, alone: bool, random: &mut Random) -> Vec<LatencyCounts> {
    let (expected, ends) = (program.run(random), ends());
    if alone || program.load_sd > 0.0 {
        return expected.iter().map(|window| counted(window, &ends, random)).collect();
    }
    // A sum of Poisson counts is a Poisson count of the summed means.
    let sum = (0..ends.len()).map(|bin| expected.iter().map(|window| window[bin]).sum()).collect::<Vec<f64>>();
    vec![counted(&sum, &ends, random)]
}

/// A digest with these latencies; the rest is that of `like`.
fn recording(like: &Digest, name: usize, windows: &[LatencyCounts]) -> Digest {
    let mut run = like.clone();
    run.conditions.name = format!("r{name}");
    let mut all = LatencyCounts::default();
    windows.iter().for_each(|window| all.merge(window));
    let latencies = run.whole.iter_mut().filter(|reading| reading.quantity.role == Role::Latency);
    let (ids, shares): (Vec<MetricId>, Vec<f64>) = latencies
        .map(|reading| {
            let share = reading.quantity.quantile().unwrap();
            reading.value = quantile(&all, share);
            (reading.quantity.id, share)
        })
        .unzip();
    let errors = ids.into_iter().zip(quantile_errors(&windows.iter().collect::<Vec<_>>(), &all, &shares));
    run.quantile_errors = errors.filter_map(|(id, error)| Some((id, error?))).collect();
    let (rate, cost) = (run.position(RATE).unwrap(), run.position(PRIMARY).unwrap());
    for (slot, window) in run.windows.iter_mut().zip(windows) {
        let operations = window.count() as f64;
        for (cell, reading) in slot.cells.iter_mut().zip(&run.whole).filter(|(_, of)| of.quantity.role == Role::Latency)
        {
            let value = quantile(window, reading.quantity.quantile().unwrap());
            *cell = value.value().map(|value| RatioCell { numerator: value * operations, denominator: operations });
        }
        let median = quantile(window, 0.5).value().copied().unwrap_or(1.0);
        slot.cells[rate] = Some(RatioCell { numerator: operations, denominator: 1.0 });
        slot.cells[cost] = Some(RatioCell { numerator: 5e-3 * median * operations, denominator: operations });
    }
    run.whole[rate].value = Measure::exact(all.count() as f64 / windows.len() as f64);
    run
}

fn side(like: &Digest, program: &Program, runs: usize, random: &mut Random) -> Side {
    let runs = (0..runs).map(|name| recording(like, name, &windows(program, runs == 1, random))).collect();
    Side { label: "simulated".into(), runs }
}

/// Results of many comparisons of two programs.
#[derive(Debug, Default)]
struct Outcome {
    /// Comparisons in which any quantile has a verdict of change.
    any: Frequency,
    /// Those in which any has at the same load, of those that are adjusted for load.
    adjusted: Frequency,
    /// Those in which the p99 has.
    p99: Frequency,
    /// Those in which the p99.9 has, of those that know one.
    p999: Frequency,
    /// Those in which the interval of the p99 contains the true change.
    covered: Frequency,
    /// For single runs, those in which the interval by windows alone contains it.
    within: Frequency,
}

fn compare(base: &Program, slower: f64, runs: usize, noise: Option<f64>, trials: u32, seed: u64) -> Outcome {
    let (mut random, mut out) = (Random::new(seed), Outcome::default());
    let mut like = digest(Some(5000.0));
    like.windows.truncate(if base.load_sd > 0.0 { base.windows } else { 0 });
    let new = base.slower(slower);
    for _ in 0..trials {
        let (a, b) = (side(&like, base, runs, &mut random), side(&like, &new, runs, &mut random));
        let found = Comparison::of(&a, &b, &Settings { noise, ..Settings::default() });
        let latencies: Vec<&Change> =
            found.changes.iter().filter(|change| change.quantity.role == Role::Latency).collect();
        let moved = |change: &Change| matches!(change.verdict, Verdict::More | Verdict::Less);
        let p99 = latencies.iter().find(|change| change.quantity.id == MetricId::LatencyP99).unwrap();
        let holds = |(low, high): (f64, f64)| low <= slower && slower <= high;
        out.any.count(latencies.iter().any(|change| moved(change)));
        let adjusted = || found.adjusted.iter().filter(|change| change.quantity.role == Role::Latency);
        adjusted().next().iter().for_each(|_| out.adjusted.count(adjusted().any(moved)));
        out.p99.count(moved(p99));
        let p999 = latencies.iter().find(|change| change.quantity.id == MetricId::LatencyP999).unwrap();
        p999.effect.iter().for_each(|_| out.p999.count(moved(p999)));
        p99.interval.into_iter().for_each(|ends| out.covered.count(holds(ends)));
        p99.within.into_iter().for_each(|ends| out.within.count(holds(ends)));
    }
    out
}

/// Whether the frequency fits the claim; the seed is fixed, so the test can be strict.
fn fits(found: &Frequency, low: f64, high: f64) -> bool {
    let (least, most) = found.interval(0.01);
    found.trials > 0 && least <= high && most >= low
}

#[test]
fn repeats_of_the_same_program_hardly_ever_differ_and_intervals_hold_the_truth() {
    for (runs, trials) in [(3, 90), (5, 60)] {
        let found = compare(&STEADY, 0.0, runs, None, trials, 7);
        assert!(fits(&found.covered, 0.93, 0.97), "{runs} runs a side: {found:?}");
        assert!(fits(&found.any, 0.0, 0.05), "{runs} runs a side: {found:?}");
        let found = compare(&STEADY, 0.2, runs, None, 20, 8);
        assert!(fits(&found.covered, 0.93, 0.97) && found.p99.part() > 0.8, "{runs} runs a side, +20%: {found:?}");
    }
}

/// Programs whose p99.9 is that of rare stalls: their number and length set it, or only whether there was one.
const TAILS: [(&str, Stalls); 4] = [
    ("few long stalls", Stalls { number: 1.0, length: 100e6, run_sd: 0.3 }),
    ("some stalls, at the edge of the p99.9", Stalls { number: 3.0, length: 20e6, run_sd: 0.5 }),
    ("some stalls, one length", Stalls { number: 3.0, length: 30e6, run_sd: 0.0 }),
    ("many short stalls", Stalls { number: 30.0, length: 12e6, run_sd: 0.3 }),
];

fn stalling(stalls: Stalls) -> Program {
    Program { stalls: Some(stalls), ..STEADY }
}

/// The same at a load that varies within each run; a window has enough operations for a p99.9.
fn loaded_and_stalling(stalls: Stalls) -> Program {
    Program { load_sd: 0.2, operations: 2e4, windows: 40, ..stalling(stalls) }
}

#[test]
fn rare_stalls_that_come_and_go_from_run_to_run_are_no_change() {
    for (name, stalls) in TAILS {
        for (runs, trials) in [(3, 40), (5, 24)] {
            let found = compare(&stalling(stalls), 0.0, runs, None, trials, 23);
            assert!(fits(&found.any, 0.0, 0.05) && found.p999.trials > 0, "{name}, {runs} runs a side: {found:?}");
        }
    }
    let found = compare(&loaded_and_stalling(TAILS[1].1), 0.0, 3, None, 8, 31);
    assert!(fits(&found.adjusted, 0.0, 0.05) && found.adjusted.trials > 0, "at a load that varies: {found:?}");
}

#[test]
fn two_recordings_of_one_behaviour_differ_no_more_often_than_their_windows_say() {
    for (autocorrelation, windows, trials) in [(0.0, 60, 40), (0.5, 60, 60), (0.8, 300, 12)] {
        let same = Program { run_sd: 0.0, autocorrelation, windows, ..STEADY };
        let found = compare(&same, 0.0, 1, None, trials, 3);
        let case = format!("autocorrelation {autocorrelation}: {found:?}");
        assert!(fits(&found.within, 0.93, 0.97) || found.within.part() > 0.95, "{case}");
        assert_eq!((found.p99.hits, found.covered.trials), (0, 0), "one run says nothing of others: {case}");
    }
    let found = compare(&STEADY, 0.0, 1, Some(0.02), 60, 3);
    assert!(fits(&found.any, 0.0, 0.05), "with the runs' scatter named: {found:?}");
    let found = compare(&STEADY, 0.2, 1, Some(0.02), 15, 3);
    assert!(found.p99.part() > 0.5, "{found:?}");
}

#[test]
fn a_gate_takes_a_quantile_and_cannot_be_decided_without_one() {
    let mut random = Random::new(2);
    let like = digest(Some(5000.0));
    let mut of = |slower: f64| side(&like, &STEADY.slower(slower), 4, &mut random);
    let (base, same, slower) = (of(0.0), of(0.0), of(0.3));
    let status = |base: &Side, new: &Side| {
        let found = Comparison::of(base, new, &Settings::default());
        Gate::parse("latency_p99 > +10%").unwrap().judge(&found).status
    };
    assert_eq!((status(&base, &same), status(&base, &slower)), (GateStatus::Holds, GateStatus::Broken));
    let mut silent = same;
    silent.runs.iter_mut().for_each(|run| {
        run.whole.iter_mut().for_each(|reading| reading.value = Measure::Missing(Why::NotRecorded));
    });
    assert_eq!(status(&base, &silent), GateStatus::Undecided);
}

#[test]
fn repeats_are_compared_by_the_logarithms_of_their_quantiles() {
    let like = digest(Some(5000.0));
    let of = |values: &[f64]| {
        let run = |value: &f64| {
            let mut run = like.clone();
            let at = run.position(MetricId::LatencyP99).unwrap();
            run.whole[at].value = Measure::exact(*value);
            run
        };
        Side { label: "s".into(), runs: values.iter().map(run).collect() }
    };
    let (a, b) = ([1e6, 2e6, 4e6], [3e6, 5e6, 6e6, 9e6]);
    let found = Comparison::of(&of(&a), &of(&b), &Settings::default());
    let change = found.change(MetricId::LatencyP99).unwrap();
    let expected = welch(&b.map(f64::ln), &a.map(f64::ln)).unwrap();
    let (effect, known) = (change.effect.unwrap(), change.effect.unwrap().uncertainty.unwrap());
    assert!((effect.estimate / known.error - expected.t).abs() < 1e-9, "{effect:?}");
    assert!((known.freedom - expected.freedom).abs() < 1e-9 && (effect.base - 2e6).abs() < 1.0, "{effect:?}");
}

#[test]
fn more_load_that_makes_operations_wait_is_no_change_at_the_same_load() {
    // The p99 of a window grows with the root of its load.
    let of = |low: f64, high: f64, slower: f64| {
        let mut side = loaded(LoadShape { low, high, cost_ns: 5000.0, fixed: 0.2, cores: None });
        for run in &mut side.runs {
            let at = run.position(MetricId::LatencyP99).unwrap();
            let rate = run.position(RATE).unwrap();
            let mut sums = (0.0, 0.0);
            for (number, slot) in run.windows.iter_mut().enumerate() {
                let load = slot.cells[rate].unwrap().value().unwrap();
                let noise = 1.0 + 0.01 * ((number * 7919 + 13) % 17) as f64 / 8.0;
                let p99 = 1e6 * (load / 5e4).sqrt() * (1.0 + slower) * noise;
                slot.cells[at] = Some(RatioCell { numerator: p99 * load, denominator: load });
                sums = (sums.0 + p99 * load, sums.1 + load);
            }
            run.whole[at].value = Measure::exact(sums.0 / sums.1);
        }
        side
    };
    let compared = |slower| {
        let found = Comparison::of(&of(2e4, 1e5, 0.0), &of(1e4, 5e4, slower), &Settings::default());
        assert!(found.is_at_same_load(MetricId::LatencyP99));
        let raw = found.changes.iter().find(|change| change.quantity.id == MetricId::LatencyP99).unwrap();
        let same_load = found.change(MetricId::LatencyP99).unwrap();
        [raw, same_load].map(|change| change.effect.unwrap().relative().unwrap())
    };
    let [raw, same] = compared(0.0);
    assert!(raw < -0.2 && same.abs() < 0.01, "{raw} {same}");
    let [_, slower] = compared(0.2);
    assert!((slower - 0.2).abs() < 0.02, "{slower}");
}

/// The whole table, for `just calibrate`.
#[test]
#[ignore = "minutes: what `just calibrate` prints"]
fn simulated_table_of_latencies() {
    let trials = trials();
    for (runs, noise) in [(1, Some(0.02)), (3, None), (5, None), (10, None)] {
        for percent in [0, 10, 20, 40] {
            let slower = f64::from(percent) / 100.0;
            let found = compare(&STEADY, slower, runs, noise, trials, 1 + percent as u64);
            let name = format!("diff, latency, {runs} runs a side, +{percent}%");
            found.covered.report(&format!("{name}: interval of the p99 holds the truth"), "95%");
            match percent {
                0 => found.any.report(&format!("{name}: any quantile beyond chance"), "5%"),
                _ => found.p99.report(&format!("{name}: p99 found"), "-"),
            }
        }
    }
    for (name, stalls) in TAILS {
        for runs in [3, 5] {
            let found = compare(&stalling(stalls), 0.0, runs, None, trials, 29);
            let name = format!("diff, latency, {runs} runs a side of one program, {name}");
            found.any.report(&format!("{name}: any quantile beyond chance"), "5%");
            found.p999.report(&format!("{name}: p99.9 beyond chance"), "5%");
            let found = compare(&loaded_and_stalling(stalls), 0.0, runs, None, trials, 31);
            found.adjusted.report(&format!("{name}: any quantile beyond chance at the same load"), "5%");
        }
    }
    for autocorrelation in [0.0, 0.5, 0.8] {
        let same = Program { run_sd: 0.0, autocorrelation, ..STEADY };
        let found = compare(&same, 0.0, 1, None, trials, 5);
        let name = format!("diff, latency, one against one, autocorrelation {autocorrelation}");
        found.within.report(&format!("{name}: interval by windows holds the truth"), "95%");
    }
}

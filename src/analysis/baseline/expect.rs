//! Estimates the usual value of a quantity so that a few odd windows neither move the centre nor widen the band.
//! Separates the variation between runs from the variation of windows within a run. Spreads are at least what the
//! counter can resolve and what runs of a program are known to differ by.

use super::Expected;
use crate::analysis::diff::Quantity;
use crate::analysis::stats::{Moments, median, robust_sd, student_quantile};
use crate::model::{MetricId, Unit};

/// Variance of the median of normal values, relative to that of their mean.
const MEDIAN_TO_MEAN: f64 = std::f64::consts::FRAC_PI_2;
/// Minimum windows that measured a quantity, and minimum windows of a recording that counts as a run.
const LEAST_MEASURED: usize = 5;
/// Minimum spread of a share: some come from clocks that tick every 10 ms, and a share near zero is mostly such ticks.
const SHARE_FLOOR: f64 = 0.005;
/// The same of waits for a CPU, which the scheduler counts in nanoseconds.
const COUNTED_FLOOR: f64 = 0.001;
/// The minimum over a whole run, as a part of that of a window.
const RUN_FLOOR: f64 = 0.5;
/// How far waits of two runs differ: they depend on whatever else the machine does.
const WAIT_NOISE: f64 = 0.05;
/// Converts how far two runs differ to the deviation of one run from all.
const RUN_FROM_PAIR: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Prior knowledge of how far runs differ counts as this many recordings.
const PRIOR_RECORDINGS: f64 = 2.0;
/// How often a quantity of another run may be outside of [`Expected::run`], on each side.
const RUNS_OUTSIDE: f64 = 0.005;
/// Windows per block when the variance of block sums is measured.
const BLOCK: usize = 10;
/// Minimum dependence: a recording of a minute shows too little of its windows' autocorrelation for less.
const LEAST_DEPENDENCE: f64 = 2.0;

/// The expectation from one quantity's cells, recording by recording and in order, over `windows` windows; `None` if
/// too few of them measured it.
pub(super) fn expect(quantity: Quantity, recordings: &[Vec<[f64; 2]>], windows: usize) -> Option<Expected> {
    let mut runs: Vec<Vec<f64>> = recordings.iter().map(|cells| cells.iter().filter_map(value).collect()).collect();
    let mut values: Vec<f64> = runs.concat();
    if values.len() < LEAST_MEASURED || values.len() * 2 < windows {
        return None;
    }
    runs.retain(|run| run.len() >= LEAST_MEASURED);
    if runs.is_empty() {
        runs = vec![values.clone()];
    }
    median(&mut values)?;
    let (low, high) = (values[0], values[values.len() - 1]);
    let medians: Vec<f64> = runs.iter().filter_map(|run| median(&mut run.clone())).collect();
    let centre = Moments::of(&medians)?.mean;
    let residuals = |(run, median): (&Vec<f64>, &f64)| run.iter().map(|value| value - median).collect::<Vec<f64>>();
    let residuals: Vec<Vec<f64>> = runs.iter().zip(&medians).map(residuals).collect();
    let distances = residuals.concat();
    let within = robust_sd(&distances, 0.0)?.max(resolution(quantity, recordings, centre));
    let dependence = dependence(&residuals, within);
    let run_error = within * (dependence * MEDIAN_TO_MEAN / distances.len() as f64).sqrt();
    let error_freedom = (distances.len() as f64 / dependence - 1.0).max(1.0);
    let (between, run) = between(quantity, &medians, centre, (run_error, error_freedom));
    let furthest = |sign: f64| residuals.iter().flatten().map(|residual| sign * residual / within).fold(0.0, f64::max);
    Some(Expected {
        quantity,
        windows: values.len(),
        centre,
        spread: between.hypot(within),
        within,
        run,
        dependence,
        furthest: (furthest(-1.0), furthest(1.0)),
        low,
        high,
    })
}

fn value([above, below]: &[f64; 2]) -> Option<f64> {
    Some(above / below).filter(|value| *below > 0.0 && value.is_finite())
}

/// The standard deviation of another run from the centre, and how far it may be from there. Prior knowledge of programs
/// counts as a few recordings. The centre has an error of its own, which many windows show with more certainty than few
/// recordings show how far runs differ; and what a clock cannot resolve is known.
fn between(quantity: Quantity, medians: &[f64], centre: f64, (error, error_freedom): (f64, f64)) -> (f64, f64) {
    let count = medians.len() as f64;
    let prior = RUN_FROM_PAIR * noise(quantity) * centre.abs();
    let floor = share_floor(quantity) * RUN_FLOOR;
    let freedom = PRIOR_RECORDINGS + count - 1.0;
    let squares: f64 = medians.iter().map(|median| (median - centre).powi(2)).sum();
    let sd = |prior: f64| ((PRIOR_RECORDINGS * prior.powi(2) + squares) / freedom * (1.0 + 1.0 / count)).sqrt();
    let times = |freedom| student_quantile(2.0 * RUNS_OUTSIDE, freedom).unwrap_or(f64::INFINITY);
    let reach = (sd(prior) * times(freedom)).hypot(error * times(error_freedom));
    (sd(prior.max(floor)).hypot(error), reach.max(floor * times(f64::INFINITY)))
}

/// How far two runs differ for no reason of their own.
fn noise(quantity: Quantity) -> f64 {
    match quantity.id {
        MetricId::RunQueueDelay | MetricId::RunQueueDelayPerOp | MetricId::BlockIoDelay => WAIT_NOISE,
        _ => quantity.usual_noise(),
    }
}

/// The minimum spread of a share; 0 for other quantities.
fn share_floor(quantity: Quantity) -> f64 {
    match quantity.id {
        MetricId::RunQueueDelay => COUNTED_FLOOR,
        _ if quantity.is_share() => SHARE_FLOOR,
        _ => 0.0,
    }
}

/// The minimum spread of windows.
fn resolution(quantity: Quantity, recordings: &[Vec<[f64; 2]>], centre: f64) -> f64 {
    let counter = match quantity.unit {
        _ if quantity.is_share() => share_floor(quantity),
        // A count varies by its square root, and a count of zero may have been one.
        Unit::PerSecond | Unit::PerKiloInstructions | Unit::Ratio => counted(&recordings.concat()).unwrap_or(0.0),
        _ => 0.0,
    };
    // The last digit of a counter is not significant, and a spread of zero would make every deviation infinite.
    counter.max(0.002 * centre.abs()).max(f64::MIN_POSITIVE)
}

fn counted(cells: &[[f64; 2]]) -> Option<f64> {
    let of = |at: usize| median(&mut cells.iter().map(|cell| cell[at]).collect::<Vec<_>>());
    let (count, over) = (of(0)?, of(1)?);
    (over > 0.0).then(|| count.max(1.0).sqrt() / over)
}

/// How many consecutive windows count as one independent window: the larger of an estimate from the autocorrelation of
/// neighbours and one from the variance of whole blocks.
fn dependence(residuals: &[Vec<f64>], within: f64) -> f64 {
    // Outliers must not hide the autocorrelation of the others.
    let clipped = |run: &Vec<f64>| run.iter().map(|residual| residual.clamp(-3.0 * within, 3.0 * within)).collect();
    let runs: Vec<Vec<f64>> = residuals.iter().map(clipped).collect();
    let count: usize = runs.iter().map(Vec::len).sum();
    let square: f64 = runs.iter().flatten().map(|residual| residual * residual).sum::<f64>() / count.max(1) as f64;
    if square <= 0.0 {
        return LEAST_DEPENDENCE;
    }
    let products: f64 = runs.iter().flat_map(|run| run.windows(2)).map(|pair| pair[0] * pair[1]).sum();
    let seen = products / square / count as f64;
    // A short series underestimates it.
    let memory = (seen + (1.0 + 3.0 * seen) * runs.len() as f64 / count as f64).clamp(0.0, 0.98);
    let blocks: Vec<f64> =
        runs.iter().flat_map(|run| run.chunks_exact(BLOCK)).map(|block| block.iter().sum()).collect();
    let apart = blocks.iter().map(|sum| sum * sum).sum::<f64>() / blocks.len().max(1) as f64 / BLOCK as f64 / square;
    ((1.0 + memory) / (1.0 - memory)).max(apart).max(LEAST_DEPENDENCE)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::diff::PRIMARY;
    use crate::analysis::stats::Random;
    use crate::analysis::stats::simulate::{STEADY, SimulatedProgram};

    fn quantity(id: MetricId) -> Quantity {
        Quantity::of(id)
    }

    fn of(id: MetricId, runs: &[Vec<f64>], below: f64) -> Option<Expected> {
        let cells = |run: &Vec<f64>| run.iter().map(|value| [value * below, below]).collect();
        let cells: Vec<Vec<[f64; 2]>> = runs.iter().map(cells).collect();
        expect(quantity(id), &cells, runs.concat().len())
    }

    #[test]
    fn a_few_odd_windows_move_neither_the_centre_nor_the_band() {
        let mut values: Vec<f64> = (0..41).map(|at| 5000.0 + 20.0 * f64::from(at * 17 % 41 - 20)).collect();
        let clean = of(PRIMARY, &[values.clone()], 1e5).unwrap();
        assert!((clean.centre - 5000.0).abs() < 1e-6 && (clean.within - 1.4826 * 200.0).abs() < 1e-6, "{clean:?}");
        values.extend([50_000.0, 90_000.0]);
        let odd = of(PRIMARY, &[values], 1e5).unwrap();
        assert!((odd.centre - 5020.0).abs() < 1e-6 && odd.within < 1.4826 * 240.0, "{odd:?}");
        assert!((odd.low - 4600.0).abs() < 1e-6 && (odd.high - 90_000.0).abs() < 1e-3 && odd.furthest.1 > 100.0);
    }

    #[test]
    fn no_spread_is_believed_below_what_can_be_resolved_or_runs_differ_by() {
        for (name, value, below, within, between) in [
            (PRIMARY, 5000.0, 1e5, 10.0, 100.0 * RUN_FROM_PAIR),
            (MetricId::PathLength, 1000.0, 1e5, 2.0, 5.0 * RUN_FROM_PAIR),
            (MetricId::RunQueueDelay, 0.0, 4.0, 0.001, 0.0005),
            (MetricId::StealShare, 0.0, 4.0, 0.005, 0.0025),
            (MetricId::MinorFaults, 0.0, 1.0, 1.0, 0.0),
            (MetricId::VoluntarySwitches, 400.0, 1.0, 20.0, 8.0 * RUN_FROM_PAIR),
        ] {
            let expected = of(name, &[vec![value; 30]], below).unwrap();
            assert!((expected.within / within - 1.0).abs() < 1e-9, "{name}: {expected:?}");
            let sd = (2.0 * between * between + within * within * LEAST_DEPENDENCE * MEDIAN_TO_MEAN / 30.0).sqrt();
            assert!((expected.spread / sd.hypot(within) - 1.0).abs() < 1e-9, "{name}: {expected:?}");
        }
    }

    #[test]
    fn the_more_recordings_agree_the_less_far_another_run_may_lie_from_them_and_the_more_they_differ_the_further() {
        let reach = |medians: &[f64]| {
            let runs: Vec<Vec<f64>> = medians.iter().map(|median| vec![*median; 30]).collect();
            let expected = of(PRIMARY, &runs, 1e5).unwrap();
            expected.run / expected.centre
        };
        let alike = [1, 2, 3, 5, 20].map(|count| reach(&vec![5000.0; count]));
        assert!(alike.windows(2).all(|pair| pair[1] < pair[0]), "{alike:?}");
        assert!(alike[0] > 0.15 && alike[2] < 0.08 && alike[4] < 0.03, "{alike:?}");
        assert!(reach(&[4800.0, 5000.0, 5200.0]) > 1.3 * alike[2]);
        assert!(reach(&[4000.0, 5000.0, 6000.0]) > 0.4);
    }

    #[test]
    fn one_recording_shows_a_wait_that_triples_and_not_one_that_grows_by_half() {
        let mut random = Random::new(11);
        for (id, centre) in [(MetricId::RunQueueDelay, 0.01), (MetricId::RunQueueDelayPerOp, 20_000.0)] {
            let run: Vec<f64> = (0..60).map(|_| centre * (1.0 + 0.2 * random.normal()).max(0.0)).collect();
            let expected = of(id, &[run], 1e5).unwrap();
            let outside = |times: f64| expected.beyond(times * centre) > super::super::UNUSUAL;
            assert!(outside(3.0) && !outside(1.5), "{id}: {expected:?}");
        }
    }

    #[test]
    fn windows_that_remember_are_worth_fewer() {
        let mut random = Random::new(5);
        let mut worth = |memory| {
            let program = SimulatedProgram { autocorrelation: memory, windows: 200, ..STEADY };
            let run = |_| program.run(&mut random).iter().map(|window| window.cost_ns).collect();
            of(PRIMARY, &(0..3).map(run).collect::<Vec<_>>(), 1e5).unwrap().dependence
        };
        let found = [0.0, 0.5, 0.9].map(&mut worth);
        assert!(found[0] < 2.5 && (2.5..5.0).contains(&found[1]) && found[2] > 12.0, "{found:?}");
    }

    #[test]
    fn what_was_measured_in_too_few_windows_is_not_expected() {
        let cells = vec![[5.0, 1.0]; 9];
        assert!(expect(quantity(PRIMARY), std::slice::from_ref(&cells), 20).is_none());
        assert!(expect(quantity(PRIMARY), std::slice::from_ref(&cells), 18).is_some());
        assert!(expect(quantity(PRIMARY), &[cells[..4].to_vec()], 4).is_none());
        assert!(expect(quantity(PRIMARY), &[vec![[5.0, 0.0]; 9]], 9).is_none(), "nothing to divide by");
        let scattered = vec![vec![[5.0, 1.0]; 3]; 4];
        assert!(expect(quantity(PRIMARY), &scattered, 12).is_some(), "none of them is a run, all together are");
    }
}

//! Fits the law to each region of a sweep: where siblings or another node join, capacity changes, and one curve through
//! both would call that contention. Widths that were limited by something that did not limit wider runs are left out.

use super::types::{Estimate, NoFit, Point, RegionFit};
use super::usl::{ThroughputPoint, fit};
use std::collections::BTreeMap;

/// A region of fewer widths is not reported.
const FEWEST: usize = 3;
/// Super-linear: before this width something limited the program, mostly a cache that was too small, and then no longer.
const SUPER_LINEAR: f64 = 1.05;
/// How many degrees of freedom the common scatter counts for against a width's own: that of three runs is a poor
/// estimate.
const COMMON: f64 = 4.0;

/// One fit per region of at least three widths, the widest last. `points` ascend by width.
#[must_use]
pub(super) fn fits(points: &[Point]) -> Vec<RegionFit> {
    let mut regions: BTreeMap<_, Vec<&Point>> = BTreeMap::new();
    for point in points {
        regions.entry(point.region).or_default().push(point);
    }
    let mut fits: Vec<_> =
        regions.into_values().filter(|points| points.len() >= FEWEST).map(|of| region(&of)).collect();
    fits.sort_by_key(|fit| fit.widths.last().copied());
    fits
}

fn region(points: &[&Point]) -> RegionFit {
    let super_linear = |point: &&Point| point.numbers.efficiency.value().is_some_and(|e| e.mean > SUPER_LINEAR);
    let from = points.iter().rposition(super_linear).unwrap_or_default();
    let counted = points[from..].iter().filter_map(|p| Some((f64::from(p.n), *p.numbers.ops_per_s.value()?)));
    let sightings = weighted(&counted.collect::<Vec<_>>());
    RegionFit {
        region: points[0].region,
        widths: points[from..].iter().map(|point| point.n).collect(),
        law: if sightings.is_empty() { Err(NoFit::NoOps) } else { fit(&sightings) },
    }
}

/// Weighs each width by the inverse variance of its mean; all weigh the same without repeats or without any scatter.
fn weighted(points: &[(f64, Estimate)]) -> Vec<ThroughputPoint> {
    let common = common_scatter(points);
    let variances = points.iter().map(|(_, of)| {
        let freedom = f64::from(of.runs) - 1.0;
        (freedom * relative_scatter(of) + COMMON * common) / (freedom + COMMON) * of.mean * of.mean / f64::from(of.runs)
    });
    let weights: Vec<f64> = variances.map(|variance| 1.0 / variance).collect();
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let sound = mean.is_finite() && mean > 0.0;
    let weigh = |((n, of), weight): (&(f64, Estimate), &f64)| {
        let weight = if sound { weight / mean } else { 1.0 };
        ThroughputPoint { n: *n, x: of.mean, weight }
    };
    points.iter().zip(&weights).map(weigh).collect()
}

/// The squared coefficient of variation of one run; 0 with a single run.
fn relative_scatter(of: &Estimate) -> f64 {
    of.error().map_or(0.0, |error| (error / of.mean).powi(2) * f64::from(of.runs))
}

/// The same over all widths.
fn common_scatter(points: &[(f64, Estimate)]) -> f64 {
    let freedom = |of: &Estimate| f64::from(of.runs) - 1.0;
    let sum: f64 = points.iter().map(|(_, of)| freedom(of) * relative_scatter(of)).sum();
    sum / points.iter().map(|(_, of)| freedom(of)).sum::<f64>().max(1.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{base, run};
    use super::*;
    use crate::model::{Measure, Region, Why};

    /// Points whose throughput per thread falls by the law, from a base of 100.
    fn points(widths: &[u32], region: Region, alpha: f64) -> Vec<Point> {
        let throughput = |n: f64| 100.0 * n / (1.0 + alpha * (n - 1.0));
        let point = |n: &u32| {
            let mut point = Point::of(*n, region, vec![run(*n, throughput(f64::from(*n)))]);
            point.compare(1, base(100.0));
            point
        };
        widths.iter().map(point).collect()
    }

    #[test]
    fn each_region_has_its_own_law_and_small_ones_say_why_they_have_none() {
        let mut all = points(&[1, 2, 4, 6, 8], Region::Cores, 0.02);
        all.extend(points(&[10, 12, 14, 16], Region::Smt, 0.2));
        all.extend(points(&[20, 24], Region::Oversubscribed, 0.5));
        let fits = fits(&all);
        let seen: Vec<_> = fits.iter().map(|fit| (fit.region, fit.widths.clone())).collect();
        assert_eq!(seen, [(Region::Cores, vec![1, 2, 4, 6, 8]), (Region::Smt, vec![10, 12, 14, 16])]);
        assert!((fits[0].law.unwrap().alpha.value - 0.02).abs() < 1e-6, "{fits:?}");
        assert_eq!(fits[1].law, Err(NoFit::TooFewWidths));
    }

    #[test]
    fn widths_before_a_super_linear_one_are_left_out() {
        let mut all = points(&[1, 2, 4, 8, 12, 16, 20], Region::Cores, 0.01);
        all[2] = Point::of(4, Region::Cores, vec![run(4, 440.0)]);
        all[2].compare(1, base(100.0));
        let fits = fits(&all);
        assert_eq!(fits[0].widths, [4, 8, 12, 16, 20]);
        assert!(fits[0].law.is_ok());
    }

    #[test]
    fn without_operations_there_is_no_law_and_a_width_without_them_is_passed_over() {
        let silent = |n: u32| {
            let mut silent = run(n, 100.0);
            silent.totals.ops = Measure::Missing(Why::NoOpsSource);
            Point::of(n, Region::Cores, vec![silent])
        };
        assert_eq!(fits(&[silent(1), silent(2), silent(4)])[0].law, Err(NoFit::NoOps));
        let mut all = points(&[1, 2, 4, 6, 8], Region::Cores, 0.1);
        all.push(silent(16));
        assert!((fits(&all)[0].law.unwrap().alpha.value - 0.1).abs() < 1e-6);
    }

    #[test]
    fn a_width_that_scatters_weighs_less_but_never_nothing() {
        let of = |values: &[f64]| Estimate::of(values).unwrap();
        let steady = of(&[100.0, 101.0, 99.0]);
        let points = [(1.0, steady), (2.0, of(&[100.0, 130.0, 70.0])), (4.0, steady), (8.0, of(&[100.0]))];
        let weights: Vec<f64> = weighted(&points).iter().map(|sighting| sighting.weight).collect();
        assert!((weights.iter().sum::<f64>() / 4.0 - 1.0).abs() < 1e-12, "the mean is one: {weights:?}");
        assert!(weights[0] > 1.2 * weights[1] && weights[1] > 0.1 * weights[0], "{weights:?}");
        assert!(weights[3] < weights[0], "one run is worth less than three: {weights:?}");
        let single = [(1.0, of(&[5.0])), (2.0, of(&[9.0]))];
        assert!(weighted(&single).iter().all(|sighting| sighting.weight == 1.0));
    }
}

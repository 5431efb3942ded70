//! Follows the call tree from the program's start down to where cost grew, as a reader would unfold it by hand. Only
//! growth per operation counts, not the cost itself.

use super::loss::runs;
use super::types::{FunctionId, Point};
use std::collections::BTreeMap;

/// The part of a function's growth that one callee must hold to be followed.
const MOST: f64 = 0.8;

/// The innermost call path that growth can be followed to without leaving a fifth of it behind at any step; empty
/// without operations or samples in either, or if cycles were sampled in some runs and time in others.
#[must_use]
pub fn hot_path(base: &Point, here: &Point) -> Vec<FunctionId> {
    let Some(mut paths) = growth(base, here) else { return vec![] };
    let mut hot = Vec::new();
    loop {
        let whole: f64 = paths.iter().map(|(_, growth)| growth).sum();
        let mut callees: BTreeMap<&FunctionId, f64> = BTreeMap::new();
        for (frames, growth) in &paths {
            if let Some(callee) = frames.get(hot.len()) {
                *callees.entry(callee).or_default() += growth;
            }
        }
        let largest = callees.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((callee, _)) = largest.filter(|(_, growth)| whole > 0.0 && *growth > MOST * whole) else { return hot };
        paths.retain(|(frames, _)| frames.get(hot.len()) == Some(callee));
        hot.push(callee.clone());
    }
}

/// How much more each path costs per operation than at the base.
fn growth<'a>(base: &'a Point, here: &'a Point) -> Option<Vec<(&'a [FunctionId], f64)>> {
    let (mut growth, mut units) = (BTreeMap::<&[FunctionId], f64>::new(), Vec::new());
    for (point, sign) in [(base, -1.0), (here, 1.0)] {
        let runs = runs(point, |run| Some(&run.cpu))?;
        let count = runs.len() as f64;
        for (cost, ops) in runs {
            units.push(cost.unit);
            for path in &cost.paths {
                *growth.entry(path.frames.as_slice()).or_default() += sign * path.weight / ops / count;
            }
        }
    }
    let alike = units.windows(2).all(|pair| pair[0] == pair[1]);
    alike.then(|| growth.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cost, run};
    use super::super::types::Run;
    use super::*;
    use crate::model::{Measure, Region, Why};
    use proptest::prelude::*;

    fn point(n: u32, paths: &[(&str, f64)]) -> Point {
        let paths: Vec<_> = paths.iter().map(|(path, weight)| (*path, *weight, 1)).collect();
        Point::of(n, Region::Cores, vec![Run { cpu: cost(&paths), ..run(n, 100.0) }])
    }

    const BASE: [(&str, f64); 3] = [("main;work;a", 100.0), ("main;work;b", 100.0), ("main;log", 100.0)];

    #[test]
    fn it_goes_down_until_the_growth_parts() {
        for (here, expected) in [
            (&[("main;work;a", 900.0), ("main;work;b", 800.0), ("main;log", 150.0)][..], &["main", "work"][..]),
            (&[("main;work;a;spin", 900.0), ("main;work;b", 100.0)], &["main", "work", "a", "spin"]),
            (&[("main;work;a", 50.0)], &[]),
        ] {
            let found = hot_path(&point(1, &BASE), &point(8, here));
            assert_eq!(found.iter().map(|function| function.name.as_str()).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn without_operations_or_samples_there_is_none() {
        let mut silent = point(8, &BASE);
        silent.runs[0].totals.ops = Measure::Missing(Why::NoOpsSource);
        for here in [silent, point(8, &[])] {
            assert_eq!(hot_path(&point(1, &BASE), &here), []);
        }
    }

    proptest! {
        #[test]
        fn hostile_weights_end_in_a_path_too(weights in prop::array::uniform3(any::<f64>())) {
            let paths: Vec<_> = BASE.iter().zip(weights).map(|((path, _), weight)| (*path, weight)).collect();
            prop_assert!(hot_path(&point(1, &BASE), &point(8, &paths)).len() <= 3);
        }
    }
}

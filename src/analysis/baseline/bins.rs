//! Cuts a baseline's loads into levels: wide enough to hold the windows a level needs, narrow enough that load hardly
//! changes a cost within one.

use super::LEAST_WINDOWS;
use std::ops::Range;

/// Minimum gap between two levels that were loaded separately: a quarter more.
const GAP: f64 = 0.25;
/// A level with enough windows ends where the load is this much above its lowest.
const WIDTH: f64 = 0.2;

/// The levels of sorted positive loads, from low to high, as ranges of positions that cover all of them without
/// overlap.
pub(super) fn levels(loads: &[f64]) -> Vec<Range<usize>> {
    let mut levels: Vec<Range<usize>> = Vec::new();
    // `apart`: whether the current level begins after a gap.
    let (mut start, mut apart) = (0, true);
    for at in 1..=loads.len() {
        let over = at == loads.len();
        let gap = over || loads[at] > loads[at - 1] * (1.0 + GAP);
        let full = at - start >= LEAST_WINDOWS && (over || loads[at] > loads[start] * (1.0 + WIDTH));
        if !gap && !full {
            continue;
        }
        // Left-over windows at the end of a stretch belong to the level below it.
        match levels.last_mut() {
            Some(below) if !apart && at - start < LEAST_WINDOWS => below.end = at,
            _ => levels.push(start..at),
        }
        (start, apart) = (at, gap);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(loads: &[f64], expected: &[(f64, f64, usize)]) {
        let mut sorted = loads.to_vec();
        sorted.sort_by(f64::total_cmp);
        let found: Vec<_> =
            levels(&sorted).into_iter().map(|at| (sorted[at.start], sorted[at.end - 1], at.len())).collect();
        assert_eq!(found, expected);
    }

    fn steady(load: f64, count: usize) -> Vec<f64> {
        (0..count).map(|at| load + at as f64 * load * 0.001).collect()
    }

    #[test]
    fn a_steady_load_is_one_level_and_two_far_apart_are_two() {
        check(&[], &[]);
        check(&steady(1000.0, 90), &[(1000.0, 1089.0, 90)]);
        let both = [steady(1000.0, 40), steady(4000.0, 40)].concat();
        check(&both, &[(1000.0, 1039.0, 40), (4000.0, 4156.0, 40)]);
    }

    #[test]
    fn a_load_that_varies_is_cut_where_a_level_has_its_windows_and_its_width() {
        let ramp: Vec<f64> = (0..100).map(|at| 1000.0 + 10.0 * f64::from(at)).collect();
        check(&ramp, &[(1000.0, 1200.0, 21), (1210.0, 1450.0, 25), (1460.0, 1750.0, 30), (1760.0, 1990.0, 24)]);
    }

    #[test]
    fn few_windows_stay_a_thin_level_behind_a_gap_and_join_the_level_below_without_one() {
        let apart = [steady(1000.0, 40), steady(2000.0, 3)].concat();
        check(&apart, &[(1000.0, 1039.0, 40), (2000.0, 2004.0, 3)]);
        let near = [steady(1000.0, 40), steady(1250.0, 3)].concat();
        check(&near, &[(1000.0, 1252.5, 43)]);
    }
}

//! Scores how well a neighbour's use matches a target's slowness: CPI2's score, and what separates a culprit from a
//! neighbour that happened to be busy. Scores are correlations, not proof.

/// The correlation of CPI2 (Zhang et al., EuroSys 2013). `excess` is the target's cost over its threshold in each
/// window, `uses` is the neighbour's use in the same windows, divided by their sum. -1 to 1; 0 for a neighbour that
/// used nothing.
#[must_use]
pub fn correlation(excess: &[f64], uses: &[f64]) -> f64 {
    let sum: f64 = uses.iter().filter(|used| used.is_finite()).sum();
    if sum <= 0.0 {
        return 0.0;
    }
    let each = excess.iter().zip(uses).filter(|(c, u)| c.is_finite() && u.is_finite() && **c > 0.0);
    let terms = each.map(|(c, u)| u / sum * if *c > 1.0 { 1.0 - 1.0 / c } else { c - 1.0 });
    terms.sum::<f64>().clamp(-1.0, 1.0)
}

/// How a neighbour's use relates to a slowdown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UsageCorrelation {
    /// CPI2's score.
    pub score: f64,
    /// From 0 to 1: the score over the best possible one for this slowdown, and how much more was used while slow than
    /// before.
    pub fit: f64,
    /// Mean use while slow.
    pub slow: f64,
    /// Mean use before.
    pub before: f64,
}

/// Windows before a slowdown that are needed to tell a steady user from one that arrived with it.
pub(super) const ENOUGH_BEFORE: usize = 5;

/// The part that came with the slowdown if too few windows were seen before it: possible, but not convincing.
const UNSEEN: f64 = 0.3;

/// `slow` marks the windows of the slowdown; the others came before.
pub(super) fn fit(excess: &[f64], uses: &[f64], slow: &[bool]) -> UsageCorrelation {
    let score = correlation(excess, uses);
    let mean = |which: bool| {
        let chosen: Vec<f64> = uses.iter().zip(slow).filter(|(_, is)| **is == which).map(|(used, _)| *used).collect();
        (chosen.len(), chosen.iter().sum::<f64>() / chosen.len().max(1) as f64)
    };
    let ((_, during), (windows, before)) = (mean(true), mean(false));
    // A neighbour that runs only in the slow windows reaches their mean excess, not 1: any culprit of a slight slowdown
    // scores low.
    let slow_excess: Vec<f64> =
        excess.iter().zip(slow).filter(|(_, is)| **is).map(|(c, _)| 1.0 - 1.0 / c.max(1.0)).collect();
    let best = slow_excess.iter().sum::<f64>() / slow_excess.len().max(1) as f64;
    let reached = if best > 0.0 { (score / best).clamp(0.0, 1.0) } else { 0.0 };
    // If it was as busy before, none of its use came with the slowdown.
    let came =
        if windows < ENOUGH_BEFORE || during <= 0.0 { UNSEEN } else { ((during - before) / during).clamp(0.0, 1.0) };
    UsageCorrelation { score, fit: (reached * came).sqrt(), slow: during, before }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(costs: &[f64], uses: &[f64], threshold: f64, expected: f64) {
        let excess: Vec<f64> = costs.iter().map(|cost| cost / threshold).collect();
        let found = correlation(&excess, uses);
        assert!((found - expected).abs() < 1e-7, "{costs:?} {uses:?}: {found}, not {expected}");
    }

    #[test]
    fn the_scores_are_those_of_cpi2() {
        check(&[1.0, 2.0, 4.0, 1.0], &[0.0, 1.0, 3.0, 0.0], 1.5, 0.531_25);
        check(&[1.0, 2.0, 4.0, 1.0], &[3.0, 0.0, 0.0, 3.0], 1.5, -0.333_333_3);
        check(&[3.0; 3], &[1.0; 3], 1.5, 0.5);
    }

    #[test]
    fn uses_are_normalised_over_the_windows() {
        // rubik's own test: 9, 8, ... 0 become u / 45; with one cost in every window the score is that cost's.
        let uses: Vec<f64> = (0..10).rev().map(f64::from).collect();
        check(&[3.0; 10], &uses, 1.5, 0.5);
        let mut costs = [1.5; 10];
        costs[0] = 3.0;
        check(&costs, &uses, 1.5, 9.0 / 45.0 * 0.5);
    }

    #[test]
    fn what_used_nothing_or_is_no_number_scores_nothing() {
        check(&[3.0; 3], &[0.0; 3], 1.5, 0.0);
        check(&[], &[], 1.5, 0.0);
        check(&[f64::NAN, 3.0], &[1.0, 0.0], 1.5, 0.0);
    }

    #[test]
    fn who_came_with_a_slowdown_fits_better_than_who_was_busy_all_along_or_now_and_then() {
        let slow: Vec<bool> = (0..40).map(|at| at >= 30).collect();
        let excess: Vec<f64> = slow.iter().map(|slow| if *slow { 1.25 } else { 0.95 }).collect();
        let came: Vec<f64> = slow.iter().map(|slow| f64::from(u8::from(*slow))).collect();
        let steady = vec![0.3; 40];
        let bursty: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at % 7 < 2))).collect();
        let [came, steady, bursty] = [came, steady, bursty].map(|uses| fit(&excess, &uses, &slow));
        assert!(came.fit > 0.95 && came.score < 0.35, "a slight slowdown scores low: {came:?}");
        assert!(steady.fit < 0.1 && bursty.fit < 0.4, "{steady:?} {bursty:?}");
    }

    #[test]
    fn where_nothing_was_seen_before_a_steady_user_may_be_it_but_is_not_sure() {
        let found = fit(&[1.5; 8], &[0.9; 8], &[true; 8]);
        assert!(found.fit > 0.4 && found.fit < 0.6, "{found:?}");
    }
}

//! Mann-Whitney U test: whether one group's values tend to be larger, whatever their distribution. `least_p` is the
//! smallest p that groups of a size can reach.

use super::special::{ln_gamma, normal_cdf};

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the first group's value is the larger; ties count half.
    pub u: f64,
    /// Two-sided: exact for small groups without ties, else a normal approximation corrected for ties and continuity.
    pub p: f64,
}

/// Products of group sizes up to which p is computed exactly.
const EXACT: usize = 400;

/// Compares two groups; `None` if either is empty or contains NaN.
#[must_use]
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let wins: f64 = a.iter().map(|a| b.iter().map(|b| if a > b { 1.0 } else { half(a, b) }).sum::<f64>()).sum();
    let ties = ties(a, b);
    let p = if ties == 0.0 && a.len() * b.len() <= EXACT {
        exact(a.len(), b.len(), wins as usize)
    } else {
        approximate(a.len() as f64, b.len() as f64, wins, ties, 0.5)
    };
    Some(MannWhitney { u: wins, p })
}

fn half(a: &f64, b: &f64) -> f64 {
    if a == b { 0.5 } else { 0.0 }
}

/// The sum of `t^3 - t` over groups of `t` equal values.
fn ties(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    all.chunk_by(|a, b| a == b).map(|equal| (equal.len() as f64).powi(3) - equal.len() as f64).sum()
}

fn approximate(a: f64, b: f64, u: f64, ties: f64, continuity: f64) -> f64 {
    let n = a + b;
    let variance = a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let away = ((u - a * b / 2.0).abs() - continuity).max(0.0);
    (2.0 * normal_cdf(-away / variance.sqrt())).min(1.0)
}

/// The share of all orders of `a + b` values whose U is at least as extreme.
fn exact(a: usize, b: usize, u: usize) -> f64 {
    // counts[i][u]: orders of i values of the first group among the second group's values so far that have this U.
    let mut counts = vec![vec![0.0_f64; a * b + 1]; a + 1];
    counts[0][0] = 1.0;
    // The largest value is either the first group's, and wins against all b, or the second's, and plays no further
    // part.
    for second in 0..=b {
        let before = counts.clone();
        for first in 1..=a {
            for wins in 0..=a * b {
                let taken = if wins >= second { counts[first - 1][wins - second] } else { 0.0 };
                counts[first][wins] = taken + if second > 0 { before[first][wins] } else { 0.0 };
            }
        }
    }
    let low = u.min(a * b - u.min(a * b));
    let all: f64 = counts[a].iter().sum();
    let tail: f64 = counts[a].iter().take(low + 1).sum();
    (2.0 * tail / all).min(1.0)
}

/// The smallest p that groups of this size can reach, if one lies wholly beyond the other: with fewer than four a side
/// it is above 0.05.
#[must_use]
pub fn least_p(a: usize, b: usize) -> f64 {
    let (a, b) = (a as f64, b as f64);
    let ways = ln_gamma(a + b + 1.0) - ln_gamma(a + 1.0) - ln_gamma(b + 1.0);
    (2.0 * (-ways).exp()).min(1.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::student::tests::{A, B};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_published_example_with_ties_comes_out_to_its_digits() {
        let found = mann_whitney(&A, &B).unwrap();
        assert_eq!(found.u, 97.5);
        assert!((found.p - 3.546_522_1e-4).abs() < 5e-12, "{found:?}");
        let uncorrected = approximate(10.0, 10.0, 97.5, ties(&A, &B), 0.0);
        assert!((uncorrected - 3.065_380_6e-4).abs() < 5e-12, "{uncorrected}");
    }

    #[test]
    fn groups_that_lie_apart_have_the_least_p_of_their_size() {
        for (n, p, digit) in
            [(3, 0.1, 1e-12), (4, 0.028_57, 5e-6), (5, 0.007_936_5, 5e-8), (6, 0.002_16, 5e-6), (10, 1.08e-5, 5e-8)]
        {
            let low: Vec<f64> = (0..n).map(f64::from).collect();
            let high: Vec<f64> = low.iter().map(|value| value + 100.0).collect();
            for found in [mann_whitney(&low, &high).unwrap().p, mann_whitney(&high, &low).unwrap().p] {
                assert!((found - p).abs() < digit, "{n}: {found}");
            }
            assert!((least_p(n as usize, n as usize) - p).abs() < digit);
        }
    }

    #[test]
    fn nothing_and_what_is_no_number_compare_to_nothing() {
        for (a, b) in [(&[][..], &B[..]), (&A, &[]), (&[f64::NAN], &B)] {
            assert_eq!(mann_whitney(a, b), None);
        }
        assert_eq!(mann_whitney(&[1.0; 3], &[1.0; 3]).unwrap().p, 1.0);
    }

    proptest! {
        #[test]
        fn p_is_a_probability_and_does_not_depend_on_who_is_first(
            a in proptest::collection::vec(-9.0..9.0_f64, 1..9), b in proptest::collection::vec(-9.0..9.0_f64, 1..9),
        ) {
            let (one, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
            prop_assert!((one.p - other.p).abs() < 1e-12 && (0.0..=1.0).contains(&one.p));
            prop_assert_eq!(one.u + other.u, (a.len() * b.len()) as f64);
            prop_assert!(one.p >= least_p(a.len(), b.len()) - 1e-12);
        }
    }
}

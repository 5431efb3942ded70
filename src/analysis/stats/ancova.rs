//! Analysis of covariance: the difference of two groups at the same value of a covariate. Both groups share its curve,
//! and the scatter around it is that of whole runs. Each term of the curve costs a degree of freedom.

use super::linear::{Matrix, Vector, dot, inverse};

/// One run: the measured value, and the terms of the curve at its load.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// The measured value.
    pub y: f64,
    /// The terms; unused ones are 0.
    pub terms: Vector,
}

/// The second group minus the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ancova {
    /// The difference at the same terms.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// Runs minus the two levels and the terms.
    pub freedom: f64,
    /// Means of the groups where all terms are 0.
    pub levels: [f64; 2],
}

impl Ancova {
    /// Compares two groups with this many terms; `None` without a degree of freedom, or if the terms do not vary within
    /// the groups.
    #[must_use]
    pub fn of(groups: [&[Observation]; 2], terms: usize) -> Option<Ancova> {
        let counts = groups.map(|group| group.len() as f64);
        let freedom = counts[0] + counts[1] - 2.0 - terms as f64;
        if freedom < 1.0 || counts.contains(&0.0) {
            return None;
        }
        let means = groups.map(mean);
        let (mut matrix, mut slope): (Matrix, Vector) = ([[0.0; 3]; 3], [0.0; 3]);
        for (group, mean) in groups.iter().zip(&means) {
            for one in *group {
                let off = less(one, mean);
                slope = [0, 1, 2].map(|i| slope[i] + off.terms[i] * off.y);
                matrix = [0, 1, 2].map(|i| [0, 1, 2].map(|j| matrix[i][j] + off.terms[i] * off.terms[j]));
            }
        }
        let inverse = inverse(&matrix, [terms > 0, terms > 1, terms > 2])?;
        let curve = inverse.map(|row| dot(row, slope));
        let off = |(group, mean): (&&[Observation], &Observation)| -> f64 {
            group.iter().map(|one| less(one, mean)).map(|off| (off.y - dot(curve, off.terms)).powi(2)).sum()
        };
        let variance = groups.iter().zip(&means).map(off).sum::<f64>() / freedom;
        let between = less(&means[1], &means[0]).terms;
        let lever = dot(between, inverse.map(|row| dot(row, between)));
        let levels = [0, 1].map(|at: usize| means[at].y - dot(curve, means[at].terms));
        let error = (variance * (1.0 / counts[0] + 1.0 / counts[1] + lever)).sqrt();
        let found = Ancova { estimate: levels[1] - levels[0], error, freedom, levels };
        (found.estimate.is_finite() && error.is_finite()).then_some(found)
    }
}

fn mean(group: &[Observation]) -> Observation {
    let count = group.len() as f64;
    let of = |value: &dyn Fn(&Observation) -> f64| group.iter().map(value).sum::<f64>() / count;
    Observation { y: of(&|one| one.y), terms: [0, 1, 2].map(|at| of(&|one| one.terms[at])) }
}

fn less(a: &Observation, b: &Observation) -> Observation {
    Observation { y: a.y - b.y, terms: [0, 1, 2].map(|at| a.terms[at] - b.terms[at]) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn group(points: &[(f64, f64)]) -> Vec<Observation> {
        points.iter().map(|(x, y)| Observation { y: *y, terms: [*x, x * x, 0.0] }).collect()
    }

    /// Least squares by hand: centred sums xx = 2 + 2, xy = 1.9 + 2.1, so the slope is 1 and the difference 2.5 - 1.
    #[test]
    fn two_groups_on_parallel_lines_differ_by_what_lies_between_the_lines() {
        let (a, b) = (group(&[(0.0, 0.1), (1.0, 1.0), (2.0, 2.0)]), group(&[(1.0, 2.5), (2.0, 3.4), (3.0, 4.6)]));
        let found = Ancova::of([&a, &b], 1).unwrap();
        let (means, slope) = ([3.1 / 3.0, 10.5 / 3.0], 4.0 / 4.0);
        assert!((found.estimate - (means[1] - means[0] - slope)).abs() < 1e-12, "{found:?}");
        let left = [0.1 + 1.0 - means[0], 1.0 - means[0], 2.0 - 1.0 - means[0]].iter().map(|e| e * e).sum::<f64>()
            + [2.5 + 1.0 - means[1], 3.4 - means[1], 4.6 - 1.0 - means[1]].iter().map(|e| e * e).sum::<f64>();
        let error = (left / 3.0 * (1.0 / 3.0 + 1.0 / 3.0 + 1.0 / 4.0)).sqrt();
        assert!((found.error - error).abs() < 1e-12 && found.freedom == 3.0, "{found:?}");
    }

    #[test]
    fn without_terms_it_is_students_t_and_with_too_many_nothing() {
        let (a, b) = (group(&[(0.0, 1.0), (1.0, 3.0)]), group(&[(0.0, 4.0), (1.0, 6.0)]));
        let found = Ancova::of([&a, &b], 0).unwrap();
        assert_eq!((found.estimate, found.error, found.freedom), (3.0, 2.0_f64.sqrt(), 2.0));
        assert!(Ancova::of([&a, &b], 1).is_some_and(|found| found.freedom == 1.0));
        assert_eq!(Ancova::of([&a, &b], 2), None, "four runs and four parameters");
        assert_eq!(Ancova::of([&a, &[]], 0), None);
        let same = group(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]);
        assert_eq!(Ancova::of([&same, &same], 1), None, "one load has no slope");
    }
}

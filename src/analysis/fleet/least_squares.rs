//! Least squares from the sums of each host, with errors clustered by host.

use super::estimate::StandardError;
use super::influence::{Influence, clustered_error};
use crate::analysis::stats::linear::{dot, inverse};
use std::array::from_fn;

/// A coefficient whose variance the others multiply by more than this cannot be told from them.
const ALIKE: f64 = 1e9;

/// Sums over the windows of one host: X'X, X'y, and X'1 where hosts have levels of their own (0 for deviations within).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HostSums<const N: usize> {
    pub group: usize,
    pub matrix: [[f64; N]; N],
    pub products: [f64; N],
    pub level: [f64; N],
}

/// A fit with the sums it was made of.
#[derive(Debug, Clone)]
pub(super) struct Fit<'a, const N: usize> {
    pub coefficients: [f64; N],
    inverse: [[f64; N]; N],
    hosts: &'a [HostSums<N>],
    /// Coefficients without each host in turn; `None` if the others do not determine them.
    without: Option<Vec<[f64; N]>>,
}

#[derive(Clone, Copy)]
struct Sums<const N: usize> {
    matrix: [[f64; N]; N],
    products: [f64; N],
}

impl<const N: usize> Sums<N> {
    const NONE: Sums<N> = Sums { matrix: [[0.0; N]; N], products: [0.0; N] };

    fn plus(&self, matrix: &[[f64; N]; N], products: &[f64; N]) -> Sums<N> {
        Sums {
            matrix: from_fn(|i| from_fn(|j| self.matrix[i][j] + matrix[i][j])),
            products: from_fn(|i| self.products[i] + products[i]),
        }
    }

    fn solve(&self, used: [bool; N]) -> Option<([f64; N], [[f64; N]; N])> {
        let inverse = inverse(&self.matrix, used)?;
        let alike = (0..N).any(|i| inverse[i][i] * self.matrix[i][i] > ALIKE);
        let coefficients = inverse.map(|row| dot(row, self.products));
        (!alike && coefficients.iter().all(|value| value.is_finite())).then_some((coefficients, inverse))
    }
}

impl<'a, const N: usize> Fit<'a, N> {
    /// Fits the coefficients in use; `None` if the hosts do not determine them.
    pub fn of(hosts: &'a [HostSums<N>], used: [bool; N]) -> Option<Fit<'a, N>> {
        // Sums of the hosts after each: what is left without a host is added up, since a difference would leave
        // rounding errors where nothing is left.
        let mut after = vec![Sums::<N>::NONE; hosts.len() + 1];
        for (at, host) in hosts.iter().enumerate().rev() {
            after[at] = after[at + 1].plus(&host.matrix, &host.products);
        }
        let (coefficients, inverse) = after[0].solve(used)?;
        let mut before = Sums::<N>::NONE;
        let mut without = Vec::with_capacity(hosts.len());
        for (at, host) in hosts.iter().enumerate() {
            let others = before.plus(&after[at + 1].matrix, &after[at + 1].products);
            without.extend(others.solve(used).map(|(coefficients, _)| coefficients));
            before = before.plus(&host.matrix, &host.products);
        }
        let without = (without.len() == hosts.len()).then_some(without);
        Some(Fit { coefficients, inverse, hosts, without })
    }

    /// The standard error of a function of the coefficients with this gradient.
    pub fn error(&self, f: impl Fn(&[f64; N]) -> f64, gradient: [f64; N]) -> Option<StandardError> {
        let whole = f(&self.coefficients);
        let along = self.inverse.map(|row| dot(row, gradient));
        let influences = self.hosts.iter().zip(self.without.as_ref()?).map(|(host, without)| {
            let predicted = host.matrix.map(|row| dot(row, self.coefficients));
            let residual: [f64; N] = from_fn(|i| host.products[i] - predicted[i]);
            let windows = dot(along, host.matrix.map(|row| dot(row, along)));
            Influence {
                linear: dot(along, residual),
                left_out: whole - f(without),
                weight: windows + dot(along, host.level).powi(2),
                group: host.group,
            }
        });
        clustered_error(&influences.collect::<Vec<_>>())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn host(group: usize, points: &[(f64, f64)]) -> HostSums<2> {
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
        let (n, x) = (points.len() as f64, sum(&|p| p.0));
        let matrix = [[n, x], [x, sum(&|p| p.0 * p.0)]];
        HostSums { group, matrix, products: [sum(&|p| p.1), sum(&|p| p.0 * p.1)], level: [n, x] }
    }

    #[test]
    fn points_on_a_line_give_the_line_without_an_error() {
        let hosts = [
            host(0, &[(0.0, 1.0), (1.0, 3.0)]),
            host(0, &[(2.0, 5.0), (4.0, 9.0)]),
            host(0, &[(1.0, 3.0), (3.0, 7.0)]),
        ];
        let fit = Fit::of(&hosts, [true; 2]).unwrap();
        assert!((fit.coefficients[0] - 1.0).abs() < 1e-12 && (fit.coefficients[1] - 2.0).abs() < 1e-12);
        assert!(fit.error(|c| c[1], [0.0, 1.0]).unwrap().error < 1e-12);
        let level = Fit::of(&hosts, [true, false]).unwrap();
        assert!((level.coefficients[0] - 28.0 / 6.0).abs() < 1e-12 && level.coefficients[1] == 0.0);
    }

    #[test]
    fn what_a_single_host_decides_has_no_error_and_what_none_does_no_fit() {
        let flat = |y: f64| host(0, &[(1.0, y), (1.0, y + 1.0)]);
        let hosts = [flat(1.0), flat(2.0), host(0, &[(1.0, 2.0), (2.0, 4.0)])];
        let fit = Fit::of(&hosts, [true; 2]).unwrap();
        assert_eq!(fit.error(|c| c[1], [0.0, 1.0]), None);
        assert!(Fit::of(&hosts[..2], [true; 2]).is_none());
    }
}

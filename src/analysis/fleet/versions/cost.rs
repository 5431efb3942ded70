//! The cost of two versions at equal intensity: a regression of CPU time per operation on a quadratic curve of intensity
//! and the version, averaged over the intensities at which both ran (SPEED).

use super::hosts::{PairedHost, paired};
use super::sums::{HostVersion, Version};
use super::types::Intensity;
use crate::analysis::fleet::estimate::{Estimate, StandardError, above_zero, two_sided};
use crate::analysis::fleet::least_squares::{Fit, HostSums};
use crate::model::{Measure, Why};

/// An intensity that varies by less than this share says nothing of a curve.
const LEAST_SPREAD: f64 = 0.01;
/// A bend needs more: spread, hosts and windows.
const BEND: (f64, usize, f64) = (0.05, 5, 30.0);

/// The adjusted costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AdjustedCost {
    pub cost: [Estimate; 2],
    pub change: Estimate,
    pub error: Option<StandardError>,
    pub confidence_cheaper: Measure<f64>,
    pub p: Measure<f64>,
}

/// Mean and deviation of a version's intensity.
pub(super) fn intensity(version: &Version) -> Intensity {
    let windows = version.sum(|host| host.windows);
    let mean = version.sum(|host| host.x[0]) / windows;
    let variance = version.sum(|host| host.x[1]) / windows - mean * mean;
    Intensity { mean, sd: variance.max(0.0).sqrt() }
}

/// Compares two versions at equal intensity.
pub(super) fn adjusted(versions: [&Version; 2]) -> Measure<AdjustedCost> {
    let windows: f64 = versions.iter().map(|version| version.sum(|host| host.windows)).sum();
    let mean = versions.iter().map(|version| version.sum(|host| host.x[0])).sum::<f64>() / windows;
    let squares = versions.iter().map(|version| version.sum(|host| host.x[1])).sum::<f64>() / windows;
    let sd = (squares - mean * mean).max(0.0).sqrt();
    let hosts: Vec<HostSums<4>> = paired(versions).iter().map(|host| sums(host, mean, sd.max(mean * 1e-9))).collect();
    let spread = sd / mean;
    let bends = spread > BEND.0 && hosts.len() >= BEND.1 && windows >= BEND.2;
    let rises = spread > LEAST_SPREAD && hosts.len() > 2;
    // A curve that the hosts do not determine is given up term by term.
    let curves = [[true, true, true, true], [true, true, false, true], [true, false, false, true]];
    let allowed = curves.into_iter().filter(|used| (!used[1] || rises) && (!used[2] || bends));
    let Some((fit, used)) = allowed.filter_map(|used| Some((Fit::of(&hosts, used)?, used))).next() else {
        return Measure::Missing(Why::TooFewHosts);
    };
    // Over both versions together the standardised intensity has the mean 0 and its square the mean 1.
    let bend = f64::from(u8::from(used[2]));
    let base = |c: &[f64; 4]| c[0] + bend * c[2];
    let change = |c: &[f64; 4]| c[3] / base(c);
    let [old, added] = [base(&fit.coefficients), fit.coefficients[3]];
    if !(old > 0.0 && old + added > 0.0) {
        return Measure::Missing(Why::Suspect);
    }
    let slope = -added / old / old;
    let error = fit.error(change, [slope, 0.0, bend * slope, 1.0 / old]);
    let count = hosts.len() as f64;
    let each = versions.map(|version| version.hosts.len() as f64);
    let value = added / old;
    Measure::exact(AdjustedCost {
        cost: [
            Estimate::new(old, fit.error(base, [1.0, 0.0, bend, 0.0]), each[0]),
            Estimate::new(old + added, fit.error(|c| base(c) + c[3], [1.0, 0.0, bend, 1.0]), each[1]),
        ],
        change: Estimate::new(value, error, count),
        error,
        confidence_cheaper: above_zero(-value, error).map(|p| 1.0 - p),
        p: two_sided(value, error),
    })
}

/// Sums of a host over the columns 1, u, u^2 and the version, where u = (x - mean) / sd.
fn sums(host: &PairedHost<'_>, mean: f64, sd: f64) -> HostSums<4> {
    let mut found = HostSums { group: host.group(), matrix: [[0.0; 4]; 4], products: [0.0; 4], level: [0.0; 4] };
    for (version, one) in host.versions.iter().enumerate() {
        let Some(one) = one else { continue };
        let is_new = version as f64;
        let (u, uy) = standardised(one, mean, sd);
        let powers = [one.windows, u[0], u[1], u[2], u[3]];
        for i in 0..3 {
            for j in 0..3 {
                found.matrix[i][j] += powers[i + j];
            }
            found.matrix[i][3] += is_new * powers[i];
            found.matrix[3][i] += is_new * powers[i];
            found.products[i] += uy[i];
        }
        found.matrix[3][3] += is_new * one.windows;
        found.products[3] += is_new * uy[0];
    }
    found.level = found.matrix[0];
    found
}

/// Sums of u to u^4, and of y, u y and u^2 y.
fn standardised(host: &HostVersion, m: f64, s: f64) -> ([f64; 4], [f64; 3]) {
    let (n, [x, x2, x3, x4], [y, xy, x2y]) = (host.windows, host.x, host.xy);
    let u = [
        (x - m * n) / s,
        (x2 - 2.0 * m * x + m * m * n) / s.powi(2),
        (x3 - 3.0 * m * x2 + 3.0 * m * m * x - m.powi(3) * n) / s.powi(3),
        (x4 - 4.0 * m * x3 + 6.0 * m * m * x2 - 4.0 * m.powi(3) * x + m.powi(4) * n) / s.powi(4),
    ];
    (u, [y, (xy - m * y) / s, (x2y - 2.0 * m * xy + m * m * y) / s.powi(2)])
}

//! The standard error of an estimate by what each host contributes to it: hosts are the sample, and windows of one host
//! resemble each other.

use super::estimate::StandardError;

/// What an estimate owes to one host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Influence {
    /// The change of the estimate by the host's residuals, linearised.
    pub linear: f64,
    /// The estimate minus the one without this host.
    pub left_out: f64,
    /// The host's part of the variance if all hosts scattered alike.
    pub weight: f64,
    /// Hosts of different groups estimate different things, e.g. those of the old and the new version.
    pub group: usize,
}

/// The error, clustered by host. The product of both influences corrects a host's residuals for their own pull on the
/// fit: for means of groups it is the unbiased variance (Bell and McCaffrey's, for fits nearly so). Degrees of freedom are
/// Welch's, by the weights. `None` if the hosts of a group have no degree of freedom.
pub(super) fn clustered_error(hosts: &[Influence]) -> Option<StandardError> {
    let variance: f64 = hosts.iter().map(|host| (host.linear * host.left_out).max(host.linear * host.linear)).sum();
    let whole: f64 = hosts.iter().map(|host| host.weight).sum();
    let groups = hosts.iter().map(|host| host.group).max()? + 1;
    let spent = (0..groups).map(|group| {
        let weights = || hosts.iter().filter(|host| host.group == group).map(|host| host.weight / whole);
        let (sum, squares) = (weights().sum::<f64>(), weights().map(|weight| weight * weight).sum::<f64>());
        // Of `equal` hosts that weigh as much together: sum^2 / (equal - 1).
        if sum > 0.0 { sum * sum / (sum * sum / squares - 1.0).max(0.0) } else { 0.0 }
    });
    let freedom = 1.0 / spent.sum::<f64>();
    let known = variance.is_finite() && hosts.len() > 1 && freedom > 0.5;
    // Half a degree and more counts as one: below there is no interval.
    known.then(|| StandardError { error: variance.sqrt(), freedom: freedom.max(1.0) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::Moments;

    /// Influences on the difference of two means.
    fn difference(groups: [&[f64]; 2]) -> Vec<Influence> {
        let mut all = Vec::new();
        for (group, values) in groups.iter().enumerate() {
            let (n, sign) = (values.len() as f64, group as f64 * 2.0 - 1.0);
            let mean = values.iter().sum::<f64>() / n;
            all.extend(values.iter().map(|value| Influence {
                linear: sign * (value - mean) / n,
                left_out: sign * (value - mean) / (n - 1.0),
                weight: 1.0 / n / n,
                group,
            }));
        }
        all
    }

    #[test]
    fn the_difference_of_two_means_has_welchs_error() {
        let (a, b) = ([1.0, 2.0, 4.0, 2.5], [3.0, 5.0]);
        let found = clustered_error(&difference([&a, &b])).unwrap();
        let variance = |values: &[f64]| Moments::of(values).unwrap().variance.unwrap() / values.len() as f64;
        assert!((found.error - (variance(&a) + variance(&b)).sqrt()).abs() < 1e-12);
        // Weights 1/4 and 1/2: (3/4)^2 / (1/16 / 3 + 1/4).
        assert!((found.freedom - 0.5625 / (0.0625 / 3.0 + 0.25)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_group_of_one_host_has_no_error() {
        assert_eq!(clustered_error(&difference([&[1.0, 2.0, 3.0], &[2.0]])), None);
        assert_eq!(clustered_error(&[]), None);
    }
}

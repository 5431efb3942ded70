//! How far chance alone may move a quantile of one recording: its error on a logarithm, by the windows of the recording
//! and by how finely its source tells latencies apart.

use super::distribution::LatencyCounts;
use super::quantiles::{FEWEST_WINDOWS, ShareError, drawn};
use crate::analysis::stats::student_quantile;

/// The error of a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileError {
    /// The variance of its logarithm by the scatter of windows; `None` with too few windows to see how they resemble each
    /// other.
    pub by_windows: Option<f64>,
    /// The degrees of freedom of that variance.
    pub freedom: f64,
    /// Windows with operations.
    pub windows: usize,
    /// The variance of its logarithm by the width of its bin: it lies anywhere in it.
    pub resolution: f64,
}

/// The errors of quantiles of all these windows together; `None` if nothing bounds a quantile's bin.
#[must_use]
pub fn quantile_errors(windows: &[&LatencyCounts], all: &LatencyCounts, shares: &[f64]) -> Vec<Option<QuantileError>> {
    let scatter = (windows.len() >= FEWEST_WINDOWS).then(|| drawn(windows, all, shares)).flatten();
    let t = scatter.as_ref().and_then(|scatter| student_quantile(0.05, scatter.freedom));
    let of = |(at, share): (usize, &f64)| {
        let bin = all.quantile(*share)?;
        let (low, high) = (bin.low.as_f64().max(1.0), bin.high?.as_f64());
        // A bin of whole nanoseconds is one value.
        let width = if high > low + 1.0 { (high / low).ln() } else { 0.0 };
        let error = scatter.as_ref().and_then(|scatter| scatter.errors.get(at)).copied();
        Some(QuantileError {
            by_windows: t.zip(error).and_then(|(t, error)| variance(all, *share, error, t)),
            freedom: scatter.as_ref().map_or(1.0, |scatter| scatter.freedom),
            windows: windows.len(),
            resolution: width * width / 12.0,
        })
    };
    shares.iter().enumerate().map(of).collect()
}

/// Half of the interval of the share below a quantile, as a latency (Woodruff 1952), over as many errors as the interval
/// has on a side.
fn variance(all: &LatencyCounts, share: f64, error: ShareError, t: f64) -> Option<f64> {
    let at = |share: f64| all.interpolated(share.clamp(0.0, 1.0)).map(|value| value.max(1.0).ln());
    let half = (at(share + t * error.up_to)? - at(share - t * error.before)?) / 2.0;
    Some((half / t).powi(2)).filter(|variance| variance.is_finite())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::distribution::Bin;
    use super::*;
    use crate::units::Nanos;

    fn window(rows: &[(u64, u64, u64)]) -> LatencyCounts {
        let mut counts = LatencyCounts::default();
        rows.iter()
            .for_each(|(low, high, count)| counts.add(Bin { low: Nanos(*low), high: Some(Nanos(*high)) }, *count));
        counts
    }

    fn error(windows: &[LatencyCounts], share: f64) -> Option<QuantileError> {
        let mut all = LatencyCounts::default();
        windows.iter().for_each(|window| all.merge(window));
        quantile_errors(&windows.iter().collect::<Vec<_>>(), &all, &[share])[0]
    }

    #[test]
    fn windows_that_differ_make_an_error_and_few_of_them_none() {
        let of = |at: u64| {
            let rows: Vec<_> =
                (0..100).map(|op| (1000 + 10 * op + 100 * (at % 4), 1001 + 10 * op + 100 * (at % 4), 1)).collect();
            window(&rows)
        };
        let many: Vec<LatencyCounts> = (0..40).map(of).collect();
        let found = error(&many, 0.5).unwrap();
        assert!(found.by_windows.unwrap() > 0.0 && found.windows == 40 && found.resolution == 0.0, "{found:?}");
        assert_eq!(error(&many[..10], 0.5).unwrap().by_windows, None);
    }

    #[test]
    fn a_wide_bin_leaves_a_quantile_as_uncertain_as_it_is_wide() {
        let same = vec![window(&[(1_000_000, 2_500_000, 100)]); 30];
        let found = error(&same, 0.5).unwrap();
        assert!((found.resolution - 2.5_f64.ln().powi(2) / 12.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.by_windows, Some(0.0), "windows do not differ");
    }
}

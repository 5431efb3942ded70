//! The common scale on which changes and their intervals are drawn.

use super::{CodeRow, MetricRow, Scale};

impl MetricRow {
    /// The change and its interval as fractions of the base; `None` if the row reports a difference.
    #[must_use]
    pub fn on_scale(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let value = self.relative.filter(|_| self.scale == Some(Scale::Relative))?;
        Some((value, self.low.zip(self.high)))
    }
}

impl CodeRow {
    /// The difference, with an interval of two standard errors on either side.
    #[must_use]
    pub fn on_scale(&self) -> (f64, Option<(f64, f64)>) {
        (self.difference, Some((self.difference - 2.0 * self.error, self.difference + 2.0 * self.error)))
    }
}

/// Extent of the scale on either side of zero: the largest change, or the widest interval up to twice that.
#[must_use]
pub fn most(changes: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> f64 {
    let (mut value, mut end) = (0.0_f64, 0.0_f64);
    for (change, ends) in changes.filter(|(change, _)| change.is_finite()) {
        value = value.max(change.abs());
        let sides = ends.into_iter().flat_map(|(low, high)| [low.abs(), high.abs()]);
        end = sides.filter(|side| side.is_finite()).fold(end, f64::max);
    }
    // One wide interval must not shrink all others to a point.
    if value > 0.0 { end.clamp(value, value * 2.0) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wide_interval_makes_no_point_of_the_others() {
        let scale = most([(0.1, Some((0.05, 0.15))), (0.02, Some((-3.0, 3.0))), (f64::NAN, None)].into_iter());
        assert!((scale - 0.2).abs() < 1e-12, "{scale}");
        assert_eq!((most([(0.0, Some((-1.0, 2.0)))].into_iter()), most(std::iter::empty())), (2.0, 0.0));
    }
}

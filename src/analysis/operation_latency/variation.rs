//! How the p99 of windows varies: fluctuation between successive windows, range over all of them, and the share of them
//! within an objective. A window without a p99 is left out.

/// `|p99(t) - p99(t-1)| / p99(t)` as a mean over successive windows; `None` if no two successive windows have a p99.
#[must_use]
pub fn fluctuation(p99: &[Option<f64>]) -> Option<f64> {
    let of_pair = |pair: &[Option<f64>]| {
        let (before, now) = pair[0].zip(pair[1])?;
        Some((now - before).abs() / now).filter(|moved| moved.is_finite())
    };
    mean(p99.windows(2).filter_map(of_pair))
}

/// Highest minus lowest over the median; `None` of fewer than two.
#[must_use]
pub fn range(p99: &[Option<f64>]) -> Option<f64> {
    let mut values: Vec<f64> = p99.iter().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    let [first, .., last] = values[..] else { return None };
    let middle = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some((last - first) / middle).filter(|range| range.is_finite())
}

/// The share of windows whose p99 is at most the objective (experience availability); `None` if no window has one.
#[must_use]
pub fn availability(p99: &[Option<f64>], slo: f64) -> Option<f64> {
    mean(p99.iter().flatten().map(|value| f64::from(u8::from(*value <= slo))))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_fluctuation_is_relative_to_the_present_window() {
        let of = |p99: &[f64]| fluctuation(&p99.iter().copied().map(Some).collect::<Vec<_>>());
        assert!((of(&[100.0, 120.0]).unwrap() - 0.1667).abs() < 5e-5);
        assert!((of(&[120.0, 100.0]).unwrap() - 0.2).abs() < 1e-12);
        assert_eq!((of(&[100.0]), of(&[]), of(&[5.0, 0.0])), (None, None, None));
        assert_eq!(fluctuation(&[Some(100.0), None, Some(120.0)]), None, "not across a gap");
    }

    #[test]
    fn a_range_is_relative_to_the_median() {
        assert_eq!(range(&[Some(2.0), None, Some(4.0), Some(8.0), Some(4.0)]), Some(1.5));
        assert_eq!(range(&[Some(3.0), Some(5.0)]), Some(0.5));
        assert_eq!((range(&[Some(3.0)]), range(&[Some(0.0), Some(0.0)])), (None, None));
    }

    #[test]
    fn an_interval_is_available_up_to_the_objective() {
        assert_eq!(availability(&[Some(4.0), Some(5.0), None, Some(6.0), Some(1.0)], 5.0), Some(0.75));
        assert_eq!(availability(&[None], 5.0), None);
    }
}

//! Location and scale that a few extreme values do not move.

/// The standard deviation of normal values over their median absolute deviation.
const MAD_TO_SIGMA: f64 = 1.4826;

/// The median; sorts the values. `None` if there are none.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(low + (high - low) / 2.0)
}

/// An estimate of the standard deviation from the median absolute deviation from the centre. `None` without values.
#[must_use]
pub fn robust_sd(values: &[f64], centre: f64) -> Option<f64> {
    let mut apart: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&mut apart).map(|middle| MAD_TO_SIGMA * middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extreme_value_moves_neither() {
        assert_eq!(median(&mut [3.0, 1.0, 1e9, 2.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
        assert_eq!(robust_sd(&[1.0, 2.0, 3.0, 4.0, 1e9], 3.0), Some(1.4826));
        assert_eq!(robust_sd(&[], 0.0), None);
    }
}

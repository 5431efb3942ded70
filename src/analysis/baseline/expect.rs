//! What a quantity usually is, so that a few odd windows neither move the centre nor widen the band.
//! It never believes a spread below what the counter can resolve or such quantities are known to vary by.

use super::Expected;
use crate::analysis::MetricUnit;
use crate::analysis::compare::{Quantity, QuantityUnit};

/// Makes the median absolute deviation the standard deviation of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Windows that must have measured a quantity.
const LEAST_MEASURED: usize = 5;
/// Shares of time partly come from clocks that tick every 10 ms, and a share near nothing is mostly such ticks.
const SHARE_FLOOR: f64 = 0.005;

/// The expectation from one quantity's cells in `windows` windows; `None` where too few of them measured it.
pub(super) fn expect(quantity: Quantity, cells: &[[f64; 2]], windows: usize) -> Option<Expected> {
    let valued = cells.iter().filter(|[_, below]| *below > 0.0).map(|[above, below]| above / below);
    let mut values: Vec<f64> = valued.filter(|value| value.is_finite()).collect();
    if values.len() < LEAST_MEASURED || values.len() * 2 < windows {
        return None;
    }
    let centre = median(&mut values)?;
    let (low, high) = (values[0], values[values.len() - 1]);
    let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let measured = MAD_TO_SIGMA * median(&mut distances)?;
    let spread = measured.max(floor(quantity, cells, centre));
    Some(Expected { quantity, windows: values.len(), centre, spread, low, high })
}

/// The least spread to believe.
fn floor(quantity: Quantity, cells: &[[f64; 2]], centre: f64) -> f64 {
    let usual = quantity.usual_noise() * centre.abs();
    let resolution = match quantity.unit {
        _ if quantity.is_share() => SHARE_FLOOR,
        // Counts come one at a time: so many of them vary by their square root, and none may have been one.
        QuantityUnit::Of(MetricUnit::PerSecond | MetricUnit::Ratio) => counted(cells).unwrap_or(0.0),
        _ => 0.0,
    };
    // No spread at all would make any deviation an infinite one.
    usual.max(resolution).max(f64::MIN_POSITIVE)
}

fn counted(cells: &[[f64; 2]]) -> Option<f64> {
    let of = |at: usize| median(&mut cells.iter().map(|cell| cell[at]).collect::<Vec<_>>());
    let (count, over) = (of(0)?, of(1)?);
    (over > 0.0).then(|| count.max(1.0).sqrt() / over)
}

/// Sorts the values; `None` of nothing.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(low + (high - low) / 2.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::compare::{PRIMARY, quantities};

    fn quantity(name: &str) -> Quantity {
        quantities().into_iter().find(|quantity| quantity.name == name).unwrap()
    }

    fn of(name: &str, values: &[f64], below: f64) -> Option<Expected> {
        let cells: Vec<[f64; 2]> = values.iter().map(|value| [value * below, below]).collect();
        expect(quantity(name), &cells, values.len())
    }

    #[test]
    fn a_few_odd_windows_move_neither_the_centre_nor_the_band() {
        let mut values: Vec<f64> = (0..41).map(|at| 5000.0 + 20.0 * f64::from(at - 20)).collect();
        let clean = of(PRIMARY, &values, 1e5).unwrap();
        assert!((clean.centre - 5000.0).abs() < 1e-6 && (clean.spread - 1.4826 * 200.0).abs() < 1e-6, "{clean:?}");
        values.extend([50_000.0, 90_000.0]);
        let odd = of(PRIMARY, &values, 1e5).unwrap();
        assert!((odd.centre - 5020.0).abs() < 1e-6 && odd.spread < 1.4826 * 240.0, "{odd:?}");
        assert!((odd.low - 4600.0).abs() < 1e-6 && (odd.high - 90_000.0).abs() < 1e-3);
    }

    #[test]
    fn no_spread_is_believed_below_what_can_be_resolved_or_is_usual() {
        for (name, value, below, floor) in [
            (PRIMARY, 5000.0, 1e5, 100.0),
            ("path_length", 1000.0, 1e5, 5.0),
            ("run_queue_delay", 0.0, 4.0, 0.005),
            ("minor_faults", 0.0, 1.0, 1.0),
            ("voluntary_switches", 400.0, 1.0, 20.0),
        ] {
            let expected = of(name, &[value; 30], below).unwrap();
            assert!((expected.spread / floor - 1.0).abs() < 1e-9, "{name}: {expected:?}");
        }
    }

    #[test]
    fn what_was_measured_in_too_few_windows_is_not_expected() {
        let cells = [[5.0, 1.0]; 9];
        assert!(expect(quantity(PRIMARY), &cells, 20).is_none());
        assert!(expect(quantity(PRIMARY), &cells, 18).is_some());
        assert!(expect(quantity(PRIMARY), &cells[..4], 4).is_none());
        assert!(expect(quantity(PRIMARY), &[[5.0, 0.0]; 9], 9).is_none(), "nothing to divide by");
    }
}

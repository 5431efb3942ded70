//! Round numbers for axes: few digits for values, clock steps for times.

use super::Origin;
use crate::units::Nanos;

/// Columns between two labels of the time axis.
const APART: u64 = 12;
const SECOND: u64 = 1_000_000_000;
/// Clock steps, from a tenth of a second to a day.
const STEPS: [u64; 20] = [
    SECOND / 10,
    SECOND / 5,
    SECOND / 2,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    300 * SECOND,
    600 * SECOND,
    900 * SECOND,
    1_800 * SECOND,
    3_600 * SECOND,
    7_200 * SECOND,
    14_400 * SECOND,
    43_200 * SECOND,
    86_400 * SECOND,
];

/// Values from zero to the first one not below `highest`, in at most `steps` even round steps.
pub fn values(highest: f64, steps: usize) -> Vec<f64> {
    let highest = if highest.is_finite() && highest > 1e-300 { highest.min(1e300) } else { 1.0 };
    let steps = steps.max(1);
    let decade = 10_f64.powf((highest / steps as f64).log10().floor());
    let fits = |step: &f64| step * steps as f64 >= highest * (1.0 - 1e-9);
    let step =
        [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0].map(|part| part * decade).into_iter().find(fits).unwrap_or(10.0 * decade);
    let count = ((highest / step) * (1.0 - 1e-9)).ceil().max(1.0) as usize;
    (0..=count.min(steps)).map(|at| at as f64 * step).collect()
}

/// Moments at round distances from the origin, with labels, as many as fit into `columns`.
pub fn times(span: (Nanos, Nanos), origin: Origin, columns: u16) -> Vec<(Nanos, String)> {
    let length = (span.1 - span.0).0;
    let labels = (u64::from(columns) / APART).max(1);
    let Some(step) = STEPS.into_iter().find(|step| length / step <= labels) else { return Vec::new() };
    match origin {
        Origin::Start(start) => {
            let first = (span.0 - start).0.div_ceil(step);
            let last = (span.1 - start).0 / step;
            let moment = |at: u64| (start + Nanos(at * step), since(at * step, step));
            (first..=last).map(moment).collect()
        }
        Origin::Now(now) => {
            let (first, last) = ((now - span.1).0.div_ceil(step), (now - span.0).0 / step);
            let moment = |at: u64| (now - Nanos(at * step), ago(at * step, step));
            (first..=last).rev().map(moment).collect()
        }
    }
}

/// `12.5 s` for short steps, else `1:30` or `2:00:00`.
fn since(ns: u64, step: u64) -> String {
    let seconds = ns / SECOND;
    match (step < SECOND, seconds) {
        (true, _) => format!("{:.1} s", ns as f64 / SECOND as f64),
        (false, 0..3600) => format!("{}:{:02}", seconds / 60, seconds % 60),
        (false, _) => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

/// `-10 s`, `-1:30`, `-2 min`, `-3 h`, `now`.
fn ago(ns: u64, step: u64) -> String {
    let seconds = ns / SECOND;
    match (ns, step) {
        (0, _) => "now".to_string(),
        (_, ..SECOND) => format!("-{:.1} s", ns as f64 / SECOND as f64),
        _ if step.is_multiple_of(3600 * SECOND) => format!("-{} h", seconds / 3600),
        _ if step.is_multiple_of(60 * SECOND) => format!("-{} min", seconds / 60),
        _ if seconds >= 120 => format!("-{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("-{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_rise_in_round_steps_to_the_first_not_below_the_highest() {
        for (highest, steps, expected) in [
            (3.6e9, 4, &[0.0, 1e9, 2e9, 3e9, 4e9][..]),
            (1.0, 5, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (1.0, 4, &[0.0, 0.25, 0.5, 0.75, 1.0]),
            (7.3, 3, &[0.0, 2.5, 5.0, 7.5]),
            (0.000_021, 2, &[0.0, 0.000_015, 0.000_03]),
            (3.0e9, 2, &[0.0, 1.5e9, 3.0e9]),
            (0.0, 2, &[0.0, 0.5, 1.0]),
            (f64::NAN, 1, &[0.0, 1.0]),
        ] {
            let ticks = values(highest, steps);
            assert_eq!(ticks.len(), expected.len(), "{highest}: {ticks:?}");
            assert!(ticks.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()), "{highest}: {ticks:?}");
        }
    }

    #[test]
    fn times_are_round_from_the_start_or_back_from_now() {
        let seconds = |value: f64| Nanos((value * 1e9) as u64);
        let labels = |from: f64, to: f64, origin, columns| {
            times((seconds(from), seconds(to)), origin, columns).into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        let start = Origin::Start(Nanos(0));
        assert_eq!(labels(0.0, 60.0, start, 60), ["0:00", "0:15", "0:30", "0:45", "1:00"]);
        assert_eq!(labels(3.0, 4.0, start, 60), ["3.0 s", "3.2 s", "3.4 s", "3.6 s", "3.8 s", "4.0 s"]);
        assert_eq!(labels(3500.0, 7300.0, start, 30), ["1:00:00", "1:30:00", "2:00:00"]);
        let now = Origin::Now(seconds(90.5));
        assert_eq!(labels(60.5, 90.5, now, 40), ["-30 s", "-20 s", "-10 s", "now"]);
        assert_eq!(labels(0.0, 90.5, now, 12), ["-1 min", "now"]);
        assert_eq!(labels(0.0, 80.5, now, 40), ["-90 s", "-60 s", "-30 s"], "now is not shown");
    }

    proptest! {
        #[test]
        fn axes_are_bounded_whatever_the_numbers(highest in prop::num::f64::ANY, steps in 0_usize..9, from: u64, length: u64, columns in 0_u16..400) {
            let ticks = values(highest, steps);
            prop_assert!((2..=10).contains(&ticks.len()) && ticks.iter().all(|value| value.is_finite()));
            let span = (Nanos(from / 2), Nanos(from / 2 + length / 2));
            for origin in [Origin::Start(Nanos(0)), Origin::Now(span.1)] {
                let count = times(span, origin, columns).len();
                prop_assert!(count <= usize::from(columns / 12).max(1) + 2, "{count}");
            }
        }
    }
}

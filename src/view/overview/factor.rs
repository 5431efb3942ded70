//! A number of the overview with its history, its change, its formula, and the reason if it is missing.

use super::past::WindowMetrics;
use crate::model::{Measure, MetricId, Unit};
use crate::units::Nanos;
use serde::Serialize;

/// The difference between a value and the one it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Value before.
    pub before: f64,
    /// Value now.
    pub after: f64,
    /// Standard error of the difference: from the scatter of windows for a counter, from the number of samples for a
    /// share of them. `None` without enough data.
    pub error: Option<f64>,
}

impl Change {
    /// The relative change; `None` if the value was zero before.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        (self.before != 0.0).then(|| self.after / self.before - 1.0)
    }

    /// Whether the change exceeds two standard errors. Without an error, any difference counts.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let difference = (self.after - self.before).abs();
        self.error.map_or(difference > 0.0, |error| difference > 2.0 * error)
    }
}

/// A number of the overview.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// Which metric.
    #[serde(rename = "name")]
    pub id: MetricId,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What is counted, shown after the unit: `instr`, `op/s`; mostly empty.
    pub noun: &'static str,
    /// Its value in the selected time, or why it is missing.
    pub value: Measure<f64>,
    /// Its value in each window of the selected time, with the end of the window.
    pub history: Vec<(Nanos, Option<f64>)>,
    /// Its change; `None` without a comparison, or if either value is unknown.
    pub change: Option<Change>,
    /// Its share of the change in time per operation; 1 is all of it.
    pub share_of_change: Option<f64>,
    /// How it is computed from counts.
    pub formula: String,
}

/// The data a factor is computed from: the whole time, its windows, and the same for the other side of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'a> {
    pub now: &'a WindowMetrics,
    pub past: &'a [WindowMetrics],
    pub against: Option<(&'a WindowMetrics, &'a [WindowMetrics])>,
}

/// The description of a factor, without its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct FactorKind {
    pub id: MetricId,
    pub label: &'static str,
    pub unit: Unit,
    pub noun: &'static str,
}

impl Factor {
    /// The factor whose value `of` reads from each window.
    pub(super) fn new(
        kind: FactorKind,
        formula: &str,
        from: &Sources<'_>,
        of: impl Fn(&WindowMetrics) -> Measure<f64>,
    ) -> Factor {
        let value = of(from.now);
        let known = |context: &WindowMetrics| of(context).value().copied();
        let history: Vec<_> = from.past.iter().map(|context| (context.window.to, known(context))).collect();
        let change = from.against.and_then(|(then, past)| {
            let scatter = |values: Vec<f64>| error_of_mean(&values);
            let now = scatter(history.iter().filter_map(|(_, value)| *value).collect());
            let before = scatter(past.iter().filter_map(known).collect());
            let error = now.zip(before).map(|(now, before)| now.hypot(before));
            Some(Change { before: known(then)?, after: *value.value()?, error })
        });
        let FactorKind { id, label, unit, noun } = kind;
        Factor { id, label, unit, noun, value, history, change, share_of_change: None, formula: formula.to_string() }
    }

    /// A metric, with a label that fits its place.
    pub(super) fn metric(id: MetricId, label: &'static str, from: &Sources<'_>) -> Factor {
        let found = from.now.metrics.iter().find(|metric| metric.id == id);
        let formula = found.map_or("", |metric| metric.formula.as_str());
        let kind = FactorKind { id, label, unit: id.def().unit, noun: "" };
        Factor::new(kind, formula, from, |context| context.metric(id))
    }
}

/// Standard error of the mean over windows; `None` for fewer than three windows, whose scatter is meaningless.
fn error_of_mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_clear_beyond_two_standard_errors() {
        for (before, after, error, clear, relative) in [
            (10.0, 12.0, Some(0.9), true, Some(0.2)),
            (10.0, 12.0, Some(1.1), false, Some(0.2)),
            (10.0, 12.0, None, true, Some(0.2)),
            (0.0, 0.0, Some(0.0), false, None),
            (0.0, 1.0, None, true, None),
            (4.0, 4.0, None, false, Some(0.0)),
        ] {
            let change = Change { before, after, error };
            assert_eq!(change.is_clear(), clear, "{change:?}");
            assert_eq!(change.relative().map(|value| (value * 1e9).round() / 1e9), relative, "{change:?}");
        }
    }

    #[test]
    fn the_error_of_a_mean_needs_three_windows() {
        assert_eq!(error_of_mean(&[1.0, 2.0]), None);
        assert_eq!(error_of_mean(&[2.0, 4.0, 6.0]), Some((4.0_f64 / 3.0).sqrt()));
        assert_eq!(error_of_mean(&[5.0; 4]), Some(0.0));
    }
}

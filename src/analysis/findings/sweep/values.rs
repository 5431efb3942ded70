//! Values of runs and points as the rules read them: means with the scatter of their runs, and their change from the
//! base. Rules call it growth only if the difference exceeds the scatter.

use super::limits;
use crate::analysis::sweep::{Estimate, Point, Run};
use crate::analysis::{Cause, value_of};
use crate::model::{Measure, MetricId, Why};

/// A mean with its standard error; the error is 0 where unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub value: f64,
    pub error: f64,
}

impl Mean {
    /// The mean over the runs of a width; `None` without runs.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let value = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|one| (one - value).powi(2)).sum::<f64>();
        let error = if values.len() < 2 { 0.0 } else { (square / (count - 1.0) / count).sqrt() };
        Some(Mean { value, error })
    }
}

/// The margin is two standard errors, as many as [`Change::grew`] requires.
impl From<Estimate> for Mean {
    fn from(estimate: Estimate) -> Mean {
        Mean { value: estimate.mean, error: estimate.margin() / limits::ERRORS }
    }
}

/// A number at the base and here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub base: Mean,
    pub here: Mean,
}

impl Change {
    pub fn amount(&self) -> f64 {
        self.here.value - self.base.value
    }

    /// Ratio to the base; `None` if the base is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.base.value > 0.0).then(|| self.here.value / self.base.value)
    }

    /// Whether it grew by that factor; any growth from zero does.
    pub fn grew_by_factor(&self, factor: f64) -> bool {
        self.here.value > 0.0 && self.here.value >= self.base.value * factor
    }

    fn error(&self) -> f64 {
        self.base.error.hypot(self.here.error)
    }

    /// Whether it grew, where that it did is a reason.
    ///
    /// # Errors
    /// `RunsScatter` where it grew and the runs differ by as much.
    pub fn grew_beyond_scatter(&self) -> Result<bool, Why> {
        if !self.grew() && self.amount() > 0.0 { Err(Why::RunsScatter) } else { Ok(self.grew()) }
    }

    /// Whether it grew by more than noise.
    pub fn grew(&self) -> bool {
        self.amount() > limits::ERRORS * self.error()
    }
}

/// Whether a width lost so much that even the upper end of its margin is below what counts as scaling.
pub(super) fn lost(point: &Point) -> bool {
    let efficiency = point.numbers.efficiency.value();
    efficiency.is_some_and(|efficiency| efficiency.mean + efficiency.margin() < limits::SCALES)
}

/// Whether it lost on average.
pub(super) fn seems_lost(point: &Point) -> bool {
    point.numbers.efficiency.value().is_some_and(|efficiency| efficiency.mean < limits::SCALES)
}

/// The mean over the runs that have the value.
pub(super) fn mean(point: &Point, of: impl Fn(&Run) -> Result<f64, Why>) -> Result<Mean, Why> {
    let (mut values, mut reason) = (Vec::new(), Why::NotRecorded);
    for run in &point.runs {
        match of(run) {
            Ok(value) => values.push(value),
            Err(why) => reason = why,
        }
    }
    Mean::of(&values).ok_or(reason)
}

/// A metric of a run.
pub(super) fn metric(run: &Run, id: MetricId) -> Result<f64, Why> {
    known(value_of(&run.metrics, id))
}

/// Operations of a run; fails with `Idle` if there are none.
pub(super) fn ops(run: &Run) -> Result<f64, Why> {
    let ops = known(run.totals.ops)?;
    if ops > 0.0 { Ok(ops) } else { Err(Why::Idle) }
}

/// Seconds that the workers of a run were blocked by a cause.
pub(super) fn seconds_blocked(run: &Run, cause: Cause) -> f64 {
    run.split.blocked.iter().filter(|(known, _)| *known == cause).map(|(_, seconds)| seconds).sum()
}

/// Converts a measure to a result.
pub(super) fn known(measure: Measure<f64>) -> Result<f64, Why> {
    match measure {
        Measure::Known { value, .. } => Ok(value),
        Measure::Missing(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_within_the_scatter_of_runs_is_none() {
        let change = |base: &[f64], here: &[f64]| {
            let mean = |values| Mean::of(values).unwrap_or(Mean { value: 0.0, error: 0.0 });
            Change { base: mean(base), here: mean(here) }
        };
        assert!(change(&[10.0, 10.1, 9.9], &[11.0, 11.1, 10.9]).grew());
        assert!(!change(&[10.0, 12.0, 8.0], &[11.0, 13.0, 9.0]).grew());
        assert!(change(&[10.0], &[11.0]).grew());
        assert!(!change(&[11.0], &[10.0]).grew());
        assert_eq!(Mean::of(&[]), None);
    }

    #[test]
    fn anything_is_many_times_nothing_but_nothing() {
        let from =
            |base, here| Change { base: Mean { value: base, error: 0.0 }, here: Mean { value: here, error: 0.0 } };
        assert!(
            from(0.0, 1.0).grew_by_factor(2.0)
                && !from(0.0, 0.0).grew_by_factor(2.0)
                && !from(1.0, 1.9).grew_by_factor(2.0)
        );
        assert_eq!([from(0.0, 1.0).ratio(), from(2.0, 3.0).ratio()], [None, Some(1.5)]);
    }
}

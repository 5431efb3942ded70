//! Values of runs and points, as the rules read them.

use super::limits;
use super::mean::Mean;
use crate::analysis::sweep::{Point, Run};
use crate::analysis::{Cause, value_of};
use crate::model::{Measure, MetricId, Why};

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

//! The one quantity that a slowdown is headed by: it got worse, and the leading cause acts through it.

use super::alarm_criteria::ALARM_CRITERIA;
use super::reference::WAITS;
use super::types::{Cause, Diagnosis, QuantityDeviation};
use crate::analysis::diff::{PRIMARY, RATE};
use crate::model::MetricId;

/// Quantities that make work take longer than its CPU time, the plainest first.
const LONGER: [MetricId; 8] = [
    MetricId::ThrottledShare,
    MetricId::RunQueueDelay,
    MetricId::RunQueueDelayPerOp,
    MetricId::BlockIoDelay,
    MetricId::StealShare,
    MetricId::Cpi,
    MetricId::LatencyP99,
    MetricId::PsiIoSome,
];

/// The quantities that a cause raises, the plainest first; none where the cost of an operation shows it.
fn raised_by(cause: Cause) -> &'static [MetricId] {
    match cause {
        Cause::Throttling => &[MetricId::ThrottledShare],
        Cause::RunQueue => &[MetricId::RunQueueDelay, MetricId::RunQueueDelayPerOp],
        Cause::Io => &[MetricId::BlockIoDelay, MetricId::PsiIoSome],
        Cause::Steal => &[MetricId::StealShare],
        Cause::Waiting => &[MetricId::LatencyP99, MetricId::BlockedShare],
        _ => &[],
    }
}

impl Diagnosis {
    fn get(&self, id: MetricId) -> Option<&QuantityDeviation> {
        self.quantities.iter().find(|it| it.quantity.id == id)
    }

    fn risen(&self, id: MetricId) -> Option<&QuantityDeviation> {
        self.get(id).filter(|it| it.moved && it.now > it.expected)
    }

    /// The quantity that got worse: the one that this cause raises, else the cost of an operation, else the first wait.
    #[must_use]
    pub fn worse(&self, cause: Cause) -> Option<&QuantityDeviation> {
        let cost = [self.primary].into_iter().filter(|id| [PRIMARY, MetricId::Cpi].contains(id));
        raised_by(cause).iter().copied().chain(cost).chain(LONGER).find_map(|id| self.risen(id))
    }

    /// The quantity that is furthest out of its band on the worse side, whether it counts as moved or not.
    fn furthest(&self) -> Option<&QuantityDeviation> {
        let can_alarm = |it: &&QuantityDeviation| ALARM_CRITERIA.iter().any(|criterion| criterion.id == it.quantity.id);
        let risen = self.quantities.iter().filter(can_alarm).filter(|it| it.now > it.expected);
        risen.max_by(|a, b| a.deviations.total_cmp(&b.deviations))
    }

    /// The quantity that heads unusual windows: the one that the likeliest cause raised, else the furthest out.
    #[must_use]
    pub fn most_unusual(&self) -> Option<&QuantityDeviation> {
        self.evidence.first().and_then(|lead| self.worse(lead.cause)).or_else(|| self.furthest())
    }

    /// Fewer operations per second than usual.
    #[must_use]
    pub fn fewer(&self) -> Option<&QuantityDeviation> {
        self.get(RATE).filter(|rate| rate.moved && rate.now < rate.expected)
    }

    /// The time per operation, running and waiting, over its usual value; `None` if its parts are unknown.
    #[must_use]
    pub fn time_ratio(&self) -> Option<f64> {
        let cost = self.get(PRIMARY).or_else(|| self.get(MetricId::Cpi)).map_or(1.0, |it| it.now / it.expected);
        let running = self.get(MetricId::Utilisation)?;
        let longer = |side: fn(&QuantityDeviation) -> f64| {
            let waited: f64 = WAITS.into_iter().filter_map(|id| self.get(id)).map(side).sum();
            1.0 + waited.max(0.0) / side(running)
        };
        let ratio = cost * longer(|it| it.now) / longer(|it| it.expected);
        ratio.is_finite().then_some(ratio)
    }

    /// Whether operations take longer, or fewer are completed; a longer wait alone may be made up for.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        let tail = self.risen(MetricId::LatencyP99).is_some();
        tail || self.fewer().is_some() || self.time_ratio().is_none_or(|ratio| ratio >= 1.0)
    }
}

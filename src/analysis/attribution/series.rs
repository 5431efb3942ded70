//! Summaries of a session's windows that neighbours are correlated with: how slow the target was, and which neighbours
//! ran. They contain only what the correlation needs.

use super::deviation::WindowVerdict;
use super::settings::Settings;
use super::types::{Cause, NeighbourWindow, Observed};
use crate::analysis::diff::PRIMARY;
use crate::model::{MetricId, NeighbourId};
use crate::units::Nanos;

/// Summary of a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Past {
    /// When it ended.
    pub to: Nanos,
    /// The cost of an operation over the highest usual one; `None` if it was not judged.
    pub cost: Option<f64>,
    /// The wait ratio over the highest usual one.
    pub wait: Option<f64>,
    /// Whether it was outside the band of any test.
    pub unusual: bool,
    /// What each neighbour used.
    pub neighbours: Vec<NeighbourWindow>,
    /// The CPUs the target ran on.
    pub cpus: Vec<u32>,
}

impl Past {
    pub fn of(judged: &WindowVerdict, seen: Observed, settings: &Settings) -> Past {
        let cost = [PRIMARY, MetricId::Cpi]
            .iter()
            .find_map(|id| judged.get(*id))
            .map(|held| held.value / (held.expected.centre + held.expected.reach(settings.sigmas)));
        let wait = judged.stretch.map(|stretch| stretch.now / (stretch.usual + settings.sigmas * stretch.spread));
        let judged_one = judged.is_judged();
        Past {
            to: seen.window.to,
            cost: cost.filter(|cost| judged_one && cost.is_finite()),
            wait: wait.filter(|wait| judged_one && wait.is_finite()),
            unusual: !judged.outside.is_empty(),
            neighbours: seen.neighbours,
            cpus: seen.cpus,
        }
    }

    /// How slow the target was in the quantity that this cause affects.
    pub fn excess(&self, cause: Cause) -> Option<f64> {
        if is_wait(cause) { self.wait } else { self.cost.or(self.wait) }
    }

    pub fn of_neighbour(&self, id: NeighbourId) -> Option<&NeighbourWindow> {
        self.neighbours.iter().find(|used| used.neighbour == id)
    }
}

/// Whether a cause makes the target wait rather than run longer.
pub(super) fn is_wait(cause: Cause) -> bool {
    matches!(cause, Cause::Throttling | Cause::RunQueue | Cause::Io | Cause::Waiting)
}

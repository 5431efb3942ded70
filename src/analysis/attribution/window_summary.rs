//! Summaries of a session's windows that neighbours are correlated with: how slow the target was, and which neighbours
//! ran. They contain only what the correlation needs. A query puts them to the search for suspects.

use super::types::{Cause, NeighbourActivity, Settings, WindowObservation};
use super::window_verdict::WindowVerdict;
use crate::analysis::diff::PRIMARY;
use crate::model::{HostFacts, MetricId, NeighbourDef, NeighbourId};
use crate::units::Nanos;

/// Summary of a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WindowSummary {
    /// When it ended.
    pub to: Nanos,
    /// The cost of an operation over the highest usual one; `None` if it was not judged.
    pub cost: Option<f64>,
    /// The wait ratio over the highest usual one.
    pub wait: Option<f64>,
    /// Whether it was outside the band of any criterion.
    pub unusual: bool,
    /// What each neighbour used.
    pub neighbours: Vec<NeighbourActivity>,
    /// The CPUs the target ran on.
    pub cpus: Vec<u32>,
}

impl WindowSummary {
    pub fn of(verdict: &WindowVerdict, observed: WindowObservation, settings: &Settings) -> WindowSummary {
        let cost = [PRIMARY, MetricId::Cpi]
            .iter()
            .find_map(|id| verdict.get(*id))
            .map(|deviation| deviation.value / (deviation.expected.centre + deviation.expected.reach(settings.sigmas)));
        let wait = verdict
            .wait_ratio
            .map(|wait_ratio| wait_ratio.now / (wait_ratio.usual + settings.sigmas * wait_ratio.spread));
        let is_judged = verdict.is_judged();
        WindowSummary {
            to: observed.window.to,
            cost: cost.filter(|cost| is_judged && cost.is_finite()),
            wait: wait.filter(|wait| is_judged && wait.is_finite()),
            unusual: !verdict.outside.is_empty(),
            neighbours: observed.neighbours,
            cpus: observed.cpus,
        }
    }

    /// How slow the target was in the quantity that this cause affects.
    pub fn excess(&self, cause: Cause) -> Option<f64> {
        if is_wait(cause) { self.wait } else { self.cost.or(self.wait) }
    }

    pub fn of_neighbour(&self, id: NeighbourId) -> Option<&NeighbourActivity> {
        self.neighbours.iter().find(|used| used.neighbour == id)
    }
}

/// Whether a cause makes the target wait rather than run longer.
pub(super) fn is_wait(cause: Cause) -> bool {
    matches!(cause, Cause::Throttling | Cause::RunQueue | Cause::Io | Cause::Waiting)
}

/// The slowdown to find suspects for.
#[derive(Clone, Copy)]
pub(super) struct SuspectQuery<'a> {
    pub cause: Cause,
    /// The windows, oldest first, without those that were not judged.
    pub summaries: &'a [&'a WindowSummary],
    /// For each window, whether it belongs to the slowdown.
    pub slow: &'a [bool],
    pub neighbours: &'a [NeighbourDef],
    pub facts: &'a HostFacts,
    pub settings: &'a Settings,
}

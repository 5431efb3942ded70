//! The windows of a session that neighbours are held against: how slow the target was, and who ran.
//! It never holds more than the correlation needs.

use super::held::Judged;
use super::settings::Settings;
use super::types::{Cause, NeighbourWindow, Observed};
use crate::analysis::compare::PRIMARY;
use crate::model::NeighbourId;
use crate::units::Nanos;

/// A window in short.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Past {
    /// When it ended.
    pub to: Nanos,
    /// The cost of an operation over the highest usual one; `None` where it was not judged.
    pub cost: Option<f64>,
    /// The time the work took over the highest usual one.
    pub wait: Option<f64>,
    /// Whether it lay outside of any test.
    pub unusual: bool,
    /// Who ran.
    pub neighbours: Vec<NeighbourWindow>,
    /// Where the target ran.
    pub cpus: Vec<u32>,
}

impl Past {
    pub fn of(judged: &Judged, seen: Observed, settings: &Settings) -> Past {
        let cost = [PRIMARY, "cpi"]
            .iter()
            .find_map(|name| judged.get(name))
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

    /// How slow the target was, in what this cause makes slow.
    pub fn excess(&self, cause: Cause) -> Option<f64> {
        if is_wait(cause) { self.wait } else { self.cost.or(self.wait) }
    }

    pub fn of_neighbour(&self, id: NeighbourId) -> Option<&NeighbourWindow> {
        self.neighbours.iter().find(|used| used.neighbour == id)
    }
}

/// Whether a cause makes the target wait, rather than run longer.
pub(super) fn is_wait(cause: Cause) -> bool {
    matches!(cause, Cause::Throttling | Cause::RunQueue | Cause::Io | Cause::Waiting)
}

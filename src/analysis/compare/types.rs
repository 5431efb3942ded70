//! The plain data that the parts of a comparison hand on.
//! It never computes.

use super::digest::Digest;
use super::effect::Effect;
use super::expect::{Expectation, Expected};
use super::functions::Functions;
use super::load::Load;
use super::quantity::Quantity;
use super::simpson::Guard;
use super::unlike::Unlike;
use crate::analysis::{Law, Slowdown};
use crate::model::Measure;
use serde::Serialize;

/// How to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Of intervals and verdicts, below 1.
    pub confidence: f64,
    /// What is the same for all practical purposes, as a part of the base's value.
    pub margin: f64,
    /// Standard deviation between runs of one program, as a part, where no repeats measure it; `None`: nobody knows.
    pub noise: Option<f64>,
    /// What load is told by.
    pub load: LoadBy,
    /// What costs of functions are divided by.
    pub per: Per,
    /// Of the resampling.
    pub seed: u64,
    /// Comparisons made with the same base: all of them together are to be right with the confidence.
    pub comparisons: usize,
    /// What is expected to move.
    pub expect: Vec<Expectation>,
}

impl Default for Settings {
    fn default() -> Settings {
        let (confidence, margin) = (0.95, 0.02);
        let (load, per, expect) = (LoadBy::Auto, Per::Op, vec![]);
        Settings { confidence, margin, noise: None, load, per, seed: 1, comparisons: 1, expect }
    }
}

/// What tells how much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadBy {
    /// Whichever of the next two the cost depends on less within a recording.
    Auto,
    /// Operations per second: the work comes from outside.
    Operations,
    /// Busy CPUs: the program takes as much work as it can.
    Cores,
    /// Nothing: compare what there is.
    Off,
}

/// What costs of functions are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Operations.
    Op,
    /// Seconds of CPU time: how the CPU time is shared out, in nanoseconds.
    Cpu,
    /// Nothing but each other: shares of all samples.
    Share,
    /// Nothing: totals of recordings that did the same work.
    None,
}

/// One side of a comparison: a recording, or repeats of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What the user called it.
    pub label: String,
    /// The recordings, at least one.
    pub runs: Vec<Digest>,
}

/// What a change comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It grew, beyond chance.
    More,
    /// It shrank, beyond chance.
    Less,
    /// The same within the margin, which was shown and not assumed.
    Same,
    /// Neither a difference nor sameness is shown.
    Undecided,
}

/// One quantity compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which.
    pub quantity: Quantity,
    /// The base's value; of repeats their mean.
    pub base: Measure<f64>,
    /// The other's.
    pub new: Measure<f64>,
    /// The change; `None` where a value is missing.
    pub effect: Option<Effect>,
    /// Its interval, as [`Effect::change`] tells it.
    pub interval: Option<(f64, f64)>,
    /// Of single runs the interval of the change between these two recordings, by their windows alone.
    pub within: Option<(f64, f64)>,
    /// Of single runs the standard deviation between runs up to which the change would be beyond chance.
    pub noise_limit: Option<f64>,
    /// How probable so large a change is if there is none.
    pub p: Option<f64>,
    /// The same, corrected for the number of quantities of its family.
    pub corrected: Option<f64>,
    /// How probable it is, from 0.5 to 1, that the change has this direction: what SPEED calls one-sided confidence.
    pub one_sided: Option<f64>,
    /// The p of Mann and Whitney's test on repeats; `None` with too few for it ever to be small.
    pub rank_p: Option<f64>,
    /// The least change that four of five such comparisons would find, as [`Effect::change`] tells it.
    pub detectable: Option<f64>,
    /// Whether it was shown to be within the margin, whatever else it is.
    pub within_margin: bool,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Which of the numbers for the primary quantity to believe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lead {
    /// The recordings as they are.
    Raw,
    /// At the same load.
    LoadAdjusted,
    /// With the base's mixture of groups.
    Standardised,
}

/// The law on both sides, and what made the difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// The base's.
    pub base: Law,
    /// The other's.
    pub new: Law,
    /// The parts of the change of the time per operation and thread; `None` without operations.
    pub slowdown: Option<Slowdown>,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In what the two are not alike.
    pub unlike: Vec<Unlike>,
    /// The quantity that answers whether it became slower.
    pub primary: &'static str,
    /// The number to lead with: the primary quantity's change by [`Comparison::lead`].
    pub answer: Option<Change>,
    /// What the answer was taken from.
    pub lead: Lead,
    /// Every quantity as it is.
    pub changes: Vec<Change>,
    /// What is known of the load.
    pub load: Load,
    /// The costs at the same load; empty where the load needs no adjustment or allows none.
    pub adjusted: Vec<Change>,
    /// Groups whose mixture may hide or make a change.
    pub guards: Vec<Guard>,
    /// The factors of time per operation.
    pub factors: Factors,
    /// Which code became dearer; `None` without samples, or without operations where costs are per operation.
    pub functions: Option<Functions>,
    /// What became of what was expected.
    pub expectations: Vec<Expected>,
}

impl Comparison {
    /// The change of a quantity to believe: at the same load where that was worked out.
    #[must_use]
    pub fn change(&self, name: &str) -> Option<&Change> {
        let named = |change: &&Change| change.quantity.name == name;
        let answer = self.answer.iter().find(|change| named(change));
        answer.or_else(|| self.adjusted.iter().find(named)).or_else(|| self.changes.iter().find(named))
    }

    /// Whether that is its change at the same load.
    #[must_use]
    pub fn is_at_same_load(&self, name: &str) -> bool {
        self.adjusted.iter().any(|change| change.quantity.name == name)
    }
}

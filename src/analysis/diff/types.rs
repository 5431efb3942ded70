//! Plain data that the parts of a comparison exchange.

use super::digest::Digest;
use super::effect::Effect;
use super::expect::{Expectation, Expected};
use super::functions::Functions;
use super::load::Load;
use super::quantity::Quantity;
use super::simpson::SubgroupCheck;
use super::unlike::Unlike;
use crate::analysis::{Law, Slowdown};
use crate::model::Measure;
use serde::Serialize;

/// Options of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Confidence of intervals and verdicts, below 1.
    pub confidence: f64,
    /// Differences that count as the same in practice, as a fraction of the base's value.
    pub margin: f64,
    /// Standard deviation between runs of one program, as a fraction, if no repeats measure it; `None` if unknown.
    pub noise: Option<f64>,
    /// How load is measured.
    pub load: LoadBy,
    /// The divisor of functions' costs.
    pub per: Per,
    /// Seed of the resampling.
    pub seed: u64,
    /// Comparisons made with the same base: the confidence applies to all of them together.
    pub comparisons: usize,
    /// The expectations to check.
    pub expect: Vec<Expectation>,
}

impl Default for Settings {
    fn default() -> Settings {
        let (confidence, margin) = (0.95, 0.02);
        let (load, per, expect) = (LoadBy::Auto, Per::Op, vec![]);
        Settings { confidence, margin, noise: None, load, per, seed: 1, comparisons: 1, expect }
    }
}

/// How load is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadBy {
    /// Whichever of the next two the cost depends on less within a recording.
    Auto,
    /// Operations per second: work arrives from outside.
    Operations,
    /// Busy CPUs: the program takes as much work as it can.
    Cores,
    /// Not at all: compare the recordings as they are.
    Off,
}

/// The divisor of functions' costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Operations.
    Op,
    /// Seconds of CPU time: how CPU time is distributed, in nanoseconds.
    Cpu,
    /// All samples: costs are shares of them.
    Share,
    /// Nothing: totals of recordings that did the same work.
    None,
}

/// One side of a comparison: a recording, or repeats of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Its name, as the user gave it.
    pub label: String,
    /// The recordings, at least one.
    pub runs: Vec<Digest>,
}

/// The verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It grew, beyond chance.
    More,
    /// It shrank, beyond chance.
    Less,
    /// The same within the margin, which was shown rather than assumed.
    Same,
    /// Neither a difference nor sameness is shown.
    Undecided,
}

/// One quantity compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The quantity.
    pub quantity: Quantity,
    /// The base's value; for repeats, their mean.
    pub base: Measure<f64>,
    /// The other side's value.
    pub new: Measure<f64>,
    /// The change; `None` if a value is missing.
    pub effect: Option<Effect>,
    /// Its interval, in the form of [`Effect::change`].
    pub interval: Option<(f64, f64)>,
    /// For single runs, the interval of the change between these two recordings, by their windows alone.
    pub within: Option<(f64, f64)>,
    /// For single runs, the standard deviation between runs up to which the change would be beyond chance.
    pub noise_limit: Option<f64>,
    /// Probability of so large a change if there is none.
    pub p: Option<f64>,
    /// The same, corrected for the number of quantities of its family.
    pub corrected: Option<f64>,
    /// Probability, from 0.5 to 1, that the change has this direction; SPEED calls it one-sided confidence.
    pub one_sided: Option<f64>,
    /// p of the Mann-Whitney test on repeats; `None` with too few for it to become small.
    pub rank_p: Option<f64>,
    /// The smallest change that four of five such comparisons would find, in the form of [`Effect::change`].
    pub detectable: Option<f64>,
    /// Whether it was shown to be within the margin, whatever the verdict.
    pub within_margin: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// Which number for the primary quantity to trust first.
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

/// The law on both sides, and the parts of the difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// The base's law.
    pub base: Law,
    /// The other side's law.
    pub new: Law,
    /// The parts of the change of the time per operation and thread; `None` without operations.
    pub slowdown: Option<Slowdown>,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The conditions in which the two differ.
    pub unlike: Vec<Unlike>,
    /// The quantity that decides whether it became slower.
    pub primary: &'static str,
    /// The number to lead with: the primary quantity's change by [`Comparison::lead`].
    pub answer: Option<Change>,
    /// What the answer is based on.
    pub lead: Lead,
    /// The raw change of every quantity.
    pub changes: Vec<Change>,
    /// The load of both sides.
    pub load: Load,
    /// The costs at the same load; empty if no adjustment is needed or possible.
    pub adjusted: Vec<Change>,
    /// Groups whose mixture may hide or make a change.
    pub guards: Vec<SubgroupCheck>,
    /// The factors of time per operation.
    pub factors: Factors,
    /// Which code became more expensive; `None` without samples, or without operations if costs are per operation.
    pub functions: Option<Functions>,
    /// The results of the expectations.
    pub expectations: Vec<Expected>,
}

impl Comparison {
    /// The change of a quantity to trust: at the same load if that was computed.
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

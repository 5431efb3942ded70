//! The options of a comparison.

use super::expectation::Expectation;
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

//! Plain data of the results.

use crate::analysis::Part;
use crate::analysis::attribution::Cause;
use crate::model::{Control, Imposed, Measure, SlowdownMeasure, Unit};
use serde::Serialize;

/// The slowdown by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureChange {
    /// What it is a ratio of.
    pub measure: SlowdownMeasure,
    /// The ratio; above 1 is worse. `None` if it is missing.
    pub slowdown: Option<f64>,
    /// Its 95% interval; `None` with fewer than two pairs of runs.
    pub interval: Option<(f64, f64)>,
    /// Pairs of runs.
    pub pairs: u32,
    /// Why it is missing.
    pub missing: Option<String>,
}

/// What a cell's interval shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellVerdict {
    /// Slower beside the neighbour, beyond chance.
    Slower,
    /// Faster, beyond chance.
    Faster,
    /// The interval holds 1.
    WithinNoise,
    /// Fewer than two pairs of runs.
    Undecided,
    /// The slowdown is missing.
    Missing,
}

/// A part of the slowdown.
#[derive(Debug, Clone, PartialEq)]
pub struct CellCause {
    /// The cause.
    pub cause: Cause,
    /// By how much it lengthened the time per operation, as a share of that alone.
    pub growth: f64,
    /// Its share of all that lengthened it, 0 to 1.
    pub share: f64,
}

/// A victim beside a neighbour at a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The place of the victim.
    pub victim: usize,
    /// The place of the neighbour.
    pub neighbour: usize,
    /// The share of full load.
    pub load: f64,
    /// The control that held the neighbour.
    pub control: Option<Control>,
    /// Whether it was measured to try controls.
    pub what_if: bool,
    /// The measure that it leads with.
    pub primary: SlowdownMeasure,
    /// The slowdown by each measure that applies, the primary one included.
    pub measures: Vec<MeasureChange>,
    /// What the primary one shows.
    pub verdict: CellVerdict,
    /// The factors of the iron law; empty without operations.
    pub factors: Vec<Part>,
    /// What lengthened an operation, most first; empty unless it is slower.
    pub causes: Vec<CellCause>,
    /// How the load was imposed.
    pub imposed: Option<Imposed>,
    /// How often the neighbour was started again, in all of its runs.
    pub restarts: u32,
    /// Runs that do not count, with their reasons.
    pub failures: Vec<String>,
}

/// One number of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileValue {
    /// Stable name.
    pub name: &'static str,
    /// A short description.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its mean over the program's runs alone.
    pub value: Measure<f64>,
}

/// What a program needs and does, for schedulers.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramProfile {
    /// Its name.
    pub name: String,
    /// Its command.
    pub command: Vec<String>,
    /// Runs alone that the numbers are means of.
    pub runs: u32,
    /// Its numbers alone at full load.
    pub values: Vec<ProfileValue>,
    /// The mean slowdown that it causes as a neighbour; `None` if it was none.
    pub pressure: Option<f64>,
    /// The mean slowdown that it suffers as a victim; `None` if it was none.
    pub sensitivity: Option<f64>,
}

impl Cell {
    /// The slowdown by its primary measure.
    #[must_use]
    pub fn lead(&self) -> Option<&MeasureChange> {
        self.measures.iter().find(|change| change.measure == self.primary)
    }

    /// The slowdown by its primary measure, as a number.
    #[must_use]
    pub fn slowdown(&self) -> Option<f64> {
        self.lead()?.slowdown
    }
}

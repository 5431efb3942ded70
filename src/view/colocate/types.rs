//! Plain data of the view.

use crate::analysis::attribution::Cause;
use crate::analysis::colocate::CellVerdict as Verdict;
use crate::model::{Control, Imposed, Note, SlowdownMeasure, Unit};
use crate::view::Measured;
use serde::Serialize;

/// The result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColocateView {
    /// Version of this form.
    pub schema_version: u32,
    /// Version of the program that measured.
    pub tool: String,
    /// The machine's name.
    pub hostname: String,
    /// The machine in a line: CPU model, CPUs, kernel.
    pub machine: String,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Shares of full load, ascending.
    pub loads: Vec<f64>,
    /// Runs of each cell.
    pub repeats: u32,
    /// The seed of the random order.
    pub seed: u64,
    /// A victim is measured for this long, or until it ends.
    pub duration_s: f64,
    /// A neighbour runs this long before the victim starts.
    pub settle_s: f64,
    /// Runs that were planned, that count, and that failed.
    pub runs: RunCounts,
    /// Whether it was stopped before its last run.
    pub stopped: bool,
    /// The victims in order.
    pub victims: Vec<ProgramView>,
    /// The neighbours in order.
    pub neighbours: Vec<ProgramView>,
    /// The cells of the matrix: by load, victim, neighbour.
    pub cells: Vec<CellView>,
    /// The same cells again with and without controls.
    pub controls: Vec<CellView>,
    /// The profile of each program.
    pub profiles: Vec<ProfileView>,
    /// Fallbacks taken and limits reached.
    pub notes: Vec<Note>,
}

/// Counts of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    /// All of them.
    pub planned: usize,
    /// Those that count.
    pub done: usize,
    /// Those that do not.
    pub failed: usize,
}

/// A victim or a neighbour.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProgramView {
    /// Its name; escape it before showing it on a terminal.
    pub name: String,
    /// Command and arguments as typed.
    pub command: Vec<String>,
    /// How its operations are counted, in words.
    pub ops: Option<String>,
    /// How the latency of its operations is measured, in words.
    pub latency: Option<String>,
    /// Operations per second at full load, if `{rate}` needed it.
    pub full_rate: Option<f64>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellView {
    /// The victim's name.
    pub victim: String,
    /// The neighbour's name.
    pub neighbour: String,
    /// The share of full load.
    pub load: f64,
    /// The control that held the neighbour.
    pub control: Option<Control>,
    /// What `slowdown` and `interval` are a ratio of.
    pub measure: SlowdownMeasure,
    /// The ratio; above 1 is worse.
    pub slowdown: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<(f64, f64)>,
    /// What the interval shows.
    pub verdict: Verdict,
    /// Pairs of runs.
    pub pairs: u32,
    /// Why there is no slowdown.
    pub missing: Option<String>,
    /// The slowdown by each measure.
    pub measures: Vec<MeasureView>,
    /// The factors of the iron law.
    pub factors: Vec<FactorView>,
    /// What lengthened an operation, most first.
    pub causes: Vec<CauseView>,
    /// How the load was imposed on the neighbour.
    pub imposed: Option<Imposed>,
    /// How often the neighbour was started again.
    pub restarts: u32,
    /// Runs that do not count, with their reasons.
    pub failures: Vec<String>,
}

/// A slowdown by one measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureView {
    /// What it is a ratio of.
    pub measure: SlowdownMeasure,
    /// The ratio; above 1 is worse.
    pub slowdown: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<(f64, f64)>,
    /// Pairs of runs.
    pub pairs: u32,
    /// Why it is missing.
    pub missing: Option<String>,
}

/// A factor of the iron law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorView {
    /// Its stable name.
    pub factor: &'static str,
    /// By how much this factor alone multiplied the time per operation.
    pub ratio: f64,
    /// Its share of the change; `None` if that is too small to be divided.
    pub share: Option<f64>,
}

/// A cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseView {
    /// The cause.
    pub cause: Cause,
    /// A short description.
    pub label: &'static str,
    /// By how much it lengthened the time per operation, as a share of that alone.
    pub growth: f64,
    /// Its share of all that lengthened it.
    pub share: f64,
}

/// A profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileView {
    /// The program's name.
    pub name: String,
    /// Its command.
    pub command: Vec<String>,
    /// Runs alone.
    pub runs: u32,
    /// Its numbers alone at full load.
    pub values: Vec<ProfileValueView>,
    /// The mean slowdown that it causes.
    pub pressure: Option<f64>,
    /// The mean slowdown that it suffers.
    pub sensitivity: Option<f64>,
}

/// A number of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileValueView {
    /// Stable name.
    pub name: &'static str,
    /// A short description.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The number, or why it is missing.
    #[serde(flatten)]
    pub value: Measured,
}

//! View model: a sweep with its table, law, stacks, losses and findings, for the screen and every format.

mod build;
mod difference;
pub(crate) mod latency;
mod progress;
mod report;
pub(crate) mod words;

use super::findings::FindingsView;
use crate::model::{Note, Region, Unit, Why, Width};
use serde::{Serialize, Serializer, ser::SerializeMap};

pub use crate::analysis::sweep::{
    Coefficient, FunctionId, Loss, LossRow, NoFit, Peak, RegionFit, Slice, SliceKind, Stack, Usl,
};
pub(super) use build::machine;
pub use {build::title, difference::difference, report::SweepReport};
#[cfg(test)]
#[path = "../../../tests/support/sweep.rs"]
pub(crate) mod fixture;

/// A sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepView {
    /// The command as typed, or the running target that was swept; escape it before showing it on a terminal.
    pub title: String,
    /// What changes from point to point.
    pub width: Width,
    /// How runs were placed on CPUs, in words.
    pub placement: String,
    /// How operations were counted, in words; `None` if nothing counted them.
    pub ops: Option<String>,
    /// The machine in a line: CPU model, CPUs, kernel.
    pub machine: String,
    /// Its progress; `None` if it is over.
    pub progress: Option<Progress>,
    /// The width that everything is compared with; `None` without a point.
    pub base: Option<u32>,
    /// The columns of the table, in order.
    pub columns: Vec<Column>,
    /// The points, by ascending width.
    pub points: Vec<PointView>,
    /// The fitted law of each region.
    pub fits: Vec<RegionFit>,
    /// The lost cores of each point, by cause.
    pub stacks: Vec<Stack>,
    /// What functions lost, for each point other than the base.
    pub losses: Vec<Loss>,
    /// The unit of the losses: `ns` or `cycles`.
    pub cost_unit: &'static str,
    /// The findings.
    pub findings: FindingsView,
    /// Notes for the reader: fallbacks, failed runs.
    pub notes: Vec<Note>,
}

/// The progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Number of runs that are over.
    pub over: u32,
    /// Number of runs planned.
    pub planned: u32,
    /// The width of the current run.
    pub running: Option<u32>,
    /// Seconds until the end, estimated from the runs so far.
    pub eta_seconds: Option<u64>,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Column {
    /// Stable name, as in the JSON.
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Whether it repeats another column in a form that programs ask for, and tables for people leave it out.
    #[serde(skip)]
    pub for_programs: bool,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointView {
    /// Number of threads, or CPUs.
    pub n: u32,
    /// The kind of CPUs it ran on.
    pub region: Region,
    /// Number of runs that count.
    pub runs: u32,
    /// Its values, in the order of the columns.
    pub values: Values,
    /// How long its operations took; `None` if that was not measured.
    pub latency: Option<latency::PointLatency>,
}

/// Values by column name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(pub Vec<(&'static str, Value)>);

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// It was measured.
    Known {
        /// The mean over the runs.
        mean: f64,
        /// Half the width of its 95% confidence interval; `None` with one run.
        half: Option<f64>,
    },
    /// It was not measured.
    Missing {
        /// The reason.
        missing: Why,
    },
}

impl Values {
    /// Finds a value by column name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Value {
    /// The mean, if it was measured.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match self {
            Value::Known { mean, .. } => Some(*mean),
            Value::Missing { .. } => None,
        }
    }
}

//! View model: two or more recordings compared, for every format and screen.
//! It never works anything out: analysis does; here it becomes rows and sentences.

mod build;
mod picture;
mod scale;
pub mod words;

use super::scaling::{CostAxis, Difference};
use super::{CodeKind, Measured};
use serde::Serialize;

pub use crate::analysis::LawFactor;
pub use crate::analysis::compare::{
    Adjustment, Basis, Better, Driver, Exceeds, Gravity, GroupKind, GroupRow, Guard, Lead, Load, Outcome, Per,
    QuantityUnit, Role, Scale, Spread, Standing, Through, Unlike, Verdict,
};
use picture::pictures;
pub use scale::most;

#[cfg(test)]
pub(crate) mod testing;

/// Raised when a field of the JSON form changes its meaning; fields may be added without.
pub const SCHEMA_VERSION: u32 = 1;

/// A base and what is compared with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffView {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The base.
    pub base: SideView,
    /// How it was compared.
    pub settings: SettingsView,
    /// One per side compared with the base.
    pub comparisons: Vec<ComparisonView>,
}

/// How it was compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingsView {
    /// Of intervals and verdicts.
    pub confidence: f64,
    /// What is the same for all practical purposes, as a part.
    pub margin: f64,
    /// Standard deviation between runs of one program that was given, as a part; `None`: only repeats tell.
    pub noise: Option<f64>,
    /// Of the resampling.
    pub seed: u64,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideView {
    /// What the user called it; as typed, not yet fit for a terminal.
    pub label: String,
    /// Its recordings.
    pub recordings: Vec<RecordingView>,
}

/// One recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingView {
    /// What the user called it.
    pub name: String,
    /// Host.
    pub host: String,
    /// What was profiled.
    pub target: String,
    /// The program most samples were taken in.
    pub program: Option<String>,
    /// Its build-id.
    pub build_id: Option<String>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Seconds that are compared.
    pub seconds: f64,
    /// Windows with counters.
    pub windows: usize,
    /// What counted operations, in words.
    pub operations: Option<String>,
    /// Whether operations are known window by window.
    pub operations_by_window: bool,
}

/// One side compared with the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonView {
    /// The other side.
    pub new: SideView,
    /// What it comes to, in sentences, the answer first.
    pub headline: Vec<String>,
    /// The number to believe first.
    pub answer: Option<MetricRow>,
    /// What it was taken from.
    pub lead: Lead,
    /// Its quantity's name.
    pub primary: &'static str,
    /// In what the two are not alike.
    pub unlike: Vec<Unlike>,
    /// What is known of the load.
    pub load: Load,
    /// The same in a sentence.
    pub load_text: String,
    /// Every quantity as it is.
    pub metrics: Vec<MetricRow>,
    /// Costs at the same load; empty where there is nothing to adjust.
    pub adjusted: Vec<MetricRow>,
    /// Groups whose mixture may deceive.
    pub groups: Vec<Guard>,
    /// What made the difference of the time per operation.
    pub factors: FactorsView,
    /// Which code; `None` without samples or what costs are divided by.
    pub code: Option<CodeView>,
    /// Why there is none.
    pub code_missing: Option<&'static str>,
    /// What was expected to move, and whether it did.
    pub expectations: Vec<ExpectationRow>,
    /// The conditions that were asked for.
    pub gates: Vec<GateRow>,
    /// The call trees of both sides as one: time on a CPU, and time blocked; JSON has the same in [`CodeView::paths`].
    #[serde(skip)]
    pub pictures: Vec<Difference>,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricRow {
    /// Stable name.
    pub name: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// What one is.
    pub unit: QuantityUnit,
    /// Which way is cheaper.
    pub better: Better,
    /// What it is to the comparison.
    pub role: Role,
    /// The base's value.
    pub base: Measured,
    /// The other's.
    pub new: Measured,
    /// The one less the other.
    pub difference: Option<f64>,
    /// The same as a part of the base.
    pub relative: Option<f64>,
    /// Whether the interval and what is detectable are parts of the base or differences.
    pub scale: Option<Scale>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Of single runs the interval of the change between these two recordings, by their windows alone: its lower end.
    pub within_low: Option<f64>,
    /// Its upper end.
    pub within_high: Option<f64>,
    /// Of single runs the standard deviation between runs, as a part, up to which the change would be beyond chance.
    pub noise_limit: Option<f64>,
    /// How probable so large a change is without any.
    pub p: Option<f64>,
    /// The same corrected for the number of quantities and comparisons.
    pub corrected_p: Option<f64>,
    /// One-sided confidence in the direction.
    pub one_sided_confidence: Option<f64>,
    /// The p of Mann and Whitney's test on repeats.
    pub rank_p: Option<f64>,
    /// The least change that four of five such comparisons would find.
    pub detectable: Option<f64>,
    /// Whether the change was shown to be within the margin.
    pub within_margin: bool,
    /// What the uncertainty was taken from.
    pub basis: Option<Basis>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// The law on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorsView {
    /// Nanoseconds that one thread spends on an operation, in both.
    pub ns_per_op: Option<[f64; 2]>,
    /// The one over the other.
    pub ratio: Option<f64>,
    /// What made it so.
    pub parts: Vec<PartRow>,
    /// Why there are none.
    pub missing: Option<&'static str>,
}

/// A factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartRow {
    /// Stable name.
    pub factor: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// Its value in both, in the unit its label names; of the CPU time nanoseconds.
    pub values: [Option<f64>; 2],
    /// By how much it alone multiplies the time.
    pub ratio: f64,
    /// Its share of the change; all together are 1. `None` for a change too small to share out.
    pub share: Option<f64>,
    /// What it did to the time of an operation, nanoseconds; all together are the difference.
    pub ns: f64,
}

/// The code of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeView {
    /// What costs are divided by.
    pub per: Per,
    /// What they are in: `ns`, `cycles`; of shares `share`.
    pub unit: &'static str,
    /// Cost of everything sampled.
    pub whole: [f64; 2],
    /// Samples.
    pub samples: [u64; 2],
    /// Functions by the cost of their own code.
    pub functions: Vec<CodeRow>,
    /// Call paths by the cost of their innermost function.
    pub paths: Vec<CodeRow>,
    /// Nanoseconds blocked, by the program's own innermost function.
    pub waits: Vec<CodeRow>,
    /// The way down to most of the growth.
    pub hot_path: Vec<String>,
    /// Whether a side was repeated; of single runs a real change is one between these two recordings.
    pub repeated: bool,
    /// Modules of the base that were taken for one of the other side.
    pub taken_for: Vec<[String; 2]>,
}

/// A function, or a call path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeRow {
    /// The function's name.
    pub name: String,
    /// The file name of its module.
    pub module: String,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Its callers, root first; of a mere function none.
    pub callers: Vec<String>,
    /// Cost in the base.
    pub base: f64,
    /// Cost in the other.
    pub new: f64,
    /// The one less the other.
    pub difference: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// How probable so large a difference is without any, corrected for the number of rows.
    pub q: f64,
    /// Its part of the whole difference.
    pub share: Option<f64>,
    /// Whether it is beyond chance.
    pub real: bool,
    /// `new`, `gone` or `changed`.
    pub state: &'static str,
}

/// What was expected of a quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectationRow {
    /// As it was typed.
    pub text: String,
    /// The quantity's name.
    pub name: String,
    /// What it comes to.
    pub outcome: Outcome,
    /// Why it cannot be told.
    pub reason: Option<&'static str>,
    /// The change it was judged by; `None` where there is no such quantity.
    pub change: Option<MetricRow>,
    /// Whether that is the change at the same load.
    pub same_load: bool,
    /// How probable such a change is at the limit that was expected, corrected for the number of expectations.
    pub p: Option<f64>,
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateRow {
    /// As it was typed.
    pub text: String,
    /// The quantity's name.
    pub name: String,
    /// What was looked at.
    pub seen: Option<f64>,
    /// Its interval.
    pub low: Option<f64>,
    /// Its interval's other end.
    pub high: Option<f64>,
    /// Whether these are parts of the base.
    pub relative: bool,
    /// How it stands.
    pub standing: Standing,
    /// What the interval is wholly beyond in the gate's direction.
    pub exceeds: Option<Exceeds>,
    /// Whether a merge may pass.
    pub passes: bool,
    /// Why it cannot be decided.
    pub missing: Option<&'static str>,
}

impl MetricRow {
    /// The change and its interval as parts of the base; `None` where it is told as a difference.
    #[must_use]
    pub fn on_scale(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let value = self.relative.filter(|_| self.scale == Some(Scale::Relative))?;
        Some((value, self.low.zip(self.high)))
    }
}

impl CodeRow {
    /// The difference with two standard errors on either side.
    #[must_use]
    pub fn on_scale(&self) -> (f64, Option<(f64, f64)>) {
        (self.difference, Some((self.difference - 2.0 * self.error, self.difference + 2.0 * self.error)))
    }
}

impl ComparisonView {
    /// The call trees of both sides as one; `None` where that cost was not recorded, or cannot be divided as asked for.
    #[must_use]
    pub fn picture(&self, axis: CostAxis) -> Option<&Difference> {
        self.pictures.iter().find(|picture| picture.axis == axis)
    }

    /// Rows for people: every cost that has a value, then what else moved.
    #[must_use]
    pub fn telling(&self) -> Vec<&MetricRow> {
        let known = |row: &&MetricRow| row.base.value().is_some() || row.new.value().is_some();
        let tells = |row: &&MetricRow| row.role != Role::Context || ["more", "less"].contains(&words::verdict(row));
        self.metrics.iter().filter(known).filter(tells).collect()
    }

    /// The row at the same load, where there is one.
    #[must_use]
    pub fn at_same_load(&self, name: &str) -> Option<&MetricRow> {
        self.adjusted.iter().find(|adjusted| adjusted.name == name)
    }

    /// Costs that could not be compared, gathered by reason.
    #[must_use]
    pub fn missing(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut reasons: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        for row in self.metrics.iter().filter(|row| row.role != Role::Context) {
            let reason = [row.base, row.new].into_iter().find_map(|measured| match measured {
                Measured::Missing { reason, .. } => Some(reason),
                Measured::Known { .. } => None,
            });
            let Some(reason) = reason else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(row.name),
                None => reasons.push((reason, vec![row.name])),
            }
        }
        reasons
    }
}

impl DiffView {
    /// The conditions that do not pass, with the side that does not pass them.
    pub fn failed(&self) -> impl Iterator<Item = (&ComparisonView, &GateRow)> {
        self.comparisons.iter().flat_map(|comparison| {
            comparison.gates.iter().filter(|gate| !gate.passes).map(move |gate| (comparison, gate))
        })
    }
}

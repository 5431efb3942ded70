//! The rows and sentences of a comparison, and how to find them.

use super::{
    AnswerKind, Basis, Better, Exceeds, GateStatus, Load, Mismatch, Outcome, Per, Role, Scale, SubgroupCheck, Verdict,
};
use crate::model::Unit;
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::{CodeKind, Measured};
use serde::Serialize;

/// Version of the JSON form. It changes only if a field changes its meaning, not if fields are added.
pub const SCHEMA_VERSION: u32 = 1;

/// A base and the sides compared with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffView {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The base.
    pub base: SideView,
    /// How the sides were compared.
    pub settings: SettingsView,
    /// One for each side compared with the base.
    pub comparisons: Vec<ComparisonView>,
}

/// How the sides were compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingsView {
    /// Confidence level of intervals and verdicts.
    pub confidence: f64,
    /// Changes within this fraction count as the same.
    pub margin: f64,
    /// Standard deviation between runs as given by the user, as a fraction; `None`: only repeats measure it.
    pub noise: Option<f64>,
    /// Seed of the resampling.
    pub seed: u64,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideView {
    /// Name given by the user, as typed: escape it before showing it on a terminal.
    pub label: String,
    /// Its recordings.
    pub recordings: Vec<RecordingView>,
}

/// One recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingView {
    /// Name given by the user.
    pub name: String,
    /// Host name.
    pub host: String,
    /// What was profiled.
    pub target: String,
    /// The program with the most samples.
    pub program: Option<String>,
    /// Its build-id.
    pub build_id: Option<String>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Length of the part that is compared, seconds.
    pub seconds: f64,
    /// Number of windows with counters.
    pub windows: usize,
    /// How operations were counted, in words.
    pub operations: Option<String>,
    /// Whether operations were counted per window.
    pub operations_by_window: bool,
}

/// One side compared with the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonView {
    /// The other side.
    pub new: SideView,
    /// The conclusions, in sentences; the first is the answer.
    pub headline: Vec<String>,
    /// The number to trust first.
    pub answer: Option<MetricRow>,
    /// Which comparison the answer comes from.
    pub answer_kind: AnswerKind,
    /// Name of the answer's quantity.
    pub primary: &'static str,
    /// Whether both sides ran the same build of the program; false also if that is unknown.
    pub same_build: bool,
    /// Conditions in which the two sides differ.
    pub mismatches: Vec<Mismatch>,
    /// What is known about the load.
    pub load: Load,
    /// The same in one sentence.
    pub load_text: String,
    /// Every quantity, unadjusted.
    pub metrics: Vec<MetricRow>,
    /// Costs at the same load; empty if there is nothing to adjust.
    pub adjusted: Vec<MetricRow>,
    /// Groups whose mixture may mislead.
    pub groups: Vec<SubgroupCheck>,
    /// Factors of the law that explain the change in time per operation.
    pub factors: FactorsView,
    /// The code that changed; `None` without samples, or without the quantity that costs are divided by.
    pub code: Option<CodeView>,
    /// Why `code` is `None`.
    pub code_missing: Option<&'static str>,
    /// What the user expected to move, and whether it did.
    pub expectations: Vec<ExpectationRow>,
    /// The conditions that the user set.
    pub gates: Vec<GateRow>,
    /// The merged call trees of both sides, on-CPU and blocked. JSON has the same data in [`CodeView::paths`].
    #[serde(skip)]
    pub flame_graphs: Vec<DiffFlameGraph>,
}

/// One quantity on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricRow {
    /// Stable name.
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Its role in the comparison.
    pub role: Role,
    /// Value of the base.
    pub base: Measured,
    /// Value of the other side.
    pub new: Measured,
    /// `new` minus `base`.
    pub difference: Option<f64>,
    /// The difference as a fraction of the base.
    pub relative: Option<f64>,
    /// Whether the interval and `detectable` are fractions of the base or differences.
    pub scale: Option<Scale>,
    /// Lower end of the confidence interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// For single runs: lower end of the interval of the change between these two recordings, from their windows alone.
    pub within_low: Option<f64>,
    /// Upper end of that interval.
    pub within_high: Option<f64>,
    /// For single runs: the largest standard deviation between runs, as a fraction, that leaves it beyond chance.
    pub noise_limit: Option<f64>,
    /// Probability of so large a change if nothing changed.
    pub p: Option<f64>,
    /// The same corrected for the number of quantities and comparisons.
    pub corrected_p: Option<f64>,
    /// One-sided confidence in the direction.
    pub one_sided_confidence: Option<f64>,
    /// The p-value of the Mann-Whitney test on repeats.
    pub rank_p: Option<f64>,
    /// The smallest change that four of five such comparisons would detect.
    pub detectable: Option<f64>,
    /// Whether the change was shown to be within the margin.
    pub within_margin: bool,
    /// What the uncertainty was estimated from.
    pub basis: Option<Basis>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The iron law on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorsView {
    /// Nanoseconds that one thread spends on an operation, on both sides; without its sleep if `asleep` is known.
    pub ns_per_op: Option<[f64; 2]>,
    /// Share of the threads' time without work on both sides, if the program sleeps on one: that does not belong
    /// to an operation. `None` if all time counts.
    pub asleep: Option<[f64; 2]>,
    /// The new time over the base time.
    pub ratio: Option<f64>,
    /// The factors that explain it.
    pub parts: Vec<PartRow>,
    /// Why there are no parts.
    pub missing: Option<&'static str>,
}

/// A factor of the law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartRow {
    /// Stable name.
    pub factor: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Value on both sides, in the unit that the label names; CPU time in nanoseconds.
    pub values: [Option<f64>; 2],
    /// The factor by which it alone multiplies the time.
    pub ratio: f64,
    /// Its share of the change; the shares add up to 1. `None` if the change is too small to split.
    pub share: Option<f64>,
    /// Its contribution to the time per operation, nanoseconds; the contributions add up to the difference.
    pub ns: f64,
}

/// The code on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeView {
    /// What costs are divided by.
    pub per: Per,
    /// Unit of the costs: `ns` or `cycles`; `share` for shares.
    pub unit: &'static str,
    /// Total cost of all samples, on both sides.
    pub whole: [f64; 2],
    /// Number of samples on both sides.
    pub samples: [u64; 2],
    /// Functions by the cost of their own code, with what was inlined into it.
    pub functions: Vec<CodeRow>,
    /// Call paths by the cost of their innermost function.
    pub paths: Vec<CodeRow>,
    /// Blocked time in nanoseconds, by the program's own innermost function.
    pub waits: Vec<CodeRow>,
    /// The call path to most of the growth.
    pub hot_path: Vec<String>,
    /// Whether a side was repeated. With single runs, a real change is one between these two recordings.
    pub repeated: bool,
    /// Modules of the base that were matched with a differently named module of the other side.
    pub renamed_modules: Vec<[String; 2]>,
}

/// A function, or a call path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeRow {
    /// The function's name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Its callers, root first; empty for a function without a path.
    pub callers: Vec<String>,
    /// Cost in the base.
    pub base: f64,
    /// Cost on the other side.
    pub new: f64,
    /// `new` minus `base`.
    pub difference: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// Probability of so large a difference by chance, corrected for the number of rows.
    pub q: f64,
    /// Its share of the total difference.
    pub share: Option<f64>,
    /// Whether the difference is beyond chance.
    pub real: bool,
    /// `new`, `gone` or `changed`.
    pub state: &'static str,
    /// The code inlined into the function that changed beyond chance, most first; a part of its cost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<CodeRow>,
}

/// What the user expected of a quantity, and the outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectationRow {
    /// The expectation as typed.
    pub text: String,
    /// The quantity's name.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// Why it is undecided.
    pub reason: Option<&'static str>,
    /// The change it was judged by; `None` if there is no such quantity.
    pub change: Option<MetricRow>,
    /// Whether that change is the one at the same load.
    pub same_load: bool,
    /// Probability of such a change if the truth were at the expected limit, corrected for the number of expectations.
    pub p: Option<f64>,
}

/// A gate: a condition that the user set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateRow {
    /// The condition as typed.
    pub text: String,
    /// The quantity's name.
    pub name: String,
    /// The value that was judged.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether these are fractions of the base.
    pub relative: bool,
    /// The result.
    pub status: GateStatus,
    /// What the whole interval lies beyond, in the gate's direction.
    pub exceeds: Option<Exceeds>,
    /// Whether the gate lets a merge pass.
    pub passes: bool,
    /// Why it cannot be decided.
    pub missing: Option<&'static str>,
}

impl ComparisonView {
    /// The merged call trees of both sides; `None` if that cost was not recorded or cannot be divided as requested.
    #[must_use]
    pub fn flame_graph(&self, axis: CostAxis) -> Option<&DiffFlameGraph> {
        self.flame_graphs.iter().find(|graph| graph.axis == axis)
    }

    /// Rows to show to people: every cost that has a value, then everything else that moved.
    #[must_use]
    pub fn notable_rows(&self) -> Vec<&MetricRow> {
        let known = |row: &&MetricRow| row.base.value().is_some() || row.new.value().is_some();
        let moved = |row: &MetricRow| matches!(row.verdict, Verdict::More | Verdict::Less);
        let notable = |row: &&MetricRow| row.role != Role::Context || row.better == Better::Neither && moved(row);
        self.metrics.iter().filter(known).filter(notable).collect()
    }

    /// The row of a quantity at the same load, if there is one.
    #[must_use]
    pub fn at_same_load(&self, name: &str) -> Option<&MetricRow> {
        self.adjusted.iter().find(|adjusted| adjusted.name == name)
    }

    /// Costs that could not be compared, grouped by reason.
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
    /// The gates that do not pass, each with its comparison.
    pub fn failed(&self) -> impl Iterator<Item = (&ComparisonView, &GateRow)> {
        self.comparisons.iter().flat_map(|comparison| {
            comparison.gates.iter().filter(|gate| !gate.passes).map(move |gate| (comparison, gate))
        })
    }
}

impl MetricRow {
    /// The change and its interval as fractions of the base; `None` if the row reports a difference.
    #[must_use]
    pub fn on_scale(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let value = self.relative.filter(|_| self.scale == Some(Scale::Relative))?;
        Some((value, self.low.zip(self.high)))
    }
}

impl CodeRow {
    /// The difference, with an interval of two standard errors on either side.
    #[must_use]
    pub fn on_scale(&self) -> (f64, Option<(f64, f64)>) {
        (self.difference, Some((self.difference - 2.0 * self.error, self.difference + 2.0 * self.error)))
    }
}

/// Extent of the scale on either side of zero: the largest change, or the widest interval up to twice that.
#[must_use]
pub fn most(changes: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> f64 {
    let (mut value, mut end) = (0.0_f64, 0.0_f64);
    for (change, ends) in changes.filter(|(change, _)| change.is_finite()) {
        value = value.max(change.abs());
        let sides = ends.into_iter().flat_map(|(low, high)| [low.abs(), high.abs()]);
        end = sides.filter(|side| side.is_finite()).fold(end, f64::max);
    }
    // One wide interval must not shrink all others to a point.
    if value > 0.0 { end.clamp(value, value * 2.0) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wide_interval_makes_no_point_of_the_others() {
        let scale = most([(0.1, Some((0.05, 0.15))), (0.02, Some((-3.0, 3.0))), (f64::NAN, None)].into_iter());
        assert!((scale - 0.2).abs() < 1e-12, "{scale}");
        assert_eq!((most([(0.0, Some((-1.0, 2.0)))].into_iter()), most(std::iter::empty())), (2.0, 0.0));
    }
}

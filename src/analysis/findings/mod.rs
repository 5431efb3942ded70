//! Finds what holds the selected threads back, rule by rule, from one window: the verdict, its evidence and where to
//! look. A rule that cannot decide reports why instead of guessing.

mod against;
mod allocator;
mod block_io;
mod context;
mod cpu_queue;
mod families;
mod hardware;
mod holds;
mod hot_function;
mod imbalance;
mod kernel_spin;
mod kernel_time;
mod limits;
mod lock_wait;
mod memory_pressure;
mod migrations;
mod mmap_lock;
mod others_wait;
mod page_faults;
mod paths;
mod serial;
mod stacks;
mod steal;
mod sweep;
mod throttling;
mod tlb_flush;
mod user_spin;
mod waits;
pub(in crate::analysis) mod words;

pub use against::{AGAINST, against};
pub use context::RuleContext;
pub use sweep::judge_scaling;

use super::metrics::MetricUnit;
use super::selection::Axis;
use crate::model::Why;
use paths::Code;
use serde::Serialize;

/// The result of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The rule decided that there is nothing to report.
    Clear,
    /// The rule found something.
    Found(Finding),
    /// Data that the rule needs is missing.
    Undecided(Why),
}

/// Something that holds the selected threads back, or a place to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's stable name, e.g. `cpu-queue`.
    pub rule: &'static str,
    /// A short title for people, e.g. `waiting for CPUs`.
    pub title: &'static str,
    /// Share of the selected threads' working time (running, queued or held up) or CPU time that it explains, 0 to 1.
    pub share: Option<f64>,
    /// One sentence with numbers. Names in it are as the target set them.
    pub claim: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// How certain it is.
    pub confidence: Confidence,
    /// Where in the code, and in which threads.
    pub place: Option<Place>,
    /// What would refute it.
    pub refuted_by: &'static str,
    /// What to do next.
    pub next_step: String,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Name of the number.
    pub label: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of value and threshold.
    pub unit: MetricUnit,
    /// The value from which it supports the finding; `None` for a number that only explains.
    pub threshold: Option<f64>,
}

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The data suggests it, but something harmless looks the same.
    Low,
    /// It is certain, but how much it matters is an estimate.
    Medium,
    /// It was measured directly.
    High,
}

/// Where a finding lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The call path as a flame graph shows it, root first, headings included; empty for a place of threads only.
    pub frames: Vec<String>,
    /// The axis of that flame graph.
    pub axis: Axis,
    /// The threads concerned, those with the largest part first.
    pub threads: Vec<u32>,
}

/// The verdicts of all rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleResults {
    /// Findings, most important first.
    pub found: Vec<Finding>,
    /// Rules that could not decide: stable name, title, reason.
    pub undecided: Vec<(&'static str, &'static str, Why)>,
    /// Stable names of the rules that found nothing.
    pub clear: Vec<&'static str>,
}

/// What a finding of a rule means to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It limits the program.
    Limit,
    /// It shows where time goes, which may be as it should be.
    Hint,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
struct Rule {
    id: &'static str,
    title: &'static str,
    kind: Kind,
    /// The code whose CPU time its findings explain.
    explains: &'static [Code],
    /// Returns the finding, nothing, or why the rule cannot decide.
    judge: fn(&RuleContext<'_>) -> Result<Option<Finding>, Why>,
}

/// A rule for the time that other rules leave. It receives the code whose CPU time their findings explain.
#[derive(Debug, Clone, Copy)]
struct Remainder {
    id: &'static str,
    title: &'static str,
    judge: fn(&RuleContext<'_>, &[Code]) -> Result<Option<Finding>, Why>,
}

/// In decision order: cheap and certain rules come before those that need interpretation.
const RULES: &[Rule] = &[
    throttling::RULE,
    steal::RULE,
    cpu_queue::RULE,
    lock_wait::RULE,
    block_io::RULE,
    memory_pressure::RULE,
    imbalance::RULE,
    serial::RULE,
    tlb_flush::RULE,
    mmap_lock::RULE,
    kernel_spin::RULE,
    user_spin::RULE,
    page_faults::RULE,
    allocator::RULE,
    migrations::RULE,
    others_wait::RULE,
];

/// In decision order.
const REMAINDERS: &[Remainder] = &[kernel_time::RULE, hot_function::RULE];

impl From<Result<Option<Finding>, Why>> for Verdict {
    fn from(judged: Result<Option<Finding>, Why>) -> Verdict {
        match judged {
            Ok(Some(finding)) => Verdict::Found(finding),
            Ok(None) => Verdict::Clear,
            Err(why) => Verdict::Undecided(why),
        }
    }
}

/// Applies every rule.
#[must_use]
pub fn judge(context: &RuleContext<'_>) -> RuleResults {
    let mut judged = RuleResults::default();
    let mut found: Vec<(Kind, Finding)> = Vec::new();
    let mut explained: Vec<Code> = Vec::new();
    for rule in RULES.iter().chain(&hardware::RULES) {
        let finding = judged.sort(context.judged_by(rule.judge).into(), rule.id, rule.title);
        explained.extend(finding.iter().flat_map(|_| rule.explains));
        found.extend(finding.map(|finding| (rule.kind, finding)));
    }
    for rule in REMAINDERS {
        let finding =
            judged.sort(context.judged_by(|context| (rule.judge)(context, &explained)).into(), rule.id, rule.title);
        found.extend(finding.map(|finding| (Kind::Hint, finding)));
    }
    // The sort is stable: findings of equal weight stay in decision order.
    found.sort_by(|(a_kind, a), (b_kind, b)| {
        let hint = |kind: &Kind| *kind == Kind::Hint;
        hint(a_kind).cmp(&hint(b_kind)).then(weight(b).total_cmp(&weight(a)))
    });
    judged.found = found.into_iter().map(|(_, finding)| finding).collect();
    judged
}

impl RuleResults {
    /// Records a verdict without a finding, and returns a finding.
    fn sort(&mut self, verdict: Verdict, id: &'static str, title: &'static str) -> Option<Finding> {
        match verdict {
            Verdict::Found(finding) => return Some(finding),
            Verdict::Undecided(why) => self.undecided.push((id, title, why)),
            Verdict::Clear => self.clear.push(id),
        }
        None
    }
}

/// The share that a finding explains, reduced by its uncertainty.
fn weight(finding: &Finding) -> f64 {
    let sure = match finding.confidence {
        Confidence::Low => 0.4,
        Confidence::Medium => 0.7,
        Confidence::High => 1.0,
    };
    finding.share.unwrap_or(limits::UNKNOWN_SHARE) * sure
}

impl Confidence {
    /// The confidence as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

impl Evidence {
    /// A number with the threshold it passed.
    fn of(label: &'static str, value: f64, unit: MetricUnit, threshold: f64) -> Evidence {
        Evidence { label, value, unit, threshold: Some(threshold) }
    }

    /// A number that only explains.
    fn plain(label: &'static str, value: f64, unit: MetricUnit) -> Evidence {
        Evidence { label, value, unit, threshold: None }
    }
}

#[cfg(test)]
mod tests;

//! Which function of the target took more CPU time than usual: without counted instructions the best sign there is that the
//! program changed. It never proves that: a busy cache slows some functions more than others as well.

use super::types::{Cause, Confidence, Evidence};
use crate::analysis::findings::words::{name, percent, seconds};
use crate::analysis::scaling::Run;
use crate::analysis::{CodeKind, Window, operations};
use crate::model::Baseline;
use crate::model::profile::Profile;
use std::collections::BTreeMap;

/// Samples from which on shares of functions mean something.
const LEAST_SAMPLES: u64 = 50;
/// The part of all CPU time that must have moved between functions.
const SHIFTED: f64 = 0.08;
/// The part of the growth that the grown function must have by itself.
const OWNS: f64 = 0.4;

/// How the CPU time moved between functions.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// The function that grew most.
    pub function: String,
    /// Its CPU time, nanoseconds per operation; without operations its share of all.
    pub now: f64,
    /// The same in the baseline.
    pub then: f64,
    /// Whether these are per operation.
    pub per_operation: bool,
    /// Its part of the whole growth; `None` where nothing grew.
    pub part: Option<f64>,
    /// The share of all CPU time that is in other functions than before, beyond what so many samples explain.
    pub shifted: f64,
}

/// CPU time of functions' own code over all of it, and how many samples told.
struct Own {
    shares: BTreeMap<String, f64>,
    samples: Option<u64>,
}

/// Compares where CPU time goes in a window with where it went in the baseline; `None` with too few samples.
#[must_use]
pub fn shift(profile: &Profile, baseline: &Baseline, window: Window) -> Option<Shift> {
    let run = Run::of(profile, 1, window);
    if run.cpu.samples < LEAST_SAMPLES || run.cpu.weight <= 0.0 {
        return None;
    }
    let mut now = Own { shares: BTreeMap::new(), samples: Some(run.cpu.samples) };
    for path in &run.cpu.paths {
        let Some(last) = path.frames.last().filter(|last| last.kind != CodeKind::Kernel) else { continue };
        *now.shares.entry(last.name.clone()).or_default() += path.weight / run.cpu.weight;
    }
    let then = before(baseline, &now)?;
    let cost = run.totals.cpu.value().copied().filter(|_| run.cpu.weight > 0.0).map(|seconds| seconds * 1e9);
    let ops = operations(profile, window).value().copied().filter(|ops| *ops > 0.0);
    let per_op = cost.zip(ops).map(|(cost, ops)| cost / ops);
    let was = baseline.ops.filter(|ops| *ops > 0.0).map(|ops| baseline.cpu_ns / ops);
    Some(grown(&now, &then, per_op.zip(was)))
}

/// The functions of the baseline: those of user mode, which are told by not being the kernel's here.
fn before(baseline: &Baseline, now: &Own) -> Option<Own> {
    let whole = baseline.cpu_ns;
    if whole <= 0.0 || baseline.stacks.is_empty() {
        return None;
    }
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for stack in &baseline.stacks {
        // What is not seen now may be the kernel's or gone: it cannot have grown.
        let Some(last) = stack.frames.last().filter(|last| now.shares.contains_key(*last)) else { continue };
        *shares.entry(last.clone()).or_default() += stack.cpu_ns / whole;
    }
    Some(Own { shares, samples: None })
}

fn grown(now: &Own, then: &Own, costs: Option<(f64, f64)>) -> Shift {
    let (here, was) = costs.unwrap_or((1.0, 1.0));
    let of = |name: &String, share: f64| {
        let then = then.shares.get(name).copied().unwrap_or(0.0);
        (name.clone(), share * here, then * was)
    };
    let rows: Vec<_> = now.shares.iter().map(|(name, share)| of(name, *share)).collect();
    let (function, now_cost, then_cost) =
        rows.into_iter().max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2))).unwrap_or_default();
    let shifted: f64 = now
        .shares
        .iter()
        .map(|(name, share)| {
            let then = then.shares.get(name).copied().unwrap_or(0.0);
            let error = now.samples.map_or(0.0, |samples| 2.0 * (share * (1.0 - share) / samples as f64).sqrt());
            (share - then - error).max(0.0)
        })
        .sum();
    let part = (here > was).then(|| ((now_cost - then_cost) / (here - was)).clamp(0.0, 1.0));
    Shift { function, now: now_cost, then: then_cost, per_operation: costs.is_some(), part, shifted }
}

impl Shift {
    /// Whether it looks like a change of the program: one function owns much of the growth, and the others did not grow with it.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.shifted >= SHIFTED && self.part.is_none_or(|part| part >= OWNS) && self.now > self.then
    }

    /// In a sentence.
    #[must_use]
    pub fn text(&self) -> String {
        let (now, then) = if self.per_operation {
            (seconds(self.now * 1e-9), seconds(self.then * 1e-9))
        } else {
            (percent(self.now), percent(self.then))
        };
        let what = if self.per_operation { "CPU time per operation" } else { "share of the CPU time" };
        format!("{} grew most: {what} {now}, in the baseline {then}.", name(&self.function))
    }

    /// Evidence for the program, where nothing else explains the growth.
    pub(super) fn evidence(&self, share: Option<f64>, quiet: bool) -> Evidence {
        Evidence {
            cause: Cause::PathLength,
            share,
            confidence: if quiet { Confidence::Medium } else { Confidence::Low },
            text: format!(
                "Probably the program: {} {} of all CPU time is in other functions than usual, and no neighbour goes with it.",
                self.text(),
                percent(self.shifted)
            ),
        }
    }
}

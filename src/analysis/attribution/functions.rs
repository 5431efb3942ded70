//! Finds the function of the target that took more CPU time than usual: without counted instructions, the best sign
//! that the program changed. It is not proof: a busy cache also slows some functions more than others.

use super::types::{Cause, Evidence};
use crate::analysis::finding::Confidence;
use crate::analysis::sweep::Run;
use crate::analysis::text::{name, percent, seconds};
use crate::analysis::{CodeKind, Window, operations};
use crate::model::Baseline;
use crate::model::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum samples for shares of functions to mean something.
const LEAST_SAMPLES: u64 = 50;
/// Minimum growth of a function's share of all CPU time.
const SHIFTED: f64 = 0.08;
/// Minimum part of the growth that the grown function must account for by itself.
const OWNS: f64 = 0.4;

/// How the CPU time moved between functions.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionShift {
    /// The function that grew most.
    pub function: String,
    /// Its CPU time, nanoseconds per operation; without operations, its share of all CPU time.
    pub now: f64,
    /// The same in the baseline.
    pub then: f64,
    /// Whether these are per operation.
    pub per_operation: bool,
    /// Its part of the whole growth; `None` if nothing grew.
    pub part: Option<f64>,
    /// Growth of its share of all CPU time beyond what the number of samples explains.
    pub shifted: f64,
}

/// CPU time of functions with their callees, over all CPU time. Inlined code belongs to many functions, so self time
/// would not separate them; and a caller's share does not grow with its callee's.
type Shares = BTreeMap<String, f64>;

/// Compares where CPU time goes in a window with the baseline; `None` with too few samples.
#[must_use]
pub fn function_shift(profile: &Profile, baseline: &Baseline, window: Window) -> Option<FunctionShift> {
    let run = Run::of(profile, 1, window);
    let (cpu, samples) = (&run.cpu, run.cpu.samples);
    if samples < LEAST_SAMPLES || cpu.weight <= 0.0 || baseline.cpu_ns <= 0.0 || baseline.stacks.is_empty() {
        return None;
    }
    let mut now = Shares::new();
    for path in &cpu.paths {
        let user = path.frames.iter().filter(|frame| frame.kind != CodeKind::Kernel);
        add(&mut now, user.map(|frame| frame.name.as_str()), path.weight / cpu.weight);
    }
    let mut then = Shares::new();
    for stack in &baseline.stacks {
        // A function not seen now may be the kernel's or gone: it cannot have grown.
        let seen = stack.frames.iter().map(String::as_str).filter(|name| now.contains_key(*name));
        add(&mut then, seen, stack.cpu_ns / baseline.cpu_ns);
    }
    let per_op = |cpu_ns: f64, ops: Option<f64>| ops.filter(|ops| *ops > 0.0).map(|ops| cpu_ns / ops);
    let here = run.totals.cpu.value().and_then(|cpu| per_op(cpu * 1e9, operations(profile, window).value().copied()));
    grown(&now, &then, samples, here.zip(per_op(baseline.cpu_ns, baseline.ops)))
}

/// Adds a call path; a recursive function counts once.
fn add<'a>(shares: &mut Shares, path: impl Iterator<Item = &'a str>, share: f64) {
    for name in path.collect::<BTreeSet<_>>() {
        *shares.entry(name.to_string()).or_default() += share;
    }
}

fn grown(now: &Shares, then: &Shares, samples: u64, costs: Option<(f64, f64)>) -> Option<FunctionShift> {
    let before = |name: &String| then.get(name).copied().unwrap_or(0.0);
    let (function, share) = now.iter().max_by(|a, b| (a.1 - before(a.0)).total_cmp(&(b.1 - before(b.0))))?;
    let (here, was) = costs.unwrap_or((1.0, 1.0));
    let (cost, usual) = (share * here, before(function) * was);
    let error = 2.0 * (share * (1.0 - share) / samples as f64).max(0.0).sqrt();
    Some(FunctionShift {
        function: function.clone(),
        now: cost,
        then: usual,
        per_operation: costs.is_some(),
        part: (here > was).then(|| ((cost - usual) / (here - was)).clamp(0.0, 1.0)),
        shifted: (share - before(function) - error).max(0.0),
    })
}

impl FunctionShift {
    /// Whether it indicates a change of the program: one function owns much of the growth, and the others did not grow
    /// with it.
    #[must_use]
    pub fn implicates_program(&self) -> bool {
        self.shifted >= SHIFTED && self.part.is_none_or(|part| part >= OWNS) && self.now > self.then
    }

    /// The shift in one sentence.
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

    /// Evidence for the program, if nothing else explains the growth. `nobody`: no neighbour moved with it.
    pub(super) fn evidence(&self, share: Option<f64>, nobody: bool) -> Evidence {
        Evidence {
            cause: Cause::PathLength,
            share,
            confidence: if nobody { Confidence::Medium } else { Confidence::Low },
            text: format!(
                "Probably the program: {} Its share of all CPU time grew by more than {}{}.",
                self.text(),
                percent(self.shifted),
                if nobody { ", and no neighbour goes with it" } else { "" }
            ),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::baseline::testing::baseline;
    use crate::analysis::testing::{Synthetic, ms};

    fn of(samples: &[(&str, u64)]) -> Option<FunctionShift> {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "app");
        for (stack, count) in samples {
            synthetic.samples(500, 41, stack, *count);
        }
        let profile = synthetic.finish();
        // A baseline with three quarters in main;work and one quarter in main itself.
        function_shift(&profile, &baseline(&[40]), Window { from: ms(0), to: ms(60_000) })
    }

    #[test]
    fn the_function_whose_share_grew_is_named_even_where_it_ends_in_the_same_inlined_code() {
        let found = of(&[("app!main;app!work", 300), ("app!main;app!check;app!work", 200)]).unwrap();
        assert!(found.implicates_program() && found.function == "check" && found.then == 0.0, "{found:?}");
        assert!((found.now - 0.4).abs() < 1e-9 && !found.per_operation, "{found:?}");
    }

    #[test]
    fn the_same_shares_and_few_samples_say_nothing() {
        assert!(!of(&[("app!main;app!work", 302), ("app!main", 98)]).unwrap().implicates_program());
        assert_eq!(of(&[("app!main;app!check", 20)]), None);
    }
}

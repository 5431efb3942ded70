//! A flame graph before layout: stacks by name, with their weights.

use super::code_ipc;
use super::labels::axis_of;
use crate::analysis::{
    Axis, CodeIpc, CodeRate, Counters, GroupKey, Label, Names, ProfileTree, RowRates, Selection, StackCounts, Tasks,
    Weight, summary,
};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// Options of a flame graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlameOptions {
    /// The part of the recording.
    pub selection: Selection,
    /// The title; by default the name of the target.
    pub title: Option<String>,
    /// The rate to colour functions by; `None` for the kind of their code.
    pub rate: Option<CodeRate>,
}

/// A folded stack: a call path and the weight of the samples that end there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoldedStack {
    /// From the root to the leaf; never empty.
    pub frames: Vec<Label>,
    /// Its weight, in the flame graph's unit.
    pub value: u64,
}

/// A flame graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlameGraph {
    /// What was profiled.
    pub title: String,
    /// Host, event, number of samples, and how complete the stacks are.
    pub subtitle: String,
    /// What the values count: `samples`, `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Sum of the values.
    pub total: u64,
    /// The stacks, sorted by their names from the root, each once.
    pub stacks: Vec<FoldedStack>,
    /// For functions with a known rate, this against that of all code, from -2 (much less) to 2 (much more); `None` without
    /// a rate to colour by.
    pub steps: Option<BTreeMap<String, i8>>,
}

impl FlameGraph {
    /// The flame graph of `options.selection`. Values are numbers of samples, of average weight, if all were taken at
    /// one frequency, else weights.
    ///
    /// # Errors
    /// Those of [`Selection::check`]; `Unsupported` for a rate that was not sampled.
    pub fn build(profile: &Profile, options: &FlameOptions) -> Result<FlameGraph> {
        let (selection, tasks) = (&options.selection, Tasks::of(profile));
        selection.check(profile, &tasks)?;
        let names = Names::of(profile);
        let counts = StackCounts::of(profile, &tasks, selection);
        let tree = ProfileTree::of(profile, &names, &tasks, &counts);
        let (event, weight_unit) = axis_of(&profile.meta, selection.axis);
        // Weights of samples of one frequency say no more than their number.
        let alike = selection.axis != Axis::OffCpu && counts.alike;
        let in_samples = selection.axis != Axis::OffCpu && (alike || counts.of_one_rate);
        let folded = tree.folded();
        let value = |own: &Weight| if alike { own.samples } else { own.weight };
        let mut values: Vec<u64> = folded.iter().map(|(_, own)| value(own)).collect();
        if in_samples && !alike {
            share_out(&mut values, counts.samples);
        }
        let stack = |((frames, _), value): ((Vec<&Label>, Weight), u64)| FoldedStack {
            frames: frames.into_iter().cloned().collect(),
            value,
        };
        let stacks: Vec<_> = folded.into_iter().zip(values).map(stack).filter(|stack| stack.value > 0).collect();
        let steps = options.rate.map(|rate| steps(profile, &names, &tasks, selection, rate)).transpose()?;
        let total = stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.value));
        Ok(FlameGraph {
            title: options.title.clone().unwrap_or_else(|| title(profile, selection, &tasks)),
            subtitle: subtitle(profile, &counts, &event, options.rate),
            unit: if in_samples { "samples" } else { weight_unit },
            total,
            stacks,
            steps,
        })
    }
}

impl FlameGraph {
    /// Zooms in: keeps only the stacks that begin with `root`, and drops all of those names but the last.
    pub fn keep_below(&mut self, root: &[String]) {
        let inside = |stack: &FoldedStack| {
            stack.frames.len() >= root.len() && root.iter().zip(&stack.frames).all(|(name, frame)| *name == frame.text)
        };
        self.stacks.retain(inside);
        for stack in &mut self.stacks {
            stack.frames.drain(..root.len().saturating_sub(1));
        }
        self.total = self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.value));
    }
}

/// Makes the values sum up to `total`, in whole numbers: what is left after rounding down goes to the largest remainders.
fn share_out(values: &mut [u64], total: u64) {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    let exact = |value: u64| u128::from(value) * u128::from(total);
    let mut remainders: Vec<(u128, usize)> =
        values.iter().enumerate().map(|(at, value)| (exact(*value) % sum.max(1), at)).collect();
    values.iter_mut().for_each(|value| *value = (exact(*value) / sum.max(1)) as u64);
    remainders.sort_unstable_by(|(a, i), (b, j)| b.cmp(a).then(i.cmp(j)));
    let left = total.saturating_sub(values.iter().sum()) as usize;
    remainders.iter().take(left).for_each(|(_, at)| values[*at] += 1);
}

/// The command, or the process's name with its id: an id alone means little a week later.
pub(super) fn title(profile: &Profile, selection: &Selection, tasks: &Tasks) -> String {
    use crate::model::Target;
    let target = match &profile.meta.plan.target {
        Target::Processes { pids, .. } if pids.len() == 1 && !tasks.process_name(pids[0]).is_empty() => {
            format!("{} (pid {})", tasks.process_name(pids[0]), pids[0])
        }
        other => other.label(),
    };
    let mut title = if selection.axis == Axis::OffCpu { format!("{target}: time off the CPU") } else { target };
    let ids = selection.tids.iter().map(u32::to_string);
    let threads: Vec<_> = ids.chain(selection.comms.iter().cloned()).collect();
    if !threads.is_empty() {
        title = format!("{title}, thread {}", threads.join(", "));
    }
    title
}

/// The rates of functions against that of all code.
fn steps(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    selection: &Selection,
    rate: CodeRate,
) -> Result<BTreeMap<String, i8>> {
    let wanted = code_ipc::legend(rate);
    let refused =
        |why, hint| Error::new(ErrorKind::Unsupported, format!("cannot colour by {wanted}: {why}")).hint(hint);
    let ipc = CodeIpc::of(profile, tasks, selection).ok_or_else(|| {
        let together = "Record both together, where the CPU counts them: `ironlaw record -e \
                        '{cycles,instructions,LLC-load-misses}:S' ...`.";
        refused("cycles and instructions were not sampled", together)
    })?;
    let rates = RowRates::of(&ipc, profile, names, tasks, &[GroupKey::Function]);
    let found = rates.against_whole(rate);
    if found.is_empty() {
        return Err(refused("it is not known of any function", "`ironlaw report` says why, below its table."));
    }
    Ok(found.into_iter().map(|(name, ratio)| (name.to_string(), code_ipc::step(ratio))).collect())
}

fn subtitle(profile: &Profile, counts: &StackCounts, event: &str, rate: Option<CodeRate>) -> String {
    let selection = &counts.selection;
    let window = selection.time.window(&profile.ticks, profile.duration());
    let summary = summary(profile, &Counters::of(profile), counts, window);
    let end = selection.time.to.unwrap_or(profile.duration()).min(profile.duration());
    let seconds = (end - selection.time.from).seconds();
    let what = match selection.axis {
        Axis::OffCpu => format!("{} spans off the CPU", summary.waits.unwrap_or(0)),
        Axis::Event(_) => {
            format!("{} samples of {event} at {}", summary.count, super::labels::rate_of(&profile.meta))
        }
    };
    let incomplete = match summary.stack_share(summary.truncated + summary.broken) {
        Some(share) => format!("{:.1}% of stacks cut short", share * 100.0),
        None => "no stacks".to_string(),
    };
    let host = &profile.meta.host.hostname;
    let covered = match (selection.axis, summary.coverage.value()) {
        (Axis::Event(_), Some(coverage)) => format!(" · {:.0}% of the CPU time sampled", coverage.share * 100.0),
        _ => String::new(),
    };
    let lost = if summary.lost > 0 { format!(" · {} records lost", summary.lost) } else { String::new() };
    let what = rate.map_or(what.clone(), |rate| format!("{what}, coloured by {}", code_ipc::legend(rate)));
    // The host comes last, because the end may be cut off.
    format!("{what} over {seconds:.1} s · {incomplete}{covered}{lost} · {host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_in_whole_numbers_sum_up_and_differ_from_the_exact_ones_by_less_than_one() {
        for (weights, total, expected) in [
            (vec![770, 1_430, 1_000], 3, vec![1, 1, 1]),
            (vec![900, 2_100, 3_000], 6, vec![1, 2, 3]),
            (vec![1, 1, 1], 2, vec![1, 1, 0]),
            (vec![u64::MAX, u64::MAX], 3, vec![2, 1]),
            (vec![0], 0, vec![0]),
            (vec![], 0, vec![]),
        ] {
            let mut values = weights;
            share_out(&mut values, total);
            assert_eq!(values, expected);
        }
    }
}

//! A flame graph before layout: stacks by name, with their weights.

use super::labels::axis_of;
use crate::analysis::{Axis, CallTree, CodeKind, Counters, Names, Selection, Tasks, observations, summary};
use crate::error::Result;
use crate::model::profile::Profile;
use serde::Serialize;

/// Options of a flame graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlameOptions {
    /// The part of the recording.
    pub selection: Selection,
    /// The title; by default the name of the target.
    pub title: Option<String>,
}

/// A cell: one call of a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FlameFrame {
    /// Function name, or a heading such as `[truncated stack]`.
    pub name: String,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Whether it was inlined into its caller.
    pub inlined: bool,
}

/// A stack and its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlameLine {
    /// From the root to the leaf; never empty.
    pub frames: Vec<FlameFrame>,
    /// Its weight, in the flame graph's unit.
    pub value: u64,
}

/// A flame graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flame {
    /// What was profiled.
    pub title: String,
    /// Host, event, number of samples, and how complete the stacks are.
    pub subtitle: String,
    /// What the values count: `samples`, `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Sum of the values.
    pub total: u64,
    /// The stacks, sorted by their names from the root, each once.
    pub lines: Vec<FlameLine>,
}

impl Flame {
    /// The flame graph of `options.selection`. Values are sample counts if all samples weigh the same, else weights.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn build(profile: &Profile, options: &FlameOptions) -> Result<Flame> {
        let (selection, tasks) = (&options.selection, Tasks::of(profile));
        selection.check(profile, &tasks)?;
        let names = Names::of(profile);
        let tree = CallTree::of(profile, &names, &tasks, selection);
        let (event, weight_unit) = axis_of(&profile.meta, selection.axis);
        let alike = weigh_alike(profile, selection, &tasks);
        let lines: Vec<_> = tree
            .folded()
            .into_iter()
            .map(|(path, weight, samples)| FlameLine {
                frames: path
                    .into_iter()
                    .map(|label| FlameFrame { name: label.text.clone(), kind: label.kind, inlined: label.inlined })
                    .collect(),
                value: if alike { samples } else { weight },
            })
            .collect();
        let total = lines.iter().fold(0_u64, |sum, line| sum.saturating_add(line.value));
        Ok(Flame {
            title: options.title.clone().unwrap_or_else(|| title(profile, selection, &tasks)),
            subtitle: subtitle(profile, selection, &tasks, &event),
            unit: if alike { "samples" } else { weight_unit },
            total,
            lines,
        })
    }
}

impl Flame {
    /// Zooms in: keeps only the stacks that begin with `root`, and drops all of those names but the last.
    pub fn keep_below(&mut self, root: &[String]) {
        let inside = |line: &FlameLine| {
            line.frames.len() >= root.len() && root.iter().zip(&line.frames).all(|(name, frame)| *name == frame.name)
        };
        self.lines.retain(inside);
        for line in &mut self.lines {
            line.frames.drain(..root.len().saturating_sub(1));
        }
        self.total = self.lines.iter().fold(0, |sum, line| sum.saturating_add(line.value));
    }
}

fn weigh_alike(profile: &Profile, selection: &Selection, tasks: &Tasks) -> bool {
    if selection.axis == Axis::OffCpu {
        return false;
    }
    let who = selection.who(tasks);
    let mut weights = observations(profile, selection, &who).map(|seen| seen.weight);
    let first = weights.next();
    weights.all(|weight| Some(weight) == first)
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

fn subtitle(profile: &Profile, selection: &Selection, tasks: &Tasks, event: &str) -> String {
    let window = selection.time.window(&profile.ticks, profile.duration());
    let summary = summary(profile, tasks, &Counters::of(profile), selection, window);
    let end = selection.time.to.unwrap_or(profile.duration()).min(profile.duration());
    let seconds = (end - selection.time.from).seconds();
    let what = match selection.axis {
        Axis::OffCpu => format!("{} spans off the CPU", summary.count),
        Axis::Event(_) => {
            format!("{} samples of {event} at {}", summary.count, super::labels::rate_of(profile.meta.plan.rate))
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
    // The host comes last, because the end may be cut off.
    format!("{what} over {seconds:.1} s · {incomplete}{covered}{lost} · {host}")
}

//! The butterfly view of one function: its callers, its callees, and the source lines and addresses where its time
//! goes. A stack on which the function recurs counts once, with the outermost call as the function.

use super::names::{Call, DEEPEST, Names};
use super::profile_tree::{TRUNCATED, process_heading};
use super::selection::Axis;
use super::stack_counts::{StackCount, StackCounts};
use super::stack_tree::{StackTree, Visit};
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{FrameId, StackEnd, StackId, Symbol};
use rustc_hash::FxHashMap;

/// What a branch represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BranchKind {
    /// A function: index into [`Names::functions`].
    Function(u32),
    /// Callees: the function's own code, no call.
    Own,
    /// Callers: none, the thread starts in this function.
    Outermost,
    /// Callers: unknown, because the stack ends too early.
    Truncated,
    /// Callers: unknown, because no stacks were requested.
    NotTaken,
}

/// A caller or callee on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The branch one call nearer to the function; `None` for direct callers and callees. Its index is always lower.
    pub parent: Option<u32>,
    /// What the branch represents.
    pub kind: BranchKind,
    /// Whether every call here was inlined into its caller.
    pub inlined: bool,
    /// Weight of the stacks that contain this branch.
    pub weight: u64,
    /// Observations of those stacks.
    pub samples: u64,
    /// The heaviest of those stacks: index into [`Butterfly::stacks`].
    pub stack: u32,
    /// Number of calls of that stack, counted from its root, that lead to the end of [`Butterfly::path`]: the callee
    /// itself or, for a caller, the function in the middle.
    pub calls: u32,
}

/// A source line within the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// File, as debug information names it.
    pub file: String,
    /// Line, from 1; `None` where the compiler recorded none.
    pub line: Option<u32>,
    /// Weight of the line's own code.
    pub self_weight: u64,
    /// Samples in the line's own code.
    pub self_samples: u64,
    /// Weight including the line's callees.
    pub total_weight: u64,
}

/// An instruction within the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The instruction's frame.
    pub frame: FrameId,
    /// Its weight.
    pub weight: u64,
    /// Its samples.
    pub samples: u64,
    /// Its source file and line.
    pub line: Option<(String, Option<u32>)>,
}

/// A distinct stack of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackKey {
    pid: u32,
    stack: Option<StackId>,
    completeness: Completeness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Completeness {
    Whole,
    Truncated,
    NotTaken,
}

/// Everything around one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Butterfly {
    /// Weight of all stacks that contain the function.
    pub weight: u64,
    /// Observations of those stacks.
    pub samples: u64,
    /// Direct and indirect callers.
    pub callers: Vec<Branch>,
    /// Direct and indirect callees.
    pub callees: Vec<Branch>,
    /// Its source lines, by own weight.
    pub lines: Vec<SourceLine>,
    /// Its instructions, by weight.
    pub instructions: Vec<Instruction>,
    /// The stacks that contain the function, heaviest first.
    pub stacks: Vec<StackKey>,
    headings: bool,
}

impl Butterfly {
    /// Builds the butterfly of the function `name` in the module with path `module`.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, counts: &StackCounts, (name, module): (&str, &str)) -> Butterfly {
        let wanted: Vec<bool> =
            names.functions.iter().map(|function| function.name == name && function.module == module).collect();
        let is_wanted = |call: &Call| wanted.get(call.function as usize).copied().unwrap_or(false);
        // A sample without any address has no function; the ranking counts it as an unknown one.
        let nameless = name == super::profile_tree::UNKNOWN && module.is_empty();
        let tree = StackTree::of(profile, names, counts);
        let mut passing = Passing { wanted: &wanted, open: 0, stacks: vec![false; tree.stacks.len()] };
        tree.visit(&mut passing);
        let passes = tree.stack_of.iter().map(|stack| stack.map_or(nameless, |stack| passing.stacks[stack as usize]));
        let rows = counts.rows.iter().zip(passes).filter(|(_, passes)| *passes).map(|(row, _)| row);
        let headings = counts.rows.iter().any(|row| row.pid != counts.rows[0].pid);
        let mut both = CallersAndCallees::default();
        let mut places = Places::default();
        let mut butterfly = Butterfly { headings, ..Butterfly::default() };
        let mut calls = Vec::new();
        for (key, sum) in stacks(rows, counts.selection.axis) {
            calls.clear();
            calls.extend(names.walk(profile, key.stack));
            let Some(at) = calls.iter().rposition(is_wanted).or((calls.is_empty() && nameless).then_some(0)) else {
                continue;
            };
            both.add(names, &calls, at, key.completeness, sum, butterfly.stacks.len() as u32);
            places.add(profile, names, key.stack, &is_wanted, sum);
            butterfly.weight = butterfly.weight.saturating_add(sum.weight);
            butterfly.samples += sum.samples;
            butterfly.stacks.push(key);
        }
        (butterfly.callers, butterfly.callees) = (both.callers.branches, both.callees.branches);
        (butterfly.lines, butterfly.instructions) = places.finish();
        butterfly
    }

    /// The names on a branch's heaviest stack, root first, as a call tree shows them.
    #[must_use]
    pub fn path(&self, profile: &Profile, names: &Names, tasks: &Tasks, stack: u32) -> Vec<String> {
        let Some(key) = self.stacks.get(stack as usize) else { return Vec::new() };
        let text = |call: Call| names.text(call.label).to_string();
        let mut path: Vec<String> = names.walk(profile, key.stack).map(text).collect();
        path.extend((key.completeness == Completeness::Truncated).then(|| TRUNCATED.to_string()));
        path.extend(self.headings.then(|| process_heading(tasks, key.pid)));
        path.reverse();
        path
    }

    /// How many leading names of a path are headings rather than calls.
    #[must_use]
    pub fn headings(&self, stack: u32) -> usize {
        let truncated = self.stacks.get(stack as usize).is_some_and(|key| key.completeness == Completeness::Truncated);
        usize::from(self.headings) + usize::from(truncated)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: u64,
    samples: u64,
}

/// Finds the stacks that pass through wanted functions while their tree is visited.
struct Passing<'a> {
    wanted: &'a [bool],
    /// Wanted calls on the path.
    open: usize,
    stacks: Vec<bool>,
}

impl Passing<'_> {
    fn wanted(&self, calls: &[Call]) -> usize {
        calls.iter().filter(|call| self.wanted[call.function as usize]).count()
    }
}

impl Visit for Passing<'_> {
    #[inline]
    fn enter(&mut self, calls: &[Call]) {
        self.open += self.wanted(calls);
    }

    #[inline]
    fn end(&mut self, stack: usize) {
        self.stacks[stack] = self.open > 0;
    }

    #[inline]
    fn leave(&mut self, calls: &[Call]) {
        self.open -= self.wanted(calls);
    }
}

/// The stacks of these rows, heaviest first.
fn stacks<'a>(rows: impl Iterator<Item = &'a StackCount>, axis: Axis) -> Vec<(StackKey, Sum)> {
    let mut sums: FxHashMap<StackKey, Sum> = FxHashMap::default();
    for row in rows {
        let completeness = match row.end {
            StackEnd::Whole => Completeness::Whole,
            StackEnd::Truncated | StackEnd::Broken => Completeness::Truncated,
            StackEnd::NotTaken => Completeness::NotTaken,
        };
        let sum = sums.entry(StackKey { pid: row.pid, stack: row.stack, completeness }).or_default();
        sum.weight = sum.weight.saturating_add(row.weight);
        sum.samples += row.samples;
    }
    // Spans of preempted threads have no weight: the threads were not blocked.
    sums.retain(|_, sum| sum.weight > 0 || axis != Axis::OffCpu);
    let mut stacks: Vec<_> = sums.into_iter().collect();
    stacks.sort_unstable_by(|(a, sum_a), (b, sum_b)| sum_b.weight.cmp(&sum_a.weight).then(a.cmp(b)));
    stacks
}

/// Callers and callees.
#[derive(Debug, Default)]
struct CallersAndCallees {
    callers: Tree,
    callees: Tree,
}

impl CallersAndCallees {
    /// `calls` is innermost first; `at` is the index of the function's outermost call.
    fn add(&mut self, names: &Names, calls: &[Call], at: usize, completeness: Completeness, sum: Sum, stack: u32) {
        let all = calls.len() as u32;
        let kind = |call: &Call| (BranchKind::Function(call.function), names.is_inlined(call.label));
        let middle = all - (at as u32).min(all);
        let mut branch = None;
        for call in calls.iter().skip(at + 1) {
            branch = Some(self.callers.grow(branch, kind(call), sum, (stack, middle)));
        }
        let end = match completeness {
            Completeness::Truncated => Some(BranchKind::Truncated),
            Completeness::NotTaken => Some(BranchKind::NotTaken),
            Completeness::Whole => branch.is_none().then_some(BranchKind::Outermost),
        };
        if let Some(end) = end {
            self.callers.grow(branch, (end, false), sum, (stack, middle));
        }
        if at == 0 {
            self.callees.grow(None, (BranchKind::Own, false), sum, (stack, all));
        }
        let mut branch = None;
        for (inner, call) in calls.iter().enumerate().take(at).rev() {
            branch = Some(self.callees.grow(branch, kind(call), sum, (stack, all - inner as u32)));
        }
    }
}

#[derive(Debug, Default)]
struct Tree {
    branches: Vec<Branch>,
    known: FxHashMap<(Option<u32>, BranchKind), u32>,
}

impl Tree {
    /// Stacks arrive heaviest first, so the stack that creates a branch is its heaviest.
    fn grow(&mut self, parent: Option<u32>, (kind, inlined): (BranchKind, bool), sum: Sum, route: (u32, u32)) -> u32 {
        let next = self.branches.len() as u32;
        let at = *self.known.entry((parent, kind)).or_insert(next);
        if at == next {
            let (stack, calls) = route;
            self.branches.push(Branch { parent, kind, inlined, weight: 0, samples: 0, stack, calls });
        }
        let branch = &mut self.branches[at as usize];
        branch.weight = branch.weight.saturating_add(sum.weight);
        branch.samples += sum.samples;
        branch.inlined &= inlined;
        at
    }
}

/// File and line.
pub type Line<'a> = (&'a str, Option<u32>);

/// The function's weight by source line and by instruction.
#[derive(Debug, Default)]
struct Places<'a> {
    lines: FxHashMap<Line<'a>, (Sum, u64)>,
    instructions: FxHashMap<FrameId, (Sum, Option<Line<'a>>)>,
    on_stack: Vec<Line<'a>>,
}

impl<'a> Places<'a> {
    fn add(
        &mut self,
        profile: &'a Profile,
        names: &Names,
        stack: Option<StackId>,
        is_wanted: &impl Fn(&Call) -> bool,
        sum: Sum,
    ) {
        self.on_stack.clear();
        for (depth, frame) in profile.walk(stack).take(DEEPEST).enumerate() {
            let symbols = profile.names_at(frame);
            for (inner, _) in names.at(frame).iter().enumerate().filter(|(_, call)| is_wanted(call)) {
                let line = symbols.get(inner).and_then(line);
                if depth == 0 && inner == 0 {
                    self.own(frame, line, sum);
                }
                self.on_stack.extend(line);
            }
        }
        self.on_stack.sort_unstable();
        self.on_stack.dedup();
        for line in &self.on_stack {
            let (_, total) = self.lines.entry(*line).or_default();
            *total = total.saturating_add(sum.weight);
        }
    }

    fn own(&mut self, frame: FrameId, line: Option<Line<'a>>, sum: Sum) {
        let add = |to: &mut Sum| {
            to.weight = to.weight.saturating_add(sum.weight);
            to.samples += sum.samples;
        };
        add(&mut self.instructions.entry(frame).or_insert((Sum::default(), line)).0);
        if let Some(line) = line {
            add(&mut self.lines.entry(line).or_default().0);
        }
    }

    fn finish(self) -> (Vec<SourceLine>, Vec<Instruction>) {
        let line = |((file, line), (own, total)): (Line<'_>, (Sum, u64))| SourceLine {
            file: file.to_string(),
            line,
            self_weight: own.weight,
            self_samples: own.samples,
            total_weight: total,
        };
        let mut lines: Vec<_> = self.lines.into_iter().map(line).collect();
        lines.sort_unstable_by(|a, b| {
            let key = |line: &SourceLine| (line.self_weight, line.total_weight);
            key(b).cmp(&key(a)).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
        });
        let instruction = |(frame, (own, line)): (FrameId, (Sum, Option<Line<'_>>))| Instruction {
            frame,
            weight: own.weight,
            samples: own.samples,
            line: line.map(|(file, line)| (file.to_string(), line)),
        };
        let mut instructions: Vec<_> = self.instructions.into_iter().map(instruction).collect();
        instructions.sort_unstable_by(|a, b| b.weight.cmp(&a.weight).then(a.frame.cmp(&b.frame)));
        (lines, instructions)
    }
}

fn line(symbol: &Symbol) -> Option<Line<'_>> {
    symbol.file.as_deref().map(|file| (file, symbol.line))
}

/// The source line of the innermost function at a frame.
pub(super) fn own_line(profile: &Profile, frame: FrameId) -> Option<Line<'_>> {
    profile.names_at(frame).first().and_then(line)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::selection::Selection;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::TaskState;

    /// Formats each branch as `depth name weight`, in order.
    fn wing(names: &Names, branches: &[Branch]) -> Vec<String> {
        let depth = |branch: &Branch| std::iter::successors(branch.parent, |at| branches[*at as usize].parent).count();
        let text = |branch: &Branch| {
            let name = match branch.kind {
                BranchKind::Function(function) => names.functions[function as usize].name.clone(),
                other => format!("{other:?}"),
            };
            let inlined = if branch.inlined { " inlined" } else { "" };
            format!("{} {name}{inlined} {}", depth(branch), branch.weight)
        };
        branches.iter().map(text).collect()
    }

    fn look(profile: &Profile, name: &str) -> (Butterfly, Names) {
        let (names, tasks) = (Names::of(profile), Tasks::of(profile));
        let counts = StackCounts::of(profile, &tasks, &Selection::default());
        (Butterfly::of(profile, &names, &counts, (name, "app")), names)
    }

    #[test]
    fn callers_go_outwards_and_callees_inwards_with_inlined_calls_between() {
        let mut synthetic = Synthetic::new();
        synthetic
            .samples(0, 41, "app!main;app!serve;app!get;app!hash < find", 5)
            .samples(0, 41, "app!main;app!get", 2)
            .samples(0, 41, "app!get;app!hash < find", 1)
            .samples(0, 41, "app!main;app!other", 9);
        let (butterfly, names) = look(&synthetic.finish(), "get");
        assert_eq!((butterfly.weight, butterfly.samples), (8, 8));
        assert_eq!(wing(&names, &butterfly.callers), ["0 serve 5", "1 main 5", "0 main 2", "0 Outermost 1"]);
        assert_eq!(wing(&names, &butterfly.callees), ["0 find 6", "1 hash inlined 6", "0 Own 2"]);
    }

    #[test]
    fn a_recursive_function_counts_each_stack_once_from_its_outermost_call() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "app!main;app!walk;app!walk;app!step;app!walk", 3);
        let (butterfly, names) = look(&synthetic.finish(), "walk");
        assert_eq!(butterfly.weight, 3);
        assert_eq!(wing(&names, &butterfly.callers), ["0 main 3"]);
        assert_eq!(wing(&names, &butterfly.callees), ["0 walk 3", "1 step 3", "2 walk 3"]);
    }

    #[test]
    fn a_caller_that_was_not_seen_is_never_taken_for_none() {
        let mut synthetic = Synthetic::new();
        synthetic.ended(0, 41, "app!serve;app!get", 2, StackEnd::Truncated);
        synthetic.ended(0, 41, "app!get", 1, StackEnd::NotTaken);
        let (butterfly, names) = look(&synthetic.finish(), "get");
        assert_eq!(wing(&names, &butterfly.callers), ["0 serve 2", "1 Truncated 2", "0 NotTaken 1"]);
    }

    #[test]
    fn a_branch_leads_to_its_heaviest_cell_in_the_call_tree() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "app!main;app!a;app!get;app!find", 2);
        synthetic.ended(0, 41, "app!b;app!get;app!find", 3, StackEnd::Truncated);
        let profile = synthetic.finish();
        let (butterfly, names) = look(&profile, "get");
        let path = |branch: &Branch| {
            let path = butterfly.path(&profile, &names, &Tasks::of(&profile), branch.stack);
            path[..butterfly.headings(branch.stack) + branch.calls as usize].join(";")
        };
        let callers: Vec<_> = butterfly.callers.iter().map(path).collect();
        let to_b = "[truncated stack];b;get";
        assert_eq!(callers, [to_b, to_b, "main;a;get", "main;a;get"]);
        assert_eq!(path(&butterfly.callees[0]), "[truncated stack];b;get;find");
    }

    #[test]
    fn lines_are_those_within_the_function_and_count_each_stack_once() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "app!main;app!get", 4).samples(0, 41, "app!main;app!find < get", 2).samples(
            0,
            41,
            "app!find < get;app!get",
            1,
        );
        let mut profile = synthetic.finish();
        for (frame, names) in profile.names.iter_mut().enumerate() {
            for (inner, symbol) in names.iter_mut().enumerate() {
                symbol.file = Some("get.c".to_string());
                symbol.line = Some(100 * frame as u32 + inner as u32);
            }
        }
        let (butterfly, _) = look(&profile, "get");
        let lines: Vec<_> =
            butterfly.lines.iter().map(|line| (line.line.unwrap(), line.self_weight, line.total_weight)).collect();
        assert_eq!(lines, [(100, 5, 5), (201, 0, 3)]);
        let own: Vec<_> = butterfly.instructions.iter().map(|own| (own.frame.0, own.samples)).collect();
        assert_eq!(own, [(1, 5)]);
    }

    #[test]
    fn off_the_cpu_only_what_was_blocked_is_on_a_path() {
        let mut synthetic = Synthetic::new();
        synthetic.off_cpu(0, 41, TaskState::Sleeping, 5, Some(1), "app!main;app!lock");
        synthetic.off_cpu(20, 41, TaskState::Runnable, 0, Some(7), "app!main;app!spin");
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let selection = Selection { axis: Axis::OffCpu, ..Selection::default() };
        let counts = StackCounts::of(&profile, &tasks, &selection);
        let butterfly = Butterfly::of(&profile, &names, &counts, ("main", "app"));
        assert_eq!((butterfly.weight, butterfly.samples), (ms(5).0, 1));
        assert_eq!(wing(&names, &butterfly.callees), ["0 lock 5000000"]);
    }

    #[test]
    fn samples_without_an_address_have_an_unknown_function() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "", 4);
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let butterfly = Butterfly::of(&profile, &names, &counts, ("[unknown]", ""));
        assert_eq!((butterfly.weight, butterfly.callees.len(), butterfly.lines.len()), (4, 1, 0));
    }
}

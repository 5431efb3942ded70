//! Ranks functions, modules, threads or processes by their time.

use super::names::{Call, CodeKind, Names, short};
use super::profile_tree::{UNKNOWN, Weight};
use super::sampling_error::Lockstep;
use super::stack_counts::StackCounts;
use super::stack_tree::{StackTree, Visit};
use super::tasks::Tasks;
use crate::model::profile::Profile;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// What one row represents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// A function; inlined functions count as functions.
    #[default]
    Function,
    /// A program or library.
    Module,
    /// A thread.
    Thread,
    /// A process.
    Process,
}

/// The order of the rows; equal rows are ordered by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Own weight, largest first.
    #[default]
    SelfWeight,
    /// Weight including callees, largest first.
    TotalWeight,
    /// Own samples, most first.
    Samples,
    /// Name.
    Name,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// Name of the function, module, thread or process.
    pub name: String,
    /// Path of the function's module; empty if unknown or if the row is no function.
    pub module: String,
    /// Where the code lives; `Heading` for threads and processes.
    pub kind: CodeKind,
    /// Whether every call of the function was inlined into its caller.
    pub inlined: bool,
    /// Kernel id of the thread or process; `None` for code.
    pub id: Option<u32>,
    /// Weight of samples in its own code.
    pub self_weight: u64,
    /// Weight of samples with it anywhere on the stack. Recursion counts once.
    pub total_weight: u64,
    /// Samples in its own code.
    pub self_samples: u64,
    /// Samples with it anywhere on the stack.
    pub total_samples: u64,
}

/// The rows, and the whole that they are shares of.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// All rows, in order.
    pub rows: Vec<Rank>,
    /// Weight of the whole selection.
    pub weight: u64,
    /// Samples of the whole selection.
    pub samples: u64,
    /// The variance of shares over that of independent samples that all weigh the same; at least 1.
    pub design_effect: f64,
    /// Whether the samples keep step with the program, which is a part of that.
    pub lockstep: Lockstep,
}

impl Default for Ranking {
    fn default() -> Self {
        Ranking { rows: Vec::new(), weight: 0, samples: 0, design_effect: 1.0, lockstep: Lockstep::NONE }
    }
}

impl Ranking {
    /// These rows of a selection.
    pub(super) fn of(rows: Vec<Rank>, counts: &StackCounts, lockstep: Lockstep) -> Ranking {
        let design_effect = counts.design_effect() * lockstep.design_effect;
        Ranking { rows, weight: counts.weight, samples: counts.samples, design_effect, lockstep }
    }

    /// The same rows in another order.
    #[must_use]
    pub fn sorted(mut self, by: SortBy) -> Ranking {
        let key = |row: &Rank| match by {
            SortBy::SelfWeight => (row.self_weight, row.total_weight),
            SortBy::TotalWeight => (row.total_weight, row.self_weight),
            SortBy::Samples => (row.self_samples, row.total_samples),
            SortBy::Name => (0, 0),
        };
        self.rows.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| (&a.name, &a.module).cmp(&(&b.name, &b.module))));
        self
    }

    /// The share of the whole, 0 to 1; 0 for an empty selection.
    #[must_use]
    pub fn share(&self, weight: u64) -> f64 {
        if self.weight == 0 { 0.0 } else { weight as f64 / self.weight as f64 }
    }

    /// Standard error of a share by sampling alone: sqrt(p(1-p)/samples) for samples that all weigh the same and keep no step
    /// with the program; else sqrt(design effect) times as much. `None` without samples.
    #[must_use]
    pub fn error(&self, share: f64) -> Option<f64> {
        let variance = share * (1.0 - share) * self.design_effect;
        (self.samples > 0).then(|| (variance / self.samples as f64).max(0.0).sqrt())
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    self_weight: u64,
    total_weight: u64,
    self_samples: u64,
    total_samples: u64,
}

/// Ranks the counted observations of a selection.
#[must_use]
pub fn rank(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    counts: &StackCounts,
    by: GroupBy,
    sort: SortBy,
) -> Ranking {
    let rows = match by {
        GroupBy::Function | GroupBy::Module => {
            let tree = StackTree::of(profile, names, counts);
            let mut rows = CodeRows::of(names, counts, &tree, by);
            tree.visit(&mut rows);
            rows.finish()
        }
        GroupBy::Thread | GroupBy::Process => by_task(tasks, counts, by),
    };
    Ranking::of(rows, counts, Lockstep::of(profile, names, counts)).sorted(sort)
}

/// The sums of the rows while a tree is visited: a function counts once on a path, at its outermost call.
pub(super) struct CodeRows<'a> {
    names: &'a Names,
    by: GroupBy,
    /// The row of each function.
    row_of: Vec<u32>,
    /// A function of each row.
    function_of: Vec<u32>,
    sums: Vec<Sum>,
    /// How often each row is on the path.
    on_path: Vec<u32>,
    /// The cost of each stack, and that of samples without any address.
    own: Vec<Weight>,
    nowhere: Weight,
    /// For each frame on the path, the row of the innermost call so far and the cost below it.
    open: Vec<(u32, Weight)>,
}

impl<'a> CodeRows<'a> {
    pub fn of(names: &'a Names, counts: &StackCounts, tree: &StackTree<'_>, by: GroupBy) -> CodeRows<'a> {
        let (mut own, mut nowhere) = (vec![Weight::default(); tree.stacks.len()], Weight::default());
        for (row, stack) in counts.rows.iter().zip(&tree.stack_of) {
            let sum = stack.map_or(&mut nowhere, |at| &mut own[at as usize]);
            *sum += Weight { weight: row.weight, samples: row.samples };
        }
        let mut modules: FxHashMap<&str, u32> = FxHashMap::default();
        let (mut row_of, mut function_of) = (Vec::with_capacity(names.functions.len()), Vec::new());
        for (function, at) in names.functions.iter().zip(0..) {
            let next = function_of.len() as u32;
            let row = match by {
                GroupBy::Module => *modules.entry(&function.module).or_insert(next),
                _ => next,
            };
            if row == next {
                function_of.push(at);
            }
            row_of.push(row);
        }
        let (sums, on_path) = (vec![Sum::default(); function_of.len()], vec![0; function_of.len()]);
        CodeRows { names, by, row_of, function_of, sums, on_path, own, nowhere, open: Vec::new() }
    }

    /// The rows after a visit, in no particular order.
    pub fn finish(self) -> Vec<Rank> {
        let (mut ranks, mut nowhere): (Vec<Rank>, Weight) = (Vec::new(), self.nowhere);
        for (function, mut sum) in self.function_of.iter().zip(self.sums.iter().copied()) {
            let function = *function as usize;
            let def = &self.names.functions[function];
            let (name, inlined) = match self.by {
                GroupBy::Module if def.module.is_empty() => (UNKNOWN, false),
                GroupBy::Module => (short(&def.module), false),
                _ => (def.name.as_str(), self.names.inlined[function]),
            };
            // Samples without any address share the row of frames outside every mapping.
            if nowhere.samples > 0 && name == UNKNOWN && def.module.is_empty() {
                sum.add(std::mem::take(&mut nowhere));
            }
            if sum.total_samples > 0 {
                ranks.push(sum.rank(name, &def.module, def.kind, inlined, None));
            }
        }
        if nowhere.samples > 0 {
            let mut sum = Sum::default();
            sum.add(nowhere);
            ranks.push(sum.rank(UNKNOWN, "", CodeKind::User, false, None));
        }
        ranks
    }
}

impl Visit for CodeRows<'_> {
    #[inline]
    fn enter(&mut self, calls: &[Call]) {
        let outer = self.open.last().map_or(0, |(row, _)| *row);
        calls.iter().for_each(|call| self.on_path[self.row_of[call.function as usize] as usize] += 1);
        let row = calls.first().map_or(outer, |call| self.row_of[call.function as usize]);
        self.open.push((row, Weight::default()));
    }

    #[inline]
    fn end(&mut self, stack: usize) {
        let own = self.own[stack];
        if let Some((row, below)) = self.open.last_mut() {
            *below += own;
            let sum = &mut self.sums[*row as usize];
            sum.self_weight = sum.self_weight.saturating_add(own.weight);
            sum.self_samples += own.samples;
        }
    }

    #[inline]
    fn leave(&mut self, calls: &[Call]) {
        let Some((_, below)) = self.open.pop() else { return };
        for call in calls {
            let row = self.row_of[call.function as usize] as usize;
            self.on_path[row] -= 1;
            if self.on_path[row] == 0 {
                self.sums[row].add_callees(below);
            }
        }
        if let Some((_, outer)) = self.open.last_mut() {
            *outer += below;
        }
    }
}

impl Sum {
    /// Adds observations in own code.
    pub fn add(&mut self, own: Weight) {
        self.self_weight = self.self_weight.saturating_add(own.weight);
        self.total_weight = self.total_weight.saturating_add(own.weight);
        self.self_samples += own.samples;
        self.total_samples += own.samples;
    }

    /// Adds observations in the code of callees.
    pub fn add_callees(&mut self, below: Weight) {
        self.total_weight = self.total_weight.saturating_add(below.weight);
        self.total_samples += below.samples;
    }

    pub fn rank(self, name: &str, module: &str, kind: CodeKind, inlined: bool, id: Option<u32>) -> Rank {
        Rank {
            name: name.to_string(),
            module: module.to_string(),
            kind,
            inlined,
            id,
            self_weight: self.self_weight,
            total_weight: self.total_weight,
            self_samples: self.self_samples,
            total_samples: self.total_samples,
        }
    }
}

fn by_task(tasks: &Tasks, counts: &StackCounts, by: GroupBy) -> Vec<Rank> {
    let mut sums: FxHashMap<u32, Sum> = FxHashMap::default();
    for row in &counts.rows {
        let id = if by == GroupBy::Thread { row.tid } else { row.pid };
        sums.entry(id).or_default().add(Weight { weight: row.weight, samples: row.samples });
    }
    let rows = sums.into_iter().map(|(id, sum)| {
        let comm = tasks.get(id).map_or("", |task| task.comm.as_str());
        sum.rank(format!("{comm} {id}").trim_start(), "", CodeKind::Heading, false, Some(id))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::selection::{Axis, Selection};
    use crate::analysis::testing::Synthetic;
    use crate::model::TaskState;

    fn check(synthetic: Synthetic, selection: &Selection, by: GroupBy, expected: &[(&str, u64, u64)]) {
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let counts = StackCounts::of(&profile, &tasks, selection);
        let ranking = rank(&profile, &names, &tasks, &counts, by, SortBy::SelfWeight);
        let rows: Vec<_> =
            ranking.rows.iter().map(|row| (row.name.as_str(), row.self_weight, row.total_weight)).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn recursion_and_inlining_count_each_function_once_per_stack() {
        let mut synthetic = Synthetic::new();
        synthetic
            .samples(0, 41, "app!main;app!walk;app!walk;app!walk", 3)
            .samples(0, 41, "app!main;app!inner < walk", 2)
            .samples(0, 41, "app!main", 1);
        let expected = [("walk", 3, 5), ("inner", 2, 2), ("main", 1, 6)];
        check(synthetic, &Selection::default(), GroupBy::Function, &expected);
    }

    #[test]
    fn nameless_addresses_of_one_module_are_one_row_and_no_stack_is_another() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "/lib/x.so!+0x1;/lib/x.so!+0x2", 2).samples(0, 41, "/lib/x.so!+0x3", 1);
        synthetic.samples(0, 41, "", 4).samples(0, 41, "?", 1);
        let expected = [("[unknown]", 5, 5), ("[unresolved]", 3, 3)];
        check(synthetic, &Selection::default(), GroupBy::Function, &expected);
    }

    #[test]
    fn a_module_holds_all_samples_that_pass_through_it() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "/bin/app!main;/lib/c.so!read;[kernel]!vfs_read", 2).samples(
            0,
            41,
            "/bin/app!main",
            1,
        );
        check(synthetic, &Selection::default(), GroupBy::Module, &[("[kernel]", 2, 2), ("app", 1, 3), ("c.so", 0, 2)]);
    }

    #[test]
    fn threads_are_named_and_blocked_time_is_ranked_like_samples() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").off_cpu(0, 41, TaskState::Sleeping, 2, Some(1), "app!main;app!lock");
        synthetic.off_cpu(0, 42, TaskState::Sleeping, 3, None, "app!main");
        let selection = Selection { axis: Axis::OffCpu, ..Selection::default() };
        check(
            synthetic,
            &selection,
            GroupBy::Thread,
            &[("42", 3_000_000, 3_000_000), ("main 41", 2_000_000, 2_000_000)],
        );
    }

    #[test]
    fn the_error_of_a_share_is_that_of_a_proportion() {
        let ranking = Ranking { rows: vec![], weight: 400, samples: 100, design_effect: 4.0, ..Ranking::default() };
        assert_eq!((ranking.share(80), ranking.error(0.2)), (0.2, Some(0.08)));
        assert_eq!((Ranking::default().share(5), Ranking::default().error(0.0)), (0.0, None));
    }
}

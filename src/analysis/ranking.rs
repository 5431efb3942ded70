//! Ranks functions, modules, threads or processes by their time.

use super::names::{CodeKind, Names, short};
use super::observe::observations;
use super::selection::Selection;
use super::tasks::Tasks;
use crate::model::StackId;
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    /// All rows, in order.
    pub rows: Vec<Rank>,
    /// Weight of the whole selection.
    pub weight: u64,
    /// Samples of the whole selection.
    pub samples: u64,
}

impl Ranking {
    /// The share of the whole, 0 to 1; 0 for an empty selection.
    #[must_use]
    pub fn share(&self, weight: u64) -> f64 {
        if self.weight == 0 { 0.0 } else { weight as f64 / self.weight as f64 }
    }

    /// Standard error of a share by sampling alone: sqrt(p(1-p)/samples). `None` without samples.
    #[must_use]
    pub fn error(&self, share: f64) -> Option<f64> {
        (self.samples > 0).then(|| (share * (1.0 - share) / self.samples as f64).max(0.0).sqrt())
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    self_weight: u64,
    total_weight: u64,
    self_samples: u64,
    total_samples: u64,
}

/// Ranks the selection.
#[must_use]
pub fn rank(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    selection: &Selection,
    by: GroupBy,
    sort: SortBy,
) -> Ranking {
    let mut ranking = match by {
        GroupBy::Function | GroupBy::Module => by_code(profile, names, tasks, selection, by),
        GroupBy::Thread | GroupBy::Process => by_task(profile, tasks, selection, by),
    };
    ranking.rows.sort_by(|a, b| {
        let key = |row: &Rank| match sort {
            SortBy::SelfWeight => (row.self_weight, row.total_weight),
            SortBy::TotalWeight => (row.total_weight, row.self_weight),
            SortBy::Samples => (row.self_samples, row.total_samples),
            SortBy::Name => (0, 0),
        };
        key(b).cmp(&key(a)).then_with(|| (&a.name, &a.module).cmp(&(&b.name, &b.module)))
    });
    ranking
}

/// Samples are summed by stack first: a profile has far fewer stacks than samples.
fn by_code(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection, by: GroupBy) -> Ranking {
    let mut stacks: FxHashMap<Option<StackId>, (u64, u64)> = FxHashMap::default();
    let mut ranking = Ranking::default();
    for seen in observations(profile, selection, &selection.who(tasks)) {
        let (weight, samples) = stacks.entry(seen.stack).or_default();
        *weight = weight.saturating_add(seen.weight);
        *samples += 1;
        ranking.weight = ranking.weight.saturating_add(seen.weight);
        ranking.samples += 1;
    }
    let mut rows = Rows::new(names, by);
    let mut on_stack = Vec::new();
    for (stack, (weight, samples)) in stacks {
        on_stack.clear();
        on_stack.extend(names.walk(profile, stack).map(|call| rows.of(call.function)));
        if on_stack.is_empty() {
            on_stack.push(rows.unknown());
        }
        rows.add(&mut on_stack, weight, samples);
    }
    ranking.rows = rows.finish();
    ranking
}

/// Which row each function belongs to, and the rows' sums.
struct Rows {
    row_of: Vec<u32>,
    ranks: Vec<Rank>,
    sums: Vec<Sum>,
    unknown: Option<u32>,
}

impl Rows {
    fn new(names: &Names, by: GroupBy) -> Rows {
        let mut rows = Rows { row_of: Vec::new(), ranks: Vec::new(), sums: Vec::new(), unknown: None };
        let mut modules: FxHashMap<&str, u32> = FxHashMap::default();
        for (function, inlined) in names.functions.iter().zip(&names.inlined) {
            let module = short(&function.module);
            let row = match by {
                GroupBy::Module => *modules.entry(&function.module).or_insert_with(|| {
                    let name = if module.is_empty() { "[unknown]" } else { module };
                    rows.push(name, &function.module, function.kind, false)
                }),
                _ => rows.push(&function.name, &function.module, function.kind, *inlined),
            };
            rows.row_of.push(row);
        }
        rows
    }

    fn push(&mut self, name: &str, module: &str, kind: CodeKind, inlined: bool) -> u32 {
        self.ranks.push(Rank {
            name: name.to_string(),
            module: module.to_string(),
            kind,
            inlined,
            id: None,
            self_weight: 0,
            total_weight: 0,
            self_samples: 0,
            total_samples: 0,
        });
        self.sums.push(Sum::default());
        self.ranks.len() as u32 - 1
    }

    fn of(&self, function: u32) -> u32 {
        self.row_of[function as usize]
    }

    /// The row of samples without any address. Frames outside every mapping share it.
    fn unknown(&mut self) -> u32 {
        let known = self.unknown.or_else(|| {
            self.ranks.iter().position(|rank| rank.name == "[unknown]" && rank.module.is_empty()).map(|at| at as u32)
        });
        let row = known.unwrap_or_else(|| self.push("[unknown]", "", CodeKind::User, false));
        self.unknown = Some(row);
        row
    }

    /// `rows_on_stack` is innermost first on entry and sorted on return.
    fn add(&mut self, rows_on_stack: &mut Vec<u32>, weight: u64, samples: u64) {
        if let Some(leaf) = rows_on_stack.first() {
            let sum = &mut self.sums[*leaf as usize];
            sum.self_weight = sum.self_weight.saturating_add(weight);
            sum.self_samples += samples;
        }
        rows_on_stack.sort_unstable();
        rows_on_stack.dedup();
        for row in rows_on_stack {
            let sum = &mut self.sums[*row as usize];
            sum.total_weight = sum.total_weight.saturating_add(weight);
            sum.total_samples += samples;
        }
    }

    fn finish(self) -> Vec<Rank> {
        let rows = self.ranks.into_iter().zip(self.sums).filter(|(_, sum)| sum.total_samples > 0);
        rows.map(|(rank, sum)| Rank {
            self_weight: sum.self_weight,
            total_weight: sum.total_weight,
            self_samples: sum.self_samples,
            total_samples: sum.total_samples,
            ..rank
        })
        .collect()
    }
}

fn by_task(profile: &Profile, tasks: &Tasks, selection: &Selection, by: GroupBy) -> Ranking {
    let mut sums: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
    let mut ranking = Ranking::default();
    for seen in observations(profile, selection, &selection.who(tasks)) {
        let (weight, samples) = sums.entry(if by == GroupBy::Thread { seen.tid } else { seen.pid }).or_default();
        *weight = weight.saturating_add(seen.weight);
        *samples += 1;
        ranking.weight = ranking.weight.saturating_add(seen.weight);
        ranking.samples += 1;
    }
    let rows = sums.into_iter().map(|(id, (weight, samples))| {
        let comm = tasks.get(id).map_or("", |task| task.comm.as_str());
        Rank {
            name: format!("{comm} {id}").trim_start().to_string(),
            module: String::new(),
            kind: CodeKind::Heading,
            inlined: false,
            id: Some(id),
            self_weight: weight,
            total_weight: weight,
            self_samples: samples,
            total_samples: samples,
        }
    });
    ranking.rows = rows.collect();
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::selection::Axis;
    use crate::analysis::testing::Synthetic;
    use crate::model::TaskState;

    fn check(synthetic: Synthetic, selection: &Selection, by: GroupBy, expected: &[(&str, u64, u64)]) {
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let ranking = rank(&profile, &names, &tasks, selection, by, SortBy::SelfWeight);
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
        let ranking = Ranking { rows: vec![], weight: 400, samples: 100 };
        assert_eq!((ranking.share(80), ranking.error(0.2)), (0.2, Some(0.04)));
        assert_eq!((Ranking::default().share(5), Ranking::default().error(0.0)), (0.0, None));
    }
}

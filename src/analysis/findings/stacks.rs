//! Sampled CPU time by thread and stack, from which rules take the part in some functions.

use super::Place;
use super::paths::{CodeClass, code_class};
use crate::analysis::names::{Call, CodeKind, Function, Names};
use crate::analysis::observe::observations;
use crate::analysis::profile_tree::{TRUNCATED, process_heading};
use crate::analysis::selection::{Axis, Selection, ThreadSet};
use crate::analysis::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{StackEnd, StackId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Samples of one thread with one stack.
#[derive(Debug, Clone)]
pub(super) struct StackSamples {
    pub pid: u32,
    pub tid: u32,
    /// Its outer frames are missing.
    pub incomplete: bool,
    pub stack: Option<StackId>,
    pub weight: u64,
    pub samples: u64,
}

/// The samples of a selection.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    pub rows: Vec<StackSamples>,
    pub weight: u64,
    pub samples: u64,
    names: &'a Names,
    paths: Paths<'a>,
    calls: FxHashMap<StackId, Vec<Call>>,
    /// The class of each stack, and the index of the call that decides it, innermost first.
    codes: FxHashMap<StackId, (CodeClass, usize)>,
}

/// Formats the frames of a place as a flame graph does.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    axis: Axis,
    names: &'a Names,
    headings: FxHashMap<u32, String>,
}

/// Where on a stack a function must be to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StackPosition {
    /// The function itself was running.
    Leaf,
    /// The function or anything it called was running.
    Anywhere,
}

/// The part of the samples in some functions.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeShare {
    /// Share of the weight, 0 to 1.
    pub share: f64,
    /// The place with most of it.
    pub place: Option<Place>,
    /// The function at that place.
    pub function: String,
    /// Number of threads with any of it.
    pub threads: usize,
}

/// One branch of the merged stacks, from the root to a function.
type Branch = (u32, bool, Vec<u32>);

#[derive(Debug, Default)]
struct Sum {
    weight: u64,
    by_thread: FxHashMap<u32, u64>,
    function: u32,
}

impl<'a> Stacks<'a> {
    pub fn of(
        profile: &Profile,
        names: &'a Names,
        tasks: &Tasks,
        selection: &Selection,
        who: &ThreadSet,
    ) -> Stacks<'a> {
        let mut sums: FxHashMap<_, (u64, u64)> = FxHashMap::default();
        for seen in observations(profile, selection, who) {
            let incomplete = matches!(seen.end, StackEnd::Truncated | StackEnd::Broken);
            let (weight, samples) = sums.entry((seen.pid, seen.tid, incomplete, seen.stack)).or_default();
            *weight = weight.saturating_add(seen.weight);
            *samples += 1;
        }
        let mut rows: Vec<_> = sums
            .into_iter()
            .map(|((pid, tid, incomplete, stack), (weight, samples))| StackSamples {
                pid,
                tid,
                incomplete,
                stack,
                weight,
                samples,
            })
            .collect();
        rows.sort_unstable_by_key(|row| (row.pid, row.tid, row.incomplete, row.stack));
        let known: FxHashSet<StackId> = rows.iter().filter_map(|row| row.stack).collect();
        let calls: FxHashMap<StackId, Vec<Call>> =
            known.into_iter().map(|id| (id, names.walk(profile, Some(id)).collect())).collect();
        Stacks {
            weight: rows.iter().fold(0, |sum, row| sum.saturating_add(row.weight)),
            samples: rows.iter().map(|row| row.samples).sum(),
            paths: Paths::of(names, tasks, rows.iter().map(|row| row.pid), selection.axis),
            rows,
            codes: calls.iter().map(|(id, calls)| (*id, stack_class(names, calls))).collect(),
            calls,
            names,
        }
    }

    /// The class of a row's samples.
    pub fn class(&self, row: &StackSamples) -> CodeClass {
        row.stack.and_then(|id| self.codes.get(&id)).map_or(CodeClass::Own, |(code, _)| *code)
    }

    /// The part of the samples in one of these classes.
    pub fn part_of(&self, codes: &[CodeClass]) -> CodeShare {
        self.gather_rows(|row, _| {
            let known = row.stack.and_then(|id| self.codes.get(&id));
            known.filter(|(code, _)| codes.contains(code)).map(|(_, at)| *at)
        })
    }

    /// The calls of a row, innermost first.
    pub fn calls(&self, row: &StackSamples) -> &[Call] {
        row.stack.and_then(|id| self.calls.get(&id)).map_or(&[], Vec::as_slice)
    }

    pub fn function(&self, call: Call) -> &'a Function {
        &self.names.functions[call.function as usize]
    }

    /// The part of the samples in functions that `fits` accepts.
    pub fn part(&self, at: StackPosition, fits: impl Fn(&Function) -> bool) -> CodeShare {
        let mut known: Vec<Option<bool>> = vec![None; self.names.functions.len()];
        let mut fits = |call: &Call| {
            let index = call.function as usize;
            *known[index].get_or_insert_with(|| fits(&self.names.functions[index]))
        };
        self.gather(|calls| match at {
            StackPosition::Leaf => calls.first().filter(|call| fits(call)).map(|_| 0),
            StackPosition::Anywhere => calls.iter().rposition(&mut fits),
        })
    }

    /// The part of the samples for which `find` returns a call's index; each counts for the branch that ends there.
    pub fn gather(&self, mut find: impl FnMut(&[Call]) -> Option<usize>) -> CodeShare {
        self.gather_rows(|_, calls| find(calls))
    }

    /// Like `gather`, with the row as another input.
    pub fn gather_rows(&self, mut find: impl FnMut(&StackSamples, &[Call]) -> Option<usize>) -> CodeShare {
        let mut branches: FxHashMap<Branch, Sum> = FxHashMap::default();
        let mut threads = FxHashSet::default();
        let mut weight: u64 = 0;
        for row in &self.rows {
            let calls = self.calls(row);
            let Some(found) = find(row, calls).and_then(|at| calls.get(at..)) else { continue };
            let path = found.iter().rev().map(|call| call.label).collect();
            let sum = branches.entry((row.pid, row.incomplete, path)).or_default();
            sum.function = found.first().map_or(0, |call| call.function);
            sum.weight = sum.weight.saturating_add(row.weight);
            *sum.by_thread.entry(row.tid).or_default() += row.weight;
            weight = weight.saturating_add(row.weight);
            threads.insert(row.tid);
        }
        let heaviest = branches.into_iter().max_by(|(a, x), (b, y)| x.weight.cmp(&y.weight).then_with(|| b.cmp(a)));
        let Some(((pid, incomplete, path), sum)) = heaviest else { return CodeShare::default() };
        CodeShare {
            share: self.share(weight),
            function: self.names.functions[sum.function as usize].name.clone(),
            place: Some(self.paths.place(pid, incomplete, &path, sum.by_thread)),
            threads: threads.len(),
        }
    }

    /// Share of the weight, 0 to 1.
    pub fn share(&self, weight: u64) -> f64 {
        if self.weight == 0 { 0.0 } else { weight as f64 / self.weight as f64 }
    }

    /// Whether most of the kernel's functions have no names, so that none can be found by name.
    pub fn kernel_is_nameless(&self) -> bool {
        let kernel = |named: bool| {
            let leaves = self.rows.iter().filter_map(|row| Some((row, self.function(*self.calls(row).first()?))));
            let chosen =
                leaves.filter(|(_, leaf)| leaf.kind == CodeKind::Kernel && (leaf.name != "[unresolved]") == named);
            chosen.fold(0_u64, |sum, (row, _)| sum.saturating_add(row.weight))
        };
        kernel(false) > kernel(true)
    }
}

/// The class of a stack, innermost call first.
fn stack_class(names: &Names, calls: &[Call]) -> (CodeClass, usize) {
    let path: Vec<&Function> = calls.iter().rev().map(|call| &names.functions[call.function as usize]).collect();
    let (code, at) = code_class(&path);
    (code, calls.len().saturating_sub(at + 1))
}

impl<'a> Paths<'a> {
    /// The paths of these processes; each has a heading if there are several.
    pub fn of(names: &'a Names, tasks: &Tasks, pids: impl Iterator<Item = u32>, axis: Axis) -> Paths<'a> {
        let pids: FxHashSet<u32> = pids.collect();
        let several = pids.len() > 1;
        let headings = pids.into_iter().filter(|_| several).map(|pid| (pid, process_heading(tasks, pid))).collect();
        Paths { axis, names, headings }
    }

    /// The place at the end of `path`, given by labels from the root, with its threads, largest part first.
    pub fn place(&self, pid: u32, incomplete: bool, path: &[u32], by_thread: FxHashMap<u32, u64>) -> Place {
        let heading = self.headings.get(&pid).cloned().into_iter();
        let truncated = incomplete.then(|| TRUNCATED.to_string());
        let labels = path.iter().map(|label| self.names.labels[*label as usize].text.clone());
        let mut threads: Vec<_> = by_thread.into_iter().collect();
        threads.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        Place {
            frames: heading.chain(truncated).chain(labels).collect(),
            axis: self.axis,
            threads: threads.into_iter().map(|(tid, _)| tid).collect(),
        }
    }
}

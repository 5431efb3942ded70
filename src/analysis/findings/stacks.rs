//! Sampled CPU time by thread and stack, from which rules take the part in some functions.

use super::Place;
use super::code_path::{CodeClass, CodePath, Families};
use super::families::KernelEntry;
use super::fault_kinds::FaultKind;
use super::paths::lock_taker;
use super::sleepers::{Sleepers, wait_path};
use crate::analysis::LockCalls;
use crate::analysis::calltree::CallTree;
use crate::analysis::names::{Call, CodeKind, Function, Names, UNRESOLVED};
use crate::analysis::profile_tree::{TRUNCATED, process_heading};
use crate::analysis::ranking::{CodeRows, GroupBy, Ranking, SortBy};
use crate::analysis::sampling_error::Lockstep;
use crate::analysis::selection::Axis;
use crate::analysis::stack_counts::{StackCount, StackCounts};
use crate::analysis::stack_paths::StackPaths;
use crate::analysis::stack_tree::{StackTree, Visit};
use crate::analysis::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{LockCode, StackId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The samples of a selection.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    pub counts: Cow<'a, StackCounts>,
    profile: &'a Profile,
    names: &'a Names,
    paths: Paths<'a>,
    /// What rules know of each distinct stack.
    kinds: Vec<Option<StackKind>>,
    /// The distinct stacks, as many as kinds.
    distinct: Vec<StackId>,
    /// The stack of each row of the counts: index into `kinds`; `None` without any address.
    kind_of: Vec<Option<u32>>,
}

/// What rules know of a stack. Calls are counted from the innermost.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackKind {
    pub class: CodeClass,
    /// Whether it waits actively for a lock that another thread holds, as its code shows.
    pub spins: bool,
    /// The call that decides the class.
    pub at: u32,
    /// The innermost function: index into the names.
    leaf: u32,
    /// Its families.
    families: Families,
    /// The innermost program function.
    user: Option<UserCode>,
    /// The outermost yield.
    pub yields: Option<u32>,
    /// The outermost function that serves a page fault.
    pub fault: Option<u32>,
    /// The kind of that fault, if the kernel's functions show it.
    pub fault_kind: Option<FaultKind>,
    /// The outermost function that shows why the kernel was entered.
    pub entry: Option<(KernelEntry, u32)>,
}

/// The innermost program function of a stack.
#[derive(Debug, Clone, Copy)]
struct UserCode {
    /// Its cell, and its caller's.
    work: Work,
    /// Its call.
    at: u32,
}

/// What a thread does at a moment: the cell of the innermost program function, and that of its caller, if it has one.
pub(super) type Work = (u32, Option<u32>);

impl StackKind {
    /// `cell` returns the cell of a call, counted from the root.
    fn of(path: &CodePath, leaf: u32, cell: impl Fn(u32) -> u32) -> StackKind {
        let from_leaf = |at: u32| path.calls - 1 - at;
        let (class, at) = path.class();
        StackKind {
            class,
            spins: false,
            at: from_leaf(at as u32),
            leaf,
            families: path.leaf,
            user: path.user().map(|at| UserCode { work: (cell(at), at.checked_sub(1).map(&cell)), at: from_leaf(at) }),
            yields: path.yields().map(from_leaf),
            fault: path.fault().map(from_leaf),
            fault_kind: path.fault_kind(),
            entry: path.entry().map(|(entry, at)| (entry, from_leaf(at))),
        }
    }

    /// Whether the innermost function is in one of these families.
    pub fn runs(&self, families: Families) -> bool {
        self.families.any(families)
    }
}

/// Formats the frames of a place as a flame graph does.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    axis: Axis,
    names: &'a Names,
    headings: FxHashMap<u32, String>,
}

/// The part of the samples in some functions.
#[derive(Debug)]
pub(super) struct CodeShare<'s, 'a> {
    /// Share of the weight, 0 to 1.
    pub share: f64,
    stacks: &'s Stacks<'a>,
    /// The rows, each with the call that its branch ends with.
    rows: Vec<(u32, u32)>,
    heaviest: OnceCell<Option<Heaviest>>,
}

/// The place with most of a part.
#[derive(Debug)]
struct Heaviest {
    place: Place,
    function: String,
    /// The program's function that it calls there, if it calls any: of several, the one with most of the part.
    callee: Option<String>,
}

impl<'a> Stacks<'a> {
    /// The samples, and the functions by their own weight.
    pub fn of(
        profile: &'a Profile,
        names: &'a Names,
        tasks: &Tasks,
        axis: Axis,
        counts: Cow<'a, StackCounts>,
    ) -> (Stacks<'a>, Ranking) {
        let tree = StackTree::of(profile, names, &counts);
        let functions = CodeRows::of(names, &counts, &tree, GroupBy::Function);
        let mut both = (Kinds::of(names, tree.stacks.len()), functions);
        tree.visit(&mut both);
        let (Kinds { kinds, .. }, functions) = both;
        let (functions, kind_of, distinct) = (functions.finish(), tree.stack_of, tree.stacks);
        let functions =
            Ranking::of(functions, &counts, Lockstep::of(profile, names, &counts)).sorted(SortBy::SelfWeight);
        let paths = Paths::of(names, tasks, counts.rows.iter().map(|row| row.pid), axis);
        (Stacks { counts, profile, names, paths, kinds, distinct, kind_of }, functions)
    }

    /// Takes the locks into account that were found in the code.
    pub fn mark_locks(&mut self, locks: &LockCode) {
        for (stack, kind) in self.distinct.iter().zip(&mut self.kinds) {
            let Some(kind) = kind.as_mut().filter(|kind| kind.class.may_be_lock()) else { continue };
            let Some(lock) = LockCalls::of(self.profile, self.names, locks, Some(*stack)) else { continue };
            let calls = self.names.walk(self.profile, Some(*stack));
            let mut path: Vec<&Function> = calls.map(|call| &self.names.functions[call.function as usize]).collect();
            path.reverse();
            if let Some(taker) = lock_taker(&path, Some(lock)) {
                kind.class = CodeClass::Lock;
                kind.spins = lock.spins;
                kind.at = (path.len() - 1 - taker) as u32;
            }
        }
    }

    /// The rows with their stacks; those without any address are left out.
    pub fn rows(&self) -> impl Iterator<Item = (&StackCount, &StackKind)> {
        self.counts.rows.iter().zip(&self.kind_of).filter_map(|(row, kind)| Some((row, self.kind(*kind)?)))
    }

    /// Every row with what the thread does there, if its stack has a program function.
    pub fn works(&self) -> impl Iterator<Item = (&StackCount, Option<Work>)> {
        let work = |kind: &StackKind| kind.user.map(|user| user.work);
        self.counts.rows.iter().zip(&self.kind_of).map(move |(row, kind)| (row, self.kind(*kind).and_then(work)))
    }

    /// The innermost function of a stack.
    pub fn leaf(&self, kind: &StackKind) -> &'a Function {
        &self.names.functions[kind.leaf as usize]
    }

    fn kind(&self, stack: Option<u32>) -> Option<&StackKind> {
        self.kinds[stack? as usize].as_ref()
    }

    /// The part of the samples in one of these classes.
    pub fn part_of(&self, codes: &[CodeClass]) -> CodeShare<'_, 'a> {
        self.part(|kind| codes.contains(&kind.class).then_some(kind.at))
    }

    /// The part of the samples whose innermost function `fits` accepts.
    pub fn part_at_leaf(&self, fits: impl Fn(&Function) -> bool) -> CodeShare<'_, 'a> {
        self.part_at_leaf_of(fits, |_| true)
    }

    /// The same of the stacks that `counts` accepts.
    pub fn part_at_leaf_of(
        &self,
        fits: impl Fn(&Function) -> bool,
        counts: impl Fn(&StackKind) -> bool,
    ) -> CodeShare<'_, 'a> {
        let mut known: Vec<Option<bool>> = vec![None; self.names.functions.len()];
        self.part(|kind| {
            let fits = known[kind.leaf as usize].get_or_insert_with(|| fits(self.leaf(kind)));
            (*fits && counts(kind)).then_some(0)
        })
    }

    /// The part of the samples for which `find` returns a call; each counts for the branch that ends there.
    pub fn part(&self, mut find: impl FnMut(&StackKind) -> Option<u32>) -> CodeShare<'_, 'a> {
        self.part_of_rows(|_, kind| find(kind))
    }

    /// The part of a thread, at its innermost program functions.
    pub fn part_of_thread(&self, tid: u32) -> CodeShare<'_, 'a> {
        self.part_of_rows(|row, kind| kind.user.filter(|_| row.tid == tid).map(|user| user.at))
    }

    /// The part of the samples for which `find` returns a call, given their threads as well.
    pub fn part_of_rows(&self, mut find: impl FnMut(&StackCount, &StackKind) -> Option<u32>) -> CodeShare<'_, 'a> {
        let (mut rows, mut weight) = (Vec::new(), 0_u64);
        for ((row, kind), at) in self.counts.rows.iter().zip(&self.kind_of).zip(0..) {
            if let Some(call) = self.kind(*kind).and_then(|kind| find(row, kind)) {
                rows.push((at, call));
                weight = weight.saturating_add(row.weight);
            }
        }
        CodeShare { share: self.share(weight), stacks: self, rows, heaviest: OnceCell::new() }
    }

    /// The weight of these threads in the kernel or a library below the place where they sleep, and all of theirs.
    pub fn at_sleep(&self, group: &Sleepers) -> (u64, u64) {
        let mut known: FxHashMap<StackId, bool> = FxHashMap::default();
        let (mut at, mut all) = (0_u64, 0_u64);
        for (row, kind) in self.rows().filter(|(row, _)| group.threads.contains_key(&row.tid)) {
            all = all.saturating_add(row.weight);
            // The own code of the function that waits is not part of waiting.
            if kind.class == CodeClass::Own {
                continue;
            }
            let is_there = |stack| wait_path(self.profile, self.names, Some(stack), &LockCode::default()) == group.path;
            if row.stack.is_some_and(|stack| *known.entry(stack).or_insert_with(|| is_there(stack))) {
                at = at.saturating_add(row.weight);
            }
        }
        (at, all)
    }

    /// Share of the weight, 0 to 1.
    pub fn share(&self, weight: u64) -> f64 {
        if self.counts.weight == 0 { 0.0 } else { weight as f64 / self.counts.weight as f64 }
    }

    /// Whether most of the kernel's functions have no names, so that none can be found by name.
    pub fn kernel_is_nameless(&self) -> bool {
        let (mut named, mut nameless) = (0_u64, 0_u64);
        for (row, kind) in self.rows().filter(|(_, kind)| kind.runs(Families::KERNEL)) {
            let sum = if self.leaf(kind).name == UNRESOLVED { &mut nameless } else { &mut named };
            *sum = sum.saturating_add(row.weight);
        }
        nameless > named
    }
}

impl CodeShare<'_, '_> {
    /// The place with most of it.
    pub fn place(&self) -> Option<Place> {
        self.heaviest().map(|heaviest| heaviest.place.clone())
    }

    /// The function at that place; empty without any.
    pub fn function(&self) -> &str {
        self.heaviest().map_or("", |heaviest| &heaviest.function)
    }

    /// The function that the one at that place calls there, if it calls any.
    pub fn callee(&self) -> Option<&str> {
        self.heaviest()?.callee.as_deref()
    }

    /// Number of threads with any of it.
    pub fn threads(&self) -> usize {
        let tids: FxHashSet<u32> =
            self.rows.iter().map(|(row, _)| self.stacks.counts.rows[*row as usize].tid).collect();
        tids.len()
    }

    fn heaviest(&self) -> Option<&Heaviest> {
        self.heaviest.get_or_init(|| self.find_heaviest()).as_ref()
    }

    /// Branches are the same if their cells from the root are; of equally heavy ones the first by its cells counts.
    fn find_heaviest(&self) -> Option<Heaviest> {
        let Stacks { profile, names, counts, paths, .. } = self.stacks;
        let mut tree: CallTree<(), u32> = CallTree::default();
        let mut ends = StackPaths::of(profile, names);
        let mut branches = Vec::with_capacity(self.rows.len());
        let mut sums: FxHashMap<(u32, bool, u32), u64> = FxHashMap::default();
        for (at, call) in &self.rows {
            let row = &counts.rows[*at as usize];
            let end = ends.end(row.stack, |parent, call| {
                let node = tree.child(parent, call.label);
                tree.nodes[node as usize].own = call.function;
                node
            });
            let up = |node: &u32| tree.nodes[*node as usize].parent;
            let inwards = || std::iter::successors(end, up);
            let Some(node) = inwards().nth(*call as usize) else { continue };
            let callee = call.checked_sub(1).and_then(|call| inwards().nth(call as usize));
            let branch = (row.pid, row.is_incomplete(), node);
            let sum = sums.entry(branch).or_default();
            *sum = sum.saturating_add(row.weight);
            branches.push((branch, row, callee));
        }
        let cells = |node: u32| {
            let up = std::iter::successors(Some(node), |node| tree.nodes[*node as usize].parent);
            let mut cells: Vec<u32> = up.map(|node| tree.nodes[node as usize].function).collect();
            cells.reverse();
            cells
        };
        let key = |(pid, incomplete, node): (u32, bool, u32)| (pid, incomplete, cells(node));
        let heaviest = sums.into_iter().max_by(|(a, x), (b, y)| x.cmp(y).then_with(|| key(*b).cmp(&key(*a))));
        let (branch, _) = heaviest?;
        let mut by_thread: FxHashMap<u32, u64> = FxHashMap::default();
        let mut callees: BTreeMap<u32, u64> = BTreeMap::new();
        for (_, row, callee) in branches.iter().filter(|(other, ..)| *other == branch) {
            *by_thread.entry(row.tid).or_default() += row.weight;
            if let Some(callee) = callee {
                *callees.entry(tree.nodes[*callee as usize].own).or_default() += row.weight;
            }
        }
        let (pid, incomplete, node) = branch;
        let named = |function: u32| &names.functions[function as usize];
        let function = named(tree.nodes[node as usize].own).name.clone();
        let own = callees.into_iter().filter(|(callee, _)| named(*callee).kind != CodeKind::Kernel);
        let callee = own.max_by_key(|(_, weight)| *weight).map(|(callee, _)| named(callee).name.clone());
        Some(Heaviest { place: paths.place(pid, incomplete, &cells(node), by_thread), function, callee })
    }
}

/// Classifies the stacks of a tree while it is visited.
struct Kinds {
    families: Vec<Families>,
    /// The path so far: its calls, and the state after each frame.
    calls: Vec<Call>,
    open: Vec<CodePath>,
    kinds: Vec<Option<StackKind>>,
}

impl Kinds {
    fn of(names: &Names, stacks: usize) -> Kinds {
        let families = names.functions.iter().map(Families::of).collect();
        Kinds { families, calls: Vec::new(), open: Vec::new(), kinds: vec![None; stacks] }
    }
}

impl Visit for Kinds {
    #[inline]
    fn enter(&mut self, calls: &[Call]) {
        let outer = self.open.last().copied().unwrap_or_default();
        let inwards = || calls.iter().rev();
        self.open.push(inwards().fold(outer, |path, call| path.then(self.families[call.function as usize])));
        self.calls.extend(inwards());
    }

    #[inline]
    fn end(&mut self, stack: usize) {
        let (Some(path), Some(leaf)) = (self.open.last(), self.calls.last()) else { return };
        self.kinds[stack] = Some(StackKind::of(path, leaf.function, |at| self.calls[at as usize].label));
    }

    #[inline]
    fn leave(&mut self, calls: &[Call]) {
        self.calls.truncate(self.calls.len() - calls.len());
        self.open.pop();
    }
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
        let labels = path.iter().map(|label| self.names.text(*label).to_string());
        let mut threads: Vec<_> = by_thread.into_iter().collect();
        threads.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        Place {
            frames: heading.chain(truncated).chain(labels).collect(),
            axis: self.axis,
            threads: threads.into_iter().map(|(tid, _)| tid).collect(),
        }
    }
}

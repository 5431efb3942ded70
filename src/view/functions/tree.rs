//! Callers or callees as a list of lines, each with its depth, largest first among siblings.
//! The list is limited to what a user can search through on a screen.

use crate::analysis::{Branch, BranchKind, Butterfly, CodeKind, Names};
use crate::view::context::ViewContext;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Maximum number of entries in a tree.
const MOST_ENTRIES: usize = 1_000;

/// A caller or callee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its name; a heading in brackets where a path ends.
    pub name: String,
    /// Path of its module; empty if unknown.
    pub module: String,
    /// Where the code lives; `Heading` where a path ends.
    pub kind: CodeKind,
    /// Whether every call here was inlined into its caller.
    pub inlined: bool,
    /// Distance from the function; 0 for direct callers and callees.
    pub depth: u32,
    /// Number of entries below it; they follow directly.
    pub below: u32,
    /// Share of the function's total, 0 to 1.
    pub share: f64,
    /// Weight of the stacks through here.
    pub weight: u64,
    /// Their samples, or off-CPU spans.
    pub samples: u64,
    /// Its place in the call tree: index into `Detail::paths`, and how many names of that path to take.
    pub path: (u32, u32),
}

/// Callers or callees of one function.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tree {
    /// The entries, parents before children.
    pub entries: Vec<Entry>,
    /// Number of entries left out. None is larger than the smallest entry kept.
    pub left_out: usize,
}

impl Tree {
    /// `whole` is the function's total weight.
    pub(super) fn of(branches: &[Branch], names: &Names, whole: u64, paths: &mut Paths<'_>) -> Tree {
        let kept = largest(branches, MOST_ENTRIES);
        let mut children: FxHashMap<Option<u32>, Vec<u32>> = FxHashMap::default();
        for at in &kept {
            children.entry(branches[*at as usize].parent).or_default().push(*at);
        }
        for siblings in children.values_mut() {
            siblings.sort_by(|a, b| {
                let (a, b) = (&branches[*a as usize], &branches[*b as usize]);
                b.weight.cmp(&a.weight).then_with(|| title(a.kind, names).cmp(&title(b.kind, names)))
            });
        }
        let mut tree = Tree { entries: Vec::with_capacity(kept.len()), left_out: branches.len() - kept.len() };
        let mut open: Vec<(u32, u32)> = below(&children, None, 0);
        while let Some((at, depth)) = open.pop() {
            tree.entries.push(entry(&branches[at as usize], depth, names, whole, paths));
            open.extend(below(&children, Some(at), depth + 1));
        }
        count_below(&mut tree.entries);
        tree
    }
}

/// The heaviest branches. Parents come first and are at least as heavy, so the kept branches are connected.
fn largest(branches: &[Branch], most: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..branches.len() as u32).collect();
    order.sort_by_key(|at| std::cmp::Reverse(branches[*at as usize].weight));
    order.truncate(most);
    order
}

/// Children with their depth, last first, to be pushed on a stack.
fn below(children: &FxHashMap<Option<u32>, Vec<u32>>, parent: Option<u32>, depth: u32) -> Vec<(u32, u32)> {
    children.get(&parent).map_or(&[][..], Vec::as_slice).iter().rev().map(|at| (*at, depth)).collect()
}

fn count_below(entries: &mut [Entry]) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..entries.len() {
        while open.last().is_some_and(|above| entries[*above].depth >= entries[at].depth) {
            open.pop();
        }
        open.iter().for_each(|above| entries[*above].below += 1);
        open.push(at);
    }
}

fn title(kind: BranchKind, names: &Names) -> (&str, &str, CodeKind) {
    match kind {
        BranchKind::Function(function) => {
            let function = &names.functions[function as usize];
            (&function.name, &function.module, function.kind)
        }
        BranchKind::Own => ("[own code]", "", CodeKind::Heading),
        BranchKind::Outermost => ("[no caller]", "", CodeKind::Heading),
        BranchKind::Truncated => ("[truncated stack]", "", CodeKind::Heading),
        BranchKind::NotTaken => ("[no stacks were taken]", "", CodeKind::Heading),
    }
}

fn entry(branch: &Branch, depth: u32, names: &Names, whole: u64, paths: &mut Paths<'_>) -> Entry {
    let (name, module, kind) = title(branch.kind, names);
    Entry {
        name: name.to_string(),
        module: module.to_string(),
        kind,
        inlined: branch.inlined,
        depth,
        below: 0,
        share: if whole == 0 { 0.0 } else { branch.weight as f64 / whole as f64 },
        weight: branch.weight,
        samples: branch.samples,
        path: paths.to(branch),
    }
}

/// A path from the root of the call tree.
pub type Path = Vec<u32>;

/// Collects the paths to callers and callees. The names of each stack are stored once.
pub(super) struct Paths<'a> {
    context: &'a ViewContext<'a>,
    butterfly: &'a Butterfly,
    known: FxHashMap<u32, u32>,
    paths: Vec<Path>,
    texts: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl<'a> Paths<'a> {
    pub fn new(context: &'a ViewContext<'a>, butterfly: &'a Butterfly) -> Paths<'a> {
        let (known, ids) = (FxHashMap::default(), FxHashMap::default());
        Paths { context, butterfly, known, paths: Vec::new(), texts: Vec::new(), ids }
    }

    /// The path to a branch: its index, and how many of its names to take.
    pub fn to(&mut self, branch: &Branch) -> (u32, u32) {
        let names = self.butterfly.headings(branch.stack) as u32 + branch.calls;
        if let Some(path) = self.known.get(&branch.stack) {
            return (*path, names);
        }
        let texts = self.butterfly.path(self.context.profile, &self.context.names, &self.context.tasks, branch.stack);
        let path = texts.into_iter().map(|text| self.text(text)).collect();
        self.paths.push(path);
        let path = self.paths.len() as u32 - 1;
        self.known.insert(branch.stack, path);
        (path, names)
    }

    fn text(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.ids.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }

    pub fn finish(self) -> (Vec<String>, Vec<Path>) {
        (self.texts, self.paths)
    }
}

//! Merges current call paths and a baseline's into one tree, by name: a baseline stores nothing else of a function.

use super::code::CodeNode;
use crate::analysis::names::CodeKind;
use crate::analysis::observe::{Observation, observations};
use crate::analysis::sweep::{FunctionId, PathCost, Sums};
use crate::analysis::{Names, Selection, Tasks, Who};
use crate::model::profile::Profile;
use crate::model::{Baseline, Measure, Unit, Why};
use rustc_hash::FxHashMap;

/// The samples in the selected time.
pub(super) struct Here {
    pub paths: Vec<PathCost>,
    /// Of all threads.
    pub weight: f64,
    /// Of all threads.
    pub samples: u64,
    /// Whether the call paths are those of some threads only.
    pub part: bool,
}

impl Here {
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> Option<Here> {
        let who = selection.who(tasks);
        let (mut sums, mut weight, mut samples) = (Sums::default(), 0.0, 0);
        let mut add = |seen: &Observation| {
            weight += seen.weight as f64;
            samples += 1;
            if who.has(seen.tid) {
                sums.add(seen);
            }
        };
        observations(profile, selection, &Who::All).for_each(|seen| add(&seen));
        let paths = sums.cost(profile, names, Unit::Nanos).paths;
        (weight > 0.0).then_some(Here { paths, weight, samples, part: who != Who::All })
    }
}

/// Both sides under their common names.
#[derive(Default)]
pub(super) struct Tree<'a> {
    pub nodes: Vec<CodeNode>,
    known: FxHashMap<(Option<u32>, &'a str), u32>,
    /// The identity of functions that were seen now: a baseline stores only their names.
    looks: FxHashMap<&'a str, &'a FunctionId>,
}

impl<'a> Tree<'a> {
    /// Adds a current call path.
    pub fn see(&mut self, path: &'a PathCost, scale: f64) {
        let mut at = None;
        for function in &path.frames {
            self.looks.entry(&function.name).or_insert(function);
            at = Some(self.place(at, &function.name));
        }
        self.add(at, 1, path.weight * scale, path.samples);
    }

    /// Adds the baseline's call paths.
    pub fn remember(&mut self, baseline: &'a Baseline, scale: f64) {
        for stack in &baseline.stacks {
            let mut at = None;
            for name in &stack.frames {
                at = Some(self.place(at, name));
            }
            self.add(at, 0, stack.cpu_ns * scale, stack.samples.unwrap_or(0));
        }
    }

    fn add(&mut self, at: Option<u32>, side: usize, cost: f64, samples: u64) {
        let Some(node) = at.and_then(|at| self.nodes.get_mut(at as usize)) else { return };
        node.own[side] += cost;
        node.cost[side] += cost;
        node.samples[side] = node.samples[side].saturating_add(samples);
    }

    fn place(&mut self, parent: Option<u32>, name: &'a str) -> u32 {
        let next = self.nodes.len() as u32;
        let at = *self.known.entry((parent, name)).or_insert(next);
        if at == next {
            let function = self.looks.get(name).map_or_else(|| named(name), |look| (*look).clone());
            let (own, error) = ([0.0; 2], Measure::Missing(Why::NotRecorded));
            self.nodes.push(CodeNode { function, parent, own, cost: own, samples: [0; 2], error, is_real: false });
        }
        at
    }
}

/// A function that is gone from the program is known only by name.
fn named(name: &str) -> FunctionId {
    let kind = if name.starts_with('[') { CodeKind::Heading } else { CodeKind::User };
    FunctionId { name: name.to_string(), module: String::new(), kind, inlined: false }
}

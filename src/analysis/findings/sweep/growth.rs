//! The growth of sampled time per operation, by class of code, and the path that grew most. Rules compare costs, not
//! shares: a function with a smaller share may cost many times more.

use super::values::{Change, Mean, ops};
use crate::analysis::findings::wait_targets::{is_c_library, requester};
use crate::analysis::names::{CodeKind, Function};
use crate::analysis::sweep::{Cost, FunctionId, PathCost, Run};
use crate::model::Why;
use rustc_hash::FxHashMap;

/// Growth by class of path.
#[derive(Debug)]
pub(super) struct GrowthByClass<C> {
    pub total: Change,
    classes: Vec<Class<C>>,
    /// Growth of each function's own cost by class, keyed by its name and module.
    functions: FxHashMap<(String, String), Vec<(C, f64)>>,
}

#[derive(Debug)]
struct Class<C> {
    class: C,
    change: Change,
    leading_path: Option<LeadingPath>,
}

/// The path of a class whose cost per operation grew most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeadingPath {
    /// Root first, up to the function that decides the class.
    pub frames: Vec<String>,
    /// The deciding function.
    pub function: String,
    /// The innermost of the program's own functions that led there, if it is a different one.
    pub caller: Option<String>,
    /// The function that the deciding one calls there, if it calls any: of several, the one whose cost grew most.
    pub callee: Option<String>,
}

/// A path that ends in the program's own code leads if it has at least this part of the leading path's growth.
const NAMED: f64 = 0.1;

const NOTHING: Change = Change { base: Mean { value: 0.0, error: 0.0 }, here: Mean { value: 0.0, error: 0.0 } };

impl<C: Copy + PartialEq> GrowthByClass<C> {
    /// Compares the runs at the base and here. `of` returns the class of a path and its deciding index, given its functions,
    /// root first.
    ///
    /// # Errors
    /// `NotRecorded` if no run has such a cost, `TooFewSamples` if the runs here have too few samples, else why
    /// operations are missing.
    pub fn of(
        base: &[Run],
        here: &[Run],
        cost: impl Fn(&Run) -> Option<&Cost>,
        fewest: u64,
        of: impl Fn(&PathCost, &[&Function]) -> (C, usize),
    ) -> Result<GrowthByClass<C>, Why> {
        let mut classifier = PathClassifier {
            functions: FxHashMap::default(),
            branches: FxHashMap::default(),
            callees: FxHashMap::default(),
            leaves: FxHashMap::default(),
            of,
        };
        let before = classifier.width_costs(base, &cost, 0)?;
        let after = classifier.width_costs(here, &cost, 1)?;
        if after.samples < fewest {
            return Err(Why::TooFewSamples);
        }
        let mut known: Vec<C> = Vec::new();
        for (class, _) in before.classes.iter().chain(&after.classes) {
            if !known.contains(class) {
                known.push(*class);
            }
        }
        let class = |class| Class {
            class,
            change: Change { base: before.mean(class), here: after.mean(class) },
            leading_path: classifier.leading_path(class),
        };
        Ok(GrowthByClass {
            total: Change { base: before.total, here: after.total },
            classes: known.into_iter().map(class).collect(),
            functions: classifier.leaves,
        })
    }

    fn class(&self, class: C) -> Option<&Class<C>> {
        self.classes.iter().find(|known| known.class == class)
    }

    /// The growth of a class; zero for a class that never occurred.
    pub fn get(&self, class: C) -> Change {
        self.class(class).map_or(NOTHING, |known| known.change)
    }

    /// Its share of all growth, 0 to 1; 0 for noise. All shares together are at most 1, even if some classes shrank.
    pub fn part(&self, class: C) -> f64 {
        let change = self.get(class);
        let grown = self.classes.iter().map(|known| known.change).filter(Change::grew);
        let all = self.total.amount().max(grown.map(|change| change.amount()).sum());
        if change.grew() && self.total.amount() > 0.0 { (change.amount() / all).min(1.0) } else { 0.0 }
    }

    /// The share of a function's own growth in paths of these classes, 0 to 1.
    pub fn of_function(&self, id: &FunctionId, classes: impl Fn(C) -> bool) -> f64 {
        let known = self.functions.get(&(id.name.clone(), id.module.clone())).map_or(&[][..], Vec::as_slice);
        let sum = |wanted: &dyn Fn(C) -> bool| -> f64 {
            known.iter().filter(|(class, _)| wanted(*class)).map(|(_, growth)| growth.max(0.0)).sum()
        };
        let all = sum(&|_| true);
        if all > 0.0 { sum(&classes) / all } else { 0.0 }
    }

    /// The path of the class that grew most.
    pub fn leading_path(&self, class: C) -> Option<&LeadingPath> {
        self.class(class).and_then(|known| known.leading_path.as_ref())
    }
}

/// The costs at one width.
struct WidthCosts<C> {
    samples: u64,
    total: Mean,
    classes: Vec<(C, Mean)>,
}

impl<C: Copy + PartialEq> WidthCosts<C> {
    fn mean(&self, class: C) -> Mean {
        self.classes.iter().find(|(known, _)| *known == class).map_or(NOTHING.base, |(_, mean)| *mean)
    }
}

/// Cost per operation of one path, at the base and here.
type Branch = [f64; 2];

/// Growth of a function in paths of a class.
type CalleeGrowth<'a, C> = ((C, &'a FunctionId), f64);

/// Classifies paths, and accumulates them over both widths.
struct PathClassifier<'a, C, F: Fn(&PathCost, &[&Function]) -> (C, usize)> {
    functions: FxHashMap<&'a FunctionId, Function>,
    /// By the path to the deciding function: the same function may take a lock and do its own work.
    branches: FxHashMap<&'a [FunctionId], Vec<(C, Branch)>>,
    /// Growth of what the deciding function calls, by the path to it.
    callees: FxHashMap<&'a [FunctionId], Vec<CalleeGrowth<'a, C>>>,
    /// By the innermost function.
    leaves: FxHashMap<(String, String), Vec<(C, f64)>>,
    of: F,
}

/// The part of a class in one run.
struct ClassCost<C> {
    class: C,
    weight: f64,
    samples: u64,
}

impl<'a, C: Copy + PartialEq, F: Fn(&PathCost, &[&Function]) -> (C, usize)> PathClassifier<'a, C, F> {
    fn width_costs(
        &mut self,
        runs: &'a [Run],
        cost: &impl Fn(&Run) -> Option<&Cost>,
        width_costs: usize,
    ) -> Result<WidthCosts<C>, Why> {
        let (mut samples, mut totals) = (0_u64, Vec::new());
        let mut parts: Vec<(f64, Vec<ClassCost<C>>)> = Vec::new();
        let mut counted: Vec<(&Cost, f64)> = Vec::new();
        let mut reason = Why::NotRecorded;
        for run in runs {
            match (cost(run), ops(run)) {
                (Some(cost), Ok(ops)) => counted.push((cost, ops)),
                (_, Err(why)) => reason = why,
                (None, _) => {}
            }
        }
        if counted.is_empty() {
            return Err(reason);
        }
        let count = counted.len() as f64;
        for (cost, ops) in counted {
            samples = samples.saturating_add(cost.samples);
            totals.push(per_op(cost.weight, cost.samples, ops, cost.samples));
            parts.push((ops, self.run(&cost.paths, width_costs, 1.0 / (ops * count))));
        }
        let mut classes: Vec<C> = Vec::new();
        for part in parts.iter().flat_map(|(_, parts)| parts) {
            if !classes.contains(&part.class) {
                classes.push(part.class);
            }
        }
        let mean = |class: C| {
            let of_run = |(ops, parts): &(f64, Vec<ClassCost<C>>)| {
                let part = parts.iter().find(|part| part.class == class);
                part.map_or((0.0, 0.0), |part| per_op(part.weight, part.samples, *ops, samples))
            };
            combined(&parts.iter().map(of_run).collect::<Vec<_>>())
        };
        Ok(WidthCosts {
            samples,
            total: combined(&totals),
            classes: classes.iter().map(|class| (*class, mean(*class))).collect(),
        })
    }

    /// The classes of one run. `scale` converts a weight to its cost per operation at the whole width.
    fn run(&mut self, paths: &'a [PathCost], width_costs: usize, scale: f64) -> Vec<ClassCost<C>> {
        let mut parts: Vec<ClassCost<C>> = Vec::new();
        for path in paths {
            for id in &path.frames {
                self.functions.entry(id).or_insert_with(|| function(id));
            }
            let functions: Vec<&Function> = path.frames.iter().filter_map(|id| self.functions.get(id)).collect();
            let (class, at) = (self.of)(path, &functions);
            let leading = path.frames.get(..=at).unwrap_or(&path.frames);
            let mut branch = [0.0; 2];
            branch[width_costs] = path.weight * scale;
            add(self.branches.entry(leading).or_default(), class, branch, |[x, y], [a, b]| [x + a, y + b]);
            let growth = path.weight * if width_costs == 0 { -scale } else { scale };
            if let Some(callee) = path.frames.get(at + 1) {
                add(self.callees.entry(leading).or_default(), (class, callee), growth, |sum, more| sum + more);
            }
            self.leaf(path, class, growth);
            match parts.iter_mut().find(|part| part.class == class) {
                Some(part) => {
                    part.weight += path.weight;
                    part.samples = part.samples.saturating_add(path.samples);
                }
                None => parts.push(ClassCost { class, weight: path.weight, samples: path.samples }),
            }
        }
        parts
    }

    /// Whether the deciding function is the program's own.
    fn is_named(&self, frames: &[FunctionId]) -> bool {
        let function = frames.last().and_then(|id| self.functions.get(id));
        function.is_some_and(|function| !is_c_library(function) && !function.name.starts_with('['))
    }

    fn leaf(&mut self, path: &PathCost, class: C, growth: f64) {
        let Some(leaf) = path.frames.last() else { return };
        let classes = self.leaves.entry((leaf.name.clone(), leaf.module.clone())).or_default();
        add(classes, class, growth, |sum, more| sum + more);
    }

    /// The program's function whose cost grew most among those that the end of a path calls.
    fn callee(&self, frames: &[FunctionId], class: C) -> Option<String> {
        let callees = self.callees.get(frames)?.iter();
        let own = callees.filter(|((known, id), _)| *known == class && id.kind != CodeKind::Kernel);
        own.max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.1.cmp(a.1))).map(|((_, id), _)| id.name.clone())
    }

    fn leading_path(&self, class: C) -> Option<LeadingPath> {
        let growth = |[base, here]: &Branch| here - base;
        let most = |named: bool| {
            let of_class = self.branches.iter().filter_map(|(frames, classes)| {
                let (_, branch) = classes.iter().find(|(known, _)| *known == class)?;
                (!frames.is_empty() && (!named || self.is_named(frames))).then_some((*frames, growth(branch)))
            });
            of_class.max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a)))
        };
        let any = most(false)?;
        // A path that ends in the program's code is more informative than one in a library, unless it grew much less.
        let named = most(true).filter(|(_, grown)| *grown >= any.1 * NAMED);
        let (frames, _) = named.unwrap_or(any);
        let (last, outside) = frames.split_last()?;
        let inwards: Vec<&Function> = outside.iter().rev().filter_map(|id| self.functions.get(id)).collect();
        let caller = inwards.get(requester(inwards.iter().copied()));
        Some(LeadingPath {
            frames: frames.iter().map(|id| id.name.clone()).collect(),
            function: last.name.clone(),
            caller: caller.filter(|function| function.kind != CodeKind::Kernel).map(|function| function.name.clone()),
            callee: self.callee(frames, class),
        })
    }
}

/// Adds a value to the entry of its class.
fn add<C: PartialEq, V: Copy>(classes: &mut Vec<(C, V)>, class: C, value: V, sum: fn(V, V) -> V) {
    match classes.iter_mut().find(|(known, _)| *known == class) {
        Some((_, known)) => *known = sum(*known, value),
        None => classes.push((class, value)),
    }
}

/// The type that the tables of names take.
pub(super) fn function(id: &FunctionId) -> Function {
    Function { name: id.name.clone(), module: id.module.clone(), kind: id.kind, source: id.source }
}

/// Cost per operation and its standard error by sampling.
fn per_op(weight: f64, samples: u64, ops: f64, all: u64) -> (f64, f64) {
    let cost = weight / ops;
    let (own, all) = (samples as f64, (all as f64).max(1.0));
    let error = if samples > 0 { cost * ((1.0 - own / all).max(0.0) / own).sqrt() } else { 0.0 };
    (cost, error)
}

/// The mean over runs. Its error is the larger of the sampling error and the scatter, which includes the former.
fn combined(runs: &[(f64, f64)]) -> Mean {
    let values: Vec<f64> = runs.iter().map(|(cost, _)| *cost).collect();
    let Some(mean) = Mean::of(&values) else { return NOTHING.base };
    let sampling = runs.iter().map(|(_, error)| error * error).sum::<f64>().sqrt() / values.len() as f64;
    Mean { error: mean.error.max(sampling), ..mean }
}

//! Finds the code that became more expensive: functions and call paths by cost per operation, or per another divisor.
//! Costs are preferred to shares: a function may fall from 6% to 2% and cost five times as much.

use super::digest::Side;
use super::module_renames::ModuleRenames;
use super::settings::{Per, Settings};
use crate::analysis::stats::corrected;
use crate::analysis::sweep::{FunctionId, Loss, LossRow, PathCost, Point, Run, hot_path};
use crate::model::{Measure, Region, Unit};

/// A function, or a call path, on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionChange {
    /// Root first; for a function, only the function itself.
    pub frames: Vec<FunctionId>,
    /// Its cost in the base.
    pub base: f64,
    /// Its cost in the other side.
    pub new: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// Probability of so large a difference if there is none, corrected for the number of rows (Benjamini-Hochberg).
    pub q: f64,
    /// Its part of the whole difference, 1 for all; `None` if the whole hardly differs.
    pub share: Option<f64>,
    /// Whether the difference is beyond chance.
    pub is_real: bool,
    /// The code inlined into this function that changed beyond chance, most first; a part of its costs.
    pub inlined: Vec<FunctionChange>,
}

impl FunctionChange {
    /// How much more it costs; negative if it costs less.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.new - self.base
    }

    /// Whether it did not exist before.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.base <= 0.0 && self.new > 0.0
    }

    /// This function with what was inlined into it, out of pairs of a function and its inlined code.
    fn with_parts(self, pairs: &[FunctionChange]) -> FunctionChange {
        let own = self.frames.last();
        let is_part = |pair: &&FunctionChange| {
            let [function, _] = &pair.frames[..] else { return false };
            pair.is_real && own.is_some_and(|own| (&own.name, &own.module) == (&function.name, &function.module))
        };
        let inlined = pairs.iter().filter(is_part).cloned().collect();
        FunctionChange { inlined, ..self }
    }

    /// Whether it no longer exists.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.new <= 0.0 && self.base > 0.0
    }
}

/// The code of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Functions {
    /// The divisor of costs.
    pub per: Per,
    /// The unit of costs before they are divided.
    pub unit: Unit,
    /// The cost of everything sampled.
    pub whole: [f64; 2],
    /// The number of samples.
    pub samples: [u64; 2],
    /// Functions by the cost of their own code and of what was inlined into it: the real changes first, the largest at
    /// the top.
    pub functions: Vec<FunctionChange>,
    /// Call paths by the cost of their innermost function, in the same order.
    pub paths: Vec<FunctionChange>,
    /// Time blocked, by the innermost function of the program's own code, if it was recorded.
    pub waits: Vec<FunctionChange>,
    /// The call path down to most of the growth.
    pub hot_path: Vec<FunctionId>,
    /// Modules that were matched under different names.
    pub module_renames: ModuleRenames,
    /// Whether at least one side was repeated, so that a real change is beyond the variation between runs.
    pub repeated: bool,
    /// The two sides as points, for a flame graph of the difference.
    pub points: Box<[Point; 2]>,
}

impl Functions {
    /// Compares the code of two sides; `None` without samples, or without the divisor of costs.
    #[must_use]
    pub fn of(base: &Side, new: &Side, settings: &Settings) -> Option<Functions> {
        let module_renames = ModuleRenames::of(base, new);
        let point = |side: &Side, is_base: bool| {
            let runs = side.runs.iter().map(|run| divided(module_renames.apply(&run.run, is_base), settings.per));
            Point::of(1, Region::Cores, runs.collect())
        };
        let points = Box::new([point(base, true), point(new, false)]);
        let [a, b] = &*points;
        let outer = Box::new([called(a), called(b)]);
        let loss = Loss::of(&outer[0], &outer[1])?;
        let by_path = Loss::of(&joined(&outer[0]), &joined(&outer[1]))?;
        let by_inlined = Loss::of(&joined(&with_inlined(a)), &joined(&with_inlined(b)))?;
        let repeated = a.runs.len() > 1 || b.runs.len() > 1;
        // Single runs do not show how far runs differ: a change within the margin does not count.
        let noise = if repeated { 0.0 } else { settings.noise.unwrap_or(settings.margin) };
        let judged = |rows: &[LossRow], paths: &[Vec<FunctionId>]| judged(rows, paths, noise, settings.confidence);
        let inlined = judged(&by_inlined.functions, &paths(&[with_inlined(a), with_inlined(b)]));
        let functions = judged(&loss.functions, &[]).into_iter().map(|function| function.with_parts(&inlined));
        Some(Functions {
            per: settings.per,
            unit: a.runs.first()?.cpu.unit,
            whole: [loss.base, loss.here],
            samples: [a, b].map(|point| point.runs.iter().map(|run| run.cpu.samples).sum()),
            functions: functions.collect(),
            paths: judged(&by_path.functions, &paths(&outer)),
            // Time blocked is not part of the samples on a CPU.
            waits: if settings.per == Per::Share { vec![] } else { judged(&loss.waits, &[]) },
            hot_path: hot_path(a, b),
            module_renames,
            repeated,
            points,
        })
    }
}

impl Per {
    /// The divisors that both sides have.
    #[must_use]
    pub fn choices(base: &Side, new: &Side) -> Vec<Per> {
        let divides = |per: &Per, run: &Run| {
            let by = divisor(run, *per).value().copied();
            run.cpu.samples > 0 && by.is_some_and(|by| by > 0.0 && by.is_finite())
        };
        let on = |per: &Per, side: &Side| !side.runs.is_empty() && side.runs.iter().all(|run| divides(per, &run.run));
        let all = [Per::Op, Per::Cpu, Per::Share, Per::None];
        all.into_iter().filter(|per| on(per, base) && on(per, new)).collect()
    }
}

/// Replaces the operations of a run by the divisor of costs.
fn divided(mut run: Run, per: Per) -> Run {
    run.totals.ops = divisor(&run, per);
    run
}

fn divisor(run: &Run, per: Per) -> Measure<f64> {
    match per {
        Per::Op => run.totals.ops,
        Per::Cpu => run.totals.cpu,
        Per::Share => Measure::exact(run.cpu.weight),
        Per::None => Measure::exact(1.0),
    }
}

/// Call paths down to the last function that was called. Whether the compiler inlines what that calls does not change
/// the program: such code counts to the function that it was written in.
fn called(point: &Point) -> Point {
    let mut point = point.clone();
    for path in point.runs.iter_mut().flat_map(|run| &mut run.cpu.paths) {
        path.frames.truncate(last_called(&path.frames) + 1);
    }
    point
}

/// The last function that was called, with the innermost code that was inlined into it.
fn with_inlined(point: &Point) -> Point {
    let mut point = point.clone();
    for path in point.runs.iter_mut().flat_map(|run| &mut run.cpu.paths) {
        let at = last_called(&path.frames);
        let innermost = path.frames.last().filter(|_| at + 1 < path.frames.len()).cloned();
        path.frames = path.frames.get(at).cloned().into_iter().chain(innermost).collect();
    }
    point
}

fn last_called(frames: &[FunctionId]) -> usize {
    frames.iter().rposition(|frame| !frame.inlined).unwrap_or(0)
}

/// Turns every call path into one function, named by the key of its frames.
fn joined(point: &Point) -> Point {
    let mut point = point.clone();
    for path in point.runs.iter_mut().flat_map(|run| &mut run.cpu.paths) {
        let Some(leaf) = path.frames.last().cloned() else { continue };
        path.frames = vec![FunctionId { name: key(&path.frames), inlined: false, ..leaf }];
    }
    point
}

/// Names may contain anything but NUL.
fn key(frames: &[FunctionId]) -> String {
    let part = |frame: &FunctionId| format!("{}\0{}", frame.module, frame.name);
    frames.iter().map(part).collect::<Vec<_>>().join("\0\0")
}

fn paths(points: &[Point; 2]) -> Vec<Vec<FunctionId>> {
    let all = points.iter().flat_map(|point| &point.runs).flat_map(|run| &run.cpu.paths);
    let mut paths: Vec<Vec<FunctionId>> = all.map(|path: &PathCost| path.frames.clone()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The rows with their corrected p, real changes first; `names` are the frames of rows that represent paths.
fn judged(rows: &[LossRow], names: &[Vec<FunctionId>], noise: f64, confidence: f64) -> Vec<FunctionChange> {
    let by_key: std::collections::BTreeMap<String, &Vec<FunctionId>> =
        names.iter().map(|frames| (key(frames), frames)).collect();
    let error = |row: &LossRow| with_noise(row.error, [row.base, row.here], noise);
    let q = corrected(&rows.iter().map(|row| (row.growth(), error(row), row.freedom)).collect::<Vec<_>>());
    let row = |(row, q): (&LossRow, f64)| FunctionChange {
        frames: by_key.get(&row.function.name).map_or_else(|| vec![row.function.clone()], |frames| (*frames).clone()),
        base: row.base,
        new: row.here,
        error: error(row),
        q,
        share: row.share,
        is_real: q < 1.0 - confidence,
        inlined: vec![],
    };
    let mut all: Vec<FunctionChange> = rows.iter().zip(q).map(row).collect();
    all.sort_by(|a, b| b.is_real.cmp(&a.is_real).then(b.growth().abs().total_cmp(&a.growth().abs())));
    all
}

/// How far costs of two single runs of one program differ, as a fraction.
pub(in crate::analysis) fn run_noise(stated: Option<f64>) -> f64 {
    stated.unwrap_or(0.02)
}

/// The standard error of a difference from sampling and from the variation between two single runs, whatever the
/// samples show.
pub(in crate::analysis) fn with_noise(sampling: f64, costs: [f64; 2], noise: f64) -> f64 {
    (sampling.powi(2) + (costs[0].powi(2) + costs[1].powi(2)) * noise.powi(2)).sqrt()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{cost, side};
    use super::*;
    use crate::model::Why;

    fn of(ops: f64, paths: &[(&str, f64)]) -> Side {
        let mut side = side(&[5000.0]);
        let run = &mut side.runs[0].run;
        run.cpu = cost(paths);
        (run.totals.ops, run.totals.cpu) = (Measure::exact(ops), Measure::exact(run.cpu.weight * 1e-9));
        side
    }

    fn names(rows: &[FunctionChange]) -> Vec<&str> {
        rows.iter().map(|row| row.frames.last().unwrap().name.as_str()).collect()
    }

    fn compared(per: Per) -> Functions {
        let base = of(1000.0, &[("app!main;app!a", 5e9), ("app!main;app!gone", 2e9), ("app!main;app!same", 9e9)]);
        let new = of(2000.0, &[("app!main;app!a", 1e10), ("app!main;app!came", 7e9), ("app!main;app!same", 1.8e10)]);
        Functions::of(&base, &new, &Settings { per, ..Settings::default() }).unwrap()
    }

    #[test]
    fn what_came_and_what_went_stand_first_and_the_rest_did_not_change() {
        let found = compared(Per::Op);
        assert_eq!(names(&found.functions)[..2], ["came", "gone"]);
        let [came, gone] = &found.functions[..2] else { panic!("two rows") };
        assert!(came.is_new() && came.is_real && gone.is_gone() && gone.is_real);
        assert_eq!((came.new, gone.base, came.share.map(f64::signum)), (3.5e6, 2e6, Some(1.0)));
        assert!(found.functions[2..].iter().all(|row| !row.is_real), "{:?}", found.functions);
        assert_eq!(names(&found.paths)[..2], ["came", "gone"]);
        assert_eq!(found.paths[0].frames.len(), 2);
    }

    /// `^` marks a frame that was inlined into the one before it.
    fn with_marks(mut side: Side) -> Side {
        for frame in side.runs.iter_mut().flat_map(|run| &mut run.run.cpu.paths).flat_map(|path| &mut path.frames) {
            if let Some(name) = frame.name.strip_prefix('^').map(String::from) {
                (frame.name, frame.inlined) = (name, true);
            }
        }
        side
    }

    #[test]
    fn inlined_code_counts_to_the_function_it_was_inlined_into_and_is_listed_with_it() {
        // `copy` has more time in two functions, of which `render` does more of its own as well.
        let base =
            with_marks(of(1000.0, &[("main;render", 2e9), ("main;render;^push;^copy", 2e9), ("main;parse", 5e9)]));
        let new =
            with_marks(of(1000.0, &[("main;render", 4e9), ("main;render;^push;^copy", 7e9), ("main;parse", 5e9)]));
        let found = Functions::of(&base, &new, &Settings::default()).unwrap();
        assert_eq!(names(&found.functions), ["render", "parse"]);
        let render = &found.functions[0];
        assert!(render.is_real && (render.base, render.new) == (4e6, 1.1e7), "{render:?}");
        assert_eq!(names(&render.inlined), ["copy"]);
        assert_eq!((render.inlined[0].base, render.inlined[0].new), (2e6, 7e6));
        // The same code no longer inlined, or inlined elsewhere, moves time between functions as they are called; inlined
        // into the same function under another name, it moves nothing.
        let renamed = with_marks(of(1000.0, &[("main;render", 2e9), ("main;render;^grow", 2e9), ("main;parse", 5e9)]));
        let found = Functions::of(&base, &renamed, &Settings::default()).unwrap();
        assert!(found.functions.iter().all(|row| !row.is_real), "{:?}", found.functions);
        assert!(found.paths.iter().all(|row| !row.is_real), "{:?}", found.paths);
    }

    #[test]
    fn costs_are_divided_by_what_was_asked_for() {
        for (per, whole) in [
            (Per::Op, [1.6e7, 1.75e7]),
            (Per::Cpu, [1e9, 1e9]),
            (Per::Share, [1.0, 1.0]),
            (Per::None, [1.6e10, 3.5e10]),
        ] {
            let found = compared(per);
            for (found, expected) in found.whole.iter().zip(whole) {
                assert!((found / expected - 1.0).abs() < 1e-9, "{per:?}: {found}");
            }
        }
    }

    #[test]
    fn two_single_runs_that_differ_a_little_everywhere_have_no_dearer_function() {
        let base = of(1000.0, &[("app!a", 5e12), ("app!b", 2e12)]);
        let new = of(1000.0, &[("app!a", 5.1e12), ("app!b", 2.04e12)]);
        let found = Functions::of(&base, &new, &Settings::default()).unwrap();
        assert!(found.functions.iter().all(|row| !row.is_real), "{:?}", found.functions);
    }

    #[test]
    fn without_samples_or_operations_there_is_nothing_to_say() {
        let base = of(1000.0, &[("app!a", 5e9)]);
        let mut silent = base.clone();
        silent.runs[0].run.totals.ops = Measure::Missing(Why::NoOpsSource);
        assert!(Functions::of(&base, &silent, &Settings::default()).is_none());
        assert!(Functions::of(&base, &of(1000.0, &[]), &Settings::default()).is_none());
        let cpu = Settings { per: Per::Cpu, ..Settings::default() };
        assert!(Functions::of(&base, &silent, &cpu).is_some());
        assert_eq!(Per::choices(&base, &base), [Per::Op, Per::Cpu, Per::Share, Per::None]);
        assert_eq!(Per::choices(&base, &silent), [Per::Cpu, Per::Share, Per::None]);
        assert_eq!(Per::choices(&base, &of(1000.0, &[])), []);
    }
}

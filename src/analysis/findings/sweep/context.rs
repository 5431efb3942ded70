//! One width compared with the base: the inputs of a scaling rule.

use super::growth::{GrowthByClass, function};
use super::limits;
use super::values::{Change, Mean, known, mean, metric, ops, seconds_blocked};
use crate::analysis::Cause;
use crate::analysis::coverage::Coverage;
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::{WaitReason, code_class_by, lock_taker, wait_reason_by};
use crate::analysis::names::{CodeKind, Function};
use crate::analysis::sweep::{
    Estimate, FunctionId, Loss, PathCost, Point, PointMetrics, RegionFit, Run, Slice, SliceKind, Stack,
};
use crate::model::{Measure, MetricId, Region, Why};
use rustc_hash::FxHashSet;

/// What earlier rules have explained, in shares of the lost cores.
#[derive(Debug, Clone, Default)]
pub(super) struct ExplainedShares {
    /// CPU time without cycles, or with slower ones.
    pub clock: f64,
    /// Growth of CPU time per operation.
    pub cpu: f64,
    /// The largest share that one reason for slower instructions explains: they all refer to the same cycles.
    pub cpi: f64,
    /// Time in which workers had nothing to do.
    pub idle: f64,
    /// Code whose growth a finding explains.
    pub codes: Vec<CodeClass>,
    /// Functions in other code that findings name for their CPU time.
    pub functions: Vec<String>,
}

/// One width compared with the base.
#[derive(Debug)]
pub(super) struct WidthContext<'a> {
    pub base: &'a Point,
    pub here: &'a Point,
    /// All points from the base to here, by width.
    pub points: &'a [Point],
    /// The losses of these points.
    pub losses: &'a [Loss],
    pub stack: &'a Stack,
    pub loss: Option<&'a Loss>,
    pub fits: &'a [RegionFit],
    pub explained: ExplainedShares,
    cpu: Result<GrowthByClass<CodeClass>, Why>,
    waits: Result<GrowthByClass<WaitReason>, Why>,
    /// The CPU time that only a contended lock takes.
    slow_locks: Option<Change>,
    /// Cores of threads without work, where the others lost on their own.
    parked: f64,
}

/// What CPU time per operation grew by: more or slower instructions, or both where they were not counted.
const WORK: [SliceKind; 3] = [SliceKind::MoreWork, SliceKind::Cpi, SliceKind::CpuTime];
const CPU: [SliceKind; 5] =
    [SliceKind::MoreWork, SliceKind::Cpi, SliceKind::CpuTime, SliceKind::Smt, SliceKind::Frequency];

/// Sampled CPU time by class of code.
fn cpu(base: &[Run], here: &[Run]) -> Result<GrowthByClass<CodeClass>, Why> {
    let takers = takers(base.iter().chain(here));
    let class = |path: &PathCost, functions: &[&Function]| match code_class_by(functions, path.lock) {
        (CodeClass::Own, leaf) if takers.contains(path.frames.as_slice()) => (CodeClass::Section, leaf),
        known => known,
    };
    GrowthByClass::of(base, here, |run| Some(&run.cpu), limits::FEWEST_SAMPLES, class)
}

/// The CPU time in lock code that runs only while another thread has the lock: system calls, and loops that pause.
fn slow_locks(base: &[Run], here: &[Run]) -> Option<Change> {
    let class = |path: &PathCost, functions: &[&Function]| {
        let lock = path.lock.filter(|_| code_class_by(functions, path.lock).0 == CodeClass::Lock);
        let kernel = functions.last().is_some_and(|leaf| leaf.kind == CodeKind::Kernel);
        (lock.is_some_and(|lock| lock.spins || kernel), functions.len().saturating_sub(1))
    };
    let growths = GrowthByClass::of(base, here, |run| Some(&run.cpu), limits::FEWEST_SAMPLES, class);
    growths.ok().map(|growths| growths.get(true))
}

/// Threads of the width that hardly ran, or that there were not. Where no thread's CPU time is known, all may have worked.
fn without_work(run: &Run) -> f64 {
    if run.workers.is_empty() { f64::from(run.parked) } else { f64::from(run.n) - run.workers.len() as f64 }
}

/// The cores of threads without work, beyond those at the base. Where a width adds only such threads and the others go on as
/// before, all work is done by too few. Where the others need more CPU time for an operation, the width is not the number of
/// workers, and what grew is the reason.
fn parked(base: &Point, here: &Point) -> f64 {
    let idle = |point: &Point| mean(point, |run| Ok(without_work(run))).map_or(0.0, |mean| mean.value);
    let cost = |point: &Point| point.numbers.cpu_ns_per_op.value().map(|estimate| Mean::from(*estimate));
    let (before, after) = (idle(base), idle(here));
    let (Some(was), Some(is)) = (cost(base), cost(here)) else { return 0.0 };
    let change = Change { base: was, here: is };
    let (Some(rate), Some(rate_here)) = (base.numbers.ops_per_s.value(), here.numbers.ops_per_s.value()) else {
        return 0.0;
    };
    // At the base they had as much time for an operation as its rate leaves them.
    let added = after - before * rate_here.mean / rate.mean;
    let grew = change.grew() && change.grew_by_factor(limits::HOTTER);
    if grew && added.is_finite() { added.clamp(0.0, f64::from(here.n) - 1.0) } else { 0.0 }
}

/// The paths to functions that take a lock by its code.
fn takers<'a>(runs: impl Iterator<Item = &'a Run>) -> FxHashSet<&'a [FunctionId]> {
    let locks = runs.flat_map(|run| &run.cpu.paths).filter(|path| path.lock.is_some());
    let taker = |path: &'a PathCost| {
        let functions: Vec<Function> = path.frames.iter().map(function).collect();
        let taker = lock_taker(&functions.iter().collect::<Vec<_>>(), path.lock)?;
        path.frames.get(..=taker)
    };
    locks.filter_map(taker).collect()
}

impl<'a> WidthContext<'a> {
    /// `points` run from the base to the width to judge. `None` for fewer than two points, or if nothing was lost.
    pub fn of(
        points: &'a [Point],
        stack: &'a Stack,
        losses: &'a [Loss],
        fits: &'a [RegionFit],
    ) -> Option<WidthContext<'a>> {
        let [base, .., here] = points else { return None };
        if f64::from(here.n) - stack.useful <= 0.0 {
            return None;
        }
        Some(WidthContext {
            base,
            here,
            points,
            losses,
            stack,
            loss: losses.iter().find(|loss| loss.n == here.n),
            fits,
            explained: ExplainedShares::default(),
            cpu: cpu(&base.runs, &here.runs),
            slow_locks: slow_locks(&base.runs, &here.runs),
            parked: Some(parked(base, here)).filter(|parked| f64::from(here.n) - parked > stack.useful).unwrap_or(0.0),
            waits: GrowthByClass::of(
                &base.runs,
                &here.runs,
                |run| run.blocked.as_ref(),
                0,
                |path, functions| wait_reason_by(functions, path.lock),
            ),
        })
    }

    /// Sampled share of the CPU time, if it is too low for certain shares.
    pub fn coverage(&self) -> Option<&'a Coverage> {
        self.loss.and_then(|loss| loss.coverage.as_ref()).filter(|coverage| coverage.is_too_low())
    }

    /// Number of cores lost, without threads that had no work where they are no reason.
    pub fn lost(&self) -> f64 {
        self.wanted() - self.stack.useful
    }

    /// The width, without threads that had no work where they are no reason.
    pub fn wanted(&self) -> f64 {
        f64::from(self.here.n) - self.parked
    }

    /// Number of threads that are left out because they had no work, and the others lost on their own.
    pub fn parked(&self) -> f64 {
        self.parked
    }

    /// The share of the lost cores in these slices, 0 to 1. Where a slice became smaller than at the base, the others
    /// took more than was lost in all: they share what they took, so that all shares together are at most 1.
    pub fn share(&self, kinds: &[SliceKind]) -> f64 {
        // Nothing is known of the time of threads without work.
        let cores = |slice: &Slice| slice.cores - if slice.kind == SliceKind::Unseen { self.parked } else { 0.0 };
        let slices = || self.stack.slices.iter();
        let taken: f64 = slices().map(|slice| cores(slice).max(0.0)).sum();
        let these: f64 = slices().filter(|slice| kinds.contains(&slice.kind)).map(cores).sum();
        (these / taken.max(self.lost())).clamp(0.0, 1.0)
    }

    /// The share of the lost cores in which workers were blocked by a cause.
    pub fn blocked(&self, cause: Cause) -> f64 {
        self.share(&[SliceKind::Blocked(cause)])
    }

    /// The share of more and slower instructions, plus CPU time without cycles that the clock does not explain.
    pub fn work(&self) -> f64 {
        self.share(&WORK) + self.share(&[SliceKind::Frequency]) * (1.0 - self.clock().unwrap_or(0.0))
    }

    /// The share of the fall in cycles per second that is due to the clock, 0 to 1, from the ratio to cycles of a
    /// constant rate. In a virtual machine the rest is time in which the virtual CPU did not run.
    ///
    /// # Errors
    /// Why the share is unknown.
    pub fn clock(&self) -> Result<f64, Why> {
        let runs = self.base.runs.iter().chain(&self.here.runs);
        let Ok(ratio) = self.metric(MetricId::ClockRatio) else {
            let guest = { runs }.any(|run| run.virtual_machine);
            return if guest { Err(Why::NotSupported) } else { Ok(1.0) };
        };
        let cycles = self.number(|numbers| numbers.frequency)?;
        let fall = |change: Change| (change.base.value / change.here.value).ln();
        let part = fall(ratio) / fall(cycles);
        Ok(if part.is_finite() { part.clamp(0.0, 1.0) } else { 1.0 })
    }

    /// Whether CPU time per operation is a reason at all. Its factors matter only then.
    ///
    /// # Errors
    /// `RunsScatter` if it is one on average but the runs scatter by as much.
    pub fn cpu_grew(&self) -> Result<bool, Why> {
        let all = self.share(&CPU).max(self.share(&WORK));
        match self.number(|numbers| numbers.cpu_ns_per_op) {
            Ok(change) if all >= limits::FACTOR => change.grew_beyond_scatter(),
            _ => Ok(false),
        }
    }

    /// The share of the growth of CPU time that is left to explain. Siblings and the clock have their own slices if
    /// cycles were counted, and are part of the CPU time slice if not.
    pub fn left(&self) -> f64 {
        let clock = self.share(&[SliceKind::Frequency]) * self.clock().unwrap_or(0.0);
        let clock = clock.min(self.explained.clock);
        let whole = self.work() + self.share(&[SliceKind::Smt]) + clock;
        (whole - self.explained.clock - self.explained.cpu).max(0.0)
    }

    /// The same, less what reasons for slower instructions explain.
    pub fn unexplained(&self) -> f64 {
        (self.left() - self.explained.cpi).max(0.0)
    }

    /// A column of the table at both widths.
    pub fn number(&self, of: impl Fn(&PointMetrics) -> Measure<Estimate>) -> Result<Change, Why> {
        let known = |point: &Point| match of(&point.numbers) {
            Measure::Known { value, .. } => Ok(Mean::from(value)),
            Measure::Missing(why) => Err(why),
        };
        Ok(Change { base: known(self.base)?, here: known(self.here)? })
    }

    /// Any value of a run, at both widths.
    pub fn change(&self, of: impl Fn(&Run) -> Result<f64, Why>) -> Result<Change, Why> {
        Ok(Change { base: mean(self.base, &of)?, here: mean(self.here, &of)? })
    }

    /// A metric at both widths.
    pub fn metric(&self, id: MetricId) -> Result<Change, Why> {
        self.change(|run| metric(run, id))
    }

    /// A rate metric at both widths, as growth per operation.
    pub fn per_op(&self, id: MetricId) -> Result<Change, Why> {
        self.change(|run| Ok(metric(run, id)? * run.totals.wall / ops(run)?))
    }

    /// A metric that only hardware counters provide.
    pub fn hardware(&self, id: MetricId) -> Result<Change, Why> {
        let absent = !self.here.runs.iter().flat_map(|run| &run.metrics).any(|metric| metric.id == id);
        if absent { Err(self.no_counter()) } else { self.metric(id) }
    }

    /// Why a counter that was not recorded is missing: the same reason as for cycles.
    pub fn no_counter(&self) -> Why {
        match self.metric(MetricId::Cycles) {
            Err(why @ (Why::NotSupported | Why::NotPermitted)) => why,
            _ => Why::NotRecorded,
        }
    }

    /// Share of the workers' time in a state, here and at the base. `of` returns the state in seconds per run.
    pub fn state(&self, of: impl Fn(&Run) -> Result<f64, Why>) -> Result<Change, Why> {
        self.change(|run| {
            let whole = f64::from(run.n) * run.totals.wall;
            if whole > 0.0 { Ok(of(run)? / whole) } else { Err(Why::Idle) }
        })
    }

    /// Whether the workers ran or were runnable nearly all the time, so that waits do not matter.
    pub fn busy(&self) -> Result<bool, Why> {
        let busy = self.state(|run| Ok(known(run.split.running)? + known(run.split.queued).unwrap_or(0.0)))?;
        Ok(busy.here.value >= limits::BUSY)
    }

    /// Seconds that workers were blocked by a cause, per operation.
    pub fn blocked_per_op(&self, cause: Cause) -> Result<Change, Why> {
        self.change(|run| Ok(seconds_blocked(run, cause) / ops(run)?))
    }

    /// Sampled CPU time by class of code.
    pub fn cpu(&self) -> Result<&GrowthByClass<CodeClass>, Why> {
        self.cpu.as_ref().map_err(|why| *why)
    }

    /// Blocked time by class of wait.
    pub fn waits(&self) -> Result<&GrowthByClass<WaitReason>, Why> {
        self.waits.as_ref().map_err(|why| *why)
    }

    /// The share of the lost cores that this code took on the CPU; 0 if a finding already explains it.
    pub fn code_share(&self, code: CodeClass) -> f64 {
        let explained = self.explained.codes.contains(&code);
        self.cpu.as_ref().map_or(0.0, |growths| if explained { 0.0 } else { self.work() * growths.part(code) })
    }

    /// The share of the lost cores with unknown worker state that stolen time may explain.
    pub fn unseen_by_steal(&self) -> f64 {
        let counted = self.here.runs.iter().all(|run| run.stolen_in_cpu_time == Some(true));
        if counted { 0.0 } else { self.left_idle(self.share(&[SliceKind::Unseen])) }
    }

    /// Whether this code grew far beyond its share of the time. A slowdown of all code does not cause that.
    pub fn stands_out(&self, code: CodeClass) -> bool {
        self.cpu.as_ref().is_ok_and(|growths| {
            let before = growths.get(code).base.value / growths.total.base.value.max(f64::MIN_POSITIVE);
            growths.part(code) >= before * limits::STANDS_OUT
        })
    }

    /// Whether locks are contended by what they cost on a CPU: several times more per operation than at the base, and so much
    /// more than all other code that not all code slowed down; or a part of the growth only contended locks have. Whoever has a
    /// lock for himself pays the same at every width.
    pub fn locks_contended(&self) -> bool {
        self.locks_multiplied() || self.locks_slow()
    }

    fn locks_slow(&self) -> bool {
        let growth = |growths: &GrowthByClass<CodeClass>| growths.get(CodeClass::Lock).amount();
        let all = self.cpu.as_ref().map_or(0.0, growth);
        self.slow_locks.is_some_and(|slow| {
            slow.grew() && slow.grew_by_factor(limits::SWITCHES) && slow.amount() >= all * limits::SLOW_PATH
        })
    }

    fn locks_multiplied(&self) -> bool {
        self.cpu.as_ref().is_ok_and(|growths| {
            let [locks, section] = [CodeClass::Lock, CodeClass::Section].map(|code| growths.get(code));
            let rest = |of: fn(&Change) -> f64| of(&growths.total) - of(&locks) - of(&section);
            let (before, after) = (rest(|change| change.base.value), rest(|change| change.here.value));
            let seen = before >= growths.total.base.value * limits::COMPARABLE;
            let others = if seen { (after / before).max(1.0) * limits::STANDS_OUT } else { limits::SIBLINGS };
            locks.grew() && locks.grew_by_factor(others.max(limits::HOTTER))
        })
    }

    /// The share of the lost cores in this kind of wait in lock system calls. A wait without a stack counts as one for
    /// a signal, which blames no lock.
    pub fn wait_share(&self, reason: WaitReason) -> f64 {
        let whole = self.blocked(Cause::Lock);
        let unknown = if reason == WaitReason::Signal { whole } else { 0.0 };
        self.waits.as_ref().map_or(unknown, |growths| {
            let sum: f64 = WaitReason::LOCKS.iter().map(|one| growths.get(*one).amount().max(0.0)).sum();
            if sum > 0.0 { whole * growths.get(reason).amount().max(0.0) / sum } else { unknown }
        })
    }

    /// The share of the lost cores in which workers had nothing to do: they waited for a signal, for work, for
    /// something outside, or for an unknown reason.
    pub fn idle(&self) -> f64 {
        use Cause::{Events, Network, Other, Pipe, Sleep, Unknown};
        let outside = [Events, Network, Other, Pipe, Sleep, Unknown].map(SliceKind::Blocked);
        self.wait_share(WaitReason::Signal) + self.share(&outside) + self.share(&[SliceKind::Unseen])
    }

    /// What remains of a part of [`WidthContext::idle`] after earlier rules explained some of it.
    pub fn left_idle(&self, part: f64) -> f64 {
        let idle = self.idle();
        if idle > 0.0 { part * (1.0 - self.explained.idle / idle).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The widest point before siblings joined, if they have joined at this width.
    pub fn before_siblings(&self) -> Option<&'a Point> {
        let whole = |point: &&Point| matches!(point.region, Region::Cores | Region::Nodes(_));
        self.points.iter().rev().find(whole).filter(|_| self.here.region == Region::Smt)
    }
}

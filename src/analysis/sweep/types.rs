//! Plain data that the parts of the scaling analysis exchange.

use crate::analysis::finding::RuleResults;
use crate::analysis::stats::student_two_sided;
use crate::analysis::{
    Cause, CodeKind, Coverage, CpuUser, LatencyCounts, LockCalls, Metric, Quantile, SourceOwner, Totals,
};
use crate::model::{Measure, Region, Unit};
use serde::Serialize;

/// The results of one run: all that is kept of its profile. Times are seconds of the run's measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Threads, or CPUs, of this run.
    pub n: u32,
    /// The counts of one window.
    pub totals: Totals,
    /// The window's metrics, as returned by [`crate::analysis::metrics`].
    pub metrics: Vec<Metric>,
    /// How the time of the `n` workers was spent.
    pub split: Split,
    /// Mean over maximum CPU time of the `n` threads with most of it, 0 to 1: 1 is balanced.
    pub balance: Measure<f64>,
    /// How many of the `n` threads with most CPU time hardly ran: they are no workers.
    pub parked: u32,
    /// CPU time of the threads with most of it, at most `n`, most first.
    pub workers: Vec<f64>,
    /// Whether it ran in a virtual machine, where CPU time without cycles need not be a slow clock.
    pub virtual_machine: bool,
    /// Whether CPU time includes what the hypervisor took, if that is known.
    pub stolen_in_cpu_time: Option<bool>,
    /// Sampled CPU time.
    pub cpu: Cost,
    /// Time blocked, if it was recorded.
    pub blocked: Option<Cost>,
    /// How long operations took, if it was measured.
    pub latency: Option<RunLatency>,
    /// Who had the CPUs while threads waited for one, largest share first.
    pub cpu_users: Vec<CpuUser>,
}

/// The latencies of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunLatency {
    /// How many operations took how long.
    pub counts: LatencyCounts,
    /// The quantiles of this run, with intervals from its windows.
    pub quantiles: Vec<Quantile>,
}

/// How the time of the workers was spent; all parts add up to `n` times the elapsed time. Seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// On a CPU.
    pub running: Measure<f64>,
    /// Runnable without a CPU, throttling left out.
    pub queued: Measure<f64>,
    /// Throttled by the control group's quota.
    pub throttled: Measure<f64>,
    /// Blocked, by cause; empty if time off the CPU was not recorded.
    pub blocked: Vec<(Cause, f64)>,
    /// The rest: blocked, by an unknown cause.
    pub unseen: Measure<f64>,
}

/// The composition of sampled time, or of time blocked.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Samples, or spans.
    pub samples: u64,
    /// The unit of weights: nanoseconds, or cycles where cycles were sampled.
    pub unit: Unit,
    /// The total weight.
    pub weight: f64,
    /// By call path, root first, without headings of threads and processes, so that runs can be compared.
    pub paths: Vec<PathCost>,
}

impl Default for Cost {
    /// Nothing, in the unit of the CPU clock.
    fn default() -> Cost {
        Cost { samples: 0, unit: Unit::Nanos, weight: 0.0, paths: Vec::new() }
    }
}

/// A folded stack: the cost of one call path itself, without what it called. Rules read whole stacks, so a digest keeps
/// these instead of a [`CallTree`](crate::analysis::CallTree).
#[derive(Debug, Clone, PartialEq)]
pub struct PathCost {
    /// Root first: name, module and kind of each function.
    pub frames: Vec<FunctionId>,
    /// Its part of [`Cost::weight`].
    pub weight: f64,
    /// Its samples.
    pub samples: u64,
    /// The part of it that a lock has; `None` for other code, and where code was not read.
    pub lock: Option<LockCalls>,
}

/// The identity of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FunctionId {
    /// Its name.
    pub name: String,
    /// The file name of its module; empty if unknown.
    pub module: String,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Whether it was inlined into its caller.
    pub inlined: bool,
    /// Whose its source is.
    #[serde(skip)]
    pub source: SourceOwner,
}

/// A mean over repeated runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95% confidence interval (Student's t); `None` with one run.
    pub half: Option<f64>,
    /// Number of runs.
    pub runs: u32,
}

/// All runs of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Threads, or CPUs.
    pub n: u32,
    /// The kind of its CPUs.
    pub region: Region,
    /// The runs, in the order they were made.
    pub runs: Vec<Run>,
    /// Their means.
    pub numbers: PointMetrics,
}

/// The columns of the scaling table: means over the runs of a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PointMetrics {
    /// Operations in a run.
    pub ops: Measure<Estimate>,
    /// Elapsed seconds of a run's window.
    pub seconds: Measure<Estimate>,
    /// Operations per second.
    pub ops_per_s: Measure<Estimate>,
    /// Instructions in a run.
    pub instructions: Measure<Estimate>,
    /// Cycles in a run.
    pub cycles: Measure<Estimate>,
    /// Instructions per operation.
    pub path_length: Measure<Estimate>,
    /// Cycles per instruction.
    pub cpi: Measure<Estimate>,
    /// Cycles of a physical core per instruction: that of a thread over the threads that share a core, so that it can
    /// be compared with and without siblings.
    pub core_cpi: Measure<Estimate>,
    /// Cycles per second of CPU time.
    pub frequency: Measure<Estimate>,
    /// Kernel mode's share of CPU time, 0 to 1.
    pub kernel_share: Measure<Estimate>,
    /// Nanoseconds of CPU time per operation.
    pub cpu_ns_per_op: Measure<Estimate>,
    /// Microseconds one thread spends on an operation, waits included: n x seconds / operations.
    pub us_per_op: Measure<Estimate>,
    /// Share of the workers' time on a CPU, 0 to 1.
    pub utilisation: Measure<Estimate>,
    /// CPUs kept busy.
    pub busy_cores: Measure<Estimate>,
    /// Throughput over the base's per-thread throughput.
    pub speedup: Measure<Estimate>,
    /// Speed-up over n.
    pub efficiency: Measure<Estimate>,
    /// The serial fraction that alone would explain the speed-up (Karp-Flatt); missing at the base.
    pub karp_flatt: Measure<Estimate>,
    /// The median latency of operations, nanoseconds.
    pub latency_p50: Measure<Estimate>,
    /// The 99th percentile of the latency of operations, nanoseconds.
    pub latency_p99: Measure<Estimate>,
}

/// The analysis of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepAnalysis {
    /// By width, ascending.
    pub points: Vec<Point>,
    /// Index of the point everything is compared with: the smallest width that has operations.
    pub base: usize,
    /// The universal scalability law of each region of at least three points, widest last.
    pub fits: Vec<RegionFit>,
    /// Where the cores of each point went; one per point that can be compared with the base.
    pub stacks: Vec<Stack>,
    /// Which code lost, per point other than the base.
    pub losses: Vec<Loss>,
    /// The findings on it.
    pub findings: RuleResults,
}

/// The law of one region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegionFit {
    /// The region.
    pub region: Region,
    /// Its widths.
    pub widths: Vec<u32>,
    /// The law, or why there is none.
    pub law: Result<Usl, NoFit>,
}

/// Why no law was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoFit {
    /// Fewer than five widths.
    TooFewWidths,
    /// Operations were not counted.
    NoOps,
    /// The least squares did not converge.
    NoMinimum,
}

/// `X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Usl {
    /// Throughput of one thread.
    pub gamma: Coefficient,
    /// Contention: what must run serially.
    pub alpha: Coefficient,
    /// Coherency: the cost of each pair of threads.
    pub beta: Coefficient,
    /// Standard error of the residuals, operations per second.
    pub residual: f64,
    /// Degrees of freedom: widths minus three.
    pub freedom: u32,
    /// Where throughput peaks.
    pub peak: Peak,
}

/// A coefficient with its standard 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    /// Its value.
    pub value: f64,
    /// Its standard error; `None` at a bound, where none exists.
    pub error: Option<f64>,
    /// Half the width of the 95% interval by Student's t.
    pub half: Option<f64>,
}

/// Where throughput peaks according to the law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Peak {
    /// Nowhere: coherency is zero.
    None,
    /// Coherency may be zero: its interval includes zero.
    Undecided,
    /// At that width.
    At {
        /// The width.
        n: f64,
        /// Throughput there.
        ops_per_s: f64,
        /// The lower end of the width's 95% interval.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// More than four times beyond the widest run: not credible.
    BeyondMeasured {
        /// The width.
        n: f64,
    },
}

/// Where the cores of a run went: `useful` and all slices add up to `n`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stack {
    /// Threads, or CPUs.
    pub n: u32,
    /// Cores' worth of the base's work: the speed-up.
    pub useful: f64,
    /// Where the others went; negative for what got better.
    pub slices: Vec<Slice>,
}

/// One reason why cores were lost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slice {
    /// The reason.
    pub kind: SliceKind,
    /// Cores lost to it.
    pub cores: f64,
    /// The same as nanoseconds of a thread's time per operation.
    pub ns_per_op: f64,
}

/// Reasons why cores are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceKind {
    /// More instructions per operation.
    MoreWork,
    /// More cycles per instruction because siblings share the core.
    Smt,
    /// More cycles per instruction for other reasons.
    Cpi,
    /// Fewer cycles per second.
    Frequency,
    /// More CPU time per operation, if the factors above cannot be separated.
    CpuTime,
    /// Runnable without a CPU.
    RunQueue,
    /// Throttled by the control group's quota.
    Throttled,
    /// Blocked.
    Blocked(Cause),
    /// Blocked by an unknown cause.
    Unseen,
}

/// Which code lost at a width, by cost per operation compared with the base. Nanoseconds per operation; cycles where
/// they were sampled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loss {
    /// Threads, or CPUs.
    pub n: u32,
    /// CPU time per operation at the base.
    pub base: f64,
    /// CPU time per operation here.
    pub here: f64,
    /// Time blocked per operation at the base and here; `None` where it was not recorded.
    pub blocked: Option<(f64, f64)>,
    /// The smallest share of a run's CPU time that was sampled, at the base or here; `None` if unknown.
    pub coverage: Option<Coverage>,
    /// Functions by the loss in their own CPU time, most first.
    pub functions: Vec<LossRow>,
    /// Functions by blocked time, assigned to the innermost function of the program's own on each path.
    pub waits: Vec<LossRow>,
}

/// One function's loss.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossRow {
    /// The function.
    pub function: FunctionId,
    /// Cost per operation at the base.
    pub base: f64,
    /// Cost per operation here.
    pub here: f64,
    /// Standard error of the difference, by sampling and by the scatter of runs.
    pub error: f64,
    /// Degrees of freedom of that error; infinite if sampling explains all of it.
    #[serde(skip)]
    pub freedom: f64,
    /// Its part of the whole loss of its kind, 1 for all; `None` if nothing was lost.
    pub share: Option<f64>,
}

impl LossRow {
    /// How much more an operation costs here than at the base.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.here - self.base
    }

    /// Whether chance causes so large a difference in fewer than one of twenty rows.
    #[must_use]
    pub fn is_real(&self) -> bool {
        student_two_sided(self.growth() / self.error, self.freedom).is_some_and(|p| p < 0.05)
    }
}

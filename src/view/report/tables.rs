//! The report's tables, row by row. A share is a fraction of the selection's weight, 0 to 1.

use super::call_paths::PathStep;
use crate::analysis::{
    BlockedPath, Cause, CauseTotal, CodeKind, GroupKey, OffCpuTotals, ProcessRow, Rank, Ranking, RowRates, ThreadRow,
    WaitAge, WaitCoverage,
};
use crate::model::{WaitSource, Why};
use crate::units::Nanos;
use crate::view::code_ipc::CodeRates;
use crate::view::{Measured, number};
use serde::Serialize;

/// A sampled event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRow {
    /// Its name in the recording.
    pub name: String,
    /// Unit of one count.
    pub unit: &'static str,
    /// Samples in the selected time and threads.
    pub samples: u64,
    /// Their total weight.
    pub weight: u64,
    /// Share of the time in which it was counted; `None` if the recording does not contain it.
    pub coverage: Option<f64>,
}

/// A function, or a module, thread or process ranked like one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionRow {
    /// Its name.
    pub name: String,
    /// Path of its module as the target sees it; empty if unknown or if the row is not a function.
    pub module: String,
    /// `user`, `kernel`, `jit`, or `heading` for a thread or process.
    pub kind: CodeKind,
    /// Share of samples in its own code.
    pub self_share: f64,
    /// Standard error of `self_share` from sampling alone; `None` without samples.
    pub self_error: Option<f64>,
    /// Share of samples with it anywhere on the stack.
    pub total_share: f64,
    /// Standard error of `total_share`.
    pub total_error: Option<f64>,
    /// Samples in its own code.
    pub self_samples: u64,
    /// Samples with it anywhere on the stack.
    pub total_samples: u64,
    /// Weight of its own samples.
    pub self_weight: u64,
    /// Weight of the samples with it anywhere on the stack.
    pub total_weight: u64,
    /// The rates of its own code; absent unless cycles and instructions were sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<CodeRates>,
    /// Its call paths, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub call_paths: Vec<PathStep>,
}

impl FunctionRow {
    /// The first rows of a ranking, with their rates if these are known.
    pub(super) fn all(ranking: &Ranking, rates: Option<&RowRates>, limit: usize) -> Vec<FunctionRow> {
        let row =
            |rank| FunctionRow { rates: rates.map(|rates| rates.get(rank).into()), ..FunctionRow::of(ranking, rank) };
        ranking.rows.iter().take(limit).map(row).collect()
    }

    fn of(ranking: &Ranking, rank: &Rank) -> Self {
        let (self_share, total_share) = (ranking.share(rank.self_weight), ranking.share(rank.total_weight));
        FunctionRow {
            name: rank.name.clone(),
            module: rank.module.clone(),
            kind: rank.kind,
            self_share,
            self_error: ranking.error(self_share),
            total_share,
            total_error: ranking.error(total_share),
            self_samples: rank.self_samples,
            total_samples: rank.total_samples,
            self_weight: rank.self_weight,
            total_weight: rank.total_weight,
            rates: None,
            call_paths: Vec::new(),
        }
    }
}

/// A ranking by something other than functions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Groups {
    /// The keys of the rows: `module`, `thread`, `comm,function`.
    pub by: String,
    /// The rows, in the requested order. The name of a row by several keys holds their values, separated by tabs.
    pub rows: Vec<FunctionRow>,
    /// Number of rows left out.
    pub left_out: usize,
}

/// The values of a row's name by the keys in `by`.
#[must_use]
pub fn key_values<'a>(by: &str, name: &'a str) -> Vec<&'a str> {
    if by.contains(',') { name.split('\t').collect() } else { vec![name] }
}

impl Groups {
    /// Whether its rows are of sampled memory accesses, not of samples.
    #[must_use]
    pub fn is_of_accesses(&self) -> bool {
        self.by.split(',').any(|key| key == GroupKey::Memory.label())
    }

    pub(super) fn of(ranking: &Ranking, keys: &[GroupKey], rates: Option<&RowRates>, limit: usize) -> Groups {
        let labels: Vec<&str> = keys.iter().map(|key| key.label()).collect();
        Groups {
            by: labels.join(","),
            rows: FunctionRow::all(ranking, rates, limit),
            left_out: ranking.rows.len().saturating_sub(limit),
        }
    }
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadView {
    /// Kernel thread id.
    pub tid: u32,
    /// Its process.
    pub pid: u32,
    /// Its last name.
    pub name: String,
    /// How much of the selected time it was alive, seconds.
    pub lifetime_s: f64,
    /// Samples.
    pub samples: u64,
    /// Share of the selection's weight.
    pub share: f64,
    /// CPU time, seconds.
    pub cpu_time: Measured,
    /// CPU time over lifetime, 0 to 1.
    pub utilisation: Measured,
    /// Time waiting for a CPU while runnable, over lifetime.
    pub run_queue_delay: Measured,
    /// Context switches because it blocked.
    pub voluntary_switches: Measured,
    /// Context switches because it was preempted.
    pub involuntary_switches: Measured,
    /// Migrations to another CPU.
    pub migrations: Measured,
    /// Instructions per cycle.
    pub ipc: Measured,
}

impl ThreadView {
    /// Whether it neither ran nor waited for a CPU, and has left none.
    #[must_use]
    pub fn is_blocked_throughout(&self) -> bool {
        let counts = [self.cpu_time, self.run_queue_delay, self.voluntary_switches, self.involuntary_switches];
        self.samples == 0 && counts.iter().all(|count| count.value() == Some(0.0))
    }

    pub(super) fn of(row: &ThreadRow, ranking: &Ranking) -> Self {
        ThreadView {
            tid: row.task.tid,
            pid: row.task.pid,
            name: row.task.comm.clone(),
            lifetime_s: row.lifetime.seconds(),
            samples: row.samples,
            share: ranking.share(row.weight),
            cpu_time: row.cpu_time.into(),
            utilisation: row.utilisation().into(),
            run_queue_delay: row.queued().into(),
            voluntary_switches: row.voluntary.into(),
            involuntary_switches: row.involuntary.into(),
            migrations: row.migrations.into(),
            ipc: row.ipc.into(),
        }
    }
}

/// A process: the sum of its threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessView {
    /// Process id.
    pub pid: u32,
    /// Name of its first thread.
    pub name: String,
    /// Threads seen.
    pub threads: u64,
    /// Samples.
    pub samples: u64,
    /// Share of the selection's weight.
    pub share: f64,
    /// CPU time of those of its threads that were read, seconds.
    pub cpu_time: Measured,
}

impl ProcessView {
    pub(super) fn of(row: &ProcessRow, ranking: &Ranking) -> Self {
        ProcessView {
            pid: row.pid,
            name: row.comm.clone(),
            threads: row.threads,
            samples: row.samples,
            share: ranking.share(row.weight),
            cpu_time: row.cpu_time.into(),
        }
    }
}

/// Off-CPU time. Blocked time and run-queue time are not summed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OffCpuView {
    /// Blocked time by cause, largest first.
    pub causes: Vec<CauseRow>,
    /// Run-queue time after a wake-up.
    pub queued_after_wake: QueueView,
    /// Spans whose wake-up was not seen: their blocked time includes any run-queue time.
    pub without_wakeup: u64,
    /// How much of the blocked time was recorded with its cause.
    pub coverage: WaitCoverageView,
    /// The call paths that were blocked longest.
    pub paths: Vec<PathRow>,
    /// Number of paths left out.
    pub paths_left_out: usize,
}

/// How much of the blocked time was recorded with its cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitCoverageView {
    /// What recorded the waits.
    pub source: WaitSource,
    /// Time whose cause and path were inferred from other waits of the same thread and length, seconds.
    pub estimated_s: f64,
    /// Number of sampled waits behind that estimate.
    pub sampled: u64,
    /// Upper bound of half the 95% interval of the estimated time of any one cause, seconds.
    pub error_s: f64,
    /// Time without a known cause or path, seconds.
    pub unseen_s: f64,
}

impl WaitCoverageView {
    fn of(source: WaitSource, coverage: &WaitCoverage) -> Self {
        WaitCoverageView {
            source,
            estimated_s: coverage.estimated().seconds(),
            sampled: coverage.sampled(),
            error_s: coverage.error().seconds(),
            unseen_s: coverage.unseen().seconds(),
        }
    }

    /// A caveat on the causes; `None` if all of them were seen.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let time = |seconds: f64| number::seconds(seconds).joined();
        let estimated = (self.estimated_s > 0.0).then(|| {
            format!(
                "{} blocked shared out by {} sampled waits of the same threads and lengths: the time of a cause is good to \
                 ±{} (95%)",
                time(self.estimated_s),
                number::count(self.sampled),
                time(self.error_s)
            )
        });
        let unseen = (self.unseen_s > 0.0).then(|| format!("{} blocked without a cause seen", time(self.unseen_s)));
        let parts: Vec<String> = estimated.into_iter().chain(unseen).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Run-queue time after a wake-up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueView {
    /// Wake-ups that had to wait.
    pub count: u64,
    /// Total, seconds.
    pub total_s: f64,
    /// The longest, seconds.
    pub max_s: f64,
}

/// One cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseRow {
    /// Its name.
    pub cause: Cause,
    /// Label for display.
    pub label: &'static str,
    /// Number of spans.
    pub count: u64,
    /// Total, seconds.
    pub total_s: f64,
    /// Mean, seconds.
    pub mean_s: f64,
    /// The longest, seconds.
    pub max_s: f64,
}

/// A call path that was blocked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathRow {
    /// The cause.
    pub cause: Cause,
    /// The program's functions, innermost first.
    pub frames: Vec<String>,
    /// Number of spans.
    pub count: u64,
    /// Total, seconds.
    pub total_s: f64,
    /// The longest, seconds.
    pub max_s: f64,
    /// Whether some of them began before the capture.
    pub began_before: bool,
    /// The time since the thread of the oldest of those ran, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<AgeView>,
    /// The least that this time can be where it is not known, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_at_least_s: Option<f64>,
}

/// A number, or `{"missing": "not_supported", "reason": "..."}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgeView {
    /// It is known, seconds.
    Known(f64),
    /// It is not known.
    Missing {
        /// The reason.
        missing: Why,
        /// The reason in words.
        reason: &'static str,
    },
}

impl PathRow {
    fn of(row: &BlockedPath) -> PathRow {
        let seconds = |age: &WaitAge| age.age.seconds();
        let why = Why::NotSupported;
        let view = |age: WaitAge| match age.known {
            true => AgeView::Known(seconds(&age)),
            false => AgeView::Missing { missing: why, reason: why.text() },
        };
        PathRow {
            cause: row.cause,
            frames: row.frames.clone(),
            count: row.count,
            total_s: row.total.seconds(),
            max_s: row.max.seconds(),
            began_before: row.age.is_some(),
            age_s: row.age.map(view),
            age_at_least_s: row.age.filter(|age| !age.known).as_ref().map(seconds),
        }
    }

    /// How old the wait is that began before the capture: `blocked for 3 h`.
    #[must_use]
    pub fn age(&self) -> Option<String> {
        let time = |seconds: f64| number::seconds(seconds).joined();
        match (self.age_s?, self.age_at_least_s) {
            (AgeView::Known(age), _) => Some(format!("since {} ago", time(age))),
            (_, Some(least)) => Some(format!("since before the capture, {} ago or more", time(least))),
            (AgeView::Missing { .. }, None) => None,
        }
    }
}

impl OffCpuView {
    pub(super) fn of(source: WaitSource, totals: &OffCpuTotals, paths: &[BlockedPath], limit: usize) -> Self {
        let cause = |row: &CauseTotal| CauseRow {
            cause: row.cause,
            label: row.cause.label(),
            count: row.count,
            total_s: row.total.seconds(),
            mean_s: row.mean().seconds(),
            max_s: row.max.seconds(),
        };
        let waited = paths.iter().filter(|path| path.total > Nanos(0));
        OffCpuView {
            causes: totals.causes.iter().map(cause).collect(),
            queued_after_wake: QueueView {
                count: totals.wakes,
                total_s: totals.queued_after_wake.seconds(),
                max_s: totals.longest_queue.seconds(),
            },
            without_wakeup: totals.without_wakeup,
            coverage: WaitCoverageView::of(source, &totals.coverage),
            paths: waited.clone().take(limit).map(PathRow::of).collect(),
            paths_left_out: waited.count().saturating_sub(limit),
        }
    }
}

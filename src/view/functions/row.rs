//! A row of the table, and how it changed.

use crate::analysis::{CodeKind, Rank, Ranking};
use crate::view::code_ipc::CodeRates;
use serde::Serialize;

/// A function, module, thread or process. Shares are of the whole selection, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Path of its module as the target sees it; empty if unknown or if the row is not code.
    pub module: String,
    /// Where the code lives; `Heading` for threads and processes.
    pub kind: CodeKind,
    /// Whether every call to it was inlined into its caller.
    pub inlined: bool,
    /// Kernel id of the thread or process.
    pub id: Option<u32>,
    /// Share of its own code.
    pub self_share: f64,
    /// Standard error of `self_share` from sampling alone; `None` without samples, and for off-CPU time.
    pub self_error: Option<f64>,
    /// Share including what it calls.
    pub total_share: f64,
    /// Standard error of `total_share`.
    pub total_error: Option<f64>,
    /// Weight of its own code.
    pub self_weight: u64,
    /// Weight including what it calls.
    pub total_weight: u64,
    /// Samples in its own code.
    pub self_samples: u64,
    /// Samples including what it calls.
    pub total_samples: u64,
    /// The rates of its own code; `None` unless cycles and instructions were sampled.
    pub rates: Option<CodeRates>,
    /// Its change; `None` without a comparison.
    pub change: Option<Change>,
}

impl Row {
    /// Off-CPU spans are not sampled: all of them are recorded, so their shares have no sampling error.
    pub(super) fn of(ranking: &Ranking, rank: &Rank, off_cpu: bool) -> Row {
        let (self_share, total_share) = (ranking.share(rank.self_weight), ranking.share(rank.total_weight));
        let error = |share: f64| ranking.error(share).filter(|_| !off_cpu);
        Row {
            name: rank.name.clone(),
            module: rank.module.clone(),
            kind: rank.kind,
            inlined: rank.inlined,
            id: rank.id,
            self_share,
            self_error: error(self_share),
            total_share,
            total_error: error(total_share),
            self_weight: rank.self_weight,
            total_weight: rank.total_weight,
            self_samples: rank.self_samples,
            total_samples: rank.total_samples,
            rates: None,
            change: None,
        }
    }

    /// The larger of its total shares before and now. A row's self share is at most its total share.
    pub(super) fn size(&self) -> f64 {
        self.total_share.max(self.change.map_or(0.0, |change| change.total_before))
    }
}

/// Shares before, with the sampling error of each difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Self share before.
    pub self_before: f64,
    /// Standard error of the difference of the self shares; `None` if nothing is sampled.
    pub self_error: Option<f64>,
    /// Total share before.
    pub total_before: f64,
    /// Standard error of the difference of the total shares.
    pub total_error: Option<f64>,
}

/// A difference of up to this many standard errors may be chance.
const ERRORS: f64 = 2.0;

/// Whether a difference is beyond chance. Without a sampling error, every nonzero difference is.
#[must_use]
pub fn is_real(difference: f64, error: Option<f64>) -> bool {
    difference != 0.0 && error.is_none_or(|error| difference.abs() > ERRORS * error)
}

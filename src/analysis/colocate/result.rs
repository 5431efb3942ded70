//! Reduces one run to what cells need, so that its recording need not be kept in memory.

use crate::analysis::diff::{Digest, RecordingPart};
use crate::analysis::sweep::Run;
use crate::analysis::{TimeRange, latencies};
use crate::model::profile::Profile;
use crate::model::{Measure, SlowdownMeasure, Why};
use crate::units::Nanos;

/// The results of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// The digest of its recording. Work that ended by itself counts as one operation if nothing counts others.
    pub digest: Digest,
    /// Whether operations were counted.
    pub has_ops: bool,
    /// Whether it ended by itself: a whole piece of work.
    pub complete: bool,
    /// Median and 99th percentile of the latency of operations, nanoseconds.
    pub latency: [Measure<f64>; 2],
}

/// A run beside a neighbour with the run alone of its block.
pub(super) struct Pair<'a> {
    pub alone: &'a RunResult,
    pub beside: &'a RunResult,
}

/// A thread with less than this share of the busiest one's CPU time only helps the others.
const HELPER: f64 = 0.1;

/// The threads that do a program's work: the others only wait for them, so their time off the CPU is not a cost.
#[must_use]
pub fn worker_count(profile: &Profile, leave_out: Nanos) -> u32 {
    let window = TimeRange { from: leave_out, to: None }.window(&profile.ticks, profile.duration());
    let run = Run::of(profile, u32::MAX, window);
    let most = run.workers.first().copied().unwrap_or(0.0);
    let workers = run.workers.iter().take_while(|cpu| **cpu >= HELPER * most).count();
    u32::try_from(workers).unwrap_or(u32::MAX).max(1)
}

impl RunResult {
    /// Digests a recording of a program with this many workers.
    #[must_use]
    pub fn of(profile: &Profile, name: &str, workers: u32, complete: bool, leave_out: Nanos) -> RunResult {
        let time = TimeRange { from: leave_out, to: None };
        let part = RecordingPart { name: name.to_string(), time, width: Some(workers), ..RecordingPart::default() };
        let mut digest = Digest::of(profile, &part);
        let counted = |ops: &f64| *ops > 0.0;
        let has_ops = digest.run.totals.ops.value().is_some_and(counted);
        if !has_ops && complete {
            digest.run.totals.ops = Measure::exact(1.0);
        }
        let known = latencies(profile, time.window(&profile.ticks, profile.duration()));
        let quantile = |share: f64| {
            let missing = if known.is_some() { Why::TooFewSamples } else { Why::NotRecorded };
            let mut quantiles = known.iter().flat_map(|known| &known.quantiles);
            let found = quantiles.find(|quantile| (quantile.share - share).abs() < 1e-9);
            found.map_or(Measure::Missing(missing), |quantile| quantile.value)
        };
        RunResult { digest, has_ops, complete, latency: [quantile(0.5), quantile(0.99)] }
    }

    /// What a slowdown is a ratio of, larger for slower; or why it is missing.
    ///
    /// # Errors
    /// The reason.
    pub fn value(&self, measure: SlowdownMeasure) -> Result<f64, String> {
        let totals = &self.digest.run.totals;
        let wall = Measure::exact(totals.wall);
        let missing =
            || "nothing counts its operations, and it did not end by itself (give --ops or a longer --duration)";
        let value = match measure {
            SlowdownMeasure::Throughput if !self.has_ops => {
                return Err(totals.ops.why().map_or("no operation ended".to_string(), |why| why.to_string()));
            }
            SlowdownMeasure::Wall if !self.complete => {
                return Err("it did not end by itself within --duration".to_string());
            }
            SlowdownMeasure::Cost if !self.has_ops && !self.complete => return Err(missing().to_string()),
            SlowdownMeasure::Throughput => wall.over(totals.ops),
            SlowdownMeasure::Cost => totals.cpu.over(totals.ops),
            SlowdownMeasure::Wall => wall,
            SlowdownMeasure::P50 => self.latency[0],
            SlowdownMeasure::P99 => self.latency[1],
        };
        match value {
            Measure::Known { value, .. } if value > 0.0 && value.is_finite() => Ok(value),
            Measure::Known { .. } => Err("nothing ran".to_string()),
            Measure::Missing(why) => Err(why.to_string()),
        }
    }
}

//! Differential flame graphs against a baseline, for tests, with fixed numbers.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::difference;
use crate::analysis::Axis;
use crate::analysis::baseline::testing::baseline;
use crate::analysis::testing::{Synthetic, ms};
use crate::error::Result;
use crate::model::{Baseline, BaselineStack, Scope};
use crate::units::{Nanos, Ops};
use crate::view::context::ViewContext;
use crate::view::diff_flamegraph::DiffFlameGraph;
use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};

/// A baseline with these call paths: 1 ms of CPU time per sample, 0.5 ms of CPU time per operation.
pub fn learnt(stacks: &[(&str, u64)]) -> Baseline {
    let mut baseline = baseline(&[40]);
    let stack = |(path, count): &(&str, u64)| BaselineStack {
        frames: path.split(';').map(String::from).collect(),
        cpu_ns: *count as f64 * 1e6,
        samples: Some(*count),
    };
    baseline.stacks = stacks.iter().map(stack).collect();
    baseline.cpu_ns = baseline.stacks.iter().map(|stack| stack.cpu_ns).sum();
    baseline.ops = Some(baseline.cpu_ns / 5e5);
    baseline
}

/// Samples by thread and stack over 100 s, to compare with a baseline. If `tids` is not empty, only those threads are
/// shown. `ops` is the number of operations, if any were counted; each sample stands for 1 ms of CPU time.
pub struct CurrentSamples<'a> {
    pub samples: &'a [(u32, &'a str, u64)],
    pub tids: &'a [u32],
    pub ops: Option<u64>,
    pub axis: Axis,
}

impl CurrentSamples<'_> {
    /// Compares it with the baseline.
    pub fn against(&self, baseline: &Baseline) -> Result<Option<DiffFlameGraph>> {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "app").alive(42, "helper");
        let mut cpu = 0;
        for (tid, stack, count) in self.samples {
            synthetic.samples(500, *tid, stack, *count);
            cpu += count * 1_000_000;
        }
        synthetic.reading("task-clock", Scope::Target, 0, 0).reading("task-clock", Scope::Target, 100_000, cpu);
        synthetic.tick(100_000, 100_000);
        let mut profile = synthetic.finish();
        profile.meta.duration_ns = Some(ms(100_000).0);
        profile.ops = self.ops.map_or(vec![], |ops| vec![(ms(0), Ops(0)), (ms(100_000), Ops(ops))]);
        let bounds = Bounds { since: Nanos(0), now: profile.duration() };
        let (time, compare_with) = (TimeSelector::All, CompareWith::Nothing);
        let filter = TaskFilter { tids: self.tids.to_vec(), ..TaskFilter::default() };
        let request = ViewRequest::Flame { by: Default::default(), against_baseline: true };
        let query = Query { time, end: None, filter, axis: self.axis, compare_with, point: None, per: None, request };
        difference(&ViewContext::of(&profile, None, bounds, &query), baseline)
    }
}

/// Functions that cost more, are new, gone, unchanged, or maybe gone by chance; per operation if `ops` is set.
pub fn costlier(ops: Option<u64>, tids: &[u32], counted: bool) -> DiffFlameGraph {
    let mut baseline = learnt(&[
        ("main;serve;hash", 2000),
        ("main;serve;parse", 4000),
        ("main;serve;log_line", 900),
        ("main;serve;rare", 2),
        ("main;serve", 1100),
        ("main;idle_work", 2000),
    ]);
    if !counted {
        baseline.stacks[0].samples = None;
    }
    let samples = [
        (41, "/opt/app!main;/opt/app!serve;/opt/app!hash", 2600),
        (41, "/opt/app!main;/opt/app!serve;/opt/app!parse", 2005),
        (41, "/opt/app!main;/opt/app!serve;/opt/app!compress", 700),
        (41, "/opt/app!main;/opt/app!serve", 545),
        (42, "/opt/app!main;/opt/app!idle_work", 1000),
    ];
    CurrentSamples { samples: &samples, tids, ops, axis: Axis::Event(0) }.against(&baseline).unwrap().unwrap()
}

//! Everything that a written report on a sweep needs: its view, its metadata, and its call trees.
//! Points keep merged call paths instead of profiles.

use super::{SweepView, difference};
use crate::analysis::sweep::{FunctionId, PathCost, Point, SweepAnalysis};
use crate::model::{SweepMeta, Unit};
use crate::view::Label;
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::flame::{FlameGraph, FoldedStack};
use crate::view::number;
use std::collections::BTreeMap;

/// A sweep, as input for every report format.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepReport {
    /// The view.
    pub view: SweepView,
    /// The sweep's metadata.
    pub meta: SweepMeta,
    /// Where CPU time per operation grew from the base to the widest point.
    pub cpu: Option<DiffFlameGraph>,
    /// Where blocked time per operation grew.
    pub blocked: Option<DiffFlameGraph>,
    /// CPU time at the base and at the widest point, with their widths; points without samples are left out.
    pub flames: Vec<(u32, FlameGraph)>,
}

impl SweepReport {
    /// The report on a sweep that is over or was ended.
    #[must_use]
    pub fn of(meta: &SweepMeta, analysis: &SweepAnalysis) -> SweepReport {
        let view = SweepView::of(meta, analysis, None);
        let base = analysis.points.get(analysis.base);
        let widest = analysis.points.last().filter(|widest| base.is_some_and(|base| base.n != widest.n));
        let compared = |axis| difference(base?, widest?, axis);
        let flames = [base, widest].into_iter().flatten().filter_map(|point| Some((point.n, flame(&view, point)?)));
        SweepReport {
            cpu: compared(CostAxis::Cpu),
            blocked: compared(CostAxis::Blocked),
            flames: flames.collect(),
            meta: meta.clone(),
            view,
        }
    }
}

/// The CPU time of all runs of a point.
fn flame(view: &SweepView, point: &Point) -> Option<FlameGraph> {
    let costs = || point.runs.iter().map(|run| &run.cpu);
    let mut stacks: BTreeMap<Vec<Label>, f64> = BTreeMap::new();
    for PathCost { frames, weight, .. } in costs().flat_map(|cost| &cost.paths) {
        if !frames.is_empty() && *weight > 0.0 {
            *stacks.entry(frames.iter().map(frame).collect()).or_default() += weight;
        }
    }
    // Only a damaged recording exceeds 2^64; the conversion saturates.
    let stack = |(frames, weight): (Vec<Label>, f64)| FoldedStack { frames, value: weight.round() as u64 };
    let stacks: Vec<FoldedStack> = stacks.into_iter().map(stack).filter(|stack| stack.value > 0).collect();
    let total = stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.value));
    let samples: u64 = costs().map(|cost| cost.samples).sum();
    let (runs, region) = (point.runs.len(), point.region.label());
    let unit = costs().next().map_or(Unit::Nanos, |cost| cost.unit).symbol();
    (total > 0).then(|| FlameGraph {
        title: format!("n = {}: {}", point.n, view.title),
        subtitle: format!(
            "CPU time of {}, {} · {region}",
            number::several(runs as u64, "run"),
            number::several(samples, "sample")
        ),
        unit,
        total,
        stacks,
        steps: None,
    })
}

fn frame(function: &FunctionId) -> Label {
    Label { text: function.name.clone(), kind: function.kind, inlined: function.inlined }
}

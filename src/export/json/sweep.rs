//! A sweep for programs: JSON as `assets/schema/sweep.schema.json` describes it.
//! Numbers are never strings, and a missing number is always `null`.

use super::point::PointRow;
use crate::error::Result;
use crate::model::{HostFacts, Note, OpsSpec, Placement, RunMeta, Target, Width};
use crate::view::CodeKind;
use crate::view::diff_flamegraph::CostAxis;
use crate::view::findings::FindingView;
use crate::view::sweep::{
    Coefficient, Loss, LossRow, Peak, RegionFit, Slice, Stack, SweepReport, SweepView, Usl, words,
};
use serde::Serialize;
use serde_json::{Value, json};

/// The schema of [`sweep`], draft 2020-12.
pub const SWEEP_SCHEMA: &str = include_str!("../../../assets/schema/sweep.schema.json");

/// Increased when a field changes its meaning; new fields do not increase it.
pub const SWEEP_SCHEMA_VERSION: u32 = 1;

/// The sweep as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn sweep(report: &SweepReport) -> Result<Vec<u8>> {
    super::indented(&Document::of(report), "sweep")
}

// serde_json writes numbers that are not finite as `null`.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    sweep: About<'a>,
    base: Option<u32>,
    cost_unit: &'static str,
    points: Vec<PointRow<'a>>,
    usl: Law<'a>,
    fits: Vec<Law<'a>>,
    stack: Vec<StackRow>,
    loss: Vec<LossLine<'a>>,
    findings: &'a [FindingView],
    undecided: Vec<Value>,
    clear: &'a [&'static str],
    notes: &'a [Note],
}

impl<'a> Document<'a> {
    fn of(report: &'a SweepReport) -> Document<'a> {
        let view = &report.view;
        let undecided = &view.findings.undecided;
        Document {
            schema_version: SWEEP_SCHEMA_VERSION,
            sweep: About::of(report),
            base: view.base,
            cost_unit: view.cost_unit,
            points: view.points.iter().map(|point| PointRow { view, point }).collect(),
            usl: Law::of(words::chosen(&view.fits)),
            fits: view.fits.iter().map(|fit| Law::of(Some(fit))).collect(),
            stack: view.stacks.iter().map(StackRow::of).collect(),
            loss: losses(view),
            findings: &view.findings.found,
            undecided: undecided
                .iter()
                .map(|rule| json!({ "rule": rule.rule, "title": rule.title, "why": rule.why, "reason": rule.why.text() }))
                .collect(),
            clear: &view.findings.clear,
            notes: &view.notes,
        }
    }
}

#[derive(Serialize)]
struct About<'a> {
    tool: &'a str,
    title: &'a str,
    command: &'a [String],
    target: Option<&'a Target>,
    width: Width,
    widths: &'a [u32],
    repeats: u32,
    seed: u64,
    placement: Placement,
    ops: Option<&'a str>,
    ops_source: Option<&'a OpsSpec>,
    run_seconds: Option<f64>,
    started_unix_ns: u64,
    complete: bool,
    machine: &'a str,
    host: &'a HostFacts,
    runs: &'a [RunMeta],
}

impl<'a> About<'a> {
    fn of(report: &'a SweepReport) -> About<'a> {
        let (view, meta) = (&report.view, &report.meta);
        About {
            tool: &meta.tool,
            title: &view.title,
            command: &meta.command,
            target: meta.target.as_ref(),
            width: meta.width,
            widths: &meta.widths,
            repeats: meta.repeats,
            seed: meta.seed,
            placement: meta.placement,
            ops: view.ops.as_deref(),
            ops_source: meta.ops.as_ref(),
            run_seconds: meta.duration.map(|duration| duration.seconds()),
            started_unix_ns: meta.started_unix_ns,
            complete: meta.over() == meta.runs.len(),
            machine: &view.machine,
            host: &meta.host,
            runs: &meta.runs,
        }
    }
}

/// A law; its numbers are `null` where there is none.
#[derive(Serialize)]
struct Law<'a> {
    status: Value,
    region: Option<String>,
    widths: &'a [u32],
    gamma: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    ci95: Intervals,
    residual_ops_per_s: Option<f64>,
    degrees_of_freedom: Option<u32>,
    peak: Option<PeakAt>,
    peak_status: Option<&'static str>,
}

#[derive(Serialize)]
struct Intervals {
    gamma: Interval,
    alpha: Interval,
    beta: Interval,
}

#[derive(Serialize)]
struct Interval {
    error: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct PeakAt {
    n: f64,
    ops_per_s: f64,
    low: f64,
    high: f64,
}

impl<'a> Law<'a> {
    fn of(fit: Option<&'a RegionFit>) -> Law<'a> {
        let law: Option<&Usl> = fit.and_then(|fit| fit.law.as_ref().ok());
        let interval = |of: fn(&Usl) -> Coefficient| Interval::of(law.map(of));
        Law {
            status: match fit.map(|fit| &fit.law) {
                Some(Ok(_)) => json!("fitted"),
                Some(Err(why)) => json!(why),
                None => json!("too_few_widths"),
            },
            region: fit.map(|fit| super::point::region(fit.region)),
            widths: fit.map_or(&[], |fit| &fit.widths),
            gamma: law.map(|law| law.gamma.value),
            alpha: law.map(|law| law.alpha.value),
            beta: law.map(|law| law.beta.value),
            ci95: Intervals {
                gamma: interval(|law| law.gamma),
                alpha: interval(|law| law.alpha),
                beta: interval(|law| law.beta),
            },
            residual_ops_per_s: law.map(|law| law.residual),
            degrees_of_freedom: law.map(|law| law.freedom),
            peak: law.and_then(|law| match law.peak {
                Peak::At { n, ops_per_s, low, high } => Some(PeakAt { n, ops_per_s, low, high }),
                Peak::None | Peak::Undecided | Peak::BeyondMeasured { .. } => None,
            }),
            peak_status: law.map(|law| match law.peak {
                Peak::None => "none",
                Peak::Undecided => "undecided",
                Peak::At { .. } => "at",
                Peak::BeyondMeasured { .. } => "beyond_measured",
            }),
        }
    }
}

impl Interval {
    fn of(bound: Option<Coefficient>) -> Interval {
        let end = |sign: f64| bound.and_then(|bound| bound.half.map(|half| bound.value + sign * half));
        Interval { error: bound.and_then(|bound| bound.error), low: end(-1.0), high: end(1.0) }
    }
}

#[derive(Serialize)]
struct StackRow {
    threads: u32,
    useful: f64,
    slices: Vec<SliceRow>,
}

#[derive(Serialize)]
struct SliceRow {
    kind: String,
    label: String,
    cores: f64,
    ns_per_op: f64,
}

impl StackRow {
    fn of(stack: &Stack) -> StackRow {
        let slice = |Slice { kind, cores, ns_per_op }: &Slice| SliceRow {
            kind: words::slice_name(*kind),
            label: words::slice(*kind),
            cores: *cores,
            ns_per_op: *ns_per_op,
        };
        StackRow { threads: stack.n, useful: stack.useful, slices: stack.slices.iter().map(slice).collect() }
    }
}

/// Costs are named by their unit: `ns_per_op` is `null` where cycles were sampled, and vice versa.
#[derive(Serialize)]
struct LossLine<'a> {
    threads: u32,
    axis: CostAxis,
    function: &'a str,
    module: &'a str,
    kind: CodeKind,
    inlined: bool,
    ns_per_op: Option<f64>,
    base_ns_per_op: Option<f64>,
    cycles_per_op: Option<f64>,
    base_cycles_per_op: Option<f64>,
    error: f64,
    significant: bool,
    share: Option<f64>,
    samples_coverage: Option<f64>,
}

fn losses(view: &SweepView) -> Vec<LossLine<'_>> {
    let mut rows = Vec::new();
    for loss in &view.losses {
        let cycles = view.cost_unit == "cycles";
        let of_cpu = loss.functions.iter().map(|row| LossLine::of(loss, CostAxis::Cpu, row, cycles));
        rows.extend(of_cpu);
        rows.extend(loss.waits.iter().map(|row| LossLine::of(loss, CostAxis::Blocked, row, false)));
    }
    rows
}

impl LossLine<'_> {
    fn of<'a>(loss: &Loss, axis: CostAxis, row: &'a LossRow, cycles: bool) -> LossLine<'a> {
        let sampled = loss.coverage.filter(|_| axis == CostAxis::Cpu);
        LossLine {
            threads: loss.n,
            axis,
            function: &row.function.name,
            module: &row.function.module,
            kind: row.function.kind,
            inlined: row.function.inlined,
            ns_per_op: (!cycles).then(|| row.growth()),
            base_ns_per_op: (!cycles).then_some(row.base),
            cycles_per_op: cycles.then(|| row.growth()),
            base_cycles_per_op: cycles.then_some(row.base),
            error: row.error,
            significant: row.is_real(),
            share: row.share,
            samples_coverage: sampled.map(|coverage| coverage.share),
        }
    }
}

//! Turns comparisons into rows and sentences.
//! Every quantity that one side has gets a row.

use super::{
    CodeRow, CodeView, ComparisonView, DiffView, ExpectationRow, FactorsView, GateRow, MetricRow, PartRow, Per,
    RecordingView, SCHEMA_VERSION, SettingsView, SideView, words,
};
use crate::analysis::diff::{
    Change, Comparison, Digest, ExpectationResult, Factors, FunctionChange, Functions, Gate, PartTime, Settings, Side,
    TimePart, WorkTime,
};
use crate::analysis::sweep::FunctionId;
use crate::analysis::{Law, LawFactor};
use crate::model::{Measure, OpsSpec, Role, Unit, Why};
use crate::view::diff_flamegraph::{ComparisonTerms, CostAxis, DiffFlameGraph};
use crate::view::sweep::difference;

impl DiffView {
    /// Compares each side with the base and judges the gates; `allow_missing` lets gates without a value pass.
    #[must_use]
    pub fn of(base: &Side, others: &[Side], settings: &Settings, gates: &[Gate], allow_missing: bool) -> DiffView {
        let settings = Settings { comparisons: others.len().max(1), ..settings.clone() };
        let one = |new: &Side| {
            let found = Comparison::of(base, new, &settings);
            ComparisonView::of(base, new, &found, &settings, gates, allow_missing)
        };
        DiffView {
            schema_version: SCHEMA_VERSION,
            base: SideView::of(base),
            settings: SettingsView {
                confidence: settings.confidence,
                margin: settings.margin,
                noise: settings.noise,
                seed: settings.seed,
            },
            comparisons: others.iter().map(one).collect(),
        }
    }
}

impl DiffView {
    /// The same view, with the costs of functions divided by `per`.
    #[must_use]
    pub fn divided_by(&self, per: Per, base: &Side, others: &[Side], settings: &Settings) -> DiffView {
        let settings = Settings { per, ..settings.clone() };
        let mut view = self.clone();
        for (comparison, new) in view.comparisons.iter_mut().zip(others) {
            comparison.set_code(Functions::of(base, new, &settings).as_ref(), words::no_code(base, new, per));
        }
        view
    }
}

impl SideView {
    fn of(side: &Side) -> SideView {
        SideView { label: side.label.clone(), recordings: side.runs.iter().map(recording).collect() }
    }
}

fn recording(run: &Digest) -> RecordingView {
    let conditions = &run.conditions;
    RecordingView {
        name: conditions.name.clone(),
        host: conditions.host.hostname.clone(),
        target: conditions.target.clone(),
        program: conditions.program.as_ref().map(|program| program.shown().to_string()),
        build_id: conditions.program.as_ref().and_then(|program| program.build_id.clone()),
        started_unix_ns: conditions.started_unix_ns,
        seconds: conditions.seconds,
        windows: run.windows.len(),
        operations: conditions.ops.as_ref().map(OpsSpec::label),
        operations_by_window: run.ops_by_window,
    }
}

impl ComparisonView {
    fn of(
        base: &Side,
        new: &Side,
        found: &Comparison,
        settings: &Settings,
        gates: &[Gate],
        allow_missing: bool,
    ) -> ComparisonView {
        let answer = found.answer.as_ref().map(MetricRow::of);
        let metrics: Vec<MetricRow> =
            found.changes.iter().filter(|change| is_asked(change)).map(MetricRow::of).collect();
        let mut view = ComparisonView {
            new: SideView::of(new),
            headline: vec![],
            answer,
            answer_kind: found.answer_kind,
            primary: found.primary.name(),
            same_build: base.build().is_some() && base.build() == new.build(),
            mismatches: found.mismatches.clone(),
            load: found.load,
            load_text: words::load(&found.load),
            metrics,
            adjusted: found.adjusted.iter().map(MetricRow::of).collect(),
            groups: found.subgroup_checks.clone(),
            factors: factors(&found.factors),
            code: None,
            code_missing: None,
            expectations: found.expectations.iter().map(ExpectationRow::of).collect(),
            flame_graphs: vec![],
            gates: gates.iter().map(|gate| row(gate, found, allow_missing)).collect(),
        };
        view.headline = words::headline(&view, settings);
        view.set_code(found.functions.as_ref(), words::no_code(base, new, settings.per));
        view
    }

    fn set_code(&mut self, functions: Option<&Functions>, missing: &'static str) {
        self.code = functions.map(CodeView::of);
        self.code_missing = functions.is_none().then_some(missing);
        self.flame_graphs = functions.map(flame_graphs).unwrap_or_default();
    }
}

/// The merged call trees of both sides, on-CPU and blocked; trees with nothing to draw are left out.
fn flame_graphs(functions: &Functions) -> Vec<DiffFlameGraph> {
    [CostAxis::Cpu, CostAxis::Blocked].into_iter().filter_map(|axis| flame_graph(functions, axis)).collect()
}

fn flame_graph(functions: &Functions, axis: CostAxis) -> Option<DiffFlameGraph> {
    // Blocked time is not part of the on-CPU samples.
    if functions.per == Per::Share && axis == CostAxis::Blocked {
        return None;
    }
    let [base, new] = &*functions.points;
    let mut drawn = difference(base, new, axis)?;
    drawn.terms = match functions.per {
        Per::Op => ComparisonTerms::Sides("per op"),
        Per::Cpu => ComparisonTerms::Sides("per CPU second"),
        Per::Share => ComparisonTerms::Sides(""),
        Per::None => ComparisonTerms::Sides("in all"),
    };
    // Shares are fractions; the view shows percentages.
    if functions.per == Per::Share {
        drawn.unit = "%";
        let whole = [&mut drawn.base, &mut drawn.here, &mut drawn.width];
        let cells = drawn.cells.iter_mut();
        let parts = cells.flat_map(|c| [&mut c.base, &mut c.here, &mut c.own_base, &mut c.own_here, &mut c.width]);
        whole.into_iter().chain(parts).for_each(|value| *value *= 100.0);
    }
    Some(drawn)
}

impl ExpectationRow {
    fn of(expected: &ExpectationResult) -> ExpectationRow {
        ExpectationRow {
            text: expected.expectation.text.clone(),
            name: expected.expectation.name.clone(),
            outcome: expected.outcome,
            reason: expected.reason,
            change: expected.change.as_ref().map(MetricRow::of),
            same_load: expected.same_load,
            p: expected.p,
        }
    }
}

/// Where neither side measured latency, nobody asked for it: its absence needs no row.
fn is_asked(change: &Change) -> bool {
    let is_recorded = |value: &Measure<f64>| value.why() != Some(Why::NotRecorded);
    change.quantity.role != Role::Latency || is_recorded(&change.base) || is_recorded(&change.new)
}

impl MetricRow {
    fn of(change: &Change) -> MetricRow {
        let effect = change.effect;
        MetricRow {
            name: change.quantity.name,
            label: change.quantity.label,
            unit: change.quantity.unit,
            better: change.quantity.better,
            role: change.quantity.role,
            base: change.base.into(),
            new: change.new.into(),
            difference: effect.map(|effect| effect.new - effect.base),
            relative: effect.and_then(|effect| effect.relative()),
            scale: effect.map(|effect| effect.scale),
            low: change.interval.map(|(low, _)| low),
            high: change.interval.map(|(_, high)| high),
            within_low: change.within.map(|(low, _)| low),
            within_high: change.within.map(|(_, high)| high),
            noise_limit: change.noise_limit,
            p: change.p,
            corrected_p: change.corrected,
            one_sided_confidence: change.one_sided,
            rank_p: change.rank_p,
            detectable: change.detectable,
            within_margin: change.within_margin,
            basis: effect.map(|effect| effect.basis),
            verdict: change.verdict,
        }
    }
}

fn factors(factors: &Factors) -> FactorsView {
    let time = |law: &Law| Some(law.cpu_per_op.value()? / law.utilisation.value()? * 1e9);
    let missing = match (&factors.slowdown, [&factors.base, &factors.new]) {
        (Some(_), _) => None,
        (None, laws) => {
            let whys = laws.into_iter().flat_map(|law| [law.cpu_per_op, law.utilisation]);
            Some(whys.filter_map(|measure| measure.why()).next().map_or("nothing ran", |why| why.text()))
        }
    };
    let part = |part: &crate::analysis::Part| PartRow {
        factor: words::factor_name(part.factor),
        label: words::factor_label(part.factor),
        values: [&factors.base, &factors.new].map(|law| value(law, part.factor)),
        ratio: part.ratio,
        share: part.share,
        ns: part.seconds * 1e9,
    };
    if let Some(work) = &factors.work {
        return of_work(work, factors);
    }
    let slowdown = factors.slowdown.as_ref();
    FactorsView {
        asleep: None,
        ns_per_op: slowdown.and_then(|_| Some([time(&factors.base)?, time(&factors.new)?])),
        ratio: slowdown.map(|slowdown| slowdown.ratio),
        parts: slowdown.map(|slowdown| slowdown.parts.iter().map(part).collect()).unwrap_or_default(),
        missing,
    }
}

/// The parts of the time per operation of a program that sleeps.
fn of_work(work: &WorkTime, factors: &Factors) -> FactorsView {
    let [base, new] = work.seconds;
    // As for the factors of the law: the shares of less are noise divided by noise.
    let is_shared = (new / base).ln().abs() > 0.02;
    let part = |part: &PartTime| PartRow {
        factor: words::part_name(part.part),
        label: words::part_label(part.part),
        values: match part.part {
            TimePart::Running(factor) => [&factors.base, &factors.new].map(|law| value(law, factor)),
            _ => [0, 1].map(|at: usize| part.seconds.map(|seconds| seconds[at] * 1e9)),
        },
        ratio: 1.0 + part.difference / base,
        share: is_shared.then(|| part.difference / (new - base)),
        ns: part.difference * 1e9,
    };
    FactorsView {
        asleep: Some(work.asleep),
        ns_per_op: Some([base, new].map(|seconds| seconds * 1e9)),
        ratio: Some(new / base),
        parts: work.parts.iter().map(part).collect(),
        missing: None,
    }
}

fn value(law: &Law, factor: LawFactor) -> Option<f64> {
    let measure: Measure<f64> = match factor {
        LawFactor::PathLength => law.path_length,
        LawFactor::Cpi => law.cpi,
        LawFactor::Frequency => law.frequency,
        LawFactor::CpuTime => law.cpu_per_op.map(|seconds| seconds * 1e9),
        LawFactor::Utilisation => law.utilisation,
    };
    measure.value().copied()
}

impl CodeView {
    fn of(functions: &Functions) -> CodeView {
        let rows = |changes: &[FunctionChange]| changes.iter().map(CodeRow::of).collect();
        CodeView {
            per: functions.per,
            unit: match (functions.per, functions.unit) {
                (Per::Share, _) => "share",
                (_, Unit::Cycles) => "cycles",
                (_, Unit::Samples) => "samples",
                _ => "ns",
            },
            whole: functions.whole,
            samples: functions.samples,
            functions: rows(&functions.functions),
            paths: rows(&functions.paths),
            waits: rows(&functions.waits),
            hot_path: functions.hot_path.iter().map(|function: &FunctionId| function.name.clone()).collect(),
            repeated: functions.repeated,
            renamed_modules: functions
                .module_renames
                .modules
                .iter()
                .map(|(from, to)| [from.clone(), to.clone()])
                .collect(),
        }
    }
}

impl CodeRow {
    fn of(change: &FunctionChange) -> CodeRow {
        let (own, callers) = match change.frames.split_last() {
            Some((own, callers)) => (own.clone(), callers.iter().map(|caller| caller.name.clone()).collect()),
            None => return CodeRow::nothing(change),
        };
        CodeRow { name: own.name, module: own.module, kind: own.kind, callers, ..CodeRow::nothing(change) }
    }

    fn nothing(change: &FunctionChange) -> CodeRow {
        CodeRow {
            name: String::new(),
            module: String::new(),
            kind: crate::analysis::CodeKind::Heading,
            callers: vec![],
            base: change.base,
            new: change.new,
            difference: change.growth(),
            error: change.error,
            q: change.q,
            share: change.share,
            real: change.is_real,
            state: match (change.is_new(), change.is_gone()) {
                (true, _) => "new",
                (_, true) => "gone",
                _ => "changed",
            },
            inlined: change.inlined.iter().map(CodeRow::of).collect(),
        }
    }
}

fn row(gate: &Gate, found: &Comparison, allow_missing: bool) -> GateRow {
    let judged = gate.judge(found);
    GateRow {
        text: gate.text.clone(),
        name: gate.name.clone(),
        value: judged.value,
        low: judged.interval.map(|(low, _)| low),
        high: judged.interval.map(|(_, high)| high),
        relative: gate.is_relative(),
        status: judged.status,
        exceeds: judged.exceeds,
        passes: judged.passes(allow_missing),
        missing: judged.missing,
    }
}

//! The factors of the iron law in reading order, and the metrics shown instead if they cannot be counted.
//! Every factor is present; a missing one carries the reason.

use super::factor::{Factor, FactorKind, Sources};
use super::past::WindowMetrics;
use crate::analysis::{Law, LawFactor};
use crate::model::{Measure, MetricId, Unit};

/// A factor of the law: its description, its formula, how to read it, and its part in a slowdown.
struct Row(FactorKind, &'static str, fn(&Law) -> Measure<f64>, Option<LawFactor>);

const fn kind(id: MetricId, label: &'static str, unit: Unit, noun: &'static str) -> FactorKind {
    FactorKind { id, label, unit, noun }
}

const LAW: [Row; 6] = [
    Row(
        kind(MetricId::CpuPerOp, "CPU time/op", Unit::Seconds, ""),
        "d task-clock / d ops = path length x CPI / frequency",
        |law| law.cpu_per_op,
        Some(LawFactor::CpuTime),
    ),
    Row(
        kind(MetricId::PathLength, "path length", Unit::Count, "instr"),
        "d instructions / d ops",
        |law| law.path_length,
        Some(LawFactor::PathLength),
    ),
    Row(kind(MetricId::Cpi, "CPI", Unit::Ratio, ""), "d cycles / d instructions", |law| law.cpi, Some(LawFactor::Cpi)),
    Row(
        kind(MetricId::Frequency, "frequency", Unit::Hertz, ""),
        "d cycles / d task-clock",
        |law| law.frequency,
        Some(LawFactor::Frequency),
    ),
    Row(
        kind(MetricId::CpuUtilisation, "busy cores", Unit::Cores, ""),
        "d task-clock / wall",
        |law| law.busy,
        Some(LawFactor::Utilisation),
    ),
    Row(
        kind(MetricId::Throughput, "throughput", Unit::Count, "op/s"),
        "d ops / wall = busy cores / (CPU time/op)",
        |law| law.throughput,
        None,
    ),
];

/// The factors: CPU time per operation, path length, CPI, frequency, busy cores, throughput.
pub(super) fn factors(from: &Sources<'_>) -> Vec<Factor> {
    let slowdown = from.against.and_then(|(then, _)| from.now.law.slowdown(&then.law));
    let share = |factor: Option<LawFactor>| {
        let parts = &slowdown.as_ref()?.parts;
        parts.iter().find(|part| Some(part.factor) == factor)?.share
    };
    let factor = |Row(kind, formula, of, part): &Row| {
        let factor = Factor::new(*kind, formula, from, |context: &WindowMetrics| of(&context.law));
        Factor { share_of_change: share(*part), ..factor }
    };
    LAW.iter().map(factor).collect()
}

/// Metrics shown instead if operations or cycles are not counted: rates per second, and shares.
pub(super) fn stand_ins(from: &Sources<'_>) -> Vec<Factor> {
    let rate = kind(MetricId::InstructionRate, "instr/s", Unit::Count, "/s");
    vec![
        Factor::metric(MetricId::Ipc, "IPC", from),
        Factor::new(rate, "d instructions / wall", from, |context| context.law.instruction_rate),
        Factor::metric(MetricId::RunShare, "running", from),
        Factor::metric(MetricId::RunQueueDelay, "run queue", from),
        Factor::metric(MetricId::SystemShare, "in kernel", from),
        Factor::metric(MetricId::VoluntarySwitches, "waits", from),
        Factor::metric(MetricId::InvoluntarySwitches, "preempted", from),
    ]
}

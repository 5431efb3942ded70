//! Cells and runs in words: the only place for these.

use super::types::{CellView, ColocateView};
use crate::analysis::attribution::Cause;
use crate::analysis::colocate::CellVerdict;
use crate::model::{ColocateMeta, ColocateRun, ColocatedProgram, Imposed, OpsSpec, RunPurpose, Unit};
use crate::view::number::{percent, quantity, three_digits};

/// The source of operations.
#[must_use]
pub fn ops(spec: &OpsSpec) -> String {
    spec.label()
}

/// `1.32x`, or `-`.
#[must_use]
pub fn ratio(slowdown: Option<f64>) -> String {
    slowdown.map_or("-".to_string(), |slowdown| {
        if slowdown < 100.0 { format!("{slowdown:.2}x") } else { format!("{slowdown:.0}x") }
    })
}

/// An interval whose half width exceeds this share of the ratio is written as two ends: it is asymmetric.
const EVEN: f64 = 0.5;

/// `1.32x ±0.05`, `1.32x (0.50 to 3.48)` where the interval is wide; without an interval `1.32x`; without a number `-`.
#[must_use]
pub fn slowdown(cell: &CellView) -> String {
    let text = ratio(cell.slowdown);
    match cell.interval {
        Some((low, high)) if (high - low) / 2.0 < EVEN * cell.slowdown.unwrap_or(0.0) => {
            format!("{text} ±{:.2}", (high - low) / 2.0)
        }
        Some((low, high)) => format!("{text} ({} to {})", three_digits(low), three_digits(high)),
        None => text,
    }
}

/// The line under the slowdown: the leading cause, or why there is none.
#[must_use]
pub fn remark(cell: &CellView) -> &'static str {
    match cell.verdict {
        CellVerdict::Slower => cell.causes.first().map_or("cause unknown", |cause| short(cause.cause)),
        CellVerdict::Faster => "faster",
        CellVerdict::WithinNoise => "within noise",
        CellVerdict::Undecided => "not decided",
        CellVerdict::Missing => "missing",
    }
}

/// A cause in a word or two.
#[must_use]
pub fn short(cause: Cause) -> &'static str {
    match cause {
        Cause::PathLength => "instructions/op",
        Cause::Throttling => "own quota",
        Cause::RunQueue => "run queue",
        Cause::Steal => "hypervisor",
        Cause::Io => "storage",
        Cause::Waiting => "waiting",
        Cause::Llc => "LLC misses",
        Cause::MemoryBandwidth => "memory",
        Cause::PageWalk => "page walks",
        Cause::RemoteMemory => "remote memory",
        Cause::Frequency => "slower clock",
        Cause::Smt => "sibling thread",
        Cause::CpiOther => "cycles/instr",
        Cause::CpuTimeOther => "CPU time/op",
    }
}

/// The causes of a cell as a list: `waiting longer for a CPU +71%, more CPU time per operation +9%`.
#[must_use]
pub fn causes(cell: &CellView) -> String {
    let parts = cell.causes.iter().map(|cause| format!("{} +{}", cause.label, percent(cause.growth).joined()));
    parts.collect::<Vec<_>>().join(", ")
}

/// `at full load`, `at load 0.5`.
#[must_use]
pub fn load(load: f64) -> String {
    if load == 1.0 { "at full load".to_string() } else { format!("at load {load}") }
}

/// How a load was imposed.
#[must_use]
pub fn imposed(imposed: Imposed) -> String {
    match imposed {
        Imposed::Command => "its command takes it".to_string(),
        Imposed::Quota { cpus } => format!("a quota of {} CPUs", three_digits(cpus)),
        Imposed::DutyCycle { share } => {
            format!("stopped for {} of each 0.1 s", percent(1.0 - share).joined())
        }
    }
}

/// A value of a profile: `1.98`, `31.2%`, `-`.
#[must_use]
pub fn value(value: Option<f64>, unit: Unit) -> String {
    value.map_or("-".to_string(), |value| quantity(value, unit).joined())
}

/// `sysbench beside stream at full load, cpu.max`.
#[must_use]
pub fn run(meta: &ColocateMeta, run: &ColocateRun) -> String {
    let name = |programs: &[ColocatedProgram], at: Option<usize>| {
        at.and_then(|at| programs.get(at)).map(|program| program.name.clone())
    };
    let (victim, neighbour) = (name(&meta.victims, run.victim), name(&meta.neighbours, run.neighbour));
    let control = run.control.map_or(String::new(), |control| format!(", {}", control.name()));
    match (run.purpose, victim, neighbour) {
        (RunPurpose::FullRate, Some(victim), _) => format!("{victim} alone, as fast as it can"),
        (_, Some(victim), Some(neighbour)) => format!("{victim} beside {neighbour} {}{control}", load(run.load)),
        (_, Some(victim), None) => format!("{victim} alone {}", load(run.load)),
        (_, None, neighbour) => format!("{} alone, for its profile", neighbour.unwrap_or_default()),
    }
}

/// Why numbers of the matrix are missing, each once: cell and reason.
#[must_use]
pub fn gaps(view: &ColocateView) -> Vec<String> {
    let mut gaps = Vec::new();
    for cell in view.cells.iter().chain(&view.controls) {
        let place = format!("{} beside {} {}", cell.victim, cell.neighbour, load(cell.load));
        let missing = cell.missing.iter().filter(|text| !cell.failures.contains(text));
        gaps.extend(missing.chain(&cell.failures).map(|text| format!("{place}: {text}")));
    }
    gaps.dedup();
    gaps
}

/// What the numbers of cells are, each measure once: `time per operation (a, b), p99 latency (c)`.
#[must_use]
pub fn measures(view: &ColocateView) -> String {
    let mut parts: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for cell in &view.cells {
        let label = cell.measure.label();
        match parts.iter_mut().find(|part| part.0 == label) {
            Some(part) if part.1.contains(&cell.victim.as_str()) => {}
            Some(part) => part.1.push(&cell.victim),
            None => parts.push((label, vec![&cell.victim])),
        }
    }
    match parts.as_slice() {
        [(label, _)] => (*label).to_string(),
        parts => {
            let parts = parts.iter().map(|(label, victims)| format!("{label} ({})", victims.join(", ")));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Numbers that no profile has, by their reason: `IPC, memory bandwidth: not counted on this machine`.
#[must_use]
pub fn profile_gaps(view: &ColocateView) -> Vec<String> {
    let mut reasons: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
    let count = view.profiles.first().map_or(0, |first| first.values.len());
    for at in 0..count {
        let values = || view.profiles.iter().filter_map(|profile| profile.values.get(at));
        if values().any(|value| value.value.value().is_some()) {
            continue;
        }
        let Some(value) = values().next() else { continue };
        let crate::view::Measured::Missing { reason, .. } = value.value else { continue };
        match reasons.iter_mut().find(|known| known.0 == reason) {
            Some(known) => known.1.push(value.label),
            None => reasons.push((reason, vec![value.label])),
        }
    }
    reasons.into_iter().map(|(reason, labels)| format!("{}: {reason}", labels.join(", "))).collect()
}

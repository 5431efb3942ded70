//! Turns an analysed sweep into its view: ordered columns, rows by name, and descriptions in words.
//! Only cycles per operation are computed here; they follow from two other columns.

use super::{Column, PointView, Progress, SweepView, Value, Values};
use crate::analysis::sweep::{Estimate, Point, PointLatency, PointMetrics, SweepAnalysis};
use crate::analysis::{Coverage, Tasks};
use crate::model::{HostFacts, Measure, Note, Placement, RunMeta, RunState, SweepMeta, Unit};
use crate::view::findings::FindingsView;

/// A column, and how to read its value.
struct Source {
    column: Column,
    value: fn(&PointMetrics) -> Measure<Estimate>,
}

const fn column(
    name: &'static str,
    label: &'static str,
    unit: Unit,
    value: fn(&PointMetrics) -> Measure<Estimate>,
) -> Source {
    Source { column: Column { name, label, unit, for_programs: false }, value }
}

impl Source {
    const fn for_programs(self) -> Source {
        Source { column: Column { for_programs: true, ..self.column }, ..self }
    }
}

/// The table that performance engineers know, the most important columns first.
const COLUMNS: [Source; 21] = [
    column("ops_per_s", "ops/s", Unit::PerSecond, |n| n.ops_per_s),
    column("speedup", "speed-up", Unit::Ratio, |n| n.speedup),
    column("efficiency", "efficiency", Unit::Share, |n| n.efficiency),
    column("latency_p50_ns", "p50", Unit::Nanos, |n| n.latency_p50),
    column("latency_p99_ns", "p99", Unit::Nanos, |n| n.latency_p99),
    column("us_per_op", "time/op", Unit::Micros, |n| n.us_per_op),
    column("cpu_ns_per_op", "CPU/op", Unit::Nanos, |n| n.cpu_ns_per_op),
    column("path_length", "instr/op", Unit::Ratio, |n| n.path_length),
    column("cpi", "CPI", Unit::Ratio, |n| n.cpi),
    column("core_cpi", "core CPI", Unit::Ratio, |n| n.core_cpi),
    column("cycles_per_op", "cycles/op", Unit::Ratio, cycles_per_op),
    column("frequency", "frequency", Unit::Hertz, |n| n.frequency),
    column("utilisation", "utilised", Unit::Share, |n| n.utilisation),
    column("busy_cores", "busy CPUs", Unit::Cores, |n| n.busy_cores),
    column("kernel_share", "in kernel", Unit::Share, |n| n.kernel_share),
    column("karp_flatt", "Karp-Flatt", Unit::Ratio, |n| n.karp_flatt),
    column("ops", "ops", Unit::Count, |n| n.ops),
    column("instructions", "instructions", Unit::Count, |n| n.instructions),
    column("cycles", "cycles", Unit::Count, |n| n.cycles),
    column("seconds", "elapsed", Unit::Seconds, |n| n.seconds),
    column("cpu_percent", "CPU %", Unit::Ratio, |n| n.utilisation.map(|share| scaled(share, 100.0))).for_programs(),
];

impl SweepView {
    /// The view of a sweep; `progress` is set while it is running.
    #[must_use]
    pub fn of(meta: &SweepMeta, analysis: &SweepAnalysis, progress: Option<Progress>) -> SweepView {
        let measured = analysis.points.iter().flat_map(|point| &point.runs).any(|run| run.latency.is_some());
        SweepView {
            title: title(meta),
            width: meta.width,
            placement: placement(meta.placement).to_string(),
            ops: meta.ops.as_ref().map(crate::model::OpsSpec::label),
            machine: machine(&meta.host),
            base: analysis.points.get(analysis.base).map(|point| point.n),
            columns: sources(measured).map(|source| source.column).collect(),
            points: analysis.points.iter().map(|point| PointView::of(point, measured)).collect(),
            fits: analysis.fits.clone(),
            stacks: analysis.stacks.clone(),
            losses: analysis.losses.clone(),
            cost_unit: cost_unit(analysis).symbol(),
            findings: FindingsView::of_results(analysis.findings.clone(), &Tasks::default()).of_lost_cores(),
            notes: notes(meta, progress.is_some()).into_iter().chain(sampled_too_little(analysis)).collect(),
            progress,
        }
    }
}

/// The columns. Those of latency are left out where it was not to be measured: that is no gap.
fn sources(latency: bool) -> impl Iterator<Item = &'static Source> {
    COLUMNS.iter().filter(move |source| latency || !source.column.name.starts_with("latency_"))
}

impl PointView {
    fn of(point: &Point, measured: bool) -> PointView {
        let value = |source: &Source| (source.column.name, Value::of((source.value)(&point.numbers)));
        PointView {
            n: point.n,
            region: point.region,
            runs: point.runs.len() as u32,
            values: Values(sources(measured).map(value).collect()),
            latency: PointLatency::of(&point.runs),
        }
    }
}

impl Value {
    fn of(measure: Measure<Estimate>) -> Value {
        match measure {
            Measure::Known { value: Estimate { mean, half, .. }, .. } => Value::Known { mean, half },
            Measure::Missing(missing) => Value::Missing { missing },
        }
    }
}

/// Path length times CPI. The interval assumes independence, so it is too wide where one offsets the other.
fn cycles_per_op(numbers: &PointMetrics) -> Measure<Estimate> {
    numbers.path_length.ratio(numbers.cpi, |path, cpi| {
        let half = path.half.zip(cpi.half).map(|(a, b)| (a * cpi.mean).hypot(b * path.mean));
        Some(Estimate { mean: path.mean * cpi.mean, half, runs: path.runs.min(cpi.runs) })
    })
}

fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate { mean: estimate.mean * factor, half: estimate.half.map(|half| half * factor), ..estimate }
}

fn cost_unit(analysis: &SweepAnalysis) -> Unit {
    analysis.points.iter().flat_map(|point| &point.runs).map(|run| run.cpu.unit).next().unwrap_or(Unit::Nanos)
}

/// What is swept, over what.
#[must_use]
pub fn title(meta: &SweepMeta) -> String {
    match &meta.target {
        Some(target) if meta.command.is_empty() => target.label(),
        _ => meta.command.join(" "),
    }
}

fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::Cores => "physical cores first, node by node, siblings last",
        Placement::Smt => "a core's siblings first, then the next core",
        Placement::Spread => "physical cores, the nodes in turn",
        Placement::None => "not pinned",
    }
}

pub(in crate::view) fn machine(host: &HostFacts) -> String {
    let cpus = match host.cpus.len() {
        0 => None,
        1 => Some("1 CPU".to_string()),
        n => Some(format!("{n} CPUs")),
    };
    let model = (!host.cpu_model.is_empty()).then(|| host.cpu_model.clone());
    let kernel = (!host.kernel.is_empty()).then(|| format!("Linux {} {}", host.kernel, host.arch));
    let guest = host.virtual_machine.then(|| "virtual machine".to_string());
    [model, cpus, kernel, guest].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The sweep's own notes, the runs that failed, and whether some runs are missing.
fn notes(meta: &SweepMeta, runs_on: bool) -> Vec<Note> {
    let mut notes = meta.notes.clone();
    notes.extend(meta.runs.iter().filter_map(failed));
    let missing = meta.runs.len().saturating_sub(meta.over());
    if !runs_on && missing > 0 {
        let text = format!("The sweep was ended with {missing} of its {} runs still to come.", meta.runs.len());
        notes.push(Note { topic: "sweep-stopped".to_string(), text, fix: None });
    }
    notes
}

fn sampled_too_little(analysis: &SweepAnalysis) -> Option<Note> {
    let low = analysis.losses.iter().filter_map(|loss| loss.coverage).filter(Coverage::is_low);
    let least = low.min_by(|a, b| a.share.total_cmp(&b.share))?;
    Some(Note {
        topic: "low-coverage".to_string(),
        text: format!(
            "Samples of a run cover only {:.1}% of its CPU time: what functions lost may be far off, by more than the \
             errors say.",
            least.share * 100.0
        ),
        fix: Some("Sweep as root, so that whole CPUs are sampled in place of threads.".to_string()),
    })
}

fn failed(run: &RunMeta) -> Option<Note> {
    let RunState::Failed { reason } = &run.state else { return None };
    let text = format!("Run {} of n = {} does not count: {reason}", run.repeat, run.n);
    Some(Note { topic: "failed-run".to_string(), text, fix: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Why;
    use crate::view::sweep::fixture::{self, Machine};

    fn view(machine: Machine) -> SweepView {
        SweepView::of(&fixture::meta(machine), &fixture::analysis(machine), None)
    }

    #[test]
    fn every_row_has_every_column_and_a_missing_value_keeps_its_reason() {
        let view = view(Machine::Clock);
        for point in &view.points {
            let names: Vec<_> = point.values.0.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, view.columns.iter().map(|column| column.name).collect::<Vec<_>>());
            assert_eq!(point.values.get("cpi"), Some(Value::Missing { missing: Why::NotSupported }));
        }
        assert_eq!((view.base, view.cost_unit), (Some(1), "ns"));
    }

    #[test]
    fn cycles_per_operation_are_path_length_times_cpi_with_both_their_intervals() {
        let estimate = |mean, half| Measure::exact(Estimate { mean, half, runs: 3 });
        let mut numbers = fixture::analysis(Machine::Counters).points[0].numbers;
        (numbers.path_length, numbers.cpi) = (estimate(2000.0, Some(30.0)), estimate(0.5, Some(0.01)));
        let cycles = cycles_per_op(&numbers).value().copied();
        assert_eq!(cycles, Some(Estimate { mean: 1000.0, half: Some(25.0), runs: 3 }));
        numbers.cpi = estimate(0.5, None);
        assert_eq!(cycles_per_op(&numbers).value().and_then(|cycles| cycles.half), None);
    }

    #[test]
    fn failed_runs_and_runs_that_never_came_are_noted_but_not_while_it_runs_on() {
        let topics = |meta: &SweepMeta, runs_on| -> Vec<String> {
            notes(meta, runs_on).into_iter().map(|note| note.topic).collect()
        };
        let mut meta = fixture::meta(Machine::Clock);
        assert_eq!(topics(&meta, false), ["no-cgroup", "failed-run"]);
        meta.runs[0].state = RunState::Planned;
        assert_eq!(topics(&meta, false), ["no-cgroup", "failed-run", "sweep-stopped"]);
        assert_eq!(topics(&meta, true), ["no-cgroup", "failed-run"]);
    }

    #[test]
    fn what_ran_already_is_named_by_its_target_and_a_command_by_itself() {
        let mut meta = fixture::meta(Machine::Clock);
        assert!(title(&meta).starts_with("./server --threads {threads}"));
        (meta.command, meta.target) =
            (Vec::new(), Some(crate::model::Target::Processes { pids: vec![41], children: true }));
        assert_eq!(title(&meta), "pid 41");
    }
}

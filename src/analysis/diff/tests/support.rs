//! Recordings for the tests of this module, made through the same digest as real ones.

use super::digest::Side;
use super::digest::{Digest, RecordingPart, WindowCells};
use super::quantity::{INVERSE, PRIMARY, Quantity, RATE, RatioCell, Reading, WITHOUT_OPERATIONS};
use crate::analysis::stats::simulate::SimulatedWindow;
use crate::analysis::sweep::{Cost, FunctionId, PathCost};
use crate::analysis::{CodeKind, SourceOwner, testing};
use crate::model::{BuildId, Measure, OpsSpec, Scope, Unit, Why};
use crate::units::Ops;
use testing::{Synthetic, ms};

/// Windows of a recording.
const WINDOWS: u64 = 40;

/// How a program is loaded: operations per second rise from `low` to `high` and fall again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadShape {
    pub low: f64,
    pub high: f64,
    /// CPU time of an operation.
    pub cost_ns: f64,
    /// CPU time per second that no operation causes.
    pub fixed: f64,
    /// If set, the program does all it can with this many cores instead.
    pub cores: Option<f64>,
}

/// A side of one such recording, with a tenth of a percent of noise in the cost.
pub(crate) fn loaded(shape: LoadShape) -> Side {
    let window = |at: u64| {
        let phase = (at as f64 * std::f64::consts::TAU / 20.0).sin() / 2.0 + 0.5;
        let cost = shape.cost_ns * (1.0 + 0.001 * noise(at));
        let offered = shape.low + (shape.high - shape.low) * phase;
        let rate = shape.cores.map_or(offered, |cores| (cores - shape.fixed) * 1e9 / cost);
        (rate, shape.fixed * 1e9 + rate * cost)
    };
    Side { label: "loaded".into(), runs: vec![recording("r0", &window)] }
}

/// Repeats that cost this many nanoseconds per operation, at 100,000 operations a second.
pub(crate) fn side(costs: &[f64]) -> Side {
    let runs = costs.iter().enumerate().map(|(at, cost)| {
        let mut run = digest(Some(*cost));
        run.conditions.name = format!("r{at}");
        run.conditions.started_unix_ns += at as u64 * 100_000_000_000;
        run
    });
    Side { label: "side".into(), runs: runs.collect() }
}

/// One recording; with `None` operations are not counted.
pub(crate) fn digest(cost: Option<f64>) -> Digest {
    let window = |at: u64| (1e5, 1e5 * cost.unwrap_or(5000.0) * (1.0 + 0.002 * noise(at)));
    if cost.is_some() {
        return recording("r0", &window);
    }
    let mut profile = synthetic(&window);
    (profile.ops, profile.meta.plan.ops) = (vec![], None);
    Digest::of(&profile, &RecordingPart { name: "r0".into(), ..RecordingPart::default() })
}

/// A value from -1 to 1 that differs from its neighbours.
fn noise(at: u64) -> f64 {
    ((at * 7919 + 13) % 17) as f64 / 8.0 - 1.0
}

fn recording(name: &str, window: &dyn Fn(u64) -> (f64, f64)) -> Digest {
    Digest::of(&synthetic(window), &RecordingPart { name: name.into(), ..RecordingPart::default() })
}

/// `window` returns operations and nanoseconds of CPU time in each second.
fn synthetic(window: &dyn Fn(u64) -> (f64, f64)) -> crate::model::profile::Profile {
    let mut synthetic = Synthetic::new();
    synthetic.alive(41, "main").alive(42, "main").alive(43, "main").alive(44, "main");
    let (mut ops, mut cpu, mut totals) = (0.0, 0.0, vec![(ms(0), Ops(0))]);
    synthetic.reading("task-clock", Scope::Target, 0, 0).reading("thread-time", Scope::Target, 0, 0);
    for at in 1..=WINDOWS {
        let (done, spent) = window(at);
        (ops, cpu) = (ops + done, cpu + spent);
        synthetic.reading("task-clock", Scope::Target, at * 1000, cpu as u64);
        synthetic.reading("thread-time", Scope::Target, at * 1000, ms(at * 4000).0);
        synthetic.tick(at * 1000, 1000);
        totals.push((ms(at * 1000), Ops(ops as u64)));
    }
    // Samples that cover all of the CPU time.
    synthetic.weight = (cpu / 100.0) as u64;
    synthetic.samples(0, 41, "app!main;app!work", 100);
    let mut profile = synthetic.finish();
    profile.meta.duration_ns = Some(ms(WINDOWS * 1000).0);
    profile.meta.plan.ops = Some(OpsSpec::File { path: "/run/ops".into() });
    profile.ops = totals;
    profile.modules.iter_mut().for_each(|module| module.build_id = Some(BuildId(vec![10, 11])));
    profile
}

/// A side of simulated runs as digests that contain only cost and load; `like` supplies the rest.
pub(in crate::analysis) fn simulated(like: &Digest, runs: &[Vec<SimulatedWindow>]) -> Side {
    let quantities = [PRIMARY, INVERSE, RATE, WITHOUT_OPERATIONS].map(|name| like.position(name));
    let readings = quantities.map(|at| at.and_then(|at| like.whole.get(at)).map(|reading| reading.quantity));
    let cells = |windows: &[SimulatedWindow]| {
        let ops: f64 = windows.iter().map(|window| window.rate).sum();
        let cpu: f64 = windows.iter().map(|window| window.rate * window.cost_ns).sum();
        let seconds = windows.len() as f64;
        [(cpu, ops), (ops, cpu * 1e-9), (ops, seconds), (cpu * 1e-9, seconds)]
            .map(|(numerator, denominator)| RatioCell { numerator, denominator })
    };
    let reading = |(quantity, cell): (&Option<Quantity>, RatioCell)| {
        let value = cell.value().map_or(Measure::Missing(Why::Idle), Measure::exact);
        quantity.map(|quantity| Reading { quantity, value, cell: Some(cell) })
    };
    let empty = Digest { windows: vec![], whole: vec![], ..like.clone() };
    let digest = |(name, windows): (usize, &Vec<SimulatedWindow>)| {
        let mut run = empty.clone();
        run.conditions.name = format!("r{name}");
        run.whole = readings.iter().zip(cells(windows)).filter_map(reading).collect();
        let slot = |window: &SimulatedWindow| WindowCells {
            window: like.windows[0].window,
            cells: cells(&[*window]).map(Some).to_vec(),
        };
        run.windows = windows.iter().map(slot).collect();
        run
    };
    Side { label: "simulated".into(), runs: runs.iter().enumerate().map(digest).collect() }
}

/// Paths `module!function;...` with nanoseconds, one sample per millisecond.
pub(crate) fn cost(paths: &[(&str, f64)]) -> Cost {
    let function = |text: &str| {
        let (module, name) = text.split_once('!').unwrap_or(("", text));
        FunctionId {
            name: name.into(),
            module: module.into(),
            kind: CodeKind::User,
            inlined: false,
            source: SourceOwner::Unknown,
        }
    };
    let path = |(text, weight): &(&str, f64)| PathCost {
        frames: text.split(';').map(function).collect(),
        weight: *weight,
        samples: (weight / 1e6) as u64,
        lock: None,
    };
    let paths: Vec<PathCost> = paths.iter().map(path).collect();
    let (samples, weight) = (paths.iter().map(|path| path.samples).sum(), paths.iter().map(|path| path.weight).sum());
    Cost { samples, unit: Unit::Nanos, weight, paths }
}

//! View model of the screen Latency: the distribution of the selected time, its quantiles, and both over time.

use super::context::ViewContext;
use super::latency::OperationLatencyView;
use super::overview::past::windows;
use crate::analysis::{LatencyHistory, LatencyPart};
use crate::model::{ModuleKind, Target};
use serde::Serialize;

pub use crate::analysis::{Band, OVER_TIME};

/// Labels of the quantiles of each window.
pub const QUANTILES: [&str; OVER_TIME.len()] = ["p50", "p99", "p99.9"];

/// The screen Latency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyView {
    /// The quantiles of the selected time; `None` if the latency of operations was not to be measured.
    pub total: Option<OperationLatencyView>,
    /// What measures it for this target.
    pub example: String,
    /// Bands with operations, ascending; those between the lowest and the highest are complete.
    pub bands: Vec<LatencyBand>,
    /// The parts of the selected time, oldest first; at most as many as a wide screen has columns.
    pub columns: Vec<LatencyColumn>,
}

/// The operations of a band of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyBand {
    /// Its number.
    pub band: Band,
    /// Its shortest latency, nanoseconds.
    pub low: f64,
    /// The latency that is longer than all in it, nanoseconds.
    pub high: f64,
    /// The operations; a fraction where the source does not tell bands apart.
    pub count: f64,
}

/// The operations that ended in a part of the time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyColumn {
    /// The part.
    pub window: crate::analysis::Window,
    /// Its operations.
    pub count: u64,
    /// [`QUANTILES`], nanoseconds; `None` with too few operations beyond.
    pub quantiles: [Option<f64>; OVER_TIME.len()],
    /// Its operations by band, in the order of [`LatencyView::bands`].
    pub bands: Vec<f64>,
}

impl LatencyView {
    /// The screen of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> LatencyView {
        let about = (&context.names, &context.tasks, &context.counters);
        let total = OperationLatencyView::explained(context.profile, about, context.window);
        let measured = total.as_ref().is_some_and(|total| total.count > 0);
        let parts = if measured { windows(context) } else { Vec::new() };
        let history = LatencyHistory::of(context.profile, &parts);
        let band = |(band, count): (Band, f64)| LatencyBand { band, low: band.low(), high: band.high(), count };
        let bands = history.by_band().map(band).collect();
        let column =
            |LatencyPart { window, count, quantiles, bands }| LatencyColumn { window, count, quantiles, bands };
        LatencyView {
            total,
            example: example(context),
            bands,
            columns: history.parts.into_iter().map(column).collect(),
        }
    }
}

/// Programs whose operations are known: the name of the binary, what comes before its path, and what after it.
const KNOWN: [(&str, &str, &str); 4] = [
    ("redis-server", "uprobe", "processCommand"),
    ("redis-check-rdb", "uprobe", "processCommand"),
    ("memcached", "uprobe", "process_command_ascii"),
    ("postgres", "usdt", "query__start..query__done"),
];

/// The command that measures the latency of this target's operations.
fn example(context: &ViewContext<'_>) -> String {
    let target = match &context.profile.meta.plan.target {
        Target::Processes { pids, .. } if !pids.is_empty() => {
            format!("-p {}", pids.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
        }
        Target::Threads { tids } if !tids.is_empty() => {
            format!("-t {}", tids.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
        }
        Target::Cgroup { name, .. } => format!("-G {name}"),
        Target::Command { .. } => "... -- COMMAND".to_string(),
        _ => "-a".to_string(),
    };
    let target = if target.len() > 40 { "-p PID".to_string() } else { target };
    let binary = binary(context);
    let name = binary.rsplit('/').next().unwrap_or_default();
    let known = KNOWN.iter().find(|(program, ..)| *program == name);
    let (form, operation) = known.map_or(("uprobe", "FUNCTION"), |(_, form, operation)| (*form, *operation));
    match target.strip_prefix("...") {
        Some(command) => format!("ironlaw top --latency {form}:{binary}:{operation}{command}"),
        None => format!("ironlaw top {target} --latency {form}:{binary}:{operation}"),
    }
}

/// The program of the target: the file with its main process's name, else the first that is no library.
fn binary(context: &ViewContext<'_>) -> String {
    let files = || context.profile.modules.iter().filter(|module| module.kind == ModuleKind::File);
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let named = files().find(|module| {
        let comm = context.tasks.process_name(module.pid);
        !comm.is_empty() && name(&module.path).starts_with(comm)
    });
    let program = files().find(|module| !name(&module.path).contains(".so"));
    named.or(program).map_or_else(|| "BINARY".to_string(), |module| module.path.clone())
}

#[cfg(test)]
pub(crate) mod testing {
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::profile::Profile;
    use crate::model::{LatencyCount, LatencySpec};
    use crate::units::Nanos;

    /// A server whose operations are measured, or to be measured, for that many seconds. Most take about 100 us, more
    /// from the second half on, and one of a hundred waits for about 10 ms.
    pub fn profile(seconds: u64, measured: bool) -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "server").samples(0, 41, "server!main;server!serve", 3);
        for at in 1..=seconds {
            synthetic.tick(at * 1000, 1000);
        }
        synthetic.meta.duration_ns = Some(ms(seconds * 1000).0);
        let spec = LatencySpec::Calls { binary: "/opt/server".into(), symbol: "serve".into() };
        synthetic.meta.plan.latency = Some(spec);
        let mut profile = synthetic.finish();
        for at in (1..=seconds).filter(|at| measured && at % 9 != 5) {
            let slow = if at > seconds / 2 { 160 } else { 100 };
            let mut row = |low: u64, count: u64| {
                let (low, high) = (Nanos(low * 1000), Some(Nanos(low * 1010)));
                profile.latencies.push(LatencyCount { at: ms(at * 1000), low, high, count });
            };
            for step in 0..12 {
                row(slow + step * 9, 400 / (step + 1));
            }
            row(9_000 + at * 200, 9);
            row(11_000 + at * 100, 3);
            if at % 7 == 3 {
                row(80_000, 1);
            }
        }
        profile
    }

    /// The view of all of a profile.
    pub fn view(profile: &Profile) -> super::LatencyView {
        use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};
        let query = Query {
            time: TimeSelector::All,
            end: None,
            filter: TaskFilter::default(),
            axis: crate::analysis::Axis::Event(0),
            compare_with: CompareWith::Nothing,
            point: None,
            per: None,
            request: ViewRequest::Latency,
        };
        let bounds = Bounds { since: Nanos(0), now: profile.duration() };
        super::LatencyView::of(&crate::view::context::ViewContext::of(profile, None, bounds, &query))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::testing::{profile, view};

    #[test]
    fn the_columns_are_the_windows_and_their_operations_are_all_operations() {
        let view = view(&profile(20, true));
        let total = view.total.as_ref().unwrap();
        assert_eq!(view.columns.len(), 20);
        assert_eq!(view.columns.iter().map(|column| column.count).sum::<u64>(), total.count);
        assert!((view.bands.iter().map(|band| band.count).sum::<f64>() / total.count as f64 - 1.0).abs() < 1e-9);
        assert!(view.columns.iter().all(|column| column.bands.len() == view.bands.len()));
        let silent = view.columns.iter().filter(|column| column.count == 0).collect::<Vec<_>>();
        assert_eq!(silent.len(), 2);
        assert_eq!(silent[0].quantiles, [None; 3], "a window without operations is not one with a latency of zero");
        let medians: Vec<f64> = view.columns.iter().filter_map(|column| column.quantiles[0]).collect();
        assert!(medians[0] < 130e3 && medians[17] > 160e3, "{medians:?}");
    }

    #[test]
    fn a_long_time_has_as_many_columns_as_a_wide_screen() {
        let view = view(&profile(1000, true));
        assert!((120..=240).contains(&view.columns.len()));
        assert_eq!(view.columns.iter().map(|column| column.count).sum::<u64>(), view.total.unwrap().count);
    }

    #[test]
    fn what_was_not_asked_for_comes_with_a_command_and_what_ended_nowhere_with_no_operations() {
        let empty = view(&profile(3, false));
        assert_eq!((empty.total.unwrap().count, empty.columns.len()), (0, 0));
        let mut unmeasured = profile(3, false);
        unmeasured.meta.plan.latency = None;
        let found = view(&unmeasured);
        assert_eq!(found.total, None);
        assert!(found.example.starts_with("ironlaw top ") && found.example.contains("--latency "), "{}", found.example);
    }

    /// Prints what a refresh of the screen costs in a long session: `cargo test --release -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn the_cost_of_a_long_session() {
        let mut profile = profile(3, false);
        for at in 1..=1800_u64 {
            profile.ticks.push(crate::model::Tick {
                at: crate::analysis::testing::ms(at * 1000),
                span: crate::analysis::testing::ms(1000),
            });
            for bin in 0..500_u64 {
                let low = crate::units::Nanos(2_000 + bin * 2);
                let high = Some(crate::units::Nanos(2_002 + bin * 2));
                let at = crate::analysis::testing::ms(at * 1000);
                profile.latencies.push(crate::model::LatencyCount { at, low, high, count: bin + 1 });
            }
        }
        profile.meta.duration_ns = Some(1_800_000_000_000);
        let start = std::time::Instant::now();
        let view = view(&profile);
        let took = start.elapsed();
        let rows = profile.latencies.len();
        assert!(view.columns.len() <= 240);
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{rows} rows: {took:?}\n").as_bytes());
    }
}

//! The data that a comparison keeps of one recording: its conditions, its quantities as a whole and by window, its call
//! paths. The recording is not kept, so any number of repeats can be compared in little memory.

use super::conditions::Conditions;
use super::quantity::{RatioCell, Reading, readings};
use crate::analysis::operation_latency::{LatencyCounts, QuantileError, quantile_errors};
use crate::analysis::parked::parked;
use crate::analysis::sweep::Run;
use crate::analysis::{Counters, Selection, StackCounts, Tasks, TimeRange, Window, operations, threads};
use crate::model::profile::Profile;
use crate::model::{Measure, MetricId, OpsSpec, Scope, Why};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The part of a recording to compare, and what a sweep knows of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordingPart {
    /// The recording's name, as the user gave it.
    pub name: String,
    /// The time range to compare.
    pub time: TimeRange,
    /// The CPUs of a sweep's run; empty if not confined.
    pub cpus: Vec<u32>,
    /// Threads or CPUs of a sweep's run.
    pub width: Option<u32>,
}

/// The digest of one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// The conditions it was made under.
    pub conditions: Conditions,
    /// Its counts and call paths.
    pub run: Run,
    /// The quantities over all of its time.
    pub whole: Vec<Reading>,
    /// The same by window: one per tick, with a cell for each quantity.
    pub windows: Vec<WindowCells>,
    /// Cycles over instructions by thread name, if they were counted.
    pub threads: BTreeMap<String, RatioCell>,
    /// How far chance may move each quantile of latency.
    pub quantile_errors: BTreeMap<MetricId, QuantileError>,
    /// Whether operations are known window by window, not only over many windows.
    pub ops_by_window: bool,
}

/// One side of a comparison: a recording, or repeats of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Its name, as the user gave it.
    pub label: String,
    /// The recordings, at least one.
    pub runs: Vec<Digest>,
}

impl Side {
    /// The build-id of the program that all of its recordings ran; `None` if they ran several, or it is unknown.
    #[must_use]
    pub fn build(&self) -> Option<&str> {
        let mut builds = self.runs.iter().map(|run| run.conditions.program.as_ref()?.build_id.as_deref());
        let first = builds.next()??;
        builds.all(|build| build == Some(first)).then_some(first)
    }
}

/// One window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCells {
    /// Its time range.
    pub window: Window,
    /// A cell for each quantity.
    pub cells: Vec<Option<RatioCell>>,
}

/// A last window shorter than this fraction of the others is left out: it is mostly the end of the program.
const LEAST_PART: f64 = 0.5;

impl Digest {
    /// Digests a part of a recording.
    #[must_use]
    pub fn of(profile: &Profile, part: &RecordingPart) -> Digest {
        let window = part.time.window(&profile.ticks, profile.duration());
        let (tasks, counters) = (Tasks::of(profile), Counters::of(profile));
        let seconds = window.span().seconds();
        let alive = u32::try_from(tasks.iter().count()).unwrap_or(u32::MAX).max(1);
        let run = Run::of(profile, part.width.unwrap_or(alive), window);
        // A sweep knows how many threads should work; otherwise all threads that lived count.
        let parked = Parked::of(profile, &tasks, &counters, window);
        let idle = run.parked;
        let had = |window: Window| match part.width {
            Some(n) => Some(f64::from(n.saturating_sub(idle).max(1)) * window.span().seconds()),
            None => parked.others(&counters, window),
        };
        let read = |window: Window, ops| readings(&counters, window, ops, had(window));
        let whole = read(window, operations(profile, window));
        let spans = windows(profile, window);
        let ops_by_window = counted_by_window(profile, window, spans.len());
        let slot = |window: &Window| {
            let ops = if ops_by_window { operations(profile, *window) } else { Measure::Missing(Why::TooFewSamples) };
            WindowCells { window: *window, cells: read(*window, ops).into_iter().map(|reading| reading.cell).collect() }
        };
        Digest {
            conditions: Conditions::of(profile, &part.name, seconds, &part.cpus, part.width),
            threads: cycles_by_thread(&tasks, &counters, window),
            windows: spans.iter().map(slot).collect(),
            ops_by_window,
            quantile_errors: errors(&counters, &whole, window),
            whole,
            run: with_threads(run, had(window)),
        }
    }

    /// The position of a quantity in the lists.
    #[must_use]
    pub fn position(&self, id: MetricId) -> Option<usize> {
        self.whole.iter().position(|reading| reading.quantity.id == id)
    }
}

fn errors(counters: &Counters, whole: &[Reading], window: Window) -> BTreeMap<MetricId, QuantileError> {
    let windows: Vec<LatencyCounts> = counters.latency().within(window).collect();
    let mut all = LatencyCounts::default();
    windows.iter().for_each(|window| all.merge(window));
    let known = whole.iter().filter(|reading| reading.value.value().is_some());
    let (ids, shares): (Vec<MetricId>, Vec<f64>) =
        known.filter_map(|reading| Some((reading.quantity.id, reading.quantity.quantile()?))).unzip();
    let errors = quantile_errors(&windows.iter().collect::<Vec<_>>(), &all, &shares);
    ids.into_iter().zip(errors).filter_map(|(id, error)| Some((id, error?))).collect()
}

/// Takes the factors of the threads that ran.
fn with_threads(mut run: Run, had: Option<f64>) -> Run {
    run.totals.threads = had.map_or(run.totals.threads, Measure::exact);
    run
}

/// The threads that hardly ran: their time is not time that work could have had.
struct Parked(FxHashSet<u32>);

impl Parked {
    fn of(profile: &Profile, tasks: &Tasks, counters: &Counters, window: Window) -> Parked {
        let counts = StackCounts::of(profile, tasks, &Selection::default());
        Parked(parked(&threads(tasks, counters, &counts, window)))
    }

    /// The time that all other threads had in a window, seconds; `None` if no time of threads was counted.
    fn others(&self, counters: &Counters, window: Window) -> Option<f64> {
        let time = |scope| counters.delta("thread-time", scope, window).value().map(|ns| ns * 1e-9);
        let parked: f64 = self.0.iter().filter_map(|tid| time(Scope::Thread(*tid))).sum();
        let all = time(Scope::Target)?;
        Some(all - parked).filter(|rest| *rest > 0.0)
    }
}

fn windows(profile: &Profile, within: Window) -> Vec<Window> {
    let all = profile.ticks.iter().map(|tick| Window { from: tick.at - tick.span, to: tick.at });
    let inside = all.filter(|window| window.span().0 > 0 && window.from >= within.from && window.to <= within.to);
    let mut windows: Vec<Window> = inside.collect();
    let mut spans: Vec<u64> = windows.iter().map(|window| window.span().0).collect();
    spans.sort_unstable();
    let usual = spans.get(spans.len() / 2).copied().unwrap_or(0) as f64;
    windows.retain(|window| window.span().as_f64() >= LEAST_PART * usual);
    windows
}

/// A total that was read less often than windows end cannot be split by window.
fn counted_by_window(profile: &Profile, within: Window, windows: usize) -> bool {
    let known = matches!(profile.meta.plan.ops, Some(OpsSpec::Rate { .. }));
    let read = profile.ops.iter().filter(|(at, _)| *at >= within.from && *at <= within.to).count();
    known || (windows > 0 && read as f64 >= 0.8 * windows as f64)
}

fn cycles_by_thread(tasks: &Tasks, counters: &Counters, window: Window) -> BTreeMap<String, RatioCell> {
    let mut groups: BTreeMap<String, RatioCell> = BTreeMap::new();
    for task in tasks.iter() {
        let read = |name| counters.delta(name, Scope::Thread(task.tid), window);
        if let (Measure::Known { value: numerator, .. }, Measure::Known { value: denominator, .. }) =
            (read("cycles"), read("instructions"))
        {
            let group = groups.entry(group(&task.comm)).or_insert(RatioCell { numerator: 0.0, denominator: 0.0 });
            *group = RatioCell { numerator: group.numerator + numerator, denominator: group.denominator + denominator };
        }
    }
    groups
}

/// `worker-12` and `worker-3` are of the same kind.
fn group(comm: &str) -> String {
    let kind = comm.trim_end_matches(|c: char| c.is_ascii_digit());
    let kind = kind.trim_end_matches(['-', '_', '/', '#', ':', ' ', '.']);
    if kind.is_empty() { comm.to_string() } else { kind.to_string() }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencyCount;
    use crate::units::{Nanos, Ops};

    fn profile(readings_of_ops: u64) -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "io-1").alive(42, "io-2").alive(43, "7");
        for at in 1..=8_u64 {
            synthetic.reading("task-clock", Scope::Target, at * 1000, ms(at * 500).0).tick(at * 1000, 1000);
        }
        synthetic.tick(8100, 100);
        for (tid, cycles) in [(41, 300), (42, 500), (43, 7)] {
            synthetic.reading("cycles", Scope::Thread(tid), 8000, cycles);
            synthetic.reading("instructions", Scope::Thread(tid), 8000, 200);
        }
        synthetic.reading("thread-time", Scope::Target, 8100, ms(24_000).0);
        let mut profile = synthetic.finish();
        profile.meta.duration_ns = Some(ms(8100).0);
        let step = 8000 / readings_of_ops;
        profile.ops = (0..=readings_of_ops).map(|at| (ms(at * step), Ops(at * step / 10))).collect();
        profile
    }

    #[test]
    fn a_recording_comes_to_its_windows_and_their_kinds_of_threads() {
        let digest = Digest::of(&profile(16), &RecordingPart::default());
        let at = digest.position(MetricId::CpuNsPerOp).unwrap();
        assert_eq!(digest.windows.len(), 8, "the stump at the end is no window");
        let costs: Vec<f64> = digest.windows.iter().map(|slot| slot.cells[at].unwrap().value().unwrap()).collect();
        assert!(digest.ops_by_window && costs.iter().all(|cost| (cost / 5e6 - 1.0).abs() < 1e-9), "{costs:?}");
        let cell = |name: &str| digest.threads[name];
        assert_eq!(
            (cell("io"), cell("7")),
            (RatioCell { numerator: 800.0, denominator: 400.0 }, RatioCell { numerator: 7.0, denominator: 200.0 })
        );
    }

    #[test]
    fn a_total_read_once_says_nothing_about_windows() {
        let digest = Digest::of(&profile(1), &RecordingPart::default());
        let at = digest.position(MetricId::CpuNsPerOp).unwrap();
        assert!(!digest.ops_by_window && digest.windows.iter().all(|slot| slot.cells[at].is_none()));
        assert!(digest.whole[at].value.value().is_some());
    }

    #[test]
    fn quantiles_are_those_of_all_operations_and_windows_have_their_own_if_they_have_enough() {
        let mut profile = profile(16);
        let row = |at, low, count| LatencyCount { at: ms(at), low: Nanos(low), high: Some(Nanos(low + 1)), count };
        profile.latencies = vec![row(1000, 100, 3960), row(1000, 500, 40), row(2000, 300, 4000), row(3000, 9, 999)];
        let digest = Digest::of(&profile, &RecordingPart::default());
        let at = |id| digest.position(id).unwrap();
        let (p99, p999) = (at(MetricId::LatencyP99), at(MetricId::LatencyP999));
        assert_eq!(digest.whole[p99].value, Measure::exact(300.0));
        assert_eq!(digest.whole[p999].value, Measure::Missing(Why::TooFewSamples));
        let window = |at: usize| digest.windows[at].cells[p99].map(|cell| (cell.value().unwrap(), cell.denominator));
        assert_eq!(
            [window(0), window(1), window(2), window(3)],
            [Some((100.0, 4000.0)), Some((300.0, 4000.0)), None, None]
        );
        let error = digest.quantile_errors[&MetricId::LatencyP99];
        assert_eq!(
            (error.by_windows, error.windows, error.resolution),
            (None, 3, 0.0),
            "three windows show no scatter"
        );
        assert!(!digest.quantile_errors.contains_key(&MetricId::LatencyP999));
    }

    #[test]
    fn a_sweep_knows_how_many_threads_were_to_work() {
        let util = |width| {
            let digest = Digest::of(&profile(8), &RecordingPart { width, ..RecordingPart::default() });
            let at = digest.position(MetricId::Utilisation).unwrap();
            *digest.whole[at].value.value().unwrap()
        };
        assert!((util(None) - 4.0 / 24.3).abs() < 1e-9 && (util(Some(1)) - 4.0 / 8.1).abs() < 1e-9);
    }

    #[test]
    fn an_empty_recording_has_no_window_and_no_number() {
        let digest = Digest::of(&Synthetic::new().finish(), &RecordingPart::default());
        assert!(digest.windows.is_empty() && digest.whole.iter().all(|reading| reading.value.value().is_none()));
    }
}

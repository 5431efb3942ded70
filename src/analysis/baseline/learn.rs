//! Makes a baseline from recordings that the user called normal: their windows' sums and where their CPU time went.
//! Windows are kept whether usual or not, except idle ones and those that lost records.

use super::key::{differences, key};
use super::{LEAST_CORES, extend};
use crate::analysis::diff::{
    Digest, RatioCell, RecordingPart, Severity, Side, WITHOUT_OPERATIONS, WindowCells, mismatches,
};
use crate::analysis::{TimeRange, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{BASELINE_FORMAT, Baseline, BaselineSource, BaselineStack, BaselineWindow, LossKind, Unit};

/// A recording to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name, as the user gave it.
    pub name: &'a str,
    /// The recording.
    pub profile: &'a Profile,
    /// The part of it to learn from.
    pub time: TimeRange,
}

/// Windows without usable data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkippedWindows {
    /// Too little of the target ran in them.
    pub idle: usize,
    /// Records were lost in them.
    pub lost: usize,
}

/// What a source added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildResult {
    /// Windows; 0 for a recording that is already in the baseline.
    pub windows: usize,
    /// Those of its windows that were left out.
    pub skipped: SkippedWindows,
}

/// Builds a baseline without keeping the recordings, so any number of them can be learnt from in little memory.
#[derive(Debug, Default)]
pub struct BaselineBuilder {
    whole: Option<Baseline>,
    /// The first recording, which the others must be like.
    first: Option<Side>,
}

impl BaselineBuilder {
    /// Learns from a recording. One that is already in the baseline adds nothing.
    ///
    /// # Errors
    /// `Unsupported` for a recording that is unlike those before, by name; `NotFound` if it has no window to learn
    /// from.
    pub fn add(&mut self, source: &Source<'_>) -> Result<BuildResult> {
        let digest = digest(source);
        let skipped = skipped(source.profile, &digest);
        let baseline = baseline_of(source, &digest, skipped)?;
        let side = Side { label: source.name.to_string(), runs: vec![digest] };
        if let Some(whole) = &self.whole {
            check_conditions(whole, self.first.as_ref(), &baseline, &side)?;
        }
        let windows = self.include(&baseline)?;
        self.first.get_or_insert(side);
        Ok(BuildResult { windows, skipped })
    }

    /// Merges another baseline, and returns how many windows that adds.
    ///
    /// # Errors
    /// As [`extend`].
    pub fn include(&mut self, other: &Baseline) -> Result<usize> {
        let recordings = |baseline: &Baseline| baseline.sources.len();
        let Some(whole) = &self.whole else {
            self.whole = Some(other.clone());
            return Ok(other.windows.len());
        };
        let extended = extend(whole, other)?;
        let added = if recordings(&extended) > recordings(whole) { other.windows.len() } else { 0 };
        self.whole = Some(extended);
        Ok(added)
    }

    /// Returns the baseline.
    ///
    /// # Errors
    /// `Usage` if nothing was added.
    pub fn finish(self) -> Result<Baseline> {
        self.whole.ok_or_else(|| Error::new(ErrorKind::Usage, "no recording was given"))
    }
}

/// Counts the windows of a recording that are left out.
fn skipped(profile: &Profile, digest: &Digest) -> SkippedWindows {
    let mut left = SkippedWindows::default();
    for slot in &digest.windows {
        match (is_idle(digest, slot), lost_records(profile, slot.window)) {
            (true, _) => left.idle += 1,
            (false, true) => left.lost += 1,
            (false, false) => {}
        }
    }
    left
}

fn digest(source: &Source<'_>) -> Digest {
    Digest::of(
        source.profile,
        &RecordingPart { name: source.name.to_string(), time: source.time, ..RecordingPart::default() },
    )
}

fn baseline_of(source: &Source<'_>, digest: &Digest, left: SkippedWindows) -> Result<Baseline> {
    let sound = |slot: &&WindowCells| !is_idle(digest, slot) && !lost_records(source.profile, slot.window);
    let used: Vec<&WindowCells> = digest.windows.iter().filter(sound).collect();
    if used.is_empty() {
        return Err(no_usable_window(source, digest.windows.len(), left));
    }
    let columns: Vec<usize> =
        (0..digest.whole.len()).filter(|at| used.iter().any(|slot| cell(slot, *at).is_some())).collect();
    let conditions = &digest.conditions;
    let from = BaselineSource {
        name: source.name.to_string(),
        started_unix_ns: conditions.started_unix_ns,
        seconds: conditions.seconds,
        windows: used.len(),
    };
    let window = |slot: &&WindowCells| BaselineWindow {
        source: 0,
        at_ns: slot.window.to.0,
        span_ns: slot.window.span().0,
        cells: columns.iter().map(|at| cell(slot, *at).map(|cell| [cell.numerator, cell.denominator])).collect(),
    };
    let totals = &digest.run.totals;
    let cpu_ns = totals.cpu.value().copied().unwrap_or(0.0) * 1e9;
    let mut baseline = Baseline {
        format: BASELINE_FORMAT,
        tool: env!("CARGO_PKG_VERSION").to_string(),
        key: key(conditions),
        sources: vec![from],
        quantities: columns.iter().map(|at| digest.whole[*at].quantity.name.to_string()).collect(),
        windows: used.iter().map(window).collect(),
        stacks: stacks(digest, cpu_ns),
        cpu_ns,
        ops: totals.ops.value().copied(),
    };
    extend::apply_limits(&mut baseline);
    Ok(baseline)
}

fn no_usable_window(source: &Source<'_>, windows: usize, left: SkippedWindows) -> Error {
    let why = match windows {
        0 => "it contains no complete window".to_string(),
        _ => format!(
            "of its {windows} windows {} kept less than {LEAST_CORES} of a CPU busy and {} lost records",
            left.idle, left.lost
        ),
    };
    Error::new(ErrorKind::NotFound, format!("no usable window in {}: {why}", source.name))
        .hint("Record the program at work, for a minute or more: `ironlaw record -p PID -d 60s`.")
}

fn cell(slot: &WindowCells, at: usize) -> Option<RatioCell> {
    slot.cells.get(at).copied().flatten()
}

fn is_idle(digest: &Digest, slot: &WindowCells) -> bool {
    let at = digest.position(WITHOUT_OPERATIONS);
    at.and_then(|at| cell(slot, at)?.value()).is_none_or(|cores| cores < LEAST_CORES)
}

/// Whether records were lost in it: its counts and its samples then do not match.
fn lost_records(profile: &Profile, window: Window) -> bool {
    let within = |at| at > window.from && at <= window.to;
    profile.lost.iter().any(|lost| lost.count > 0 && lost.kind != LossKind::Throttled && within(lost.at))
}

/// The call paths by name with their CPU time, nanoseconds: shares of the samples, applied to the CPU time counted, so
/// the result does not depend on the sampled event.
fn stacks(digest: &Digest, cpu_ns: f64) -> Vec<BaselineStack> {
    let cost = &digest.run.cpu;
    let scale = match cost.unit {
        _ if cost.weight <= 0.0 => return vec![],
        _ if cpu_ns > 0.0 => cpu_ns / cost.weight,
        Unit::Nanos => 1.0,
        _ => return vec![],
    };
    let stack = |path: &crate::analysis::sweep::PathCost| BaselineStack {
        frames: path.frames.iter().map(|frame| frame.name.clone()).collect(),
        cpu_ns: path.weight * scale,
        samples: Some(path.samples),
    };
    cost.paths.iter().map(stack).collect()
}

/// Refuses recordings under different conditions: they have no common normal.
fn check_conditions(whole: &Baseline, first: Option<&Side>, next: &Baseline, side: &Side) -> Result<()> {
    let of_key = differences(&whole.key, &next.key).into_iter().filter(|stale| stale.incompatible);
    let mut found: Vec<_> = of_key.map(|stale| (stale.what, pair(&stale.then, &stale.now))).collect();
    let of_sides = first.map(|first| mismatches(first, side)).unwrap_or_default();
    for mismatch in of_sides.iter().filter(|mismatch| mismatch.severity == Severity::Incomparable) {
        if found.iter().all(|(what, _)| *what != mismatch.what) {
            found.push((&*mismatch.what, pair(&mismatch.base, &mismatch.new)));
        }
    }
    let label = first.map_or_else(|| extend::names(whole), |first| first.label.clone());
    extend::require_equal(&label, &side.label, &found)
}

fn pair(then: &str, now: &str) -> String {
    format!("{then} and {now}")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{BuildId, OpsSpec, Scope};
    use crate::units::Ops;

    /// 30 windows of a second: the first 28 busy with 1000 operations of 0.5 ms, the last 2 idle.
    fn profile(started: u64, change: fn(&mut Synthetic)) -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic.weight = 10_000_000;
        synthetic.alive(41, "main").samples(0, 41, "/opt/app!main;/opt/app!work", 90).samples(
            900,
            41,
            "/opt/app!main",
            10,
        );
        let mut cpu = 0;
        synthetic.reading("task-clock", Scope::Target, 0, 0);
        for at in 1..=30_u64 {
            cpu += if at > 28 { 1_000_000 } else { 500_000_000 };
            synthetic.reading("task-clock", Scope::Target, at * 1000, cpu).tick(at * 1000, 1000);
        }
        change(&mut synthetic);
        let mut profile = synthetic.finish();
        profile.meta.duration_ns = Some(ms(30_000).0);
        profile.meta.started_unix_ns += started * 1_000_000_000;
        profile.meta.plan.ops = Some(OpsSpec::File { path: "/run/ops".into() });
        profile.ops = (0..=30).map(|at| (ms(at * 1000), Ops(at * 1000))).collect();
        profile.modules.iter_mut().for_each(|module| module.build_id = Some(BuildId(vec![10, 11])));
        profile
    }

    fn source<'a>(name: &'a str, profile: &'a Profile) -> Source<'a> {
        Source { name, profile, time: TimeRange::default() }
    }

    fn learn(sources: &[Source<'_>]) -> Result<Baseline> {
        let mut builder = BaselineBuilder::default();
        for source in sources {
            builder.add(source)?;
        }
        builder.finish()
    }

    #[test]
    fn a_recording_becomes_its_windows_its_key_and_where_its_cpu_time_went() {
        let profile = profile(0, |_| {});
        let found = learn(&[source("a", &profile)]).unwrap();
        assert_eq!((found.windows.len(), found.sources[0].windows, found.sources[0].seconds), (28, 28, 30.0));
        assert_eq!((found.key.program.as_deref(), found.key.build_id.as_deref()), (Some("/opt/app"), Some("0a0b")));
        assert!(found.windows.iter().all(|window| window.cells.len() == found.quantities.len()));
        let cost = found.quantities.iter().position(|name| name == "cpu_ns_per_op").unwrap();
        assert_eq!(found.windows[3].cells[cost], Some([5e8, 1000.0]));
        assert!(!found.quantities.contains(&"cpi".to_string()), "what was never measured takes no room");
        assert_eq!((found.cpu_ns, found.ops), (14_002_000_000.0, Some(30_000.0)));
        let stacks: Vec<_> = found.stacks.iter().map(|stack| (stack.frames.join(";"), stack.cpu_ns)).collect();
        assert_eq!(stacks, [("main;work".into(), 0.9 * found.cpu_ns), ("main".into(), 0.1 * found.cpu_ns)]);
    }

    #[test]
    fn idle_windows_and_those_that_lost_records_are_left_out() {
        let profile = profile(0, |synthetic| {
            synthetic.lost(4500, LossKind::Ring, 7).lost(6500, LossKind::Throttled, 1).lost(29_500, LossKind::Ring, 1);
        });
        assert_eq!(learn(&[source("a", &profile)]).unwrap().windows.len(), 27);
        let added = BaselineBuilder::default().add(&source("a", &profile)).unwrap();
        assert_eq!(added, BuildResult { windows: 27, skipped: SkippedWindows { idle: 2, lost: 1 } });
        let part = Source { time: TimeRange::parse("28s-30s").unwrap(), ..source("a", &profile) };
        let error = learn(&[part]).unwrap_err().to_string();
        assert!(error.contains("of its 2 windows 2 kept less than 0.25"), "{error}");
        assert!(learn(&[]).is_err());
    }

    #[test]
    fn several_recordings_are_one_baseline_and_the_same_one_counts_once() {
        let (a, b) = (profile(0, |_| {}), profile(100, |_| {}));
        let found = learn(&[source("a", &a), source("b", &b), source("again", &a)]).unwrap();
        assert_eq!((found.windows.len(), found.sources.len()), (56, 2));
        assert_eq!(found.windows.iter().filter(|window| window.source == 1).count(), 28);
        let mut builder = BaselineBuilder::default();
        builder.include(&found).unwrap();
        assert_eq!((builder.add(&source("b", &b)).unwrap().windows, builder.finish().unwrap()), (0, found));
    }

    #[test]
    fn unlike_recordings_are_refused_by_name() {
        let a = profile(0, |_| {});
        let check = |change: fn(&mut Profile), expected: &str| {
            let mut b = profile(100, |_| {});
            change(&mut b);
            let error = learn(&[source("a", &a), source("b", &b)]).unwrap_err().to_string();
            assert!(error.contains("a and b do not match") && error.contains(expected), "{error}");
        };
        check(|b| b.modules[0].build_id = Some(BuildId(vec![1])), "build-id of the program: 0a0b and 01");
        check(|b| b.meta.host.cpu_model = "EPYC".into(), "CPU model: Xeon Platinum 8383C and EPYC");
        check(|b| b.meta.events[0].name = "cycles".into(), "sampled events: cpu-clock and cycles");
        check(|b| b.meta.plan.ops = None, "what counts operations: the total in /run/ops and nothing");
        check(|b| b.meta.plan.target = crate::model::Target::Cpus { cpus: vec![1] }, "CPU set: all and 1");
    }
}

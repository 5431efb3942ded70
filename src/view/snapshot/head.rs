//! The head that every screen shows: the target, the quality of the capture, and the history as a strip to navigate.

use crate::analysis::attribution::WindowState;
use crate::analysis::diff::Per;
use crate::analysis::{Axis, Coverage, Selection, metrics, summary, value_of};
use crate::model::{Measure, MetricId, Note, Scope, Target, Why};
use crate::units::Nanos;
use crate::view::context::ViewContext;
use crate::view::labels::{axis_of, rate_of};
use crate::view::notes::{notes, other_event};
use crate::view::query::Bounds;
use crate::view::sweep::Progress;
use serde::Serialize;

/// A moment with a label: a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkView {
    /// Time since the start of the session.
    pub at: Nanos,
    /// The label.
    pub label: String,
}

/// The history in windows, for the strip at the bottom.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LoadHistory {
    /// Ends of the windows, ascending, since the start of the session.
    pub at: Vec<Nanos>,
    /// Busy cores in each window; `None` if nothing was read.
    pub busy: Vec<Option<f64>>,
}

/// The head of every screen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenHeader {
    /// What is profiled: the process's name and id, the group, the command.
    pub target: String,
    /// Mean number of threads alive in the selection; missing if unknown.
    pub threads: Measure<f64>,
    /// The axis's name: an event, or `off-cpu`.
    pub event: String,
    /// What its weights count: `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Names of all events, in the order of `Axis::Event`.
    pub events: Vec<String>,
    /// The first event that has samples, and the first of all without any. A session shows it until another is chosen.
    #[serde(skip)]
    pub first_sampled: Axis,
    /// Whether off-CPU time was recorded.
    pub has_off_cpu: bool,
    /// Requested sampling rate, e.g. `997 Hz`.
    pub rate: String,
    /// Samples in the selection.
    pub samples: u64,
    /// Share of the selection's stacks that are complete; `None` if none were taken.
    pub whole: Option<f64>,
    /// Sampled time over CPU time in the selection.
    pub coverage: Measure<Coverage>,
    /// Samples lost in all of the held time.
    pub lost: u64,
    /// ironlaw's own CPU use in the selection, as a share of one CPU.
    pub own_cpu: Measure<f64>,
    /// Whether the capture is running.
    pub live: bool,
    /// Start of the held time, since the start of the session.
    pub since: Nanos,
    /// End of the known time.
    pub now: Nanos,
    /// Start of the selected time.
    pub from: Nanos,
    /// End of the selected time.
    pub to: Nanos,
    /// Start of the session, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// The marks, by time.
    pub marks: Vec<MarkView>,
    /// The history.
    pub strip: LoadHistory,
    /// Notes to read before trusting the numbers.
    pub notes: Vec<Note>,
    /// CPUs of the machine; 0 if unknown.
    pub cpus: usize,
    /// The session's state against its baseline; `None` without a baseline.
    pub standing: Option<WindowState>,
    /// The head of a sweep, shown instead of the quality of a capture; `None` for a profile.
    pub sweep: Option<SweepHeader>,
    /// The head of a comparison; `None` for everything else.
    pub comparison: Option<ComparisonHeader>,
    /// The head of a data set of many machines; `None` for everything else.
    pub fleet: Option<FleetHeader>,
}

/// What every screen of a sweep shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepHeader {
    /// How operations were counted, in words; `None` if nothing counted them.
    pub ops: Option<String>,
    /// The machine in a line.
    pub machine: String,
    /// How runs were placed on CPUs, in words.
    pub placement: String,
    /// Number of runs that count.
    pub runs: u32,
    /// Its progress; `None` if it is over.
    pub progress: Option<Progress>,
}

/// What every screen of a comparison shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonHeader {
    /// Number of recordings of both sides.
    pub runs: [usize; 2],
    /// Index of this comparison, and how many there are.
    pub at: [usize; 2],
    /// What costs of functions are divided by.
    pub per: Option<Per>,
    /// What they can be divided by.
    pub choices: Vec<Per>,
    /// How the sides were compared, in words.
    pub settings: String,
    /// What is known about the load, in one sentence.
    pub load: String,
}

/// What every screen of a data set shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetHeader {
    /// Hosts.
    pub hosts: u64,
    /// Windows.
    pub windows: u64,
    /// Jobs.
    pub jobs: u64,
    /// CPU models.
    pub platforms: u64,
    /// The time that it covers and the CPU time in it, in words.
    pub covered: String,
}

impl ScreenHeader {
    /// The head of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>, live: bool) -> ScreenHeader {
        let (profile, selection) = (context.profile, &context.selection);
        let meta = &profile.meta;
        let summary = summary(profile, &context.counters, context.counts(), context.window);
        let who = selection.who(&context.tasks);
        let metrics = metrics(&context.counters, &who, context.window, Some(&summary));
        let metric = |id| value_of(&metrics, id);
        let (event, unit) = axis_of(meta, selection.axis);
        let marks = profile.marks.iter().map(|mark| MarkView { at: mark.at, label: mark.label.clone() }).collect();
        // Its remedy is an option of the reports.
        let other = other_event(profile, selection).map(|note| Note { fix: None, ..note });
        let lost = profile.lost.iter().filter(|lost| lost.kind.is_samples()).map(|lost| lost.count);
        ScreenHeader {
            target: target(context),
            threads: metric(MetricId::Threads),
            event,
            unit,
            events: meta.events.iter().map(|event| event.name.clone()).collect(),
            first_sampled: Selection::first_sampled(profile),
            has_off_cpu: meta.plan.off_cpu || !profile.off_cpu.is_empty(),
            rate: rate_of(meta),
            samples: summary.count,
            whole: summary.stack_share(summary.whole),
            coverage: summary.coverage,
            lost: lost.fold(0, u64::saturating_add),
            own_cpu: metric(MetricId::ToolCpuShare),
            live,
            since: context.bounds.since,
            now: context.bounds.now,
            from: selection.time.from,
            to: selection.time.to.unwrap_or(context.bounds.now),
            started_unix_ns: meta.started_unix_ns,
            marks,
            strip: strip(context, context.bounds),
            notes: notes(meta, &summary).into_iter().chain(other).collect(),
            cpus: meta.host.cpus.len(),
            standing: None,
            sweep: None,
            comparison: None,
            fleet: None,
        }
    }

    /// The head of costs that come from several profiles: what only a single one has is missing.
    pub(super) fn of_costs() -> ScreenHeader {
        let missing = Measure::Missing(Why::NotRecorded);
        ScreenHeader {
            target: String::new(),
            threads: missing,
            event: "CPU time".to_string(),
            unit: "ns",
            events: vec!["CPU time".to_string()],
            first_sampled: Axis::Event(0),
            has_off_cpu: false,
            rate: String::new(),
            samples: 0,
            whole: None,
            coverage: Measure::Missing(Why::NotRecorded),
            lost: 0,
            own_cpu: missing,
            live: false,
            since: Nanos(0),
            now: Nanos(0),
            from: Nanos(0),
            to: Nanos(0),
            started_unix_ns: 0,
            marks: Vec::new(),
            strip: LoadHistory::default(),
            notes: Vec::new(),
            cpus: 0,
            standing: None,
            sweep: None,
            comparison: None,
            fleet: None,
        }
    }
}

/// A process's name is easier to recognise than its id; both together distinguish two processes of one name.
fn target(context: &ViewContext<'_>) -> String {
    match &context.profile.meta.plan.target {
        Target::Processes { pids, .. } if pids.len() == 1 && !context.tasks.process_name(pids[0]).is_empty() => {
            format!("{} {}", context.tasks.process_name(pids[0]), pids[0])
        }
        other => other.label(),
    }
}

fn strip(context: &ViewContext<'_>, bounds: Bounds) -> LoadHistory {
    let ticks = context.profile.ticks.iter().filter(|tick| tick.at > bounds.since && tick.span.0 > 0);
    let mut strip = LoadHistory::default();
    for tick in ticks {
        let window = crate::analysis::Window { from: tick.at - tick.span, to: tick.at };
        let busy = context.counters.delta("task-clock", Scope::Target, window);
        strip.at.push(tick.at);
        strip.busy.push(busy.value().map(|ns| ns / tick.span.as_f64()));
    }
    strip
}

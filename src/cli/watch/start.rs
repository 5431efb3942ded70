//! Starts a watch: checks its arguments and its baseline, opens the capture, and writes the first line.

use super::Msg;
use super::dataset::DatasetRecorder;
use super::lines::Lines;
use super::metrics::Metrics;
use super::recording::detailed_plan;
use super::watch_loop::{Outputs, WatchLoop, WatchSettings, incompatible};
use crate::analysis::baseline::{self, KeyChange, Levels};
use crate::cli::args::{CaptureArgs, OnAlarm, WatchArgs, WatchRate};
use crate::cli::out::Terminal;
use crate::cli::{capture, dataset};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::ProfileBuilder;
use crate::model::{Baseline, CallGraph, Meta, OpsSpec, Plan, Rate, Target};
use crate::session::{Limit, LiveAssessor, LiveCapture, LiveSession, SessionEvent, SignalThread};
use crate::store::baseline as files;
use crate::sys::clock;
use crate::units::Nanos;
use crate::view::watch::{BaselineFacts, Gauges, LoadAxis, Message, SCHEMA_VERSION, Start, WatchEvent};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Memory for the time before an alarm. At 19 samples a second, a minute takes a hundredth of it.
const MOST_BYTES: u64 = 96 << 20;

/// Runs the command.
pub(in crate::cli) fn run(args: &WatchArgs, terminal: &Terminal) -> Result<ExitCode> {
    let (sender, inbox) = channel();
    let stopped = sender.clone();
    // Before any other thread starts, so that no thread is killed by a signal.
    let _signals = SignalThread::start(move || _ = stopped.send(Msg::Signal))?;
    let baseline = args.baseline.as_deref().map(files::read).transpose()?.map(Arc::new);
    check(args)?;
    dataset::check(&args.dataset)?;
    // Before a command starts, which would otherwise write between the lines.
    let lines = Lines::open(args.format, !args.target.command.is_empty(), *terminal)?;
    let (live, detailed) = open(args, baseline.as_deref())?;
    let stale = baseline.as_deref().map(|baseline| check_baseline(baseline, live.meta(), args.stale_ok)).transpose()?;
    let facts = args.baseline.as_ref().zip(baseline.as_deref()).map(|(path, baseline)| {
        let levels = Levels::of(baseline);
        BaselineFacts { path: path.clone(), axis: levels.axis, strength: levels.strength }
    });
    let shown = facts.as_ref().map_or_else(String::new, |facts| facts.path.display().to_string());
    let axis = facts.as_ref().map_or(LoadAxis::BusyCores, |facts| facts.axis);
    let mut metrics = Metrics::start(args.listen, Gauges::new(live.meta().plan.target.label(), shown, axis))?;
    if let Some(collector) = args.otlp.clone() {
        let sender = sender.clone();
        // If the watch is over, there is nobody left to report to.
        metrics.push(collector, move |message| _ = sender.send(Msg::Write(WatchEvent::Error(message))))?;
    }
    let start = start(args, live.meta(), facts, stale.unwrap_or_default(), &metrics);
    let meta = live.meta().clone();
    let dataset = args.dataset.dataset.as_deref();
    let dataset = dataset.map(|dir| DatasetRecorder::start(dir, &args.dataset, &meta, sender.clone())).transpose()?;
    let settings = WatchSettings::of(args, &meta, baseline.clone());
    let assessor = baseline.map(|baseline| LiveAssessor::new(baseline, live.meta().host.clone()));
    let live_session = LiveSession::live(live, None, limit(args), assessor, forward(sender.clone()))?;
    let outputs = Outputs { metrics, lines, dataset };
    WatchLoop::new(settings, detailed, &meta, live_session, outputs, sender)?.run(start, &inbox)
}

/// The history holds the time before an alarm, and a window of the data set until the first reading after it.
fn limit(args: &WatchArgs) -> Limit {
    let window = args.dataset.dataset.as_ref().map_or(0, |_| args.dataset.dataset_window);
    let rows = Nanos(window.saturating_mul(1_500_000_000)) + Nanos(args.interval.0.saturating_mul(2));
    Limit { bytes: MOST_BYTES, span: if window == 0 { args.before } else { args.before.max(rows) } }
}

/// Turns the news of the live session into messages.
fn forward(sender: Sender<Msg>) -> impl FnMut(SessionEvent) + Send + 'static {
    move |news| {
        let message = match news {
            SessionEvent::Fresh => Msg::WindowEnded,
            SessionEvent::Ended(why) => Msg::Ended(why),
            SessionEvent::Failed(error) => Msg::Failed(error),
        };
        // The watch is over, and the notification is not needed.
        let _ = sender.send(message);
    }
}

fn check(args: &WatchArgs) -> Result<()> {
    let count = |is: fn(&OnAlarm) -> bool| args.on_alarm.iter().filter(|action| is(action)).count();
    let (records, commands) = (count(|it| *it == OnAlarm::Record), count(|it| matches!(it, OnAlarm::Command(_))));
    if records > 1 || commands > 1 {
        return Err(Error::new(ErrorKind::Usage, "--on-alarm names the same action twice")
            .hint("Give `record` and a command once each; separate several commands by semicolons."));
    }
    if records > 0 && !args.output.is_dir() {
        return Err(Error::new(ErrorKind::NotFound, format!("no such directory: {}", args.output.display()))
            .hint("Create it first: recordings of alarms go there."));
    }
    Ok(())
}

/// Opens the watch and plans the detailed capture of an alarm.
fn open(args: &WatchArgs, baseline: Option<&Baseline>) -> Result<(LiveCapture, Plan)> {
    let is_command = !args.target.command.is_empty();
    let own = CaptureArgs {
        duration: args.duration,
        freq: match args.freq {
            WatchRate::Some(rate) => Some(rate),
            WatchRate::None => None,
        },
        ops: args.ops.clone().or_else(|| baseline_ops(baseline?, is_command)),
        latency: args.latency.clone().or_else(|| baseline?.key.latency.clone()),
        hardware: args.hardware.clone(),
        interval: args.interval,
        ..CaptureArgs::default()
    };
    let (mut plan, notes) = capture::plan(&args.target, &own)?;
    plan.neighbours = true;
    plan.probe = args.probe;
    if args.freq == WatchRate::None {
        (plan.rate, plan.call_graph) = (Rate::Frequency(0), CallGraph::None);
    }
    let mut detailed = detailed_plan(&plan, args.after);
    let live = LiveCapture::open(plan, notes, false)?;
    // A started command is by then an ordinary process.
    if let Some(pid) = live.command_pid() {
        detailed.target = Target::Processes { pids: vec![pid], children: true };
    }
    Ok((live, detailed))
}

/// The baseline's source of operations, if this target can have it too.
fn baseline_ops(baseline: &Baseline, is_command: bool) -> Option<OpsSpec> {
    baseline.key.ops.clone().filter(|ops| is_command || !matches!(ops, OpsSpec::Output { .. }))
}

/// The points in which the baseline does not match this session.
///
/// # Errors
/// `Usage` if its numbers are not comparable, unless that is accepted.
fn check_baseline(baseline: &Baseline, meta: &Meta, accepted: bool) -> Result<Vec<KeyChange>> {
    let key = baseline::key_of(ProfileBuilder::new(meta.clone()).profile());
    let stale = baseline::key_changes(baseline, &key, clock::unix_ns());
    match incompatible(&stale) {
        Some(error) if !accepted => Err(error),
        _ => Ok(stale),
    }
}

fn start(
    args: &WatchArgs,
    meta: &Meta,
    baseline: Option<BaselineFacts>,
    stale: Vec<KeyChange>,
    metrics: &Metrics,
) -> Start {
    let action = |action: &OnAlarm| match action {
        OnAlarm::Record => "record".to_string(),
        OnAlarm::Command(line) => line.clone(),
    };
    let noted = meta.notes.iter().map(|note| Message { text: note.text.clone(), fix: note.fix.clone() });
    let Plan { rate, ops, interval, target, .. } = &meta.plan;
    Start {
        schema_version: SCHEMA_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_string(),
        target: target.label(),
        baseline,
        dataset: args.dataset.dataset.clone(),
        stale,
        operations: ops.as_ref().map(OpsSpec::label),
        interval_s: interval.seconds(),
        rate_hz: if let Rate::Frequency(hertz @ 1..) = rate { Some(*hertz) } else { None },
        probe: args.probe,
        on_alarm: args.on_alarm.iter().map(action).collect(),
        metrics: metrics.address(),
        notes: noted.chain(metrics.note()).collect(),
    }
}

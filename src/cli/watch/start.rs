//! Starts a watch: checks its arguments and its baseline, opens the capture, and writes the first line.

use super::Msg;
use super::lines::Lines;
use super::metrics::Metrics;
use super::recording::detailed_plan;
use super::watch_loop::{WatchLoop, WatchSettings, incompatible};
use crate::analysis::baseline::{self, KeyChange, Levels};
use crate::cli::args::{CaptureArgs, OnAlarm, WatchArgs, WatchRate};
use crate::cli::capture;
use crate::cli::out::Terminal;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::ProfileBuilder;
use crate::model::{Baseline, CallGraph, Meta, OpsSpec, Plan, Rate, Target};
use crate::session::{Limit, LiveAssessor, LiveCapture, LiveSession, SessionEvent, SignalThread};
use crate::store::baseline as files;
use crate::sys::clock;
use crate::view::watch::{BaselineFacts, Gauges, Message, SCHEMA_VERSION, Start};
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
    let baseline = Arc::new(files::read(&args.baseline)?);
    check(args)?;
    // Before a command starts, which would otherwise write between the lines.
    let lines = Lines::open(args.format, !args.target.command.is_empty(), *terminal)?;
    let (live, detailed) = open(args, &baseline)?;
    let stale = check_baseline(&baseline, live.meta(), args.stale_ok)?;
    let levels = Levels::of(&baseline);
    let (target, path) = (live.meta().plan.target.label(), args.baseline.clone());
    let axis = levels.axis;
    let gauges = Gauges::new(target, path.display().to_string(), axis);
    let metrics = Metrics::start(args.listen, gauges)?;
    let facts = BaselineFacts { path, axis, strength: levels.strength };
    let start = start(args, live.meta(), facts, &stale, &metrics);
    let meta = live.meta().clone();
    let settings = WatchSettings::of(args, &meta, baseline.clone());
    let assessor = LiveAssessor::new(baseline, live.meta().host.clone());
    let limit = Limit { bytes: MOST_BYTES, span: args.before };
    let live_session = LiveSession::live(live, None, limit, Some(assessor), forward(sender.clone()))?;
    WatchLoop::new(settings, detailed, &meta, live_session, metrics, lines, sender)?.run(start, &inbox)
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
fn open(args: &WatchArgs, baseline: &Baseline) -> Result<(LiveCapture, Plan)> {
    let is_command = !args.target.command.is_empty();
    let own = CaptureArgs {
        duration: args.duration,
        freq: match args.freq {
            WatchRate::Some(rate) => Some(rate),
            WatchRate::None => None,
        },
        ops: args.ops.clone().or_else(|| baseline_ops(baseline, is_command)),
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

fn start(args: &WatchArgs, meta: &Meta, facts: BaselineFacts, stale: &[KeyChange], metrics: &Metrics) -> Start {
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
        baseline: facts,
        stale: stale.to_vec(),
        operations: ops.as_ref().map(OpsSpec::label),
        interval_s: interval.seconds(),
        rate_hz: if let Rate::Frequency(hertz @ 1..) = rate { Some(*hertz) } else { None },
        probe: args.probe,
        on_alarm: args.on_alarm.iter().map(action).collect(),
        metrics: metrics.address(),
        notes: noted.chain(metrics.note()).collect(),
    }
}

//! `ironlaw watch`: compares a target with its baseline for as long as it runs, and reports as lines and as metrics.

mod command;
mod desk;
mod folder;
mod lines;
mod metrics;
mod recording;
mod worker;

use super::args::{CaptureArgs, OnAlarm, WatchArgs, WatchRate};
use super::out::Terminal;
use super::{capture, plan};
use crate::analysis::baseline::{self, Levels, Stale};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::ProfileBuilder;
use crate::model::{Baseline, CallGraph, Meta, OpsSpec, Plan, Rate, Target};
use crate::session::{Judging, Limit, Live, LiveSession, News, SignalThread};
use crate::store::baseline as files;
use crate::sys::clock;
use crate::view::watch::{Gauges, Known, SCHEMA_VERSION, Said, StalePoint, Start, What};
use desk::{Setting, WatchLoop};
use lines::Lines;
use metrics::Metrics;
use recording::Detail;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Memory for the time before an alarm. At 19 samples a second, a minute takes a hundredth of it.
const MOST_BYTES: u64 = 96 << 20;

/// A message to the main loop.
#[derive(Debug)]
enum Msg {
    /// A window ended.
    Fresh,
    /// The requested snapshot.
    Looked(Box<desk::WatchSnapshot>),
    /// A line to print.
    Tell(What),
    /// Part of the capture failed, or all of it.
    Failed(Error),
    /// The capture ended, and why.
    Ended(String),
    /// A signal asks to end.
    Stop,
}

/// Runs the command.
pub(super) fn run(args: &WatchArgs, terminal: &Terminal) -> Result<ExitCode> {
    let (sender, inbox) = channel();
    let stopped = sender.clone();
    // Before any other thread starts, so that no thread is killed by a signal.
    let _watchman = SignalThread::start(move || _ = stopped.send(Msg::Stop))?;
    let baseline = Arc::new(files::read(&args.baseline)?);
    check(args)?;
    // Before a command starts, which would otherwise write between the lines.
    let lines = Lines::open(args.format, !args.target.command.is_empty(), *terminal)?;
    let (live, detail) = open(args, &baseline)?;
    let stale = fitting(&baseline, live.meta(), args.stale_ok)?;
    let levels = Levels::of(&baseline);
    let (target, path) = (live.meta().plan.target.label(), args.baseline.clone());
    let axis = levels.axis;
    let gauges = Gauges::new(target, path.display().to_string(), axis);
    let metrics = Metrics::start(args.listen, gauges)?;
    let known = Known { path, axis, strength: levels.strength };
    let start = start(args, live.meta(), known, &stale, &metrics);
    let setting = Setting::of(args, live.meta(), baseline.clone());
    let judging = Judging::new(baseline, live.meta().host.clone());
    let limit = Limit { bytes: MOST_BYTES, span: args.before };
    let live_session = LiveSession::live(live, None, limit, Some(judging), tell(sender.clone()))?;
    WatchLoop::new(setting, detail, live_session, metrics, lines, sender)?.run(start, &inbox)
}

fn tell(sender: Sender<Msg>) -> impl FnMut(News) + Send + 'static {
    move |news| {
        let message = match news {
            News::Fresh => Msg::Fresh,
            News::Ended(why) => Msg::Ended(why),
            News::Failed(error) => Msg::Failed(error),
        };
        // The watch is over, and the notification is not needed.
        let _ = sender.send(message);
    }
}

fn check(args: &WatchArgs) -> Result<()> {
    let count = |is: fn(&OnAlarm) -> bool| args.on_alarm.iter().filter(|action| is(action)).count();
    let (records, commands) = (count(|it| *it == OnAlarm::Record), count(|it| matches!(it, OnAlarm::Command(_))));
    if records > 1 || commands > 1 {
        return Err(Error::new(ErrorKind::Usage, "--on-alarm asks twice for the same")
            .hint("Give `record` once and one command; the shell takes several, with a semicolon between them."));
    }
    if records > 0 && !args.output.is_dir() {
        return Err(Error::new(ErrorKind::NotFound, format!("there is no directory {}", args.output.display()))
            .hint("Make it first; recordings of alarms go there."));
    }
    Ok(())
}

/// Opens the watch and plans the detailed capture of an alarm.
fn open(args: &WatchArgs, baseline: &Baseline) -> Result<(Live, Detail)> {
    let is_command = !args.target.command.is_empty();
    let own = CaptureArgs {
        duration: args.duration,
        freq: match args.freq {
            WatchRate::Some(rate) => Some(rate),
            WatchRate::None => None,
        },
        ops: args.ops.clone().or_else(|| usual_ops(baseline, is_command)),
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
    let detailed = Detail::plan(&plan, args.after);
    let live = Live::open(plan, notes, false)?;
    let detail = Detail::of(detailed, live.command_pid());
    Ok((live, detail))
}

/// The baseline's source of operations, if this target can have it too.
fn usual_ops(baseline: &Baseline, is_command: bool) -> Option<OpsSpec> {
    baseline.key.ops.clone().filter(|ops| is_command || !matches!(ops, OpsSpec::Output { .. }))
}

/// The points in which the baseline does not match this session.
///
/// # Errors
/// `Usage` if its numbers are not comparable, unless that is accepted.
fn fitting(baseline: &Baseline, meta: &Meta, accepted: bool) -> Result<Vec<Stale>> {
    let key = baseline::key_of(ProfileBuilder::new(meta.clone()).profile());
    let stale = baseline::stale(baseline, &key, clock::unix_ns());
    match refusal(&stale) {
        Some(error) if !accepted => Err(error),
        _ => Ok(stale),
    }
}

/// The error for a baseline that must be rejected.
fn refusal(stale: &[Stale]) -> Option<Error> {
    let reasons: Vec<_> = stale.iter().filter(|stale| stale.refuses).map(|stale| stale.text.as_str()).collect();
    (!reasons.is_empty()).then(|| {
        Error::new(ErrorKind::Usage, format!("the baseline is not of what runs here: {}", reasons.join("; ")))
            .hint("Build one of today's program and machine with `ironlaw baseline build`, or give --stale-ok.")
    })
}

fn point(stale: &Stale) -> StalePoint {
    StalePoint {
        what: stale.what.to_string(),
        then: stale.then.clone(),
        now: stale.now.clone(),
        text: stale.text.clone(),
        refuses: stale.refuses,
    }
}

fn start(args: &WatchArgs, meta: &Meta, known: Known, stale: &[Stale], metrics: &Metrics) -> Start {
    let action = |action: &OnAlarm| match action {
        OnAlarm::Record => "record".to_string(),
        OnAlarm::Command(line) => line.clone(),
    };
    let noted = meta.notes.iter().map(|note| Said { text: note.text.clone(), fix: note.fix.clone() });
    let Plan { rate, ops, interval, target, .. } = &meta.plan;
    Start {
        schema_version: SCHEMA_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_string(),
        target: target.label(),
        baseline: known,
        stale: stale.iter().map(point).collect(),
        operations: ops.as_ref().map(OpsSpec::label),
        interval_s: interval.seconds(),
        rate_hz: if let Rate::Frequency(hertz @ 1..) = rate { Some(*hertz) } else { None },
        probe: args.probe,
        on_alarm: args.on_alarm.iter().map(action).collect(),
        metrics: metrics.address(),
        notes: noted.chain(metrics.note()).collect(),
    }
}

/// A target as part of the names of recordings.
fn name_of(target: &Target) -> String {
    plan::target_name(target)
}

//! `ironlaw record`: captures into a recording and returns the exit code of the command it started.
//! Prints nothing to standard output, which belongs to that command.

use super::args::{RecordArgs, TargetArgs};
use super::out::Terminal;
use super::{baseline, capture, dataset, plan, remote};
use crate::error::Result;
use crate::model::{Meta, SampleSource, WaitSource};
use crate::session::{LiveCapture, Outcome};
use crate::store::{self, Writer};
use crate::sys::clock;
use crate::view::escape::visible;
use crate::view::labels::{call_graph_of, rate_of};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(args: &RecordArgs, terminal: &Terminal) -> Result<ExitCode> {
    dataset::check(&args.dataset)?;
    if let Some(host) = &args.remote.host {
        return run_remote(args, host, terminal);
    }
    let (target, clock) = plan::clock(&args.target);
    let (mut request, mut notes) = capture::plan(&target, &args.capture)?;
    capture::check_program(&request.target)?;
    request.beside.clone_from(&clock);
    let matched = args.baseline.as_deref().map(|path| baseline::fit(path, &request, args.stale_ok)).transpose()?;
    if let Some(matched) = &matched {
        request.neighbours = true;
        notes.extend_from_slice(&matched.notes);
    }
    request.neighbours |= args.dataset.dataset.is_some();
    let path = match &args.output {
        Some(name) => plan::recording_path(name)?,
        None => plan::recording_name(&request.target, clock::unix_ns() / 1_000_000_000),
    };
    let live = LiveCapture::open(request, notes, args.capture.debuginfod)?;
    if args.verbose {
        opened(live.meta()).iter().for_each(|line| terminal.say(line));
    }
    let baseline = matched.map(|matched| matched.baseline);
    let (outcome, status) = capture::record(live, &path, args.force, baseline.as_ref(), clock.as_deref(), terminal)?;
    conclude(outcome, &path, args, terminal)?;
    Ok(exit_code(status))
}

/// Says what lies on disk now, and adds it to a data set.
fn conclude(outcome: Outcome, path: &Path, args: &RecordArgs, terminal: &Terminal) -> Result<()> {
    if let Some(error) = outcome.write_failure {
        return Err(error.context(format!("{} holds only the first part of the session", path.display())));
    }
    terminal.say(&format!(
        "{} ({:.1} kB); read it with: ironlaw report {0}",
        path.display(),
        outcome.bytes as f64 / 1e3
    ));
    match &args.dataset.dataset {
        Some(dir) => dataset::add_recording(dir, path, &args.dataset, terminal),
        None => Ok(()),
    }
}

/// The same with a capture on another machine.
fn run_remote(args: &RecordArgs, host: &str, terminal: &Terminal) -> Result<ExitCode> {
    if args.target == TargetArgs::default() {
        return Err(remote::without_target(host));
    }
    let capture = remote::connect(host, &args.remote)?;
    let meta = capture.meta();
    let fit = |path: &PathBuf| baseline::of_session(path, meta, args.stale_ok);
    let matched = args.baseline.as_ref().map(fit).transpose()?;
    matched.iter().flat_map(|matched| &matched.notes).for_each(|note| terminal.note(note));
    let path = match &args.output {
        Some(name) => plan::recording_path(name)?,
        None => plan::recording_name(&meta.plan.target, clock::unix_ns() / 1_000_000_000),
    };
    let known = meta.notes.len();
    meta.notes.iter().for_each(|note| terminal.note(note));
    if args.verbose {
        opened(meta).iter().for_each(|line| terminal.say(line));
    }
    let writer = Writer::create(&path, meta, args.force)?;
    matched.map_or(Ok(()), |matched| store::baseline::write_within(&path, &matched.baseline))?;
    let (outcome, failure) = capture.run(writer).inspect_err(|_| store::remove_if_without_rows(&path))?;
    outcome.meta.notes.iter().skip(known).for_each(|note| terminal.note(note));
    terminal.say(&capture::summary(&outcome));
    let status = outcome.meta.exit_status;
    conclude(outcome, &path, args, terminal)?;
    failure.map_or(Ok(exit_code(status)), Err)
}

/// What was opened, for `--verbose`.
fn opened(meta: &Meta) -> [String; 3] {
    let events: Vec<&str> = meta.events.iter().map(|event| event.name.as_str()).collect();
    let place = match meta.samples.unwrap_or_default() {
        SampleSource::Threads => "each thread",
        SampleSource::Cpus => "whole CPUs",
    };
    let counted: usize = meta.hardware.groups.iter().map(|group| group.events.len()).sum();
    let (groups, waits) = (meta.hardware.groups.len(), meta.waits.map_or("not recorded", WaitSource::text));
    let (rate, stacks) = (rate_of(meta), call_graph_of(meta.plan.call_graph));
    [
        format!("sampling {} at {rate} on {place}; stacks: {stacks}", visible(&events.join(", "))),
        format!("counting {counted} hardware events in {groups} groups, read every {} s", meta.plan.interval.seconds()),
        format!("waits: {waits}"),
    ]
}

/// A started command's own exit code; 128 plus the signal for a killed command, as in shells.
pub(super) fn exit_code(status: Option<i32>) -> ExitCode {
    ExitCode::from(u8::try_from(status.unwrap_or(0)).unwrap_or(1))
}

//! `ironlaw record`: captures into a recording and returns the exit code of the command it started.
//! Prints nothing to standard output, which belongs to that command.

use super::args::RecordArgs;
use super::out::Terminal;
use super::{baseline, capture, plan};
use crate::error::Result;
use crate::model::{Meta, SampleSource, WaitSource};
use crate::session::LiveCapture;
use crate::store;
use crate::sys::clock;
use crate::view::escape::visible;
use crate::view::labels::{call_graph_of, rate_of};
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(args: &RecordArgs, terminal: &Terminal) -> Result<ExitCode> {
    let (target, clock) = plan::clock(&args.target);
    let (mut request, mut notes) = capture::plan(&target, &args.capture)?;
    let matched = args.baseline.as_deref().map(|path| baseline::fit(path, &request, args.stale_ok)).transpose()?;
    if let Some(matched) = &matched {
        request.neighbours = true;
        notes.extend_from_slice(&matched.notes);
    }
    let path = match &args.output {
        Some(name) => store::path(name),
        None => plan::recording_name(&request.target, clock::unix_ns() / 1_000_000_000),
    };
    let live = LiveCapture::open(request, notes, args.capture.debuginfod)?;
    if args.verbose {
        opened(live.meta()).iter().for_each(|line| terminal.say(line));
    }
    let baseline = matched.map(|matched| matched.baseline);
    let (outcome, status) = capture::record(live, &path, args.force, baseline.as_ref(), clock.as_deref(), terminal)?;
    if let Some(error) = outcome.write_failure {
        return Err(error.context(format!("{} holds only the first part of the session", path.display())));
    }
    terminal.say(&format!(
        "{} ({:.1} kB); read it with: ironlaw report {0}",
        path.display(),
        outcome.bytes as f64 / 1e3
    ));
    Ok(exit_code(status))
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

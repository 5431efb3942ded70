//! `ironlaw record`: captures into a recording and returns the exit code of the command it started.
//! Prints nothing to standard output, which belongs to that command.

use super::args::RecordArgs;
use super::out::Terminal;
use super::{baseline, capture, plan};
use crate::error::Result;
use crate::session::LiveCapture;
use crate::store;
use crate::sys::clock;
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(args: &RecordArgs, terminal: &Terminal) -> Result<ExitCode> {
    let (mut request, mut notes) = capture::plan(&args.target, &args.capture)?;
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
    let outcome = capture::record(live, &path, args.force, matched.map(|matched| matched.baseline).as_ref(), terminal)?;
    if let Some(error) = outcome.write_failure {
        return Err(error.context(format!("{} holds only the first part of the session", path.display())));
    }
    terminal.say(&format!(
        "{} ({:.1} kB); read it with: ironlaw report {0}",
        path.display(),
        outcome.bytes as f64 / 1e3
    ));
    Ok(exit_code(outcome.meta.exit_status))
}

/// A started command's own exit code; 128 plus the signal for a killed command, as in shells.
fn exit_code(status: Option<i32>) -> ExitCode {
    ExitCode::from(u8::try_from(status.unwrap_or(0)).unwrap_or(1))
}

//! The result of a sweep in all output formats.

use crate::analysis::sweep::Run;
use crate::cli::args::{GlobalArgs, SweepFormat};
use crate::cli::out::{self, Terminal};
use crate::error::{Error, ErrorKind, Result};
use crate::export;
use crate::model::{RunState, SweepMeta};
use crate::sweep::{Sweep, analyse};
use crate::view::sweep::SweepReport;
use std::process::ExitCode;

/// The report on a sweep with the runs so far.
pub(in crate::cli) fn report(meta: &SweepMeta, results: &[Option<Run>]) -> SweepReport {
    SweepReport::of(meta, &analyse(meta, results))
}

/// The report as bytes.
pub(in crate::cli) fn render(
    report: &SweepReport,
    format: SweepFormat,
    global: &GlobalArgs,
    to_file: bool,
) -> Result<Vec<u8>> {
    Ok(match format {
        SweepFormat::Text => export::text::sweep(report, out::style(global, to_file)),
        SweepFormat::Json => export::json::sweep(report)?,
        SweepFormat::Csv => export::csv::sweep(report),
        SweepFormat::Markdown => export::markdown::sweep(report),
        SweepFormat::Html => export::html::sweep(report)?,
    })
}

/// Prints the result and its path. Fails if no run counts.
pub(super) fn conclude(
    sweep: &Sweep,
    format: SweepFormat,
    global: &GlobalArgs,
    terminal: &Terminal,
) -> Result<ExitCode> {
    let path = sweep.folder().path();
    if sweep.results.iter().all(Option::is_none) {
        let reason = sweep.meta.runs.iter().find_map(|run| match &run.state {
            RunState::Failed { reason } => Some(reason.as_str()),
            _ => None,
        });
        let nothing = format!("no run of {} counts: {}", path.display(), reason.unwrap_or("none was started"));
        return Err(Error::new(ErrorKind::Io, nothing)
            .hint("The output of the command is in runs/*.out, next to the recordings."));
    }
    let bytes = render(&report(&sweep.meta, &sweep.results), format, global, false)?;
    out::deliver(&bytes, None)?;
    terminal.say(&format!("{0}; explore it with: ironlaw view {0}", path.display()));
    Ok(ExitCode::SUCCESS)
}

//! Prints a sweep: its progress as lines, for logs and pipes, and its result in all output formats.

use crate::analysis::sweep::Run;
use crate::cli::args::{GlobalArgs, SweepFormat};
use crate::cli::out::{self, Terminal};
use crate::error::{Error, ErrorKind, Result};
use crate::export;
use crate::model::{RunMeta, RunState, SweepMeta};
use crate::sweep::{Sweep, analyse};
use crate::view::number::three_digits;
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
pub(in crate::cli) fn conclude(
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

/// Prints the changes since the last call.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: usize,
    over: usize,
}

impl Lines {
    pub fn print_changes(&mut self, sweep: &Sweep, terminal: &Terminal) {
        let meta = &sweep.meta;
        let count = meta.runs.len();
        for (at, run) in meta.runs.iter().enumerate().take(meta.over()).skip(self.over) {
            terminal.say(&format!("  {}", outcome(run, sweep, at)));
        }
        self.over = meta.over();
        if let Some(at) = meta.runs.iter().position(|run| run.state == RunState::Running).filter(|at| *at >= self.begun)
        {
            terminal.say(&format!("run {} of {count}: {}", at + 1, what(&meta.runs[at])));
            self.begun = at + 1;
        }
    }
}

fn what(run: &RunMeta) -> String {
    let place = if run.cpus.is_empty() {
        "unpinned".to_string()
    } else {
        format!("CPUs {} ({})", crate::abi::format_cpu_list(&run.cpus), run.region.label())
    };
    format!("n = {}, {place}", run.n)
}

fn outcome(run: &RunMeta, sweep: &Sweep, at: usize) -> String {
    let RunState::Failed { reason } = &run.state else {
        let totals = sweep.results.get(at).and_then(|result| Some(result.as_ref()?.totals));
        let seconds = totals.map_or(0.0, |totals| totals.wall);
        let rate = totals.and_then(|totals| Some(totals.ops.value()? / totals.wall));
        let rate = rate
            .map_or_else(|| "operations were not counted".to_string(), |rate| format!("{} op/s", three_digits(rate)));
        return format!("{rate}, measured for {seconds:.1} s");
    };
    format!("does not count: {}", crate::view::escape::visible(reason))
}

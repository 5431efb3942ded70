//! Prints a colocation: its progress as lines, and its result in all output formats.

use crate::cli::args::{ColocateFormat, GlobalArgs, ReportFormat};
use crate::cli::out::{self, Terminal};
use crate::colocate::{Colocation, load};
use crate::error::{Error, ErrorKind, Result};
use crate::export;
use crate::model::RunState;
use crate::view::colocate::{ColocateView, words};
use crate::view::escape::visible;
use std::path::Path;

/// The result as bytes.
pub(super) fn render(
    view: &ColocateView,
    format: ColocateFormat,
    global: &GlobalArgs,
    to_file: bool,
) -> Result<Vec<u8>> {
    Ok(match format {
        ColocateFormat::Text => export::text::colocate(view, out::style(global, to_file)),
        ColocateFormat::Json => export::json::colocate(view)?,
        ColocateFormat::Svg => export::heat_map::render(view),
        ColocateFormat::Html => export::html::colocate(view),
        ColocateFormat::Markdown => export::markdown::colocate(view),
    })
}

/// Reads a result back and prints it, or writes it to a file.
pub(in crate::cli) fn report(
    path: &Path,
    format: ReportFormat,
    file: Option<&Path>,
    global: &GlobalArgs,
) -> Result<()> {
    let format = match format {
        ReportFormat::Text => ColocateFormat::Text,
        ReportFormat::Json => ColocateFormat::Json,
        ReportFormat::Markdown => ColocateFormat::Markdown,
        // A file name that ends in `.svg` asks for the heat map without the page around it.
        ReportFormat::Html if file.and_then(Path::extension).is_some_and(|extension| extension == "svg") => {
            ColocateFormat::Svg
        }
        ReportFormat::Html => ColocateFormat::Html,
        ReportFormat::Csv => {
            return Err(Error::new(ErrorKind::Usage, "a colocation is not written as csv")
                .hint("Choose text, json, md or html."));
        }
    };
    let (meta, results) = load(path)?;
    let view = ColocateView::of(&meta, &results);
    out::deliver(&render(&view, format, global, file.is_some())?, file)
}

/// Prints the changes since the last call.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: usize,
    over: usize,
}

impl Lines {
    pub fn print_changes(&mut self, colocation: &Colocation, terminal: &Terminal) {
        let meta = &colocation.meta;
        for run in meta.runs.iter().take(meta.over()).skip(self.over) {
            let restarts = if run.restarts > 0 {
                format!("; the neighbour ended and was started again, {} times", run.restarts)
            } else {
                String::new()
            };
            match &run.state {
                RunState::Failed { reason } => terminal.say(&format!("  does not count: {}", visible(reason))),
                RunState::Done { wall_ns } => {
                    let imposed =
                        run.imposed.map_or(String::new(), |imposed| format!("; load: {}", words::imposed(imposed)));
                    terminal.say(&format!("  measured for {:.1} s{imposed}{restarts}", *wall_ns as f64 * 1e-9));
                }
                RunState::Planned | RunState::Running => {}
            }
        }
        self.over = meta.over();
        let running = meta.runs.iter().position(|run| run.state == RunState::Running);
        if let Some(at) = running.filter(|at| *at >= self.begun) {
            let what = words::run(meta, &meta.runs[at]);
            terminal.say(&format!("run {} of {}: {}", at + 1, meta.runs.len(), visible(&what)));
            self.begun = at + 1;
        }
    }
}

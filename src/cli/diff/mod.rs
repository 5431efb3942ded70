//! `ironlaw diff`: compares recordings or sweeps, draws the difference, and fails a merge gate.

mod newest;
mod repeats;
mod session;
mod sides;
mod source;

use super::args::{DiffArgs, DiffFormat, GlobalArgs};
use super::out::{self, Terminal};
use super::pager;
use super::progress::ProgressLine;
use crate::error::{Error, ErrorKind, Result};
use crate::export::{diff, diff_flamegraph, html};
use crate::view::diff::{ComparisonView, DiffView, GateRow, GateStatus, words};
use crate::view::diff_flamegraph::CostAxis;
use sides::Sides;
use std::path::Path;

pub(super) use newest::completed;
pub(super) use session::open;

/// Compares, then prints, draws, and fails if a gate is violated.
pub(super) fn run(args: &DiffArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    check(args)?;
    let line = ProgressLine::start(terminal);
    let view = Sides::read_with(args, &line.progress)?.compare(args);
    drop(line);
    let bytes = match args.format {
        DiffFormat::Text => diff::text(&view, out::style(global, args.output.is_some()), args.limit),
        DiffFormat::Json => diff::json(&view)?,
        DiffFormat::Csv => diff::csv(&view),
        DiffFormat::Markdown => diff::markdown(&view, args.limit),
        DiffFormat::Html => html::diff(&view),
    };
    pager::show(&bytes, args.output.as_deref())?;
    if let Some(file) = &args.flamegraph {
        draw(file, &view, terminal)?;
    }
    gate(&view)
}

/// Checks that need no recording.
pub(super) fn check(args: &DiffArgs) -> Result<()> {
    if args.flamegraph.is_some() && args.new.len() > 1 {
        return Err(Error::new(ErrorKind::Usage, "--flamegraph draws one comparison")
            .hint("Give one NEW; separate repeats of it by commas."));
    }
    if args.expect.is_empty()
        && let Some(gate) = args.fail_if.iter().find(|gate| gate.is_of_expectations())
    {
        return Err(Error::new(ErrorKind::Usage, format!("invalid --fail-if {}: no expectation is given", gate.text))
            .hint("Add one, e.g. --expect 'cpi down'."));
    }
    Ok(())
}

fn draw(file: &Path, view: &DiffView, terminal: &Terminal) -> Result<()> {
    let drawn = view.comparisons.iter().find_map(|found| Some((found, found.flame_graph(CostAxis::Cpu)?)));
    let Some((comparison, graph)) = drawn else {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "cannot draw a differential flame graph: there is nothing to compare",
        )
        .hint("Both sides need samples, and operations unless --normalize cpu, share or none is given."));
    };
    let bytes = diff_flamegraph::render(graph, &format!("{} -> {}", view.base.label, comparison.new.label));
    out::deliver(&bytes, Some(file))?;
    terminal.say(&format!("{} ({:.1} kB)", file.display(), bytes.len() as f64 / 1e3));
    Ok(())
}

/// Fails if the comparison violates a gate.
pub(super) fn gate(view: &DiffView) -> Result<()> {
    let failed = |wanted: fn(&GateStatus) -> bool| {
        let rows = view.failed().filter(|(_, gate)| wanted(&gate.status));
        let text = |(comparison, gate): (&ComparisonView, &GateRow)| {
            format!("{}: {}: {}", comparison.new.label, gate.text, words::gate(gate))
        };
        rows.map(text).collect::<Vec<_>>().join("; ")
    };
    let (broken, open) = (failed(|status| *status == GateStatus::Broken), failed(|_| true));
    match (broken.is_empty(), open.is_empty()) {
        (false, _) => Err(Error::new(ErrorKind::Breach, open)),
        (true, false) => Err(Error::new(ErrorKind::Undecided, open)),
        (true, true) => Ok(()),
    }
}

#[cfg(test)]
mod tests;

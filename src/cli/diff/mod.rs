//! `ironlaw diff`: compares recordings or sweeps, draws the difference, and fails a merge gate.

mod source;
mod watch;

use super::args::{DiffArgs, DiffFormat, GlobalArgs, LoadArg, NormalizeArg};
use super::out::{self, Terminal};
use crate::analysis::diff::{LoadBy, Per, Settings, Severity, Side, mismatches};
use crate::error::{Error, ErrorKind, Result};
use crate::export::{diff, diff_flamegraph, html};
use crate::view::diff::{ComparisonView, DiffView, GateRow, GateStatus, words};
use crate::view::diff_flamegraph::CostAxis;
use source::Source;
use std::path::Path;

/// Compares, then prints or shows, draws, and fails if a gate is violated.
pub(super) fn run(args: &DiffArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    check(args)?;
    if args.tui {
        return watch::session(args, terminal).and_then(|view| view.map_or(Ok(()), |view| gate(&view)));
    }
    let view = Sides::read(args)?.compare(args);
    let bytes = match args.format {
        DiffFormat::Text => diff::text(&view, out::style(global, args.output.is_some()), args.limit),
        DiffFormat::Json => diff::json(&view)?,
        DiffFormat::Csv => diff::csv(&view),
        DiffFormat::Markdown => diff::markdown(&view, args.limit),
        DiffFormat::Html => html::diff(&view),
    };
    out::deliver(&bytes, args.output.as_deref())?;
    if let Some(file) = &args.flamegraph {
        draw(file, &view, terminal)?;
    }
    gate(&view)
}

/// Checks that need no recording.
fn check(args: &DiffArgs) -> Result<()> {
    if args.flamegraph.is_some() && args.new.len() > 1 {
        return Err(Error::new(ErrorKind::Usage, "--flamegraph draws one comparison").hint("Give one NEW."));
    }
    if args.expect.is_empty()
        && let Some(gate) = args.fail_if.iter().find(|gate| gate.is_of_expectations())
    {
        return Err(Error::new(ErrorKind::Usage, format!("invalid --fail-if {}: no expectation is given", gate.text))
            .hint("Add one, e.g. --expect 'cpi down'."));
    }
    Ok(())
}

/// All sides of a comparison, read and comparable.
struct Sides {
    base: Side,
    others: Vec<Side>,
}

impl Sides {
    fn read(args: &DiffArgs) -> Result<Sides> {
        let all = std::iter::once(&args.base).chain(&args.new).map(|text| Source::of(text));
        let sources: Vec<Source> = all.collect::<Result<_>>()?;
        let width = source::width(&sources, args.width)?;
        let mut others = sources.iter().map(|source| source.side(width, args)).collect::<Result<Vec<_>>>()?;
        let base = others.remove(0);
        refuse(&base, &others, args.force)?;
        Ok(Sides { base, others })
    }

    fn compare(&self, args: &DiffArgs) -> DiffView {
        let settings = settings(args, &self.base, &self.others);
        DiffView::of(&self.base, &self.others, &settings, &args.fail_if, args.allow_missing)
    }
}

/// Rejects sides whose numbers are not comparable.
fn refuse(base: &Side, others: &[Side], force: bool) -> Result<()> {
    let incomparable = |new: &Side| {
        let all = mismatches(base, new).into_iter().filter(|mismatch| mismatch.severity == Severity::Incomparable);
        all.map(|mismatch| words::mismatch(&mismatch)).collect::<Vec<_>>().join("; ")
    };
    for new in others {
        let incomparable = incomparable(new);
        if !incomparable.is_empty() && !force {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("cannot compare {} with {}: {incomparable}", base.label, new.label),
            )
            .hint("Record both under the same conditions, or compare them anyway with --force."));
        }
    }
    Ok(())
}

fn settings(args: &DiffArgs, base: &Side, others: &[Side]) -> Settings {
    let counted = |side: &Side| side.runs.iter().all(|run| run.run.totals.ops.value().is_some());
    let per = match args.normalize {
        NormalizeArg::Auto if counted(base) && others.iter().all(counted) => Per::Op,
        NormalizeArg::Auto | NormalizeArg::Cpu => Per::Cpu,
        NormalizeArg::Op => Per::Op,
        NormalizeArg::Share => Per::Share,
        NormalizeArg::None => Per::None,
    };
    let load = match args.load {
        LoadArg::Auto => LoadBy::Auto,
        LoadArg::Ops => LoadBy::Operations,
        LoadArg::Cores => LoadBy::Cores,
        LoadArg::None => LoadBy::Off,
    };
    Settings {
        confidence: args.confidence,
        margin: args.same_within,
        noise: args.run_noise,
        load,
        per,
        seed: args.seed,
        comparisons: others.len(),
        expect: args.expect.clone(),
    }
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

fn gate(view: &DiffView) -> Result<()> {
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

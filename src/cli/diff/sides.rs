//! The sides of a comparison: read, checked that their numbers are comparable, and how they are compared.

use super::source::{self, Source};
use crate::analysis::diff::{LoadBy, Per, Settings, Severity, Side, mismatches};
use crate::cli::args::{DiffArgs, LoadArg, NormalizeArg};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Progress;
use crate::session::{self, AFTER, BEFORE};
use crate::view::diff::{DiffView, words};
use std::path::Path;

/// All sides of a comparison, read and comparable.
pub(super) struct Sides {
    pub(super) base: Side,
    pub(super) others: Vec<Side>,
}

impl Sides {
    pub(super) fn read(args: &DiffArgs) -> Result<Sides> {
        Sides::read_with(args, &Progress::default())
    }

    /// As `read`, telling how far it has come.
    pub(super) fn read_with(args: &DiffArgs, progress: &Progress) -> Result<Sides> {
        let all = std::iter::once(&args.base).chain(&args.new).map(|text| Source::of(text));
        let sources: Vec<Source> = all.collect::<Result<_>>()?;
        let width = source::width(&sources, args.width)?;
        let both = args.new == [args.base.as_str()] && session::holds_both_sides(Path::new(&args.base));
        let event = |at: usize| [BEFORE, AFTER].get(at).copied().filter(|_| both);
        // Stacks of older recordings lack these functions: no difference of the program.
        let tail_calls = sources.iter().all(Source::has_tail_calls);
        let side = |(at, source): (usize, &Source)| source.side(width, args, event(at), tail_calls, progress);
        let mut others = sources.iter().enumerate().map(side).collect::<Result<Vec<_>>>()?;
        let base = others.remove(0);
        refuse(&base, &others, args.force)?;
        Ok(Sides { base, others })
    }

    pub(super) fn compare(&self, args: &DiffArgs) -> DiffView {
        let settings = settings(args, &self.base, &self.others);
        DiffView::of(&self.base, &self.others, &settings, &args.fail_if, args.allow_missing)
    }
}

/// Rejects sides whose numbers are not comparable.
pub(super) fn refuse(base: &Side, others: &[Side], force: bool) -> Result<()> {
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

pub(super) fn settings(args: &DiffArgs, base: &Side, others: &[Side]) -> Settings {
    let counted = |side: &Side| side.runs.iter().all(|run| run.run.totals.ops.value().is_some());
    let timed = |side: &Side| side.runs.iter().all(|run| run.run.totals.cpu.value().is_some_and(|cpu| *cpu > 0.0));
    let all = |has: &dyn Fn(&Side) -> bool| has(base) && others.iter().all(has);
    let per = match args.normalize {
        NormalizeArg::Auto if all(&counted) => Per::Op,
        // Recordings of other profilers have samples and no counters.
        NormalizeArg::Auto if !all(&timed) => Per::Share,
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

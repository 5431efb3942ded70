//! Describes the conditions of a comparison: sides, load, mixtures, and what differs.

use super::values::{relative, typed};
use crate::analysis::diff::Side;
use crate::model::Unit;
use crate::view::diff::{
    CodeView, CurveBasis, GroupKind, Load, LoadAdjustment, LoadMeasure, LoadRange, Mismatch, Per, RecordingView,
    SettingsView, Severity, SideView, SubgroupCheck,
};
use crate::view::number::quantity;

/// Short name of a side: its label, or its first recording and the number of further ones.
#[must_use]
pub fn label(side: &SideView) -> String {
    match &side.recordings[..] {
        [first, rest @ ..] if !rest.is_empty() => format!("{} and {} more", first.name, rest.len()),
        _ => side.label.clone(),
    }
}

/// What is known about the load, in one sentence.
pub(in crate::view::diff) fn load(load: &Load) -> String {
    let Some((measure, base, new)) = load.measure.zip(load.base).zip(load.new).map(|((d, b), n)| (d, b, n)) else {
        return "not considered".to_string();
    };
    let (what, unit) = match measure {
        LoadMeasure::OpsPerS => ("operations per second", Unit::PerSecond),
        LoadMeasure::BusyCores => ("busy CPUs", Unit::Cores),
    };
    let value = |value: f64| quantity(value, unit).joined();
    let both = format!("{} -> {}", value(base.mean), value(new.mean));
    let range = |spread: LoadRange| format!("{} to {}", value(spread.low), value(spread.high));
    match load.adjustment {
        LoadAdjustment::Same => format!("{what} were the same ({both}): nothing to adjust"),
        LoadAdjustment::Near => {
            format!("{what} differed ({both}), and were too steady on each side to show what that costs")
        }
        LoadAdjustment::Done { from, to, windows, curve_basis: CurveBasis::Windows, .. } => format!(
            "by {what}, {both}; costs are compared over {} to {}, where both have windows ({} and {})",
            value(from),
            value(to),
            windows[0],
            windows[1]
        ),
        LoadAdjustment::Done { from, to, curve_basis: CurveBasis::Runs, .. } => format!(
            "by {what}, {both}; it differed from run to run ({} to {} on both sides), and costs are compared by a curve through the runs",
            value(from),
            value(to)
        ),
        LoadAdjustment::TooFewRuns { runs, needed } => format!(
            "{what} differed from run to run ({both}); {runs} runs cannot separate that from the cost, {needed} can"
        ),
        LoadAdjustment::Apart => format!("{what} have no range in common: {} and {}", range(base), range(new)),
        LoadAdjustment::Opposed => format!("{what} {both}: more was done with less CPU time, or less with more"),
        LoadAdjustment::Unknown => "not known".to_string(),
    }
}

/// The program that ran, as the end of a recording's description: `, /opt/app (build 0a0b0a0b0a0b)`.
#[must_use]
pub fn program(run: &RecordingView) -> String {
    let build = run.build_id.as_ref().map(|id| format!(" (build {})", id.chars().take(12).collect::<String>()));
    run.program.as_ref().map_or(String::new(), |program| format!(", {program}{}", build.unwrap_or_default()))
}

/// A module of the base that was matched with a differently named one.
#[must_use]
pub fn renamed([from, to]: &[String; 2]) -> String {
    format!("module {from} was matched with {to}")
}

/// What the groups are.
#[must_use]
pub fn group_kind(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Load => "level of load",
        GroupKind::Host => "host",
        GroupKind::Thread => "kind of thread",
    }
}

/// Why the total and its subgroups disagree.
#[must_use]
pub fn subgroup_text(check: &SubgroupCheck) -> String {
    let what = match check.by {
        GroupKind::Load => "levels of load",
        GroupKind::Host => "hosts",
        GroupKind::Thread => "kinds of threads",
    };
    let [base, new] = check.whole;
    format!(
        "Simpson's paradox: {} changed by {} as recorded, but by {} with the base's mixture of {what}; the mixture changed.",
        check.quantity,
        relative(new / base - 1.0),
        relative(check.standardised / base - 1.0)
    )
}

/// A condition that differs, in a sentence fragment.
#[must_use]
pub fn mismatch(mismatch: &Mismatch) -> String {
    format!("{}: {} -> {}", mismatch.what, mismatch.base, mismatch.new)
}

/// How much a differing condition matters, in a few words.
#[must_use]
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Incomparable => "not comparable",
        Severity::Warning => "may be the reason",
        Severity::Info => "for information",
    }
}

/// What costs of code are divided by: `per operation`.
#[must_use]
pub fn per(per: Per) -> &'static str {
    match per {
        Per::Op => "per operation",
        Per::Cpu => "per CPU second",
        Per::Share => "of all samples",
        Per::None => "in all",
    }
}

/// What the costs of code are: `CPU time per operation`.
#[must_use]
pub fn code_cost(view: &CodeView) -> String {
    match (view.per, view.unit) {
        (Per::Share, _) => format!("share {}", per(Per::Share)),
        (other, "samples") => format!("samples {}", per(other)),
        (other, _) => format!("CPU time {}", per(other)),
    }
}

/// Which code changes are shown.
#[must_use]
pub fn shown_code(view: &CodeView) -> &'static str {
    if view.repeated {
        "changes beyond chance only"
    } else {
        "changes between these two recordings beyond sampling error"
    }
}

/// Why there is no code to compare.
pub(in crate::view::diff) fn no_code(base: &Side, new: &Side, per: Per) -> &'static str {
    let sampled = |side: &Side| side.runs.iter().all(|run| run.run.cpu.samples > 0);
    let alike = |side: &Side| side.runs.first().map(|run| run.run.cpu.unit);
    match (sampled(base) && sampled(new), alike(base) == alike(new), per) {
        (false, ..) => "no samples on one side",
        (_, false, _) => "cycles were sampled on one side and time on the other",
        (_, _, Per::Op) => "no operations on one side: try --normalize cpu",
        _ => "no CPU time on one side",
    }
}

/// How the sides were compared, in one line.
#[must_use]
pub fn settings(settings: &SettingsView) -> String {
    format!(
        "{} intervals, the same within {}, seed {}",
        typed(settings.confidence),
        typed(settings.margin),
        settings.seed
    )
}

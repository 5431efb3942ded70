//! The headline of a comparison: its conclusions, and what they rest on.
//! Claims are no stronger than the verdict. For an open verdict, the text names what would settle it.

use super::conditions::subgroup_text;
use super::same_code;
use super::values::{change, interval, own_change, relative, shown, typed, within};
use crate::analysis::diff::{PRIMARY, Per, Settings};
use crate::model::MetricId;
use crate::view::diff::{AnswerKind, Basis, ComparisonView, LoadAdjustment, MetricRow, Verdict};

/// The conclusions of a comparison, in sentences.
pub(in crate::view::diff) fn headline(view: &ComparisonView, settings: &Settings) -> Vec<String> {
    let mut out = Vec::new();
    match &view.answer {
        Some(row) if row.difference.is_some() => answer(&mut out, view, row, settings),
        Some(_) if settings.per == Per::Share => {
            out.push(
                "No CPU time was counted on both sides: code is compared by its share of all samples.".to_string(),
            );
            return out;
        }
        Some(row) => out.push(format!("Nothing can be compared: {} has no value on one side.", row.label)),
        None => out.push("Nothing can be compared: there are no recordings.".to_string()),
    }
    if view.primary != PRIMARY.name() {
        out.push(
            "Nothing counted operations on both sides: more load and higher cost cannot be separated. Give a source \
             with --ops when recording."
                .to_string(),
        );
    }
    if let Some(text) = open_for_load(view) {
        out.push(text);
    }
    out.extend(latency(view, settings));
    for check in view.groups.iter().filter(|check| check.disagrees) {
        out.push(subgroup_text(check));
    }
    out
}

fn answer(out: &mut Vec<String>, view: &ComparisonView, row: &MetricRow, settings: &Settings) {
    let values = [row.base.value(), row.new.value()].map(|value| value.map_or("-".to_string(), |v| shown(v, row.unit)));
    let sure = typed(settings.confidence);
    let interval = match (interval(row), within(row)) {
        (Some(ends), _) => format!(" ({sure} interval {ends})"),
        (None, Some(ends)) => format!(" between these two recordings ({ends} from their windows)"),
        (None, None) => String::new(),
    };
    let change = own_change(row).unwrap_or_default();
    let at = match view.answer_kind {
        AnswerKind::Raw => "",
        AnswerKind::LoadAdjusted => " at the same load",
        AnswerKind::Standardised => " with the base's mixture of hosts",
    };
    let numbers = format!("{}{at} {} -> {}, {change}{interval}", row.label, values[0], values[1]);
    let lead = match (row.verdict, row.name == PRIMARY.name()) {
        (Verdict::More, true) => "Regression, beyond chance",
        (Verdict::Less, true) => "Improvement, beyond chance",
        (Verdict::More | Verdict::Less, false) => "Change, beyond chance",
        (Verdict::Same, _) => "No change",
        (Verdict::Undecided, _) => "Undecided",
    };
    out.push(format!("{}{lead}: {numbers}.", same_code::lead(view, row.verdict).unwrap_or_default()));
    out.extend(same_code::explanation(view, row.verdict));
    let margin = typed(settings.margin);
    match (row.verdict, row.within_margin) {
        (Verdict::Same, _) => out.push(format!("The data shows that it differs by less than {margin}.")),
        (Verdict::More | Verdict::Less, true) => {
            out.push(format!("The change is real but smaller than the {margin} that --same-within accepts."));
        }
        _ => {}
    }
    out.push(basis(row, settings));
    if let (AnswerKind::LoadAdjusted, Some(raw)) =
        (view.answer_kind, view.metrics.iter().find(|raw| raw.name == row.name))
        && let Some(change) = own_change(raw)
    {
        out.push(format!("As recorded, without adjusting for load: {change}."));
    }
}

/// The p99 of the latency where both sides measured it: operations may wait longer at the same cost.
fn latency(view: &ComparisonView, settings: &Settings) -> Option<String> {
    let name = MetricId::LatencyP99.name();
    let same_load = view.at_same_load(name);
    let row = same_load.or_else(|| view.metrics.iter().find(|row| row.name == name))?;
    let (base, new) = (row.base.value()?, row.new.value()?);
    let interval = match (interval(row), within(row)) {
        (Some(ends), _) => format!(" ({} interval {ends})", typed(settings.confidence)),
        (None, Some(ends)) => format!(" between these two recordings ({ends} from their windows)"),
        (None, None) => String::new(),
    };
    let load_differs = match view.load.adjustment {
        LoadAdjustment::Apart | LoadAdjustment::TooFewRuns { .. } | LoadAdjustment::Near => true,
        LoadAdjustment::Done { .. } => same_load.is_none(),
        LoadAdjustment::Same | LoadAdjustment::Opposed | LoadAdjustment::Unknown => false,
    };
    let verdict = match row.verdict {
        Verdict::More | Verdict::Less if load_differs => "undecided, as the load differed",
        Verdict::More => "slower, beyond chance",
        Verdict::Less => "faster, beyond chance",
        Verdict::Same => "no change",
        Verdict::Undecided => "undecided",
    };
    let at = if same_load.is_some() { " at the same load" } else { "" };
    let change = own_change(row).unwrap_or_default();
    Some(format!(
        "Latency {verdict}: {}{at} {} -> {}, {change}{interval}.",
        row.label,
        shown(base, row.unit),
        shown(new, row.unit)
    ))
}

/// How to measure the variation between runs.
const REPEAT: &str = "Repeat the runs to measure it: BASE1,BASE2,BASE3 NEW1,NEW2,NEW3.";

/// Why the load leaves the answer open, and how to settle it.
fn open_for_load(view: &ComparisonView) -> Option<String> {
    let undecided = view.answer.as_ref().is_some_and(|row| row.verdict == Verdict::Undecided && row.low.is_some());
    let text = match view.load.adjustment {
        LoadAdjustment::Apart => {
            "The two sides had no load in common, so load or program may have caused the change: record both at overlapping \
             loads."
                .to_string()
        }
        LoadAdjustment::TooFewRuns { needed, .. } => format!(
            "The load differed from run to run, so load or program may have caused the change: record {needed} runs in all, at \
             overlapping loads."
        ),
        LoadAdjustment::Near if undecided => {
            "The load differed, which may have caused or hidden a change: record both at the same load.".to_string()
        }
        _ => return None,
    };
    Some(text)
}

/// Where the uncertainty comes from, and how small a change could have been detected.
fn basis(row: &MetricRow, settings: &Settings) -> String {
    let seen = row.detectable.map_or(String::new(), |least| {
        format!(" Detectable in four of five such comparisons: {}.", change(row, least).trim_start_matches('+'))
    });
    match row.basis {
        Some(Basis::Runs { base, new }) => format!("From {base} and {new} runs.{seen}"),
        Some(Basis::Windows { base, new }) => {
            let windows = format!("From {base} and {new} windows of one run each");
            match (settings.noise, row.noise_limit) {
                (Some(noise), _) => {
                    format!("{windows}, and {} between runs (--run-noise).{seen}", typed(noise))
                }
                (None, Some(limit)) => format!(
                    "{windows}, which do not show how far runs of one program differ: the change is beyond chance only if their \
                     standard deviation is below {}. {REPEAT}",
                    relative(limit).trim_start_matches('+')
                ),
                (None, None) => format!("{windows}, which do not decide it even for these two recordings. {REPEAT}"),
            }
        }
        Some(Basis::Nothing) | None => {
            format!("One run a side has too few windows with a value to separate change from chance. {REPEAT}")
        }
    }
}

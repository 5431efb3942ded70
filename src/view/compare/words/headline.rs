//! The sentences that say what a comparison comes to, and what they rest on.
//! It never claims more than a verdict does, and names what would make an open one certain.

use super::conditions::guard_text;
use super::values::{change, interval, own_change, shown, typed};
use crate::analysis::compare::{PRIMARY, Settings};
use crate::view::compare::{Adjustment, Basis, ComparisonView, Lead, MetricRow, Verdict};

/// The sentences that say what a comparison comes to.
pub(in crate::view::compare) fn headline(view: &ComparisonView, settings: &Settings) -> Vec<String> {
    let mut out = Vec::new();
    match &view.answer {
        Some(row) if row.difference.is_some() => answer(&mut out, view, row, settings),
        Some(row) => out.push(format!("Nothing can be compared: {} has no value on one side.", row.label)),
        None => out.push("Nothing can be compared: there are no recordings.".to_string()),
    }
    if view.primary != PRIMARY {
        out.push(
            "Nothing counted operations on both sides: more load and dearer operations cannot be told apart. Give a source \
             with --ops when recording."
                .to_string(),
        );
    }
    if view.load.adjustment == Adjustment::Apart {
        out.push(
            "Both never had the same load, so the change may come of the load or of the program: record both at loads that \
             overlap."
                .to_string(),
        );
    }
    for guard in view.groups.iter().filter(|guard| guard.disagrees) {
        out.push(guard_text(guard));
    }
    out
}

fn answer(out: &mut Vec<String>, view: &ComparisonView, row: &MetricRow, settings: &Settings) {
    let values = [row.base.value(), row.new.value()].map(|value| value.map_or("-".to_string(), |v| shown(v, row.unit)));
    let sure = typed(settings.confidence);
    let interval = interval(row).map_or(String::new(), |ends| format!(" ({sure} interval {ends})"));
    let change = own_change(row).unwrap_or_default();
    let at = match view.lead {
        Lead::Raw => "",
        Lead::LoadAdjusted => " at the same load",
        Lead::Standardised => " with the base's mixture of hosts",
    };
    let numbers = format!("{}{at} {} -> {}, {change}{interval}", row.label, values[0], values[1]);
    let lead = match (row.verdict, row.name == PRIMARY) {
        (Verdict::More, true) => "Dearer, beyond chance",
        (Verdict::Less, true) => "Cheaper, beyond chance",
        (Verdict::More | Verdict::Less, false) => "Different, beyond chance",
        (Verdict::Same, _) => "The same",
        (Verdict::Undecided, _) => "Not decided",
    };
    out.push(format!("{lead}: {numbers}."));
    let margin = typed(settings.margin);
    match (row.verdict, row.within_margin) {
        (Verdict::Same, _) => out.push(format!("That it differs by less than {margin} was shown, not assumed.")),
        (Verdict::More | Verdict::Less, true) => {
            out.push(format!(
                "Little as it is, it is there; it is less than the {margin} that --same-within calls the same."
            ));
        }
        _ => {}
    }
    out.push(basis(row, settings));
    if let (Lead::LoadAdjusted, Some(raw)) = (view.lead, view.metrics.iter().find(|raw| raw.name == row.name))
        && let Some(change) = own_change(raw)
    {
        out.push(format!("As recorded, load and all, it is {change}."));
    }
}

/// Where the uncertainty comes from, and what could have been seen.
fn basis(row: &MetricRow, settings: &Settings) -> String {
    let seen = row.detectable.map_or(String::new(), |least| {
        format!(" Four of five such comparisons would find a change of {}.", change(row, least).trim_start_matches('+'))
    });
    match row.basis {
        Some(Basis::Runs { base, new }) => format!("From {base} and {new} runs.{seen}"),
        Some(Basis::Windows { base, new }) => {
            let noise = settings.noise.unwrap_or(if row.name == "path_length" { 0.005 } else { 0.02 });
            format!(
                "From {base} and {new} windows of one run each, and {} that runs of one program were taken to differ by: repeats \
                 would measure that.{seen}",
                typed(noise)
            )
        }
        Some(Basis::Nothing) | None => {
            "One run a side, with too few windows that have a value, leaves no telling change from chance: give repeats, \
             BASE1,BASE2,BASE3 NEW1,NEW2,NEW3."
                .to_string()
        }
    }
}

//! Names the conditions that differ where both sides ran the same build: the code cannot explain a change then.

use super::conditions::mismatch;
use crate::view::diff::{ComparisonView, Mismatch, Verdict};

/// Conditions that are named; the others stand among the mismatches.
const MOST: usize = 4;

/// The beginning of the answer to a change beyond chance: `Conditions differ, the build does not: ... `.
pub(super) fn lead(view: &ComparisonView, verdict: Verdict) -> Option<String> {
    matches!(verdict, Verdict::More | Verdict::Less).then(|| differing(view)).flatten().map(|text| format!("{text}. "))
}

/// What the conditions can do to a program. That was not measured, so it is not called the cause.
pub(super) fn explanation(view: &ComparisonView, verdict: Verdict) -> Option<String> {
    let effects = effects(view);
    match verdict {
        Verdict::More | Verdict::Less if !effects.is_empty() => Some(format!(
            "The conditions may explain the change, but how much of it was not measured: {}. Record both sides under the \
             same conditions to see what remains.",
            effects.join("; ")
        )),
        Verdict::Undecided => differing(view).map(|text| format!("{text}. A change may come from that.")),
        _ => None,
    }
}

fn differing(view: &ComparisonView) -> Option<String> {
    let found = explaining(view);
    let named: Vec<String> = found.iter().take(MOST).map(|found| mismatch(found)).collect();
    let rest = found.len().saturating_sub(MOST);
    let rest = if rest > 0 { format!("; and {rest} more, see the mismatches") } else { String::new() };
    (!named.is_empty()).then(|| format!("Conditions differ, the build does not: {}{rest}", named.join("; ")))
}

/// Each effect once, in the order of the conditions.
fn effects(view: &ComparisonView) -> Vec<&'static str> {
    let mut effects = Vec::new();
    for effect in explaining(view).into_iter().take(MOST).filter_map(|found| found.effect) {
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    effects
}

fn explaining(view: &ComparisonView) -> Vec<&Mismatch> {
    view.mismatches.iter().filter(|found| view.same_build && found.effect.is_some()).collect()
}

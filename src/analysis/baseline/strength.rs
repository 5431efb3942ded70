//! Computes a baseline's levels, and how reliable they are: tests them on windows that were left out. Weaknesses are
//! reported as sentences.

use super::levels::{Columns, JUDGED_QUANTITIES, axis, is_unusual, judged_quantity, levels};
use super::{LEAST_COST, LEAST_RECORDINGS, LEAST_WINDOWS, Level, Levels, LoadAxis, Strength, UNUSUAL};
use crate::analysis::diff::PRIMARY;
use crate::model::{Baseline, BaselineWindow, MetricId};

/// A single recording is split into this many stretches, which are left out one after the other.
const STRETCHES: usize = 5;
/// More false alarms than this in left-out windows show that the recordings are unlike each other.
const MANY_ALARMS: f64 = 0.02;
/// Less than this share of windows at known levels is a weakness.
const COVERED: f64 = 0.9;
/// Recordings that all began within an hour cover one hour of the day.
const HOUR_NS: u64 = 3_600_000_000_000;

impl Levels {
    /// Computes the levels from a baseline's windows.
    #[must_use]
    pub fn of(baseline: &Baseline) -> Levels {
        let columns = Columns::of(baseline);
        let axis = axis(baseline, &columns);
        let windows: Vec<&BaselineWindow> = baseline.windows.iter().collect();
        let levels = levels(&columns, axis, &windows);
        let strength = strength(baseline, &columns, axis, &levels);
        Levels { axis, levels, strength }
    }
}

fn strength(baseline: &Baseline, columns: &Columns, axis: LoadAxis, all: &[Level]) -> Strength {
    let windows = baseline.windows.len();
    let known: Vec<&Level> = all.iter().filter(|level| level.is_known()).collect();
    let inside: usize = known.iter().map(|level| level.windows).sum();
    let mut strength = Strength {
        windows,
        sources: baseline.sources.len(),
        known_levels: known.len(),
        covered: if windows > 0 { inside as f64 / windows as f64 } else { 0.0 },
        false_alarms: false_alarms(baseline, columns, axis),
        growth_seen: growth_seen(&known, judged_quantity(all)),
        weaknesses: vec![],
    };
    strength.weaknesses = weaknesses(baseline, axis, all, &strength);
    strength
}

/// The smallest growth that is detected: growth within the run-to-run range is not, however long it lasts.
fn growth_seen(known: &[&Level], judged_quantity: Option<MetricId>) -> Option<f64> {
    let expected =
        known.iter().filter_map(|level| level.expect(judged_quantity?)).filter(|expected| expected.centre > 0.0);
    expected.map(|expected| (expected.reach(UNUSUAL) / expected.centre).max(LEAST_COST)).reduce(f64::max)
}

/// The part that each window is left out with: its recording or, of a single one, its stretch of time.
fn folds(baseline: &Baseline) -> Vec<usize> {
    let count = baseline.windows.len();
    let recordings = baseline.sources.iter().filter(|source| source.windows > 0).count();
    let fold = |(at, window): (usize, &BaselineWindow)| {
        if recordings > 1 { window.source as usize } else { at * STRETCHES / count.max(1) }
    };
    baseline.windows.iter().enumerate().map(fold).collect()
}

fn false_alarms(baseline: &Baseline, columns: &Columns, axis: LoadAxis) -> Option<f64> {
    let [judged_quantity, otherwise] = JUDGED_QUANTITIES;
    let columns = &columns.only(&[axis.quantity(), judged_quantity, otherwise]);
    let folds = folds(baseline);
    let mut parts = folds.clone();
    parts.sort_unstable();
    parts.dedup();
    let (mut judged, mut unusual) = (0_usize, 0_usize);
    for part in evenly_spread(&parts) {
        let windows = || baseline.windows.iter().zip(&folds);
        let rest: Vec<_> = windows().filter(|(_, fold)| **fold != part).map(|(window, _)| window).collect();
        let learnt = levels(columns, axis, &rest);
        for (window, _) in windows().filter(|(_, fold)| **fold == part) {
            if let Some(odd) = is_unusual(columns, axis, &learnt, window) {
                judged += 1;
                unusual += usize::from(odd);
            }
        }
    }
    (judged >= LEAST_WINDOWS).then(|| unusual as f64 / judged as f64)
}

/// A limited number of parts, evenly spread: each costs a pass over all windows.
fn evenly_spread(parts: &[usize]) -> impl Iterator<Item = usize> {
    const MOST: usize = 20;
    parts.iter().copied().step_by(parts.len().div_ceil(MOST).max(1))
}

fn weaknesses(baseline: &Baseline, axis: LoadAxis, all: &[Level], strength: &Strength) -> Vec<String> {
    let has = |id| all.iter().any(|level| level.expect(id).is_some());
    let mut found = Vec::new();
    let Strength { windows, sources, known_levels, covered, .. } = *strength;
    if known_levels == 0 {
        found.push(format!(
            "No level of load has the {LEAST_WINDOWS} windows that it needs; there are {windows} in all. \
             Record for longer, and extend it."
        ));
    } else if covered < COVERED {
        found.push(format!(
            "{:.0}% of the windows lie at loads with fewer than {LEAST_WINDOWS} windows each, which are not compared.",
            (1.0 - covered) * 100.0
        ));
    }
    found.extend(few_recordings(sources, all));
    found.extend((sources > 1).then(|| one_hour(baseline)).flatten());
    match strength.false_alarms {
        Some(share) if share > MANY_ALARMS => found.push(format!(
            "{:.0}% of the windows of {} left out in turn would have been called unusual: they are unlike each other.",
            share * 100.0,
            if sources > 1 { "recordings" } else { "stretches" },
        )),
        None if known_levels > 0 && judged_quantity(all).is_some() => {
            found.push("Too few windows to estimate how often it would raise a false alarm.".to_string());
        }
        _ => {}
    }
    if known_levels == 1 {
        found.extend(one_level(axis, all));
    }
    if !has(PRIMARY) {
        found.push(
            "Operations were not counted per window, so load and cost cannot be told apart. Record with --ops."
                .to_string(),
        );
    }
    if !has(MetricId::PathLength) && has(PRIMARY) {
        found.push(
            "No instructions were counted: more work and slower work cannot be told apart by counters.".to_string(),
        );
    }
    found
}

/// What remains unknown with fewer recordings than the promise needs.
fn few_recordings(sources: usize, all: &[Level]) -> Option<String> {
    let known = match sources {
        0 | LEAST_RECORDINGS.. => return None,
        1 => "It was built from one recording: how far runs differ is not known, and assumed from other programs.",
        _ => "It was built from two recordings: how far runs differ is hardly known.",
    };
    let wait = wait_seen(all).map_or(String::new(), |times| {
        format!(" A lasting wait for CPUs is unusual from {times:.1} times the usual one on.")
    });
    Some(format!(
        "{known} It detects only large changes, and with fewer than {LEAST_RECORDINGS} no rate of false alarms is \
         promised: a run that merely differs may raise one.{wait} Extend it with more."
    ))
}

/// How many times the usual wait for a CPU is outside of its band, at the least sensitive known level.
fn wait_seen(all: &[Level]) -> Option<f64> {
    let wait = |level: &Level| {
        let ids = [MetricId::RunQueueDelayPerOp, MetricId::RunQueueDelay];
        let expected = ids.iter().find_map(|id| level.expect(*id)).filter(|expected| expected.centre > 0.0)?;
        Some(1.0 + expected.reach(UNUSUAL) / expected.centre)
    };
    all.iter().filter(|level| level.is_known()).filter_map(wait).reduce(f64::max)
}

fn one_level(axis: LoadAxis, all: &[Level]) -> Option<String> {
    let level = all.iter().find(|level| level.is_known())?;
    let number = |load: f64| match axis {
        LoadAxis::OpsPerSecond if load >= 100.0 => format!("{load:.0}"),
        _ => format!("{load:.2}"),
    };
    let unit = match axis {
        LoadAxis::OpsPerSecond => "operations per second",
        LoadAxis::BusyCores => "busy CPUs",
    };
    let (from, to) = (number(level.from), number(level.to));
    let range = if from == to { from } else { format!("{from} to {to}") };
    Some(format!(
        "It knows one level of load, {range} {unit}: below it, only quantities that cannot grow when load falls are compared; above it, nothing is."
    ))
}

/// Reports if all recordings began within an hour.
fn one_hour(baseline: &Baseline) -> Option<String> {
    let started = || baseline.sources.iter().map(|source| source.started_unix_ns);
    let within = started().max()?.saturating_sub(started().min()?) < HOUR_NS;
    within.then(|| "All of its recordings began within one hour: other times of the day are not known.".to_string())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{baseline, loaded, noise};
    use super::*;

    fn strength_of(baseline: &Baseline) -> Strength {
        Levels::of(baseline).strength
    }

    #[test]
    fn windows_left_out_are_usual_where_recordings_are_alike_and_unusual_where_one_is_not() {
        let alike = strength_of(&baseline(&[40, 40, 40]));
        assert_eq!((alike.false_alarms, alike.covered, alike.sources), (Some(0.0), 1.0, 3));
        let odd = loaded(&[40, 40, 40], &|at| (1000.0, 5e5 * if at >= 80 { 1.4 } else { 1.0 + 0.01 * noise(at) }));
        let found = strength_of(&odd);
        assert!(found.false_alarms.unwrap() > 0.3, "{found:?}");
        assert!(found.weaknesses.iter().any(|text| text.contains("unlike each other")), "{found:?}");
    }

    #[test]
    fn of_a_single_recording_stretches_of_time_are_left_out() {
        let moved = loaded(&[100], &|at| (1000.0, 5e5 * if at >= 80 { 1.5 } else { 1.0 + 0.01 * noise(at) }));
        assert_eq!(strength_of(&moved).false_alarms, Some(0.2));
        assert_eq!(strength_of(&baseline(&[100])).false_alarms, Some(0.0));
        assert_eq!(strength_of(&baseline(&[22])).false_alarms, None, "17 windows are no level");
    }

    #[test]
    fn the_more_recordings_agree_the_smaller_a_growth_is_seen() {
        let seen = |windows: &[usize]| strength_of(&baseline(windows)).growth_seen.unwrap();
        let [one, two, three, many] = [seen(&[40]), seen(&[40; 2]), seen(&[40; 3]), seen(&[40; 8])];
        assert!(one > 0.2 && one > two && two > three && three < 0.08 && many < three, "{one} {two} {three} {many}");
        assert!(seen(&[40; 20]) >= LEAST_COST, "less does not matter");
        let mut silent = baseline(&[40, 40]);
        silent.windows.iter_mut().for_each(|window| window.cells[..2].fill(None));
        assert_eq!(strength_of(&silent).growth_seen, None);
    }

    #[test]
    fn what_is_wanting_is_said() {
        let wants = |baseline: &Baseline| strength_of(baseline).weaknesses.join("\n");
        let thin = wants(&baseline(&[7]));
        assert!(thin.contains("there are 7 in all") && thin.contains("one recording"), "{thin}");
        let one = wants(&baseline(&[40, 40]));
        assert!(one.contains("one level of load, 1000 operations per second"), "{one}");
        assert!(one.contains("No instructions were counted") && !one.contains("one recording"), "{one}");
        assert!(one.contains("two recordings") && !wants(&baseline(&[40, 40, 40])).contains("promised"), "{one}");
        // Waits of 10 us per operation that scatter by up to 2 us: three times as long is reported as unusual.
        let waiting = |sources: &[usize]| {
            let mut waiting = baseline(sources);
            waiting.quantities.push(MetricId::RunQueueDelayPerOp.name().to_string());
            for (at, window) in waiting.windows.iter_mut().enumerate() {
                window.cells.push(Some([1e3 * (1e4 + 2e3 * noise(at)), 1e3]));
            }
            wants(&waiting)
        };
        let text = waiting(&[40]);
        let times = text.split("unusual from ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!((1.2..3.0).contains(&times.parse::<f64>().unwrap()), "{text}");
        assert!(!waiting(&[40, 40, 40]).contains("wait for CPUs"), "the promise holds there");
        let mut near = baseline(&[40, 40]);
        near.sources[1].started_unix_ns = near.sources[0].started_unix_ns + 60_000_000_000;
        assert!(wants(&near).contains("within one hour"));
        let mut silent = baseline(&[40, 40]);
        silent.windows.iter_mut().for_each(|window| window.cells[..2].fill(None));
        let silent = strength_of(&silent);
        assert!(silent.weaknesses.join("\n").contains("Record with --ops"), "{silent:?}");
        assert_eq!(silent.false_alarms, None);
        let scattered = loaded(&[40], &|at| (if at < 30 { 1000.0 } else { 2000.0 * 1.5_f64.powi(at as i32) }, 5e5));
        assert!(wants(&scattered).contains("25% of the windows"), "{}", wants(&scattered));
    }
}

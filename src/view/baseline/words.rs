//! Describes a baseline in sentences that are the same in every format.
//! Claims about its accuracy rest on windows that were left out when it was tested.

use super::{BaselineView, KeyView, LevelView, LoadAxis};
use crate::analysis::baseline::{HOURLY_FALSE_ALARMS, LEAST_RECORDINGS};
use crate::model::Unit;
use crate::view::number::{self, percent, quantity, three_digits};

/// `84 windows of 3 recordings at 2 levels of load`.
#[must_use]
pub fn size(view: &BaselineView) -> String {
    let strength = &view.strength;
    let levels = match strength.known_levels {
        0 => "at no level of load known well enough".to_string(),
        n => format!("at {} of load", several(n, "level")),
    };
    format!("{} of {} {levels}", several(strength.windows, "window"), several(strength.sources, "recording"))
}

/// `1 window`, `84 windows`.
#[must_use]
pub fn several(number: usize, what: &str) -> String {
    number::several(number as u64, what)
}

/// A load with its unit: `1,000 operations/s`, `1.98 busy CPUs`.
#[must_use]
pub fn load(axis: LoadAxis, load: f64) -> String {
    match axis {
        LoadAxis::OpsPerSecond => format!("{} operations/s", three_digits(load)),
        LoadAxis::BusyCores => format!("{} busy CPUs", three_digits(load)),
    }
}

/// `990 to 1,010 operations/s`; one number if both ends print the same.
#[must_use]
pub fn range(axis: LoadAxis, (from, to): (f64, f64)) -> String {
    let (low, high) = (three_digits(from), three_digits(to));
    if low == high { load(axis, from) } else { format!("{low} to {}", load(axis, to)) }
}

/// A level's title.
#[must_use]
pub fn level(axis: LoadAxis, level: &LevelView) -> String {
    let windows = several(level.windows, "window");
    let thin = if level.known { "" } else { ": too few to compare with" };
    format!("{}, {windows}{thin}", range(axis, (level.from, level.to)))
}

/// Why this quantity measures the load.
#[must_use]
pub fn axis(axis: LoadAxis) -> &'static str {
    match axis {
        LoadAxis::OpsPerSecond => "operations per second: the cost of one depends less on them than on busy CPUs",
        LoadAxis::BusyCores => {
            "busy CPUs: the cost of an operation depends less on them than on operations per second, or none were counted"
        }
    }
}

/// How reliable the baseline is, in sentences. Its weaknesses are not included.
#[must_use]
pub fn strength(view: &BaselineView) -> Vec<String> {
    let strength = &view.strength;
    let mut out =
        vec![format!("{}; {} of the windows are at such levels.", size(view), percent(strength.covered).joined())];
    if let Some(share) = strength.false_alarms {
        let part = if strength.sources > 1 { "recording" } else { "stretch of time" };
        out.push(format!(
            "With each {part} left out in turn, {} of its windows would have been called unusual.",
            percent(share).joined()
        ));
    }
    if let Some(growth) = strength.growth_seen {
        out.push(format!(
            "A lasting growth of {} in the cost of an operation raises an alarm; runs may differ by less without a reason.",
            percent(growth).joined()
        ));
    }
    if strength.sources >= LEAST_RECORDINGS && strength.known_levels > 0 {
        out.push(format!(
            "At most {} of unchanged runs raise a false alarm within an hour (simulated with runs that differ by up to 4%).",
            percent(HOURLY_FALSE_ALARMS).joined()
        ));
    }
    if view.outliers > 0 {
        out.push(format!(
            "{} unusual; they stay in it and hardly move what is usual.",
            if view.outliers == 1 {
                "1 of its own windows is".to_string()
            } else {
                format!("{} of its own windows are", view.outliers)
            }
        ));
    }
    out
}

/// The machine in one line.
#[must_use]
pub fn machine(key: &KeyView) -> String {
    let allowed = key.allowed_cpus.iter().find(|_| key.cpu_set.is_empty()).unwrap_or(&key.cpu_set);
    let confined = if allowed.is_empty() {
        String::new()
    } else {
        format!(", on CPUs {}", allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
    };
    format!("{}, {}, {} CPUs{confined}, kernel {}", key.host, key.cpu_model, key.cpus, key.kernel)
}

/// The program in one line.
#[must_use]
pub fn program(key: &KeyView) -> String {
    match (&key.program, &key.build_id) {
        (Some(path), Some(id)) => format!("{path} (build {})", id.chars().take(12).collect::<String>()),
        (Some(path), None) => format!("{path} (without a build-id: a new build is not noticed)"),
        (None, _) => "not known: no samples were taken".to_string(),
    }
}

/// Operations, CPU time and call paths of a baseline.
#[must_use]
pub fn totals(view: &BaselineView) -> String {
    let cpu = quantity(view.cpu_seconds, Unit::Seconds).joined();
    let paths = several(view.stacks, "call path");
    match view.operations {
        Some(ops) => format!("{} operations, {cpu} of CPU time in {paths}", quantity(ops, Unit::Count).joined()),
        None => format!("{cpu} of CPU time in {paths}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::baseline::testing::{baseline, loaded};

    #[test]
    fn sentences_hold_the_numbers() {
        let view = BaselineView::of(&baseline(&[40, 40]), "web", vec![]);
        assert_eq!(size(&view), "80 windows of 2 recordings at 1 level of load");
        assert_eq!(
            strength(&view)[1],
            "With each recording left out in turn, 0% of its windows would have been called unusual."
        );
        assert_eq!(level(view.axis, &view.levels[0]), "1,000 operations/s, 80 windows");
        assert_eq!(totals(&view), "80,000 operations, 40.0 s of CPU time in 2 call paths");
        assert_eq!(program(&view.key), "/opt/app (build 0a0b)");
        let mut confined = view.key.clone();
        for (set, allowed, expected) in [
            (vec![], None, None),
            (vec![], Some(vec![]), None),
            (vec![], Some(vec![1]), Some("on CPUs 1,")),
            (vec![0, 2], Some(vec![1]), Some("on CPUs 0,2,")),
        ] {
            (confined.cpu_set, confined.allowed_cpus) = (set, allowed);
            let line = machine(&confined);
            assert_eq!(line.contains("on CPUs"), expected.is_some(), "{line}");
            assert!(expected.is_none_or(|part| line.contains(part)), "{line}");
        }
        let odd = loaded(&[40], &|at| (1000.0 + at as f64, if at == 3 { 9e5 } else { 5e5 }));
        let view = BaselineView::of(&odd, "web", vec![]);
        assert!(strength(&view)[3].starts_with("1 of its own windows is unusual;"), "{:?}", strength(&view));
        assert_eq!(range(view.axis, (1000.0, 1039.0)), "1,000 to 1,040 operations/s");
        assert_eq!(range(LoadAxis::BusyCores, (1.5, 1.98)), "1.50 to 1.98 busy CPUs");
    }

    #[test]
    fn what_one_looks_at_first_comes_first() {
        let view = BaselineView::of(&baseline(&[40]), "web", vec![]);
        let names: Vec<_> = view.levels[0].expected.iter().map(|e| (e.name, e.leading)).collect();
        assert_eq!(names, [("cpu_ns_per_op", true), ("ops_per_s", true), ("busy_cores", true)]);
    }
}

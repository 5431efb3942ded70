//! Values, changes and reasons of the overview as text. Every number has its unit, and a missing one is never zero.

use crate::model::{Measure, MetricId, Unit, Why};
use crate::view::fit::width;
use crate::view::number::{percent, quantity, three_digits};
use crate::view::overview::{Change, Factor, Overview};

/// The placeholder for a missing value.
pub(super) const DASH: &str = "-";

/// A factor's value with its unit; a dash where it is missing.
pub(super) fn value(factor: &Factor) -> String {
    factor.value.value().map_or_else(|| DASH.to_string(), |value| in_unit(factor, *value))
}

pub(super) fn in_unit(factor: &Factor, value: f64) -> String {
    let shown = quantity(value, factor.unit);
    if factor.noun.is_empty() {
        return shown.joined();
    }
    let noun = factor.noun;
    // A per-second unit follows the prefix directly: 3.60 G/s.
    let glue = if shown.unit.is_empty() && noun.starts_with('/') { "" } else { " " };
    let noun_glue = if noun.starts_with('/') || shown.unit.is_empty() { "" } else { " " };
    format!("{}{glue}{}{noun_glue}{noun}", shown.number, shown.unit)
}

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeDirection {
    /// Explained by chance alone.
    Same,
    /// More.
    More,
    /// Less.
    Less,
}

impl ChangeDirection {
    /// One character for it.
    pub fn sign(self) -> &'static str {
        match self {
            ChangeDirection::Same => "=",
            ChangeDirection::More => "+",
            ChangeDirection::Less => "-",
        }
    }
}

/// A change as short text: `+12.3%`, `x20.9` from a factor of two on, `+3.20 pt` for shares, `=` if chance explains it.
pub(super) fn change(change: &Change, unit: Unit) -> (String, ChangeDirection) {
    if !change.is_clear() {
        return ("=".to_string(), ChangeDirection::Same);
    }
    let weight = if change.after > change.before { ChangeDirection::More } else { ChangeDirection::Less };
    let sign = weight.sign();
    let text = match (unit, change.relative()) {
        (Unit::Share, _) => {
            format!("{sign}{} pt", three_digits((change.after - change.before).abs() * 100.0))
        }
        (_, None) => "from 0".to_string(),
        (_, Some(relative)) if relative >= 1.0 => format!("x{}", three_digits(relative + 1.0)),
        (_, Some(relative)) => format!("{sign}{}", percent(relative.abs()).joined()),
    };
    (text, weight)
}

/// Why a factor is missing, the longest wording first; a line takes the first that fits.
pub(super) fn reasons(factor: &Factor, why: Why, view: &Overview) -> &'static [&'static str] {
    match why {
        // `Idle` means here that there is no quota, not that the target was idle.
        Why::Idle if factor.id == MetricId::ThrottledShare => &["no CPU quota is set"],
        Why::NotSupported if view.virtual_machine => &[
            "not counted here (virtual machine without PMU; ironlaw doctor)",
            "not counted here (no PMU; ironlaw doctor)",
            "no PMU",
        ],
        Why::NotSupported => &["not counted here (no PMU; ironlaw doctor)", "no PMU"],
        Why::NotPermitted => &["refused by the kernel (ironlaw doctor)", "refused"],
        Why::NoOpsSource => &["nothing counts operations (--ops)", "no --ops"],
        Why::OpsSilent => &["the operation source gave no total", "no total yet"],
        Why::Multiplexed => &["counted for too little of the time"],
        Why::TooFewSamples => &["too few samples"],
        Why::TooFewHosts => &["too few hosts"],
        Why::Unvarying => &["it did not vary"],
        Why::Interleaved => &["other code runs between its samples", "interleaved"],
        Why::RunsScatter => &["runs of the same differ by as much", "runs scatter"],
        Why::LostEvents => &["records were lost"],
        Why::NotRecorded => &["not recorded"],
        Why::TargetGone => &["the target was gone"],
        Why::Idle => &["nothing ran"],
        Why::NotRead => &["not read in this window", "not read"],
        Why::ThreadsUnread => &["most threads ended unread", "unread"],
        Why::QueueUnknown => &["blocked time may be run-queue time", "queue unknown"],
        Why::TooCostly => &["counting would cost too much (--max-overhead)", "too costly"],
        Why::CoarseBins => &["only an interval is known", "interval only"],
        Why::NoSlo => &["no SLO is given (--slo)", "no --slo"],
        Why::BeyondRange => &["longer than its source can measure", "beyond range"],
        Why::Suspect => &["counters come to a value that cannot be", "suspect"],
    }
}

/// Factors that are missing for the same reason.
#[derive(Debug)]
pub(super) struct MissingFactors<'a> {
    pub factors: Vec<&'a Factor>,
    reasons: &'static [&'static str],
}

/// Groups factors that are missing for the same reason, in their order.
pub(super) fn absent<'a>(factors: impl Iterator<Item = &'a Factor>, view: &Overview) -> Vec<MissingFactors<'a>> {
    let mut all: Vec<MissingFactors<'a>> = Vec::new();
    for factor in factors {
        let Some(why) = factor.value.why() else { continue };
        let reasons = reasons(factor, why, view);
        match all.iter_mut().find(|absent| absent.reasons == reasons) {
            Some(absent) => absent.factors.push(factor),
            None => all.push(MissingFactors { factors: vec![factor], reasons }),
        }
    }
    all
}

impl MissingFactors<'_> {
    /// `path length, CPI: not counted here`, with the longest reason that leaves room for all names.
    pub fn text(&self, room: usize) -> String {
        let names: Vec<_> = self.factors.iter().map(|factor| factor.label).collect();
        let all = names.join(", ");
        let fits = |reason: &&&str| width(&all) + 2 + width(reason) <= room;
        match self.reasons.iter().find(fits).or(self.reasons.last()) {
            Some(reason) => format!("{}: {reason}", fitting(&names, room.saturating_sub(width(reason) + 2))),
            None => all,
        }
    }
}

/// As many of the names as fit, `...` for the rest.
fn fitting(names: &[&str], room: usize) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        let more = if at + 1 < names.len() { ", ...".len() } else { 0 };
        let glue = if at > 0 { ", " } else { "" };
        if at > 0 && width(&text) + width(glue) + width(name) + more > room {
            return text + ", ...";
        }
        text.push_str(glue);
        text.push_str(name);
    }
    text
}

/// A factor in full, for the status line: value with all digits, change, source, reason if missing.
pub(super) fn in_full(factor: &Factor, place: &str) -> String {
    let mut text = String::new();
    if !place.is_empty() {
        text = format!("{place}: ");
    }
    text.push_str(factor.label);
    match (factor.value.value(), factor.value.why()) {
        (Some(value), _) => {
            text.push_str(&format!(" {}", in_unit(factor, *value)));
            if let Measure::Known { quality, .. } = factor.value
                && quality.coverage < 1.0
            {
                text.push_str(&format!(" (counted {} of the time)", percent(quality.coverage).joined()));
            }
        }
        (None, why) => text.push_str(&format!(": {}", why.map_or("missing", Why::text))),
    }
    if let Some(change) = &factor.change {
        let before = in_unit(factor, change.before);
        let (word, weight) = self::change(change, factor.unit);
        let word = if weight == ChangeDirection::Same { "no clear change".to_string() } else { word };
        text.push_str(&format!(", before {before} ({word})"));
    }
    if let Some(share) = factor.share_of_change {
        text.push_str(&format!(", {} of the change", percent(share).joined()));
    }
    text + &format!("  = {}", factor.formula)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quality;

    fn factor(unit: Unit, noun: &'static str, value: Measure<f64>) -> Factor {
        Factor {
            id: MetricId::Cpi,
            label: "label",
            unit,
            noun,
            value,
            history: vec![],
            change: None,
            share_of_change: None,
            formula: "d a / d b".to_string(),
        }
    }

    #[test]
    fn a_value_has_three_digits_and_its_unit() {
        for (unit, noun, number, expected) in [
            (Unit::Seconds, "", 4.29e-6, "4.29 us"),
            (Unit::Count, "instr", 2033.6, "2,030 instr"),
            (Unit::Count, "op/s", 37_083_372.0, "37.1 M op/s"),
            (Unit::Count, "op/s", 50.0, "50.0 op/s"),
            (Unit::Count, "/s", 7.5e9, "7.50 G/s"),
            (Unit::Count, "/s", 75.0, "75.0/s"),
            (Unit::Hertz, "", 3.6e9, "3.60 GHz"),
            (Unit::Ratio, "", 7.589, "7.59"),
        ] {
            assert_eq!(value(&factor(unit, noun, Measure::exact(number))), expected);
        }
        assert_eq!(value(&factor(Unit::Ratio, "", Measure::Missing(Why::Idle))), "-");
    }

    #[test]
    fn a_change_reads_as_a_part_a_multiple_or_points_and_as_equal_within_chance() {
        for (unit, before, after, error, expected) in [
            (Unit::Ratio, 1.0, 1.123, None, "+12.3%"),
            (Unit::Ratio, 1.0, 0.981, None, "-1.90%"),
            (Unit::Ratio, 0.363_083, 7.589_45, None, "x20.9"),
            (Unit::Share, 0.10, 0.132, None, "+3.20 pt"),
            (Unit::Share, 0.10, 0.05, None, "-5.00 pt"),
            (Unit::PerSecond, 0.0, 5.0, None, "from 0"),
            (Unit::PerSecond, 10.0, 11.0, Some(0.6), "="),
        ] {
            assert_eq!(change(&Change { before, after, error }, unit).0, expected);
        }
    }

    #[test]
    fn what_is_missing_together_is_named_with_the_longest_reason_that_fits() {
        let missing = |id, label| Factor { id, label, ..factor(Unit::Ratio, "", Measure::Missing(Why::Idle)) };
        let factors = [
            missing(MetricId::PathLength, "path length"),
            missing(MetricId::Cpi, "CPI"),
            missing(MetricId::Frequency, "frequency"),
        ];
        let absent = MissingFactors { factors: factors.iter().collect(), reasons: &["not counted (no PMU)", "no PMU"] };
        for (room, expected) in [
            (49, "path length, CPI, frequency: not counted (no PMU)"),
            (48, "path length, CPI, frequency: no PMU"),
            (30, "path length, CPI, ...: no PMU"),
            (0, "path length, ...: no PMU"),
        ] {
            assert_eq!(absent.text(room), expected, "{room}");
        }
    }

    #[test]
    fn the_status_line_gives_value_cover_change_and_source_or_the_reason() {
        let known = Measure::Known { value: 2.0, quality: Quality { coverage: 0.25 } };
        let mut changed = factor(Unit::Ratio, "", known);
        changed.change = Some(Change { before: 1.0, after: 2.0, error: None });
        changed.share_of_change = Some(0.984);
        assert_eq!(
            in_full(&changed, ""),
            "label 2.00 (counted 25.0% of the time), before 1.00 (x2.00), 98.4% of the change  = d a / d b"
        );
        let missing = factor(Unit::Ratio, "", Measure::Missing(Why::NoOpsSource));
        assert_eq!(in_full(&missing, "law"), "law: label: no operation source (give one with --ops)  = d a / d b");
    }
}

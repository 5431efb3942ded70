//! Checks expectations that were stated in advance: a change whose reason is known moves more than the cost alone. A
//! movement that chance or load may have caused does not confirm an expectation.

use super::change::margin;
use super::effect::{Effect, Scale};
use super::load::Adjustment;
use super::quantity::Role;
use super::types::{Change, Comparison, Settings};
use crate::analysis::stats::{holm, student_two_sided};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Measure;
use serde::Serialize;

/// One quantity and its expected movement.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The text as typed.
    pub text: String,
    /// The quantity's name, as in the JSON report.
    pub name: String,
    claim: Claim,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Claim {
    /// Its change is beyond this limit.
    Beyond { above: bool, limit: Limit },
    /// It is the same within the margin.
    Same,
}

/// A limit of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// As a fraction of the base.
    Part(f64),
    /// In the quantity's unit.
    Amount(f64),
}

/// The result of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It moved as expected, beyond chance.
    Confirmed,
    /// Neither that nor its opposite is shown.
    NotConfirmed,
    /// It was shown to do something else.
    Contradicted,
    /// The recordings cannot decide it.
    CannotTell,
}

/// An expectation with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The expectation.
    pub expectation: Expectation,
    /// The change it was judged by; `None` if there is no such quantity.
    pub change: Option<Change>,
    /// Whether that change is at the same load.
    pub same_load: bool,
    /// Probability of a change so far from the limit if it were at the limit, corrected for the number of expectations.
    pub p: Option<f64>,
    /// The result.
    pub outcome: Outcome,
    /// Why it cannot be decided.
    pub reason: Option<&'static str>,
}

impl Expectation {
    /// Parses `NAME up`, `NAME down`, `NAME same`, or a limit of the change: `NAME < -10%`, `NAME > +50`.
    ///
    /// # Errors
    /// `Usage` if it is none of these.
    pub fn parse(text: &str) -> Result<Expectation> {
        let wrong = || {
            Error::new(ErrorKind::Usage, format!("'{text}' expects nothing")).hint(
                "Write e.g. 'l3_mpki down', 'cpi same', or a change: 'path_length < -10%', 'cpu_ns_per_op < -50'.",
            )
        };
        let text = text.trim();
        let at = text.find(|c: char| c.is_whitespace() || c == '<' || c == '>').ok_or_else(wrong)?;
        let (name, rest) = (&text[..at], text[at..].trim());
        let claim = match rest {
            "up" => Claim::Beyond { above: true, limit: Limit::Part(0.0) },
            "down" => Claim::Beyond { above: false, limit: Limit::Part(0.0) },
            "same" => Claim::Same,
            rest => Claim::Beyond { above: rest.starts_with('>'), limit: limit(rest).ok_or_else(wrong)? },
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            return Err(wrong());
        }
        Ok(Expectation { text: text.to_string(), name: name.to_string(), claim })
    }

    /// Whether it only defines the direction of the change.
    fn is_direction(&self) -> bool {
        matches!(self.claim, Claim::Beyond { limit: Limit::Part(0.0) | Limit::Amount(0.0), .. })
    }
}

/// Parses `< -10%`. The limit is that of a change, so a number without a sign or a percent sign can only be zero.
fn limit(text: &str) -> Option<Limit> {
    let number = text.strip_prefix(['<', '>'])?.trim();
    let (digits, percent) = number.strip_suffix('%').map_or((number, false), |digits| (digits.trim(), true));
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
    let signed = digits.starts_with(['+', '-']) || percent || value == 0.0;
    match (signed, percent) {
        (false, _) => None,
        (true, true) => Some(value / 100.0).filter(|part| *part > -1.0).map(Limit::Part),
        (true, false) => Some(Limit::Amount(value)),
    }
}

/// Judges all expectations as one family of tests.
pub(super) fn judge(comparison: &Comparison, settings: &Settings) -> Vec<Expected> {
    let mut all: Vec<Expected> = settings.expect.iter().map(|expected| look(expected, comparison)).collect();
    let p: Vec<f64> = all.iter().map(|expected| expected.p.unwrap_or(f64::NAN)).collect();
    let times = settings.comparisons.max(1) as f64;
    for (expected, p) in all.iter_mut().zip(holm(&p)) {
        expected.p = Some((p * times).min(1.0)).filter(|p| !p.is_nan());
        if expected.outcome != Outcome::CannotTell {
            expected.outcome = outcome(expected, settings);
        }
    }
    all
}

/// The change to judge by, its p before correction, or why there is none.
fn look(expectation: &Expectation, comparison: &Comparison) -> Expected {
    let found = comparison.change(&expectation.name);
    let same_load = found.is_some() && comparison.is_at_same_load(&expectation.name);
    let (p, reason) = match found.map(|change| (change, obstacle(change, comparison))) {
        None => (None, Some("no quantity has this name")),
        Some((_, Some(why))) => (None, Some(why)),
        Some((change, None)) => match distance(expectation, change) {
            Ok(p) => (Some(p), None),
            Err(why) => (None, Some(why)),
        },
    };
    let outcome = if reason.is_some() { Outcome::CannotTell } else { Outcome::NotConfirmed };
    Expected { expectation: expectation.clone(), change: found.cloned(), same_load, p, outcome, reason }
}

/// Why single runs decide nothing.
pub(super) const UNREPEATED: &str =
    "one run a side does not show how far runs of one program differ: give repeats, or say it with --run-noise";

/// Why a change of a cost cannot be attributed to the program: it has no value, or the load may have moved it.
pub(super) fn obstacle(change: &Change, comparison: &Comparison) -> Option<&'static str> {
    if let Some(why) = [change.base, change.new].iter().find_map(Measure::why) {
        return Some(why.text());
    }
    if change.quantity.role == Role::Load || comparison.is_at_same_load(change.quantity.name) {
        return None;
    }
    let surely = change.effect.zip(change.interval).map_or(0.0, |(effect, ends)| effect.nearest(ends));
    let explained = comparison.load.may_explain(surely);
    match comparison.load.adjustment {
        Adjustment::Apart => Some("both never had the same load, which may have moved it"),
        Adjustment::TooFewRuns { .. } => {
            Some("the load differed from run to run, and the runs are too few to compare it at the same load")
        }
        Adjustment::Done { .. } => Some("the load differed, and it cannot be compared at the same load"),
        Adjustment::Near if explained => {
            Some("the load differed, which may have moved it as far, or hidden that it moved")
        }
        Adjustment::Same if explained && surely != 0.0 => Some("it moved no further than the load may have moved it"),
        _ => None,
    }
}

/// The probability of a change so far from the limit if it were at the limit.
fn distance(expectation: &Expectation, change: &Change) -> std::result::Result<f64, &'static str> {
    let effect = change.effect.ok_or("it has no value on both sides")?;
    let limit = expectation.limit_on_scale(&effect)?;
    let known = effect.uncertainty.ok_or(UNREPEATED)?;
    student_two_sided((effect.estimate - limit) / known.error, known.freedom).ok_or("too few repeats")
}

impl Expectation {
    fn limit_on_scale(&self, effect: &Effect) -> std::result::Result<f64, &'static str> {
        let Claim::Beyond { limit, .. } = self.claim else { return Ok(0.0) };
        let part = match limit {
            Limit::Part(part) => part,
            Limit::Amount(amount) if effect.scale == Scale::Absolute => return Ok(amount),
            Limit::Amount(amount) => amount / effect.base,
        };
        match effect.scale {
            Scale::Relative if part > -1.0 => Ok(part.ln_1p()),
            Scale::Relative => Err("it cannot fall by more than there was"),
            Scale::Absolute if part == 0.0 || effect.base > 0.0 => Ok(part * effect.base),
            Scale::Absolute => Err("the base is nothing"),
        }
    }
}

fn outcome(expected: &Expected, settings: &Settings) -> Outcome {
    let Some((change, effect)) = expected.change.as_ref().and_then(|change| Some((change, change.effect?))) else {
        return Outcome::CannotTell;
    };
    let shown = expected.p.is_some_and(|p| p < 1.0 - settings.confidence);
    match expected.expectation.claim {
        Claim::Same if change.within_margin => Outcome::Confirmed,
        // A difference beyond chance whose estimate is within the margin may still be the same in practice.
        Claim::Same if shown && effect.estimate.abs() > margin(&effect, settings) => Outcome::Contradicted,
        Claim::Same => Outcome::NotConfirmed,
        Claim::Beyond { above, .. } => {
            let limit = expected.expectation.limit_on_scale(&effect).unwrap_or(0.0);
            match (shown, (effect.estimate > limit) == above) {
                (true, true) => Outcome::Confirmed,
                (true, false) => Outcome::Contradicted,
                // It was expected to move, but was shown to stay the same.
                (false, _) if change.within_margin && expected.expectation.is_direction() => Outcome::Contradicted,
                (false, _) => Outcome::NotConfirmed,
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{LoadShape, loaded, side};
    use super::super::types::Side;
    use super::*;

    #[test]
    fn an_expectation_is_a_name_and_a_direction_or_a_limit_of_the_change() {
        let beyond = |above, limit| Claim::Beyond { above, limit };
        for (text, name, claim) in [
            ("l3_mpki down", "l3_mpki", beyond(false, Limit::Part(0.0))),
            (" cpi  up ", "cpi", beyond(true, Limit::Part(0.0))),
            ("cpi same", "cpi", Claim::Same),
            ("cpi<0", "cpi", beyond(false, Limit::Amount(0.0))),
            ("cpi < -10%", "cpi", beyond(false, Limit::Part(-0.1))),
            ("cpi > 5 %", "cpi", beyond(true, Limit::Part(0.05))),
            ("cpu_ns_per_op < -50", "cpu_ns_per_op", beyond(false, Limit::Amount(-50.0))),
        ] {
            let found = Expectation::parse(text).unwrap();
            assert_eq!((found.name.as_str(), found.claim), (name, claim), "{text}");
        }
        for text in ["", "cpi", "cpi 5", "cpi < 1.2", "cpi < -100%", "CPI up", "up", " > 1%", "cpi > NaN%", "c p up"] {
            assert_eq!(Expectation::parse(text).unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }

    fn told(base: &Side, new: &Side, texts: &[&str]) -> Vec<(Outcome, Option<&'static str>)> {
        let expect = texts.iter().map(|text| Expectation::parse(text).unwrap()).collect();
        let found = Comparison::of(base, new, &Settings { expect, noise: Some(0.02), ..Settings::default() });
        found.expectations.iter().map(|expected| (expected.outcome, expected.reason)).collect()
    }

    #[test]
    fn what_moved_beyond_chance_confirms_or_contradicts_and_chance_does_neither() {
        use Outcome::{CannotTell, Confirmed, Contradicted, NotConfirmed};
        let base = side(&[100.0, 101.0, 99.0]);
        let (dearer, wild) = (side(&[110.0, 111.0, 109.0]), side(&[90.0, 110.0, 130.0]));
        let same = side(&[100.1, 101.1, 99.1, 100.0, 100.2]);
        for (text, new, outcome) in [
            ("cpu_ns_per_op up", &dearer, Confirmed),
            ("cpu_ns_per_op down", &dearer, Contradicted),
            ("cpu_ns_per_op same", &dearer, Contradicted),
            ("cpu_ns_per_op > +5%", &dearer, Confirmed),
            ("cpu_ns_per_op > +9.9%", &dearer, NotConfirmed),
            ("cpu_ns_per_op > +20%", &dearer, Contradicted),
            ("cpu_ns_per_op > +5", &dearer, Confirmed),
            ("ops_per_core_second down", &dearer, Confirmed),
            ("cpu_ns_per_op up", &wild, NotConfirmed),
            ("cpu_ns_per_op down", &wild, NotConfirmed),
            ("cpu_ns_per_op same", &wild, NotConfirmed),
            ("cpu_ns_per_op same", &same, Confirmed),
            ("cpu_ns_per_op up", &same, Contradicted),
            ("cpi down", &dearer, CannotTell),
            ("nonsense down", &dearer, CannotTell),
        ] {
            let found = told(&base, new, &[text]);
            assert_eq!(found[0].0, outcome, "{text}: {found:?}");
            assert_eq!(found[0].1.is_some(), outcome == CannotTell, "{text}: {found:?}");
        }
    }

    #[test]
    fn many_expectations_must_each_be_surer() {
        let (base, new) = (side(&[100.0, 101.0, 99.0]), side(&[103.0, 104.0, 102.0]));
        assert_eq!(told(&base, &new, &["cpu_ns_per_op up"])[0].0, Outcome::Confirmed);
        let many = vec!["cpu_ns_per_op up"; 12];
        assert!(told(&base, &new, &many).iter().all(|found| found.0 == Outcome::NotConfirmed));
    }

    #[test]
    fn where_the_load_may_have_moved_it_nothing_is_told() {
        const OPEN: LoadShape = LoadShape { low: 2e4, high: 1e5, cost_ns: 5000.0, fixed: 0.2, cores: None };
        let (base, half) = (loaded(OPEN), loaded(LoadShape { low: 1e4, high: 5e4, ..OPEN }));
        let found = told(&base, &half, &["cpu_ns_per_op up", "ops_per_s down"]);
        assert_ne!(found[0].0, Outcome::Confirmed, "the load fell, not the cost: {found:?}");
        assert_ne!(found[1].0, Outcome::CannotTell, "load is told as it is: {found:?}");
        let steady = |rate| loaded(LoadShape { low: rate, high: rate, ..OPEN });
        let found = told(&steady(1e5), &steady(2e4), &["cpu_ns_per_op up"]);
        assert!(found[0].0 == Outcome::CannotTell && found[0].1.unwrap().contains("load"), "{found:?}");
    }
}

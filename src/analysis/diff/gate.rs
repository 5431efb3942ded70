//! Evaluates conditions that a merge must meet, e.g. `path_length > +1%`, on a comparison. Chance does not fail a
//! merge, and a missing number does not pass one: a gate that cannot be decided is neither passed nor broken.

use super::change::Change;
use super::comparison::Comparison;
use super::comparison::Outcome;
use super::expect::{UNREPEATED, obstacle};
use super::load::LoadAdjustment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Measure, MetricId, Role};
use serde::Serialize;

/// One condition that breaks the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The text as typed.
    pub text: String,
    /// The quantity's name, as in the JSON report.
    pub name: String,
    above: bool,
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// Limit of the change, as a fraction of the base.
    Relative(f64),
    /// Limit of the change, in the quantity's unit.
    Change(f64),
    /// Limit of the new value, in the quantity's unit.
    Value(f64),
    /// No limit: expectations must be confirmed, or at least not be contradicted.
    Expectations { confirmed: bool },
}

/// The status of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// The gate holds.
    Holds,
    /// The estimate is beyond the limit, but its interval is not: more repeats would decide.
    WithinChance,
    /// The gate is broken: the whole interval is beyond the limit.
    Broken,
    /// The gate cannot be decided: a number is missing, or the comparison is undecided.
    Undecided,
}

/// How far a change was shown to go in a gate's direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exceeds {
    /// Not even beyond zero: the interval includes no change.
    Nothing,
    /// Beyond zero, not beyond the limit.
    Zero,
    /// Beyond the limit.
    Limit,
}

/// A number, its interval and its limit on one scale.
struct Tested {
    value: f64,
    interval: Option<(f64, f64)>,
    limit: f64,
    /// Whether it is a change and not a value: only then zero has a meaning.
    is_change: bool,
}

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateResult {
    /// The status of the gate.
    pub status: GateStatus,
    /// The number that was judged: a fraction, a change or a value.
    pub value: Option<f64>,
    /// Its interval, on the same scale.
    pub interval: Option<(f64, f64)>,
    /// What the whole interval is beyond; `None` if nothing was decided, or the gate is about expectations.
    pub exceeds: Option<Exceeds>,
    /// Why it cannot be decided.
    pub missing: Option<&'static str>,
}

impl Tested {
    fn is_beyond(&self, above: bool, value: f64) -> bool {
        if above { value > self.limit } else { value < self.limit }
    }

    /// Judges by the end of the interval that is nearest to the limit.
    fn exceeds(&self, above: bool, (low, high): (f64, f64)) -> Exceeds {
        let beyond = |limit: f64| if above { low > limit } else { high < limit };
        match () {
            () if beyond(self.limit) => Exceeds::Limit,
            () if self.is_change && beyond(0.0) => Exceeds::Zero,
            () => Exceeds::Nothing,
        }
    }
}

impl Gate {
    /// Parses `NAME > +1%` (relative change), `NAME > +50` (change in the quantity's unit) or `NAME > 500` (the value);
    /// `unconfirmed` and `contradicted` refer to expectations.
    ///
    /// # Errors
    /// `Usage` if it is none of these.
    pub fn parse(text: &str) -> Result<Gate> {
        let wrong = || {
            Error::new(ErrorKind::Usage, format!("invalid gate '{text}'"))
                .hint("Write e.g. 'path_length > +1%', 'cpu_ns_per_op > +50' or 'cpi > 1.2'.")
        };
        if let Some(confirmed) = ["contradicted", "unconfirmed"].iter().position(|word| *word == text.trim()) {
            let (word, limit) = (text.trim().to_string(), Limit::Expectations { confirmed: confirmed == 1 });
            return Ok(Gate { text: word.clone(), name: word, above: false, limit });
        }
        let at = text.find(['>', '<']).ok_or_else(wrong)?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let number = rest[1..].strip_prefix('=').unwrap_or(&rest[1..]).trim();
        let signed = number.starts_with(['+', '-']);
        let (digits, percent) = number.strip_suffix('%').map_or((number, false), |digits| (digits.trim(), true));
        let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(wrong)?;
        let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let limit = match (percent, signed) {
            (true, _) => Limit::Relative(value / 100.0),
            (false, true) => Limit::Change(value),
            (false, false) => Limit::Value(value),
        };
        let above = rest.starts_with('>');
        if named {
            Ok(Gate { text: text.trim().to_string(), name: name.to_string(), above, limit })
        } else {
            Err(wrong())
        }
    }

    /// Whether its limit is a relative change.
    #[must_use]
    pub fn is_relative(&self) -> bool {
        matches!(self.limit, Limit::Relative(_))
    }

    /// Whether it is about expectations and not about a number.
    #[must_use]
    pub fn is_of_expectations(&self) -> bool {
        matches!(self.limit, Limit::Expectations { .. })
    }

    /// Judges the gate. It is broken if the whole interval is beyond the limit, so a change of just the limit breaks it
    /// by chance in one of forty comparisons. Without an interval, or at loads that allow no comparison, it cannot be
    /// decided.
    #[must_use]
    pub fn judge(&self, comparison: &Comparison) -> GateResult {
        if let Limit::Expectations { confirmed } = self.limit {
            return by_expectations(confirmed, comparison);
        }
        let Some(change) = MetricId::named(&self.name).and_then(|id| comparison.change(id)) else {
            return GateResult::undecided("no quantity has this name");
        };
        if let Some(why) = [change.base, change.new].iter().find_map(Measure::why) {
            return GateResult::undecided(why.text());
        }
        let Some(tested) = self.tested(change) else { return GateResult::undecided("the base is nothing") };
        let exceeds = tested.interval.map(|interval| tested.exceeds(self.above, interval));
        let status = match (exceeds, tested.is_beyond(self.above, tested.value)) {
            (None, _) => GateStatus::Undecided,
            (Some(Exceeds::Limit), _) => GateStatus::Broken,
            (_, true) => GateStatus::WithinChance,
            (_, false) => GateStatus::Holds,
        };
        let obstacle = obstacle(change, comparison).filter(|_| !self.holds_at_any_load(status, change, comparison));
        let numbers = GateResult { value: Some(tested.value), interval: tested.interval, ..GateResult::of(status) };
        match obstacle.or(exceeds.is_none().then_some(UNREPEATED)) {
            None => GateResult { exceeds, ..numbers },
            missing => GateResult { status: GateStatus::Undecided, missing, ..numbers },
        }
    }

    /// Whether the status holds for any effect that slightly different loads may have had on the change.
    fn holds_at_any_load(&self, status: GateStatus, change: &Change, comparison: &Comparison) -> bool {
        let steep = change.quantity.role == Role::Latency && comparison.load.adjustment == LoadAdjustment::Near;
        let Some(shift) = comparison.load.slight_shift().filter(|_| !steep) else { return false };
        let widened = self.tested(&change.widened(shift)).and_then(|tested| Some((tested.interval?, tested)));
        let Some((interval, tested)) = widened else { return false };
        let far = if self.above { interval.1 } else { interval.0 };
        match status {
            GateStatus::Broken => tested.exceeds(self.above, interval) == Exceeds::Limit,
            // At practically equal loads, slightly beyond chance is no reason to doubt that it holds.
            _ => comparison.load.adjustment == LoadAdjustment::Same || !tested.is_beyond(self.above, far),
        }
    }

    /// The number to judge, its interval, and the limit.
    fn tested(&self, change: &Change) -> Option<Tested> {
        let effect = change.effect?;
        let relative = effect.scale == super::effect::Scale::Relative;
        let ends = |f: &dyn Fn(f64) -> f64| change.interval.map(|(low, high)| (f(low), f(high)));
        let divided = |end: f64| if relative { end } else { end / effect.base };
        let multiplied = |end: f64| if relative { end * effect.base } else { end };
        let (value, interval, limit, is_change) = match self.limit {
            Limit::Relative(limit) => (effect.relative()?, ends(&divided), limit, true),
            Limit::Change(limit) => (effect.new - effect.base, ends(&multiplied), limit, true),
            // The value is as certain as the change.
            Limit::Value(limit) => (effect.new, ends(&|end| effect.base + multiplied(end)), limit, false),
            Limit::Expectations { .. } => return None,
        };
        Some(Tested { value, interval, limit, is_change })
    }
}

/// Broken if something else was shown, or nothing was; undecided if an expectation is.
fn by_expectations(confirmed: bool, comparison: &Comparison) -> GateResult {
    let any = |outcome| comparison.expectations.iter().any(|expected| expected.outcome == outcome);
    match () {
        () if any(Outcome::Contradicted) || confirmed && any(Outcome::NotConfirmed) => {
            GateResult::of(GateStatus::Broken)
        }
        () if confirmed && any(Outcome::Undecided) => GateResult::undecided("an expectation is undecided"),
        () => GateResult::of(GateStatus::Holds),
    }
}

impl GateResult {
    fn of(status: GateStatus) -> GateResult {
        GateResult { status, value: None, interval: None, exceeds: None, missing: None }
    }

    fn undecided(why: &'static str) -> GateResult {
        GateResult { missing: Some(why), ..GateResult::of(GateStatus::Undecided) }
    }

    /// Whether a merge may pass.
    #[must_use]
    pub fn passes(&self, allow_missing: bool) -> bool {
        match self.status {
            GateStatus::Holds | GateStatus::WithinChance => true,
            GateStatus::Broken => false,
            GateStatus::Undecided => allow_missing,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::digest::Side;
    use super::super::settings::Settings;
    use super::super::testing::{LoadShape, loaded, side};
    use super::*;

    #[test]
    fn a_condition_is_a_name_a_direction_and_a_limit_in_one_of_three_forms() {
        for (text, name, above, limit) in [
            ("path_length > +1%", "path_length", true, Limit::Relative(0.01)),
            (" cpi>=2.5% ", "cpi", true, Limit::Relative(0.025)),
            ("ops_per_core_second < -3 %", "ops_per_core_second", false, Limit::Relative(-0.03)),
            ("cpu_ns_per_op > +50", "cpu_ns_per_op", true, Limit::Change(50.0)),
            ("cpi > 1.2", "cpi", true, Limit::Value(1.2)),
        ] {
            let gate = Gate::parse(text).unwrap();
            assert_eq!((gate.name.as_str(), gate.above, gate.limit), (name, above, limit), "{text}");
        }
        for text in
            ["", "cpi", "cpi > ", "> 1%", "cpi = 3", "cpi > 1 2", "c p i > 1", "cpi > NaN", "cpi > inf%", "CPI > 1"]
        {
            assert_eq!(Gate::parse(text).unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }

    fn judge(text: &str, base: &[f64], new: &[f64]) -> GateResult {
        let comparison = Comparison::of(&side(base), &side(new), &Settings::default());
        Gate::parse(text).unwrap().judge(&comparison)
    }

    #[test]
    fn expectations_break_a_gate_only_where_it_says_so() {
        let (base, new) = (side(&[100.0, 101.0, 99.0]), side(&[110.0, 111.0, 109.0]));
        for (expected, contradicted, unconfirmed) in [
            ("cpu_ns_per_op up", GateStatus::Holds, GateStatus::Holds),
            ("cpu_ns_per_op > +9.9%", GateStatus::Holds, GateStatus::Broken),
            ("cpu_ns_per_op down", GateStatus::Broken, GateStatus::Broken),
            ("cpi down", GateStatus::Holds, GateStatus::Undecided),
        ] {
            let expect = vec![super::super::Expectation::parse(expected).unwrap()];
            let found = Comparison::of(&base, &new, &Settings { expect, ..Settings::default() });
            let status = |word| Gate::parse(word).unwrap().judge(&found).status;
            assert_eq!((status("contradicted"), status(" unconfirmed ")), (contradicted, unconfirmed), "{expected}");
        }
    }

    #[test]
    fn a_gate_is_broken_where_the_whole_interval_is_beyond_its_limit() {
        use Exceeds::{Limit, Nothing, Zero};
        use GateStatus::{Broken, Holds, Undecided, WithinChance};
        let (base, costlier, wild) = ([100.0, 101.0, 99.0], [110.0, 111.0, 109.0], [90.0, 110.0, 130.0]);
        for (text, new, status, exceeds) in [
            ("cpu_ns_per_op > +5%", costlier, Broken, Some(Limit)),
            ("cpu_ns_per_op > +9.5%", costlier, WithinChance, Some(Zero)),
            ("cpu_ns_per_op > +15%", costlier, Holds, Some(Zero)),
            ("cpu_ns_per_op > +5%", wild, WithinChance, Some(Nothing)),
            ("cpu_ns_per_op > +5", costlier, Broken, Some(Limit)),
            ("cpu_ns_per_op > 105", costlier, Broken, Some(Limit)),
            ("cpu_ns_per_op > 105", wild, WithinChance, Some(Nothing)),
            ("ops_per_core_second < -5%", costlier, Broken, Some(Limit)),
            ("cpu_ns_per_op < -5%", costlier, Holds, Some(Nothing)),
            ("cpi > +1%", costlier, Undecided, None),
            ("cpl > +1%", costlier, Undecided, None),
        ] {
            let judged = judge(text, &base, &new);
            assert_eq!((judged.status, judged.exceeds), (status, exceeds), "{text}: {judged:?}");
            assert_eq!(judged.passes(false), matches!(status, Holds | WithinChance));
            assert_eq!(judged.passes(true), status != Broken);
            assert_eq!(judged.missing.is_some(), status == Undecided);
        }
    }

    #[test]
    fn what_single_runs_or_loads_that_never_met_leave_open_is_missing_with_its_reason() {
        let gate = Gate::parse("cpu_ns_per_op > +5%").unwrap();
        let steady = |rate| loaded(LoadShape { low: rate, high: rate, cost_ns: 5000.0, fixed: 0.2, cores: None });
        let repeated = |rate: f64| {
            let runs = [0.99, 1.0, 1.01].iter().flat_map(|part| steady(rate * part).runs);
            Side { label: "s".into(), runs: runs.collect() }
        };
        let of = |base: &Side, new: &Side, noise| {
            gate.judge(&Comparison::of(base, new, &Settings { noise, ..Settings::default() }))
        };
        for (base, new, noise, status, why) in [
            (side(&[100.0]), side(&[200.0]), None, GateStatus::Undecided, Some("--run-noise")),
            (side(&[100.0]), side(&[200.0]), Some(0.02), GateStatus::Broken, None),
            (repeated(1e5), repeated(2e4), None, GateStatus::Undecided, Some("never had the same load")),
            (repeated(1e5), repeated(8.5e4), None, GateStatus::Undecided, Some("which may have moved it as far")),
            (repeated(1e5), repeated(1e5), None, GateStatus::Holds, None),
        ] {
            let judged = of(&base, &new, noise);
            assert_eq!(judged.status, status, "{judged:?}");
            assert_eq!(judged.missing.map(|text| why.is_some_and(|why| text.contains(why))), why.map(|_| true));
        }
    }
}

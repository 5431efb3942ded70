//! Conditions that a merge must meet, e.g. `path_length > +1%`, and whether a comparison breaks them.
//! It never lets chance fail a merge, nor pass one for want of a number: what is missing breaks the gate.

use super::expect::Outcome;
use super::types::{Change, Comparison};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Measure;
use serde::Serialize;

/// One condition under which the gate is broken.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As it was typed.
    pub text: String,
    /// The quantity's name, as in the JSON report.
    pub name: String,
    above: bool,
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// Of the change, as a part of the base.
    Relative(f64),
    /// Of the change, in the quantity's unit.
    Change(f64),
    /// Of the new value, in the quantity's unit.
    Value(f64),
    /// None: what was expected must have come, or at least not its contrary.
    Expected { confirmed: bool },
}

/// How a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It holds.
    Held,
    /// The estimate is beyond the limit, but chance may have done it: more repeats would tell.
    HeldByChance,
    /// It is broken.
    Broken,
    /// It is broken because the number is missing.
    Missing,
}

/// A number, its interval and its limit on one scale.
struct Look {
    seen: f64,
    interval: Option<(f64, f64)>,
    limit: f64,
}

/// A gate with how it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The gate.
    pub gate: Gate,
    /// What was looked at: a part, a change or a value.
    pub seen: Option<f64>,
    /// Its interval, on the same scale.
    pub interval: Option<(f64, f64)>,
    /// How it stands.
    pub standing: Standing,
    /// Why the number is missing.
    pub missing: Option<&'static str>,
}

impl Gate {
    /// Reads `NAME > +1%` (relative change), `NAME > +50` (change in the quantity's unit) or `NAME > 500` (the value);
    /// `unconfirmed` and `contradicted` are about what was expected.
    ///
    /// # Errors
    /// `Usage` if it is none of these.
    pub fn parse(text: &str) -> Result<Gate> {
        let wrong = || {
            Error::new(ErrorKind::Usage, format!("'{text}' is no condition"))
                .hint("Write e.g. 'path_length > +1%', 'cpu_ns_per_op > +50' or 'cpi > 1.2'.")
        };
        if let Some(confirmed) = ["contradicted", "unconfirmed"].iter().position(|word| *word == text.trim()) {
            let (word, limit) = (text.trim().to_string(), Limit::Expected { confirmed: confirmed == 1 });
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

    /// Whether it is about a change, and not about the new value alone.
    #[must_use]
    pub fn is_relative(&self) -> bool {
        matches!(self.limit, Limit::Relative(_))
    }

    /// Whether it is about what was expected, and about no number.
    #[must_use]
    pub fn is_of_expectations(&self) -> bool {
        matches!(self.limit, Limit::Expected { .. })
    }

    /// How it stands. It is broken where the estimate is beyond the limit and the interval holds no change in the other
    /// direction and no zero; a limit on the value itself, and a change without an interval, by the estimate alone.
    #[must_use]
    pub fn judge(&self, comparison: &Comparison) -> Judged {
        let judged =
            |seen, interval, standing, missing| Judged { gate: self.clone(), seen, interval, standing, missing };
        let absent = |why| judged(None, None, Standing::Missing, Some(why));
        if let Limit::Expected { confirmed } = self.limit {
            let (standing, missing) = of_expectations(confirmed, comparison);
            return judged(None, None, standing, missing);
        }
        let Some(change) = comparison.change(&self.name) else { return absent("no quantity has this name") };
        if let Some(why) = [change.base, change.new].iter().find_map(Measure::why) {
            return absent(why.text());
        }
        let Some(Look { seen, interval, limit }) = self.look(change) else { return absent("the base is nothing") };
        let beyond = if self.above { seen > limit } else { seen < limit };
        let is_change = !matches!(self.limit, Limit::Value(_));
        let chance = interval.is_some_and(|(low, high)| if self.above { low <= 0.0 } else { high >= 0.0 });
        let standing = match (beyond, is_change && chance) {
            (false, _) => Standing::Held,
            (true, true) => Standing::HeldByChance,
            (true, false) => Standing::Broken,
        };
        judged(Some(seen), interval, standing, None)
    }

    /// What to look at, its interval, and the limit.
    fn look(&self, change: &Change) -> Option<Look> {
        let effect = change.effect?;
        let relative = effect.scale == super::effect::Scale::Relative;
        let ends = |f: &dyn Fn(f64) -> f64| change.interval.map(|(low, high)| (f(low), f(high)));
        let divided = |end: f64| if relative { end } else { end / effect.base };
        let multiplied = |end: f64| if relative { end * effect.base } else { end };
        let (seen, interval, limit) = match self.limit {
            Limit::Relative(limit) => (effect.relative()?, ends(&divided), limit),
            Limit::Change(limit) => (effect.new - effect.base, ends(&multiplied), limit),
            Limit::Value(limit) => (effect.new, ends(&|end| effect.base + multiplied(end)), limit),
            Limit::Expected { .. } => return None,
        };
        Some(Look { seen, interval, limit })
    }
}

/// Broken by what was shown to be otherwise, or not shown; what nobody can tell is missing.
fn of_expectations(confirmed: bool, comparison: &Comparison) -> (Standing, Option<&'static str>) {
    let any = |outcome| comparison.expectations.iter().any(|expected| expected.outcome == outcome);
    match () {
        () if any(Outcome::Contradicted) || confirmed && any(Outcome::NotConfirmed) => (Standing::Broken, None),
        () if confirmed && any(Outcome::CannotTell) => (Standing::Missing, Some("an expectation cannot be told")),
        () => (Standing::Held, None),
    }
}

impl Judged {
    /// Whether a merge may pass.
    #[must_use]
    pub fn passes(&self, allow_missing: bool) -> bool {
        match self.standing {
            Standing::Held | Standing::HeldByChance => true,
            Standing::Broken => false,
            Standing::Missing => allow_missing,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::side;
    use super::super::types::Settings;
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

    fn judge(text: &str, base: &[f64], new: &[f64]) -> Judged {
        let comparison = Comparison::of(&side(base), &side(new), &Settings::default());
        Gate::parse(text).unwrap().judge(&comparison)
    }

    #[test]
    fn expectations_break_a_gate_only_where_it_says_so() {
        let (base, new) = (side(&[100.0, 101.0, 99.0]), side(&[110.0, 111.0, 109.0]));
        for (expected, contradicted, unconfirmed) in [
            ("cpu_ns_per_op up", Standing::Held, Standing::Held),
            ("cpu_ns_per_op > +9.9%", Standing::Held, Standing::Broken),
            ("cpu_ns_per_op down", Standing::Broken, Standing::Broken),
            ("cpi down", Standing::Held, Standing::Missing),
        ] {
            let expect = vec![super::super::Expectation::parse(expected).unwrap()];
            let found = Comparison::of(&base, &new, &Settings { expect, ..Settings::default() });
            let standing = |word| Gate::parse(word).unwrap().judge(&found).standing;
            assert_eq!(
                (standing("contradicted"), standing(" unconfirmed ")),
                (contradicted, unconfirmed),
                "{expected}"
            );
        }
    }

    #[test]
    fn a_gate_is_broken_beyond_its_limit_and_beyond_chance() {
        let (base, dearer, wild) = ([100.0, 101.0, 99.0], [110.0, 111.0, 109.0], [90.0, 110.0, 130.0]);
        for (text, new, standing) in [
            ("cpu_ns_per_op > +5%", dearer, Standing::Broken),
            ("cpu_ns_per_op > +15%", dearer, Standing::Held),
            ("cpu_ns_per_op > +5%", wild, Standing::HeldByChance),
            ("cpu_ns_per_op > +5", dearer, Standing::Broken),
            ("cpu_ns_per_op > 105", wild, Standing::Broken),
            ("ops_per_core_second < -5%", dearer, Standing::Broken),
            ("cpu_ns_per_op < -5%", dearer, Standing::Held),
            ("cpi > +1%", dearer, Standing::Missing),
            ("cpl > +1%", dearer, Standing::Missing),
        ] {
            let judged = judge(text, &base, &new);
            assert_eq!(judged.standing, standing, "{text}: {judged:?}");
            assert_eq!(judged.passes(false), matches!(standing, Standing::Held | Standing::HeldByChance));
            assert_eq!(judged.passes(true), standing != Standing::Broken);
            assert_eq!(judged.missing.is_some(), standing == Standing::Missing);
        }
    }
}

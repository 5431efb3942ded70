//! What the user expects of a quantity, stated in advance.

use crate::error::{Error, ErrorKind, Result};

/// One quantity and its expected movement.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The text as typed.
    pub text: String,
    /// The quantity's name, as in the JSON report.
    pub name: String,
    pub(super) claim: Claim,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Claim {
    /// Its change is beyond this limit.
    Beyond { above: bool, limit: Limit },
    /// It is the same within the margin.
    Same,
}

/// A limit of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    /// As a fraction of the base.
    Part(f64),
    /// In the quantity's unit.
    Amount(f64),
}

impl Expectation {
    /// Parses `NAME up`, `NAME down`, `NAME same`, or a limit of the change: `NAME < -10%`, `NAME > +50`.
    ///
    /// # Errors
    /// `Usage` if it is none of these.
    pub fn parse(text: &str) -> Result<Expectation> {
        let wrong = || {
            Error::new(ErrorKind::Usage, format!("invalid expectation '{text}'")).hint(
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
    pub(super) fn is_direction(&self) -> bool {
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
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
}

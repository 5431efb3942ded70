//! Formulas of metrics as text, e.g. `1000 * llc-miss / instructions`, so that ironlaw shows the formula it computes.
//!
//! ```text
//! sum     = product { (" + " | " - ") product }
//! product = factor { (" * " | " / ") factor }
//! factor  = number | name | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
//! ```
//!
//! Names contain letters, digits, `-`, `_` and `.`, so binary operators need surrounding spaces.

/// A parsed formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// A constant.
    Number(f64),
    /// A counter, by role.
    Name(String),
    /// Two parts.
    Binary(Sign, Box<Formula>, Box<Formula>),
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// a + b
    Plus,
    /// a - b
    Minus,
    /// a * b
    Times,
    /// a / b
    Over,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

/// Maximum nesting depth of parentheses.
const DEEPEST: usize = 32;

impl Formula {
    /// Parses a formula; `None` if the text is not a valid formula.
    #[must_use]
    pub fn parse(text: &str) -> Option<Formula> {
        let mut parser = Parser { rest: text.trim(), depth: 0 };
        let formula = parser.sum()?;
        parser.rest.is_empty().then_some(formula)
    }

    /// The counters it needs, each once, in order of appearance.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect(&mut names);
        names
    }

    fn collect<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Formula::Number(_) => {}
            Formula::Name(name) if names.contains(&name.as_str()) => {}
            Formula::Name(name) => names.push(name),
            Formula::Binary(_, a, b) => {
                a.collect(names);
                b.collect(names);
            }
        }
    }

    /// Its value; `None` if a counter has no value or a divisor is 0.
    pub fn value(&self, of: &mut impl FnMut(&str) -> Option<f64>) -> Option<f64> {
        let value = match self {
            Formula::Number(number) => *number,
            Formula::Name(name) => of(name)?,
            Formula::Binary(sign, a, b) => sign.apply(a.value(of)?, b.value(of)?)?,
        };
        value.is_finite().then_some(value)
    }
}

impl Sign {
    fn apply(self, a: f64, b: f64) -> Option<f64> {
        Some(match self {
            Sign::Plus => a + b,
            Sign::Minus => a - b,
            Sign::Times => a * b,
            Sign::Over => (b != 0.0).then(|| a / b)?,
            Sign::Min => a.min(b),
            Sign::Max => a.max(b),
        })
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<Formula> {
        self.chain(&[("+", Sign::Plus), ("-", Sign::Minus)], Self::product)
    }

    fn product(&mut self) -> Option<Formula> {
        self.chain(&[("*", Sign::Times), ("/", Sign::Over)], Self::factor)
    }

    fn chain(&mut self, signs: &[(&str, Sign)], part: fn(&mut Self) -> Option<Formula>) -> Option<Formula> {
        let mut left = part(self)?;
        while let Some(sign) = signs.iter().find_map(|(text, sign)| self.take(text).then_some(*sign)) {
            left = Formula::Binary(sign, Box::new(left), Box::new(part(self)?));
        }
        Some(left)
    }

    fn factor(&mut self) -> Option<Formula> {
        if self.take("(") {
            return self.nested(Self::sum);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        let sign = match word {
            "" => return None,
            "min" => Sign::Min,
            "max" => Sign::Max,
            word if word.starts_with(|c: char| c.is_ascii_digit()) => return word.parse().ok().map(Formula::Number),
            word => return Some(Formula::Name(word.to_string())),
        };
        self.take("(").then_some(())?;
        self.nested(|parser| {
            let first = parser.sum()?;
            parser.take(",").then_some(())?;
            Some(Formula::Binary(sign, Box::new(first), Box::new(parser.sum()?)))
        })
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Option<Formula>) -> Option<Formula> {
        self.depth += 1;
        let formula = if self.depth > DEEPEST { None } else { inner(self) };
        self.depth -= 1;
        formula.filter(|_| self.take(")"))
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text).map(str::trim_start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_are_worked_out_by_the_usual_rules() {
        let of = |name: &str| match name {
            "llc-miss" => Some(6.0),
            "instructions" => Some(3000.0),
            "idle" => Some(0.0),
            _ => None,
        };
        for (text, expected) in [
            ("1000 * llc-miss / instructions", Some(2.0)),
            ("1 - llc-miss / 12", Some(0.5)),
            ("2 * (llc-miss + 4) - 1", Some(19.0)),
            ("10 - 4 - 3", Some(3.0)),
            ("min(llc-miss, 5) + max(1.5, 1)", Some(6.5)),
            ("llc-miss / idle", None),
            ("unheard-of + 1", None),
        ] {
            assert_eq!(Formula::parse(text).unwrap().value(&mut |name| of(name)), expected, "{text}");
        }
    }

    #[test]
    fn names_are_told_once_in_their_order() {
        let formula = Formula::parse("(b-1 + a.2) / (a.2 + min(c, b-1))").unwrap();
        assert_eq!(formula.names(), ["b-1", "a.2", "c"]);
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in ["", "1 +", "(a", "a b", "a)", "min(a)", "1x", "min", &"(".repeat(99)] {
            assert_eq!(Formula::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c0-9 +*/(),.min-]{0,60}") {
            if let Some(formula) = Formula::parse(&text) {
                let _ = formula.value(&mut |_| Some(0.0));
            }
        }
    }
}

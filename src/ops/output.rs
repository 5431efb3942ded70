//! Operations in what a started command prints: numbers found in its lines by a regular expression.
//! It never changes or keeps what is printed.

use super::total::Total;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Reads;
use crate::units::{Nanos, Ops};
use regex::bytes::Regex;

/// A longer line holds no number that anybody reads.
const LONGEST_LINE: usize = 64 << 10;

/// Reads the lines of one command.
#[derive(Debug)]
pub struct Output {
    pattern: Regex,
    reads: Reads,
    total: Total,
    last: Nanos,
}

/// The unfinished line of one stream.
#[derive(Debug, Default)]
pub struct Line {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Output {
    /// Counts from `start` on.
    ///
    /// # Errors
    /// `Usage` for an expression that cannot be read.
    pub fn new(pattern: &str, reads: Reads, start: Nanos) -> Result<Output> {
        let pattern = Regex::new(pattern).map_err(|error| {
            Error::new(ErrorKind::Usage, format!("--ops: {error}")).hint("Test it with: CMD | grep -P 'PATTERN'.")
        })?;
        Ok(Output { pattern, reads, total: Total::default(), last: start })
    }

    /// Takes what was printed at `at`; gives the total if a number was among it.
    pub fn read(&mut self, line: &mut Line, bytes: &[u8], at: Nanos) -> Option<Ops> {
        let mut found = false;
        // Programs that draw progress end their lines with a carriage return.
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ends = part.ends_with(b"\n") || part.ends_with(b"\r");
            line.too_long |= line.bytes.len() + part.len() > LONGEST_LINE;
            if !line.too_long {
                line.bytes.extend_from_slice(part);
            }
            if ends {
                found |= self.end_line(line, at);
            }
        }
        found.then(|| self.total.ops())
    }

    /// The stream has ended: its last line may lack an end.
    pub fn end(&mut self, line: &mut Line, at: Nanos) -> Option<Ops> {
        self.end_line(line, at).then(|| self.total.ops())
    }

    /// The total so far.
    #[must_use]
    pub fn total(&self) -> Ops {
        self.total.ops()
    }

    fn end_line(&mut self, line: &mut Line, at: Nanos) -> bool {
        let mut found = false;
        if !line.too_long {
            let numbers = self.pattern.captures_iter(&line.bytes).filter_map(|captures| {
                let text = captures.get(1).or_else(|| captures.get(0))?;
                number(text.as_bytes())
            });
            for value in numbers {
                found = true;
                match self.reads {
                    Reads::Total => self.total.reach(value),
                    Reads::Sum => self.total.grow(value),
                    Reads::Rate => self.total.grow(value * (at - self.last).seconds()),
                }
                self.last = at;
            }
        }
        line.bytes.clear();
        line.too_long = false;
        found
    }
}

/// A number as people and programs print it: `1234`, `1,234.5`, `1e6`, `12k`, `3.4M`.
fn number(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G' | 'B') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let digits = digits.trim_end().replace([',', '_', '\''], "");
    digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0).map(|value| value * factor)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn check(pattern: &str, reads: Reads, printed: &[(u64, &str)], expected: u64) {
        let mut output = Output::new(pattern, reads, Nanos(0)).unwrap();
        let mut line = Line::default();
        for (second, text) in printed {
            output.read(&mut line, text.as_bytes(), Nanos(second * SECOND));
        }
        output.end(&mut line, Nanos(99 * SECOND));
        assert_eq!(output.total(), Ops(expected), "{pattern} {printed:?}");
    }

    #[test]
    fn totals_sums_and_rates_become_one_growing_total() {
        check("ops ([0-9]+)", Reads::Total, &[(1, "ops 5\nops 9\n"), (2, "ops 12\n")], 12);
        check("did ([0-9]+)", Reads::Sum, &[(1, "did 5, did 9\n"), (2, "did 1\n")], 15);
        check("([0-9.]+) ops/s", Reads::Rate, &[(1, "10 ops/s\n"), (3, "20.5 ops/s\n")], 51);
    }

    #[test]
    fn a_line_may_come_in_pieces_and_the_last_may_lack_its_end() {
        check("ops ([0-9]+)", Reads::Total, &[(1, "op"), (1, "s 4"), (2, "2\nops 43\rops 4"), (3, "4")], 44);
    }

    #[test]
    fn a_total_that_falls_has_begun_anew() {
        check("([0-9]+)", Reads::Total, &[(1, "100\n"), (2, "30\n"), (3, "50\n")], 150);
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in [
            ("1,234.5", Some(1234.5)),
            ("1e6", Some(1e6)),
            ("12k", Some(12e3)),
            ("3.4 M", Some(3.4e6)),
            ("1'000", Some(1000.0)),
            ("-5", None),
            ("nan", None),
            ("", None),
            ("ops", None),
        ] {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut output = Output::new("([0-9]+)", Reads::Total, Nanos(0)).unwrap();
        let mut line = Line::default();
        for _ in 0..100 {
            output.read(&mut line, &[b'1'; 4096], Nanos(0));
        }
        assert!(line.bytes.len() <= LONGEST_LINE);
        output.read(&mut line, b"\n7\n", Nanos(0));
        assert_eq!(output.total(), Ops(7));
        assert!(Output::new("(", Reads::Total, Nanos(0)).is_err());
    }
}

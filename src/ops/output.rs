//! Finds numbers in a command's output, line by line, and adds them up. It reads bytes that have already been passed
//! on, so the output is neither changed nor delayed.

use super::growth::Growth;
use super::number::first_number;
use super::total::Total;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::OPS_LINE_BYTES;
use crate::model::{Note, NumberKind};
use crate::units::{Nanos, Ops};
use regex::bytes::Regex;

/// An output stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Out,
    /// Its standard error.
    Err,
}

/// Finds numbers in a command's output.
#[derive(Debug)]
pub struct Matcher {
    pattern: Regex,
    reads: NumberKind,
    total: Total,
    /// What should be totals may turn out to be rates: both are counted until the numbers show it.
    as_rates: Total,
    growth: Growth,
    /// Whether the last line says that its number is a rate.
    says_rate: bool,
    lines: Lines,
    /// Time of the last number, and the total with it.
    latest: Option<(Nanos, Ops)>,
}

/// Puts lines together: one unfinished line for each stream.
#[derive(Debug, Default)]
pub(super) struct Lines([Line; 2]);

#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    too_long: bool,
}

/// Compiles the pattern of an option. It matches bytes, because output need not be UTF-8.
pub(super) fn pattern(option: &str, text: &str) -> Result<Regex> {
    if text.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("the pattern of {option} is empty"))
            .hint("Write e.g. regex:'requests: ([0-9]+)'; the first group is the number."));
    }
    Regex::new(text).map_err(|error| {
        Error::new(ErrorKind::Usage, format!("the pattern of {option} cannot be read: {error}"))
            .hint("It is a regular expression: write a literal parenthesis or bracket as \\( or \\[.")
    })
}

impl Matcher {
    /// A matcher without any input; its total begins at 0.
    ///
    /// # Errors
    /// `Usage` for an invalid pattern.
    pub fn new(text: &str, reads: NumberKind) -> Result<Matcher> {
        let (total, as_rates) = (Total::from_nothing(), Total::from_nothing());
        let (pattern, growth, lines) = (pattern("--ops", text)?, Growth::default(), Lines::default());
        Ok(Matcher { pattern, reads, total, as_rates, growth, says_rate: false, lines, latest: None })
    }

    /// Takes bytes that were printed at a time since the session's start. Lines end with a line feed or, if they are
    /// overwritten in place, with a carriage return.
    pub fn take(&mut self, stream: Stream, bytes: &[u8], at: Nanos) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.take(stream, bytes, &mut |line| self.matched(line, at));
        self.lines = lines;
    }

    /// The stream has ended: an unfinished line counts as well.
    pub fn end(&mut self, stream: Stream, at: Nanos) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.end(stream, &mut |line| self.matched(line, at));
        self.lines = lines;
    }

    /// Time of the last number, and the total with it; `None` before the first.
    #[must_use]
    pub fn latest(&self) -> Option<(Nanos, Ops)> {
        self.latest
    }

    /// What the numbers are: as requested, but totals that do not grow are rates.
    #[must_use]
    pub fn reads(&self) -> NumberKind {
        match self.reads {
            NumberKind::Total if self.growth.is_rate() => NumberKind::Rate,
            reads => reads,
        }
    }

    /// What was taken for what, where it was not as requested or cannot be known.
    #[must_use]
    pub fn note(&self) -> Option<Note> {
        let text = match (self.reads, self.reads()) {
            (NumberKind::Total, NumberKind::Rate) => {
                "operations: the printed numbers do not grow, so they were taken as rates per second, not as totals"
            }
            (NumberKind::Total, NumberKind::Total) if self.says_rate && self.growth.is_single() => {
                "operations: one number was printed, on a line that reads like a rate, and it was taken as a total"
            }
            _ => return None,
        };
        let fix = Some("State that they are rates: --ops 'regex-rate:PATTERN'.".to_string());
        Some(Note { topic: "ops-rate".to_string(), text: text.to_string(), fix })
    }

    fn matched(&mut self, line: &[u8], at: Nanos) {
        let mut end = line.len();
        let number = |found: regex::bytes::Captures<'_>| {
            let text = found.get(1).or_else(|| found.get(0))?;
            end = text.end();
            first_number(&String::from_utf8_lossy(text.as_bytes()))
        };
        let numbers = self.pattern.captures_iter(line).filter_map(number);
        let (count, sum, last) = numbers.fold((0, 0.0, 0.0), |(count, sum, _), value| (count + 1, sum + value, value));
        if count == 0 {
            return;
        }
        let (since, before) = self.latest.unwrap_or_default();
        let at_rate = last * (at - since).seconds();
        match self.reads {
            NumberKind::Total => {
                self.total.read([(String::new(), last)]);
                self.as_rates.add(at_rate);
                self.growth.take(at, last);
                self.says_rate = says_rate(&line[end..]);
            }
            NumberKind::Sum => self.total.add(sum),
            NumberKind::Rate => self.total.add(at_rate),
        }
        let is_found_rate = self.reads != self.reads();
        let ops = if is_found_rate { self.as_rates.ops() } else { self.total.ops() };
        // What was reported before the numbers showed what they are stays counted.
        self.latest = Some((at, ops.max(before)));
    }
}

/// Whether the words after a number make it a rate: `1000 ops/s`, `1000 requests per second`.
fn says_rate(rest: &[u8]) -> bool {
    let rest = String::from_utf8_lossy(rest).to_lowercase();
    let words: Vec<&str> = rest.split_whitespace().take(3).collect();
    words.iter().any(|word| word.contains("/s")) || words.join(" ").contains("per s")
}

impl Lines {
    /// Calls `each` with every line that ends in these bytes, by a line feed or a carriage return.
    pub(super) fn take(&mut self, stream: Stream, bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ended = matches!(piece.last(), Some(b'\n' | b'\r'));
            self.0[stream as usize].push(&piece[..piece.len() - usize::from(ended)]);
            if ended {
                self.end(stream, each);
            }
        }
    }

    /// Ends the stream's line.
    pub(super) fn end(&mut self, stream: Stream, each: &mut dyn FnMut(&[u8])) {
        let line = &mut self.0[stream as usize];
        if !std::mem::take(&mut line.too_long) {
            each(&line.bytes);
        }
        // The buffer is kept for the next line.
        line.bytes.clear();
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.too_long |= self.bytes.len() + bytes.len() > OPS_LINE_BYTES;
        if !self.too_long {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// One piece of output per second.
    fn check(pattern: &str, reads: NumberKind, pieces: &[&str], expected: Option<(u64, u64)>) {
        let mut matcher = Matcher::new(pattern, reads).unwrap();
        let mut at = Nanos(0);
        for piece in pieces {
            at += Nanos(SECOND);
            matcher.take(Stream::Out, piece.as_bytes(), at);
        }
        matcher.end(Stream::Out, at);
        let latest = matcher.latest().map(|(at, total)| (at.0 / SECOND, total.0));
        assert_eq!(latest, expected, "{pattern} {reads:?} {pieces:?}");
    }

    #[test]
    fn numbers_become_totals_as_they_are_meant() {
        check("ops ([0-9]+)", NumberKind::Total, &["ops 10\n", "ops 30\nops 25\n", "else\n"], Some((2, 55)));
        check("ops (.*)", NumberKind::Total, &["\nops 1,234k\n"], Some((1, 1_234_000)));
        // A total that is 1,000 in every second, or about it, is a rate.
        check("([0-9]+) ops", NumberKind::Total, &["1000 ops\n"; 10], Some((10, 10_000)));
        let rates = ["1000 ops\n", "1100 ops\n", "950 ops\n", "1020 ops\n"];
        check("([0-9]+) ops", NumberKind::Total, &rates, Some((4, 4070)));
        check("[0-9]+ done", NumberKind::Sum, &["3 done, 4 done\n", "5 done\n"], Some((2, 12)));
        check("rps=(\\S+)", NumberKind::Rate, &["rps=100\n", "-\n", "rps=2.5\n", "x"], Some((3, 105)));
        check("ops ([0-9]+)", NumberKind::Total, &["nothing\n", "ops x\n"], None);
        check("ops (-?[0-9]+)", NumberKind::Total, &["ops -5\n"], None);
        check("ops 0*(0)", NumberKind::Sum, &["ops 0\n"], Some((1, 0)));
    }

    #[test]
    fn what_was_taken_is_said_where_it_matters() {
        for (pieces, reads, said) in [
            (&["1000 ops/s\n", "1010 ops/s\n"][..], NumberKind::Rate, Some("taken as rates per second")),
            (&["1000 ops/s\n"], NumberKind::Total, Some("one number was printed")),
            (&["1000 requests per second\n"], NumberKind::Total, Some("one number was printed")),
            (&["1000 ops in 2 s\n"], NumberKind::Total, None),
            (&["1000 ops\n", "2000 ops\n"], NumberKind::Total, None),
            (&["nothing\n"], NumberKind::Total, None),
        ] {
            let mut matcher = Matcher::new("([0-9]+) (?:ops|requests)", NumberKind::Total).unwrap();
            for (at, piece) in (1..).zip(pieces) {
                matcher.take(Stream::Out, piece.as_bytes(), Nanos(at * SECOND));
            }
            let note = matcher.note().map(|note| note.text);
            assert_eq!((matcher.reads(), note.is_some()), (reads, said.is_some()), "{pieces:?} {note:?}");
            assert!(said.is_none_or(|part| note.unwrap().contains(part)), "{pieces:?}");
        }
        let mut stated = Matcher::new("([0-9]+) ops", NumberKind::Rate).unwrap();
        stated.take(Stream::Out, b"1000 ops/s\n", Nanos(SECOND));
        assert_eq!(stated.note(), None);
    }

    #[test]
    fn lines_are_put_together_from_pieces_and_the_last_needs_no_end() {
        check("ops ([0-9]+)", NumberKind::Total, &["op", "s 1", "2", "3"], Some((4, 123)));
        check("ops ([0-9]+)$", NumberKind::Sum, &["ops 1\rops 2\rops 3\r\n"], Some((1, 6)));
        check("^ops ([0-9]+)$", NumberKind::Sum, &["ops 1\r\nops 2\r\n", "\n\n"], Some((1, 3)));
    }

    #[test]
    fn the_two_streams_keep_their_lines_apart() {
        let mut matcher = Matcher::new("^ops ([0-9]+)$", NumberKind::Sum).unwrap();
        matcher.take(Stream::Out, b"ops 1", Nanos(1));
        matcher.take(Stream::Err, b"ops 20\nops ", Nanos(2));
        matcher.take(Stream::Out, b"0\n", Nanos(3));
        matcher.take(Stream::Err, b"7", Nanos(4));
        matcher.end(Stream::Err, Nanos(5));
        matcher.end(Stream::Out, Nanos(6));
        assert_eq!(matcher.latest(), Some((Nanos(5), Ops(37))));
    }

    #[test]
    fn bytes_that_are_no_text_and_endless_lines_do_no_harm() {
        let mut matcher = Matcher::new("ops ([0-9]+)", NumberKind::Sum).unwrap();
        matcher.take(Stream::Out, b"\xff\xfe\0ops 4\xff\n", Nanos(1));
        for _ in 0..64 {
            matcher.take(Stream::Out, &[b'x'; 4096], Nanos(2));
            assert!(matcher.lines.0[0].bytes.len() <= OPS_LINE_BYTES);
        }
        matcher.take(Stream::Out, b"ops 100\nops 1\n", Nanos(3));
        assert_eq!(matcher.latest(), Some((Nanos(3), Ops(5))));
    }
}

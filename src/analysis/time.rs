//! Parts of a recording's time: ranges as a user requests them, and windows for which counters have values.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Tick;
use crate::units::Nanos;

/// From `from`, inclusive, to `to`, exclusive, since the recording's start; `None` is the recording's end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// First moment.
    pub from: Nanos,
    /// First moment after it.
    pub to: Option<Nanos>,
}

/// A time span that begins and ends where counters were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Window {
    /// First moment.
    pub from: Nanos,
    /// First moment after it.
    pub to: Nanos,
}

/// Longer than any recording, with room for sums.
const LONGEST_NS: f64 = 3.2e18;

impl TimeRange {
    /// Parses `1s-10s`, `1s+9s`, `1.5s-`, `-5s`; units ns, us, ms, s, m, h; bare numbers are seconds.
    ///
    /// # Errors
    /// `Usage` if it is none of these, or ends before it begins.
    pub fn parse(text: &str) -> Result<TimeRange> {
        let span = |part: &str| span(part).ok_or_else(|| wrong(text, &format!("'{part}' is not a time")));
        let moment = |part: &str| if part.is_empty() { Ok(None) } else { span(part).map(Some) };
        let range = if let Some((from, length)) = text.split_once('+') {
            let from = span(from)?;
            TimeRange { from, to: Some(from + span(length)?) }
        } else if let Some((from, to)) = text.split_once('-') {
            TimeRange { from: moment(from)?.unwrap_or_default(), to: moment(to)? }
        } else {
            return Err(wrong(text, "it has no end and no length"));
        };
        if range.to.is_some_and(|to| to <= range.from) {
            return Err(wrong(text, "it ends before it begins"));
        }
        Ok(range)
    }

    /// Whether the moment lies in the range.
    #[inline]
    #[must_use]
    pub fn contains(&self, at: Nanos) -> bool {
        at >= self.from && self.to.is_none_or(|to| at < to)
    }

    /// How much of the span of `length` from `start` lies in the range.
    #[must_use]
    pub fn overlap(&self, start: Nanos, length: Nanos) -> Nanos {
        let end = Nanos(start.0.saturating_add(length.0));
        self.to.map_or(end, |to| end.min(to)) - start.max(self.from)
    }

    /// The smallest window between ticks that contains the range; without ticks, the range itself.
    #[must_use]
    pub fn window(&self, ticks: &[Tick], duration: Nanos) -> Window {
        let before = ticks.iter().map(|tick| tick.at).filter(|at| *at <= self.from).max();
        let to = self.to.unwrap_or(duration).min(duration.max(self.from));
        // The last window of a recording may end after its last tick.
        let after = ticks.iter().map(|tick| tick.at).filter(|at| *at >= to).min().unwrap_or(duration);
        // Nothing was counted before the first window began.
        let began = ticks.iter().map(|tick| tick.at - tick.span).min();
        let from = before.or(began).unwrap_or(self.from);
        Window { from, to: if ticks.is_empty() { to } else { after.max(from) } }
    }
}

impl Window {
    /// Its length.
    #[must_use]
    pub fn span(&self) -> Nanos {
        self.to - self.from
    }

    /// The same window as a range.
    #[must_use]
    pub fn range(&self) -> TimeRange {
        TimeRange { from: self.from, to: Some(self.to) }
    }
}

fn wrong(text: &str, why: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("invalid time range '{text}': {why}"))
        .hint("Write FROM-TO or FROM+LENGTH, e.g. 1s-10s, 1s+9s or 1.5s-.")
}

fn span(text: &str) -> Option<Nanos> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ns = match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "" | "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    let nanos = number.parse::<f64>().ok()? * unit_ns;
    (nanos <= LONGEST_NS).then(|| Nanos(nanos.round() as u64))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::ms;

    #[test]
    fn a_range_has_an_end_or_a_length_or_neither() {
        for (text, from, to) in [
            ("1s-10s", 1000, Some(10_000)),
            ("1s+9s", 1000, Some(10_000)),
            ("1.5s-", 1500, None),
            ("-2", 0, Some(2000)),
            ("250ms-1m", 250, Some(60_000)),
        ] {
            assert_eq!(TimeRange::parse(text).unwrap(), TimeRange { from: ms(from), to: to.map(ms) }, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "5", "5s-1s", "1s-1s", "1x-2x", "1s+", "a-b", "9e99-", "99999999999h-", "1s-2s-3s"] {
            assert_eq!(TimeRange::parse(text).unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }

    #[test]
    fn a_range_grows_outwards_to_the_ticks_that_hold_it() {
        let ticks: Vec<_> = (1..=9).map(|n| Tick { at: ms(n * 1000), span: ms(1000) }).collect();
        for (text, from, to) in [
            ("1s-2s", 1000, 2000),
            ("1.2s-1.4s", 1000, 2000),
            ("0.5s-", 0, 9700),
            ("9.2s-9.3s", 9000, 9700),
            ("2s-99s", 2000, 9700),
        ] {
            let window = TimeRange::parse(text).unwrap().window(&ticks, ms(9700));
            assert_eq!(window, Window { from: ms(from), to: ms(to) }, "{text}");
        }
        let window = TimeRange::parse("1s-3s").unwrap().window(&[], ms(2000));
        assert_eq!(window, Window { from: ms(1000), to: ms(2000) });
    }

    #[test]
    fn only_the_part_of_a_span_inside_the_range_counts() {
        let range = TimeRange { from: ms(10), to: Some(ms(20)) };
        for (start, length, inside) in [(0, 5, 0), (5, 10, 5), (12, 3, 3), (15, 100, 5), (30, 5, 0)] {
            assert_eq!(range.overlap(ms(start), ms(length)), ms(inside), "{start}+{length}");
        }
        assert_eq!(TimeRange::default().overlap(ms(1), Nanos(u64::MAX)), Nanos(u64::MAX) - ms(1));
    }
}

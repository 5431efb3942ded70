//! Percentiles as HdrHistogram writes them (`.hgrm`): a line for each, with the operations up to it.

use super::bins::Interval;
use super::printed::{Printed, number};
use super::ranks::Ranks;
use super::summary::none;
use crate::error::Result;
use crate::model::TimeUnit;

/// Steps in an octave with three significant digits, where the text does not say.
const SUB_BUCKETS: f64 = 2048.0;

/// A line: a latency in the text's unit, the share of the operations up to it, and their number.
struct Line {
    value: Printed,
    share: f64,
    count: u64,
}

/// Whether a line is the head of such a text.
pub(super) fn is_head(line: &str) -> bool {
    ["Value", "Percentile", "TotalCount"].iter().all(|word| line.contains(word))
}

/// Reads the last table in the text, in that unit.
pub(super) fn parse(text: &str, unit: TimeUnit) -> Result<Ranks> {
    let ns = unit.ns();
    let body = last_table(text);
    let lines: Vec<Line> = body.clone().filter_map(line).collect();
    let last = lines.last().map_or(0, |line| line.count);
    let count = body.clone().find_map(|line| stated(line, "Total count")).map_or(last, |count| count as u64);
    if lines.is_empty() || count == 0 {
        return Err(none(
            "the text holds no percentiles of HdrHistogram",
            "Its lines are: VALUE PERCENTILE TOTALCOUNT.",
        ));
    }
    let sub_buckets = body.clone().find_map(|line| stated(line, "SubBuckets")).unwrap_or(SUB_BUCKETS).max(2.0);
    let mut ranks = Ranks::of(count);
    for Line { value, share, count } in lines {
        let (high, half) = (value.value * ns, value.half * ns);
        // A printed value is the highest of its step.
        let lies = Interval { low: (high * (1.0 - 2.0 / sub_buckets) - half).max(0.0), high: Some(high + half + 1.0) };
        ranks.up_to(share, lies, count, (high - half).max(0.0));
    }
    Ok(ranks)
}

/// The lines after the last head; all without one.
fn last_table(text: &str) -> std::iter::Skip<std::str::Lines<'_>> {
    let from = text.lines().enumerate().filter(|(_, line)| is_head(line)).last().map_or(0, |(at, _)| at + 1);
    text.lines().skip(from)
}

/// `       0.273     0.500000         1234         2.00`
fn line(text: &str) -> Option<Line> {
    let mut words = text.split_whitespace();
    let (value, share, count) = (words.next()?, words.next()?, words.next()?);
    let (value, "") = number(value)? else { return None };
    let share = share.parse().ok().filter(|share| (0.0..=1.0).contains(share))?;
    Some(Line { value, share, count: count.parse().ok()? })
}

/// A number in one of the last lines: `#[Max     =  12.312, Total count    =  1234]`
fn stated(line: &str, name: &str) -> Option<f64> {
    let (_, rest) = line.strip_prefix("#[")?.split_once(name)?;
    Some(number(rest.trim_start().strip_prefix('=')?.trim_start())?.0.value)
}

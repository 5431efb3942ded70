//! What redis-benchmark and valkey-benchmark print: in full, with `-q`, or with `--csv`.

use super::bins::{Interval, LatencyBins};
use super::printed::{Printed, number, share};
use super::ranks::Ranks;
use super::summary::{Summary, none};
use crate::error::Result;
use crate::model::option;

/// Requests of a test unless `-n` says otherwise.
const REQUESTS: u64 = 100_000;
/// Its histogram counts from 10 us on with three digits, so in steps of 8 us up to 16.4 ms, then in longer ones.
const STEP_NS: f64 = 8e3;
const STEPS_ALIKE: f64 = 2048.0;

/// The latencies of all tests.
pub(super) fn parse(text: &str, arguments: &[String]) -> Result<Summary> {
    let mut bins = LatencyBins::default();
    let requests = option(arguments, "-n", "-n").and_then(|count| count.parse().ok()).unwrap_or(REQUESTS);
    let lines = || text.split(['\n', '\r']).map(str::trim);
    let brief = lines().filter_map(brief).chain(csv(lines())).collect::<Vec<_>>();
    for found in brief {
        let mut ranks = Ranks::of(requests);
        found.shortest.into_iter().for_each(|lies| ranks.shortest(lies));
        found.quantiles.into_iter().for_each(|(share, lies)| ranks.quantile(share, lies));
        found.longest.into_iter().for_each(|lies| ranks.longest(lies));
        ranks.add_to(&mut bins);
    }
    text.split("====== ").skip(1).filter_map(full).for_each(|ranks| ranks.add_to(&mut bins));
    if bins.count() == 0 {
        return Err(none("redis-benchmark has printed no latencies", "Let it run to its end."));
    }
    Ok(Summary::of(bins))
}

/// What a line of `-q` or `--csv` says of a test.
#[derive(Debug, Default)]
struct Brief {
    shortest: Option<Interval>,
    quantiles: Vec<(f64, Interval)>,
    longest: Option<Interval>,
}

/// The step of the histogram whose last latency is printed, in milliseconds.
fn step(printed: Printed) -> Interval {
    let end = printed.value * 1e6 + 1e3;
    let octaves = (end / (STEP_NS * STEPS_ALIKE)).log2().ceil().max(0.0);
    // With fewer digits (--precision) it was rounded, too.
    let rounding = if printed.half > 0.0005 { printed.half * 1e6 } else { 0.0 };
    let low = end - STEP_NS * octaves.exp2() - rounding;
    Interval { low: low.max(0.0), high: Some(end + rounding) }
}

/// The step whose first latency is printed.
fn step_from(printed: Printed) -> Interval {
    let low = printed.value * 1e6;
    let octaves = ((low + 1e3) / (STEP_NS * STEPS_ALIKE)).log2().ceil().max(0.0);
    let rounding = if printed.half > 0.0005 { printed.half * 1e6 } else { 0.0 };
    Interval { low: (low - rounding).max(0.0), high: Some(low + STEP_NS * octaves.exp2() + rounding) }
}

fn whole(text: &str) -> Option<Printed> {
    number(text).filter(|(_, rest)| rest.is_empty()).map(|(printed, _)| printed)
}

/// `SET: 83682.01 requests per second, p50=0.063 msec`
fn brief(line: &str) -> Option<Brief> {
    let (_, rest) = line.split_once(" requests per second, p50=")?;
    let printed = whole(rest.strip_suffix(" msec")?)?;
    Some(Brief { quantiles: vec![(0.5, step(printed))], ..Brief::default() })
}

/// `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms",...`, then a line for each test.
fn csv<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Brief> {
    let fields = |line: &'a str| line.split("\",\"").map(|field| field.trim_matches('"')).collect::<Vec<_>>();
    let mut lines = lines.skip_while(|line| !line.starts_with("\"test\",")).map(fields);
    let Some(head) = lines.next() else { return Vec::new() };
    let test = |row: Vec<&'a str>| {
        let mut found = Brief::default();
        for (name, value) in head.iter().zip(row) {
            let Some((name, value)) = name.strip_suffix("_latency_ms").zip(whole(value)) else { continue };
            match name {
                "min" => found.shortest = Some(step_from(value)),
                "max" => found.longest = Some(step(value)),
                name => found.quantiles.extend(name.strip_prefix('p').and_then(share).map(|it| (it, step(value)))),
            }
        }
        found
    };
    lines.map(test).filter(|found| !found.quantiles.is_empty()).collect()
}

/// A test in full, from its name on.
fn full(text: &str) -> Option<Ranks> {
    let mut lines = text.lines().map(str::trim);
    let count = lines.find_map(|line| line.split_once(" requests completed in ")?.0.parse().ok())?;
    let mut ranks = Ranks::of(count);
    let table = lines.by_ref().skip_while(|line| !line.starts_with("Latency by percentile")).skip(1);
    for (share, value, count) in table.map_while(cumulative) {
        let lies = step(value);
        ranks.up_to(share, lies, count, lies.high.unwrap_or_default());
    }
    let second = lines.by_ref().skip_while(|line| !line.starts_with("Cumulative distribution")).skip(1);
    for (_, value, count) in second.map_while(cumulative) {
        ranks.below(count, step(value).high.unwrap_or_default());
    }
    let mut summary = lines.skip_while(|line| !line.starts_with("avg "));
    let (head, values) = (summary.next().unwrap_or_default(), summary.next().unwrap_or_default());
    for (name, value) in head.split_whitespace().zip(values.split_whitespace().filter_map(whole)) {
        match name {
            "min" => ranks.shortest(step_from(value)),
            "max" => ranks.longest(step(value)),
            name => {
                let share = name.strip_prefix('p').and_then(share);
                share.into_iter().for_each(|share| ranks.quantile(share, step(value)));
            }
        }
    }
    Some(ranks)
}

/// `50.000% <= 0.063 milliseconds (cumulative count 13250)`
fn cumulative(line: &str) -> Option<(f64, Printed, u64)> {
    let (percent, rest) = line.split_once("% <= ")?;
    let (value, rest) = rest.split_once(" milliseconds (cumulative count ")?;
    Some((share(percent)?, whole(value)?, rest.strip_suffix(')')?.parse().ok()?))
}

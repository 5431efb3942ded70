//! What wrk and wrk2 print with `--latency`.

use super::bins::{Interval, LatencyBins};
use super::hdr_text;
use super::printed::{duration, share};
use super::ranks::Ranks;
use super::summary::{Summary, none};
use crate::error::Result;
use crate::model::TimeUnit;

/// The latencies of a whole run.
pub(super) fn parse(text: &str) -> Result<Summary> {
    // wrk2 -U prints a second distribution, which leaves out the wait for a connection.
    let text = text.split("Uncorrected Latency").next().unwrap_or(text);
    let requests = text.lines().find_map(requests);
    let Some(count) = requests else {
        return Err(none("wrk has printed no summary", "Let it run to its end: wrk -d TIME."));
    };
    let mut bins = LatencyBins::default();
    if text.contains("Detailed Percentile spectrum") {
        // In milliseconds whatever their size.
        hdr_text::parse(text, TimeUnit::Milliseconds)?.add_to(&mut bins);
        return Ok(Summary::of(bins));
    }
    let mut ranks = Ranks::of(count);
    let quantiles: Vec<_> = text.lines().filter_map(quantile).collect();
    if quantiles.is_empty() {
        return Err(none("wrk has printed no percentiles", "Run it with --latency."));
    }
    quantiles.into_iter().for_each(|(share, lies)| ranks.quantile(share, lies));
    if let Some(longest) = text.lines().find_map(longest) {
        ranks.longest(longest);
    }
    ranks.add_to(&mut bins);
    Ok(Summary::of(bins))
}

/// `  270289 requests in 2.10s, 39.44MB read`
fn requests(line: &str) -> Option<u64> {
    let (count, rest) = line.trim_start().split_once(' ')?;
    rest.starts_with("requests in ").then(|| count.parse().ok())?
}

/// `     99%  178.00us`, of wrk2 ` 99.000%    1.23ms`
fn quantile(line: &str) -> Option<(f64, Interval)> {
    let mut words = line.split_whitespace();
    let (percent, value, None) = (words.next()?.strip_suffix('%')?, words.next()?, words.next()) else { return None };
    Some((share(percent)?, duration(value, None)?))
}

/// `    Latency    53.19us  104.45us   2.96ms   98.79%`: the third is the longest.
fn longest(line: &str) -> Option<Interval> {
    let mut words = line.split_whitespace();
    if words.next()? != "Latency" {
        return None;
    }
    duration(words.nth(2)?, None)
}

//! What sysbench prints: a percentile, or with `--histogram` how many events took how long.

use super::bins::{Interval, LatencyBins};
use super::printed::{Printed, in_unit, number, share};
use super::ranks::Ranks;
use super::summary::{Summary, none};
use crate::error::Result;

const MS: f64 = 1e6;
/// Its histogram has 1023 steps of one ratio from 0.001 ms to 100,000 ms, each centred on the printed value.
const STEPS: f64 = 1023.0;
const LOWEST_TO_HIGHEST: f64 = 1e8;

/// The latencies of a whole run.
pub(super) fn parse(text: &str) -> Result<Summary> {
    let mut bins = LatencyBins::default();
    let histogram = text.lines().skip_while(|line| !line.starts_with("Latency histogram")).skip(2).map_while(row);
    histogram.for_each(|(value, count)| bins.add(step(value), count));
    if bins.count() > 0 {
        return Ok(Summary::of(bins));
    }
    let field = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().parse::<u64>().ok());
    let Some(count) = field("total number of events:") else {
        return Err(none(
            "sysbench has printed no summary",
            "Let it run to its end: sysbench TEST --time=SECONDS run.",
        ));
    };
    let mut ranks = Ranks::of(count);
    let latency = text.lines().skip_while(|line| !line.starts_with("Latency (ms):")).skip(1);
    let mut percentile = false;
    for (name, value) in latency.map_while(|line| line.trim().split_once(':')) {
        let Some((printed, "")) = number(value.trim()) else { continue };
        match name {
            "min" => ranks.shortest(in_unit(printed, MS)),
            "max" => ranks.longest(in_unit(printed, MS)),
            name => {
                let nth = name.strip_suffix(" percentile").map(|nth| nth.trim_end_matches(char::is_alphabetic));
                if let Some(share) = nth.and_then(share).filter(|_| printed.value > 0.0) {
                    ranks.quantile(share, step(printed));
                    percentile = true;
                }
            }
        }
    }
    ranks.add_to(&mut bins);
    let lacks = (!percentile).then_some((
        "sysbench prints no percentile",
        "Run it with --histogram, which prints how many events took how long.",
    ));
    Ok(Summary { bins, lacks })
}

/// The step of its histogram around a printed value, milliseconds.
fn step(printed: Printed) -> Interval {
    let half_step = (LOWEST_TO_HIGHEST.ln() / STEPS / 2.0).exp();
    let low = (printed.value - printed.half).max(0.0) * MS / half_step;
    Interval { low, high: Some((printed.value + printed.half) * MS * half_step + 1.0) }
}

/// `       0.218 |**************************************** 11657`
fn row(line: &str) -> Option<(Printed, u64)> {
    let (value, rest) = line.split_once('|')?;
    let (printed, "") = number(value.trim())? else { return None };
    Some((printed, rest.trim_start_matches('*').trim().parse().ok()?))
}

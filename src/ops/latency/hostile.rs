//! What fuzz targets and property tests feed to each reader of what programs print or serve.

use super::bins::LatencyBins;
use super::log_line::Format;
use super::{generators, hdr_text, histogram};
use crate::model::{LoadGenerator, TimeUnit};
use crate::units::Nanos;

/// Reads the bytes as each format. The counts of a summary are never more than the operations that it states.
pub fn parse_anything(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for generator in LoadGenerator::ALL {
        if let Ok(mut found) = generators::parse(generator, &text, &[]) {
            assert_ordered(&mut found.bins);
        }
    }
    let mut bins = LatencyBins::default();
    if let Ok(ranks) = hdr_text::parse(&text, TimeUnit::Milliseconds) {
        ranks.add_to(&mut bins);
    }
    let mut growth = histogram::Growth::from_nothing();
    if let Ok(found) = histogram::buckets(&text, text.lines().next().unwrap_or("a"), &[]) {
        growth.read(found, 1e9, &mut bins);
    }
    let mut format = None;
    for line in text.lines() {
        format = format.or_else(|| Format::of(line, Some(TimeUnit::Microseconds)).ok().flatten());
        if let Some((_, interval)) = format.and_then(|format: Format| format.operation(line)) {
            bins.add_one(interval);
        }
    }
    assert_ordered(&mut bins);
}

fn assert_ordered(bins: &mut LatencyBins) {
    for row in bins.take(Nanos(0)) {
        assert!(row.count > 0 && row.high.is_none_or(|high| high > row.low), "{row:?}");
    }
}

//! Histograms in the text of Prometheus exporters. Buckets are cumulative and only grow; what they grew by between two
//! readings are the operations of a window.

use super::bins::{Interval, LatencyBins};
use crate::error::{Error, ErrorKind, Result};
use crate::model::TimeUnit;
use crate::model::limits::OPS_SERIES;
use crate::ops::prometheus::{Series, lines, may_be, no_such_labels, no_such_metric, series};
use std::collections::BTreeMap;

/// The cumulative buckets of the histogram's series: by their labels, ascending by upper bound.
pub(super) type Buckets = BTreeMap<String, Vec<(f64, f64)>>;

/// The buckets of the series that have all of `labels`.
///
/// # Errors
/// `NotFound` if there is no such histogram, `Unsupported` for a summary, `Exhausted` for too many series.
pub(crate) fn buckets(text: &str, name: &str, labels: &[(String, String)]) -> Result<Buckets> {
    let bucket = format!("{name}_bucket");
    let of_histogram = || named(text, &bucket);
    let fits = |series: &Series<'_>| labels.iter().all(|label| series.labels.contains(label));
    let fitting: Vec<Series<'_>> = of_histogram().filter(fits).take(OPS_SERIES + 1).collect();
    if fitting.len() > OPS_SERIES {
        return Err(Error::new(ErrorKind::Exhausted, format!("{bucket} has more than {OPS_SERIES} series"))
            .hint("Narrow it by labels: HISTOGRAM{label=\"value\"}."));
    }
    if fitting.is_empty() {
        return Err(match of_histogram().next() {
            Some(_) => no_such_labels(&bucket, labels, of_histogram()),
            None => missing(text, name, &bucket),
        });
    }
    let mut found = Buckets::new();
    for series in fitting {
        let bound = series.labels.iter().find(|(name, _)| name == "le").and_then(|(_, le)| bound(le));
        let count = Some(series.value).filter(|count| count.is_finite() && *count >= 0.0);
        let Some((bound, count)) = bound.zip(count) else { continue };
        let rest: Vec<_> = series.labels.iter().filter(|(name, _)| name != "le").collect();
        found.entry(format!("{rest:?}")).or_default().push((bound, count));
    }
    found.values_mut().for_each(|buckets| buckets.sort_by(|a, b| a.0.total_cmp(&b.0)));
    Ok(found)
}

fn bound(text: &str) -> Option<f64> {
    match text {
        "+Inf" | "Inf" => Some(f64::INFINITY),
        text => text.parse::<f64>().ok().filter(|bound| !bound.is_nan()),
    }
}

/// The series of that name.
fn named<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Series<'a>> {
    lines(text).filter(move |line| may_be(line, name)).filter_map(series).filter(move |series| series.name == name)
}

fn missing(text: &str, name: &str, bucket: &str) -> Error {
    let quantile = |series: Series<'_>| series.labels.iter().any(|(name, _)| name == "quantile");
    if named(text, name).any(quantile) {
        return Error::new(ErrorKind::Unsupported, format!("{name} is a Prometheus summary, not a histogram")).hint(
            "Its quantiles are of one process and of a time that it chooses: they can neither be added up nor assigned \
             to windows. Let the server export a histogram.",
        );
    }
    if named(text, name).next().is_some() {
        return Error::new(ErrorKind::Unsupported, format!("{name} is not a histogram: there is no {bucket}"))
            .hint("Name a histogram, without _bucket; counters are for --ops.");
    }
    no_such_metric(text, bucket)
}

/// The unit that a name ends with; `None` if it names none, which means seconds by Prometheus's convention.
pub(crate) fn unit(name: &str) -> Option<TimeUnit> {
    let ends = [
        ("_nanoseconds", TimeUnit::Nanoseconds),
        ("_ns", TimeUnit::Nanoseconds),
        ("_microseconds", TimeUnit::Microseconds),
        ("_us", TimeUnit::Microseconds),
        ("_milliseconds", TimeUnit::Milliseconds),
        ("_ms", TimeUnit::Milliseconds),
        ("_seconds", TimeUnit::Seconds),
    ];
    ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, unit)| unit)
}

/// What was read of a histogram so far.
#[derive(Debug, Default)]
pub(super) struct Growth {
    last: Option<Buckets>,
    read: bool,
}

impl Growth {
    /// Growth from nothing.
    pub(super) fn from_nothing() -> Growth {
        Growth { last: Some(Buckets::new()), read: false }
    }

    /// Whether it was read.
    pub(super) fn has_begun(&self) -> bool {
        self.read
    }

    /// Adds the operations since the last reading; the first one is the base. A series whose count fell has begun again
    /// from nothing, and one that is new was created with its first operation.
    pub(super) fn read(&mut self, now: Buckets, unit_ns: f64, bins: &mut LatencyBins) {
        self.read = true;
        if let Some(last) = &self.last {
            for (labels, buckets) in &now {
                let old = last.get(labels).map_or(&[][..], |old| old);
                let total = |buckets: &[(f64, f64)]| buckets.last().map_or(0.0, |(_, count)| *count);
                let old = if total(buckets) < total(old) { &[] } else { old };
                grown(buckets, old, unit_ns, bins);
            }
        }
        // A series that is missing once, e.g. during a restart, is compared with what was last seen of it.
        self.last.get_or_insert_default().extend(now);
        let series = self.last.as_ref().map_or(0, BTreeMap::len);
        if series > OPS_SERIES {
            self.last = None;
        }
    }
}

fn grown(buckets: &[(f64, f64)], old: &[(f64, f64)], unit_ns: f64, bins: &mut LatencyBins) {
    let before = |bound: f64| old.iter().find(|(other, _)| *other == bound).map_or(0.0, |(_, count)| *count);
    let (mut low, mut below) = (0.0, 0.0);
    for (bound, count) in buckets {
        // Buckets that are read while the server counts may disagree by the operations of that moment.
        let up_to = (count - before(*bound)).max(below);
        // A latency of exactly the bound belongs to the bucket.
        let high = bound.is_finite().then(|| (bound * unit_ns).max(0.0) + 1.0);
        bins.add(Interval { low, high }, (up_to - below).round() as u64);
        (low, below) = (high.unwrap_or(low), up_to);
    }
}

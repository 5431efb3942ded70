//! A row of the sweep's table as JSON: a number or `null` for each column, with intervals and reasons.
//! Every column is present.

use crate::model::{Region, Why};
use crate::view::sweep::latency::{NAMES, PointLatency};
use crate::view::sweep::{PointView, SweepView, Value, words};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub(super) struct PointRow<'a> {
    pub view: &'a SweepView,
    pub point: &'a PointView,
}

/// The quantiles by name as in a report, in nanoseconds.
struct LatencyRow<'a>(&'a PointLatency);

impl Serialize for LatencyRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LatencyRow(latency) = self;
        let quantiles = || latency.quantiles.iter().zip(NAMES);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &latency.count)?;
        map.serialize_entry("per_second", &latency.per_second.mean)?;
        map.serialize_entry("per_second_ci95", &latency.per_second.half)?;
        map.serialize_entry("unit", "ns")?;
        map.serialize_entry("interval_from", &latency.scatter)?;
        for (quantile, name) in quantiles() {
            map.serialize_entry(name, &quantile.value.value())?;
        }
        map.serialize_entry("max", &latency.longest)?;
        let intervals = quantiles().filter_map(|(quantile, name)| Some((name, quantile.interval?)));
        map.serialize_entry("interval", &Entries(intervals.collect()))?;
        let missing = quantiles().filter_map(|(quantile, name)| {
            let why = quantile.value.why()?;
            Some((name, Missing { why, reason: why.text() }))
        });
        map.serialize_entry("missing", &Entries(missing.collect()))?;
        map.end()
    }
}

struct Missing {
    why: Why,
    reason: &'static str,
}

impl Serialize for PointRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (view, point) = (self.view, self.point);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("threads", &point.n)?;
        map.serialize_entry("region", &region(point.region))?;
        map.serialize_entry("runs", &point.runs)?;
        for column in &view.columns {
            map.serialize_entry(column.name, &point.values.get(column.name).and_then(|value| value.mean()))?;
        }
        let halves = view.columns.iter().filter_map(|column| match point.values.get(column.name) {
            Some(Value::Known { half: Some(half), .. }) => Some((column.name, half)),
            _ => None,
        });
        if let Some(latency) = &point.latency {
            map.serialize_entry("latency", &LatencyRow(latency))?;
        }
        map.serialize_entry("ci95", &Entries(halves.collect()))?;
        let missing = view.columns.iter().filter_map(|column| {
            let why = match point.values.get(column.name) {
                Some(Value::Missing { missing }) => missing,
                _ => Why::NotRecorded,
            };
            Some((column.name, Missing { why, reason: words::missing(view, point, column)? }))
        });
        map.serialize_entry("missing", &Entries(missing.collect()))?;
        map.end()
    }
}

impl Serialize for Missing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("why", &self.why)?;
        map.serialize_entry("reason", self.reason)?;
        map.end()
    }
}

/// An object that keeps the order of its entries.
struct Entries<T>(Vec<(&'static str, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// `cores`, `smt`, `2_nodes`.
pub(super) fn region(region: Region) -> String {
    region.label().to_lowercase().replace(' ', "_")
}

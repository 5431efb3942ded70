//! View model: how long operations took.

use super::number;
use super::slow_operations::SlowOperationsView;
use crate::analysis::{Counters, Latencies, Names, Quantile, Tasks, Window, latencies};
use crate::model::profile::Profile;
use crate::model::{CoordinatedOmission, LatencySpec, Unit};
use crate::units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// The latency of the operations of a selected time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationLatencyView {
    /// What was measured, in words.
    pub source: String,
    /// Operations.
    pub count: u64,
    /// Operations per second of the selected time.
    pub per_second: f64,
    /// The unit of all latencies.
    pub unit: Unit,
    /// Whether the intervals take operations as independent: too few windows show how they resemble each other.
    pub independent: bool,
    /// Whether the source tells only of a whole run, at its end.
    #[serde(skip)]
    pub whole_run: bool,
    /// What the source leaves out; `None` if it is not known.
    pub coordinated_omission: Option<OmissionView>,
    /// The quantiles and the longest latency; JSON keys them by name.
    #[serde(flatten, serialize_with = "by_name")]
    pub rows: Vec<LatencyRow>,
    /// Why slow operations are slow; absent where operations were not recorded one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowOperationsView>,
}

/// Whether slow operations are left out by the way the source measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OmissionView {
    /// Whether they are; `None` if it is not known.
    pub suffers: Option<bool>,
    /// Why, in words.
    pub why: &'static str,
    #[serde(skip)]
    word: &'static str,
}

impl OmissionView {
    /// One line: whether, and why.
    #[must_use]
    pub fn line(&self) -> String {
        format!("coordinated omission: {} ({})", self.word, self.why)
    }
}

impl From<CoordinatedOmission> for OmissionView {
    fn from(found: CoordinatedOmission) -> OmissionView {
        OmissionView { suffers: found.suffers(), why: found.why(), word: found.word() }
    }
}

/// A quantile, or the longest latency.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyRow {
    /// `p50`, `p999`, `max`.
    pub name: &'static str,
    /// `p50`, `p99.9`, `max`.
    pub label: &'static str,
    /// Nanoseconds; `None` if it is not known.
    pub value: Option<f64>,
    /// Between which values it lies, nanoseconds: a quantile with 95% confidence, the longest by the source's resolution.
    pub interval: Option<(f64, Option<f64>)>,
    /// Why it is not known.
    pub why: Option<&'static str>,
}

/// Names and labels of the quantiles, in the order of the analysis.
const NAMES: [(&str, &str); 5] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9"), ("p9999", "p99.99")];

/// Captions of [`LatencyRow::cells`].
pub const CAPTIONS: [&str; 3] = ["", "latency", "95% interval"];

impl OperationLatencyView {
    /// The latencies of a window; `None` if none was to be measured. Without operations, `count` is 0.
    #[must_use]
    pub fn of(profile: &Profile, window: Window) -> Option<OperationLatencyView> {
        let found = latencies(profile, window);
        let spec = profile.meta.plan.latency.as_ref();
        if spec.is_none() && found.is_none() {
            return None;
        }
        let count = found.as_ref().map_or(0, |found| found.counts.count());
        Some(OperationLatencyView {
            source: spec.map_or_else(|| "operations".to_string(), LatencySpec::label),
            count,
            per_second: count as f64 / measured(profile, window).seconds().max(f64::MIN_POSITIVE),
            unit: Unit::Nanos,
            independent: found.as_ref().is_some_and(|found| found.independent),
            whole_run: matches!(spec, Some(LatencySpec::Output { .. })),
            coordinated_omission: CoordinatedOmission::of(&profile.meta.plan).map(OmissionView::from),
            rows: found.as_ref().map(rows).unwrap_or_default(),
            slow: None,
        })
    }

    /// As [`OperationLatencyView::of`], with why slow operations are slow.
    #[must_use]
    pub fn explained(profile: &Profile, about: (&Names, &Tasks, &Counters), window: Window) -> Option<Self> {
        let slow = SlowOperationsView::of(profile, about, window);
        Some(OperationLatencyView { slow, ..OperationLatencyView::of(profile, window)? })
    }

    /// Why there is no table; `None` if there is one.
    #[must_use]
    pub fn nothing(&self) -> Option<&'static str> {
        let why = if self.whole_run { WHOLE_RUN } else { "none ended in the selected time" };
        (self.count == 0).then_some(why)
    }

    /// What the table does not say.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let coarse = self.rows.iter().any(|row| row.value.is_none() && row.interval.is_some());
        let coarse = coarse.then(|| COARSE.to_string());
        let independent = self.independent.then(|| INDEPENDENT.to_string());
        let omission = self.coordinated_omission.as_ref().map(OmissionView::line);
        coarse.into_iter().chain(independent).chain(omission).collect()
    }

    /// How many operations of what.
    #[must_use]
    pub fn about(&self) -> String {
        let rate = number::quantity(self.per_second, Unit::PerSecond).joined();
        format!("{}: {} operations, {rate}", self.source, number::count(self.count))
    }
}

/// The time of the window in which latencies were measured: all of it where the source does not count that.
fn measured(profile: &Profile, window: Window) -> Nanos {
    let Some(counter) = profile.counters.iter().find(|def| def.name == "latency-time") else { return window.span() };
    let mut readings = profile.readings.iter().rev().filter(|it| it.counter == counter.id && it.at <= window.to);
    let Some(last) = readings.next() else { return window.span() };
    let before = readings.find(|it| it.at <= window.from).map_or(0, |it| it.value);
    Nanos(last.value.saturating_sub(before))
}

/// What the intervals of few windows leave out.
const INDEPENDENT: &str =
    "too few windows to see whether slow operations come together: the intervals take them as independent";

/// What a part of a recording's time has of a load generator's output.
const WHOLE_RUN: &str = "the load generator tells of its whole run, at its end: select that, too";

/// Why a row has an interval and no value.
const COARSE: &str = "a row without a value: the source tells no more than that it lies in the interval";

fn rows(found: &Latencies) -> Vec<LatencyRow> {
    let quantile = |(quantile, (name, label)): (&Quantile, (&'static str, &'static str))| LatencyRow {
        name,
        label,
        value: quantile.value.value().copied(),
        interval: quantile.interval,
        why: quantile.value.why().map(|why| why.text()),
    };
    let longest = found.counts.longest().map(|bin| LatencyRow {
        name: "max",
        label: "max",
        value: bin.value().value().copied(),
        interval: Some((bin.low.as_f64(), bin.high.map(|high| high.as_f64()))),
        why: bin.value().why().map(|why| why.text()),
    });
    found.quantiles.iter().zip(NAMES).map(quantile).chain(longest).collect()
}

impl LatencyRow {
    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 3] {
        let time = |ns: f64| number::quantity(ns, Unit::Nanos).joined();
        let interval = match (self.name, self.interval) {
            (_, None) => self.why.unwrap_or_default().to_string(),
            ("max", Some((_, Some(_)))) if self.value.is_some() => String::new(),
            (_, Some((low, Some(high)))) => format!("{} to {}", time(low), time(high)),
            (_, Some((low, None))) => format!("{} or more", time(low)),
        };
        [self.label.to_string(), self.value.map_or("-".to_string(), time), interval]
    }
}

/// `p50`, ... `max` as numbers or null, `interval` with both ends of each, `missing` with the reasons.
fn by_name<S: serde::Serializer>(rows: &[LatencyRow], to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Rows {
        #[serde(flatten)]
        values: BTreeMap<&'static str, Option<f64>>,
        interval: BTreeMap<&'static str, (f64, Option<f64>)>,
        missing: BTreeMap<&'static str, &'static str>,
    }
    let values = rows.iter().map(|row| (row.name, row.value)).collect();
    let interval = rows.iter().filter_map(|row| Some((row.name, row.interval?))).collect();
    let missing = rows.iter().filter_map(|row| Some((row.name, row.why?))).collect();
    Rows { values, interval, missing }.serialize(to)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencyCount;
    use crate::units::Nanos;

    fn profile(counts: &[(u64, Option<u64>, u64)]) -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic.meta.plan.latency = Some(LatencySpec::Calls { binary: "/bin/app".into(), symbol: "serve".into() });
        let mut profile = synthetic.finish();
        let row = |&(low, high, count): &(u64, Option<u64>, u64)| LatencyCount {
            at: ms(1000),
            low: Nanos(low),
            high: high.map(Nanos),
            count,
        };
        profile.latencies = counts.iter().map(row).collect();
        profile
    }

    const WINDOW: Window = Window { from: Nanos(0), to: Nanos(2_000_000_000) };

    #[test]
    fn programs_read_numbers_by_name_and_people_a_row_each() {
        let view =
            OperationLatencyView::of(&profile(&[(1_000_000, Some(1_001_000), 990), (20_000_000, None, 60)]), WINDOW)
                .unwrap();
        assert_eq!(view.about(), "calls of serve in /bin/app: 1,050 operations, 525/s");
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!((&json["unit"], &json["count"]), (&"ns".into(), &1050.into()));
        assert_eq!(json["p50"], 1_000_499.5);
        assert_eq!(json["interval"]["p50"], serde_json::json!([1_000_000.0, 1_001_000.0]));
        assert_eq!(json["interval"]["p99"], serde_json::json!([20_000_000.0, null]));
        assert!(json["p9999"].is_null() && json["missing"]["p9999"] == "too few samples", "{json}");
        let cells: Vec<_> = view.rows.iter().map(LatencyRow::cells).collect();
        assert_eq!(cells[0], ["p50", "1.00 ms", "1.00 ms to 1.00 ms"]);
        assert_eq!(cells[2], ["p99", "-", "20.0 ms or more"]);
        assert_eq!(cells[5], ["max", "-", "20.0 ms or more"]);
        assert_eq!(json["coordinated_omission"]["suffers"], serde_json::Value::Null);
        assert!(view.coordinated_omission.unwrap().line().contains("unknown (time in the server only"));
    }

    #[test]
    fn what_was_to_be_measured_and_was_not_is_shown_as_no_operations() {
        let view = OperationLatencyView::of(&profile(&[]), WINDOW).unwrap();
        assert_eq!((view.count, view.rows.len()), (0, 0));
        assert_eq!(view.nothing(), Some("none ended in the selected time"));
        assert_eq!(OperationLatencyView::of(&Synthetic::new().finish(), WINDOW), None);
    }
}

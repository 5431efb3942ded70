//! Latency against width and load, as rows of text.

use super::{PointView, SweepView};
use crate::analysis::sweep::{PointQuantile, Scatter};
use crate::model::Unit;
use crate::view::number::{count, quantity};

pub use crate::analysis::sweep::PointLatency;

/// Captions of [`rows`].
pub const CAPTIONS: [&str; 8] = ["n", "ops/s", "p50", "", "p99", "95% interval", "p99.9", "max"];

/// The names of the quantiles for programs, in the order of the analysis.
pub const NAMES: [&str; 5] = ["p50", "p90", "p99", "p999", "p9999"];

/// What the table shows, and what its intervals come from; `None` if latency was not measured.
#[must_use]
pub fn about(view: &SweepView) -> Option<String> {
    let measured = || view.points.iter().filter_map(|point| point.latency.as_ref());
    let from = match measured().map(|latency| latency.scatter).collect::<Vec<_>>().as_slice() {
        [] => return None,
        all if all.iter().all(|scatter| *scatter == Scatter::Runs) => "from run to run",
        all if all.iter().all(|scatter| *scatter == Scatter::Windows) => "within the only run",
        _ => "from run to run, or within an only one",
    };
    let operations = count(measured().map(|latency| latency.count).fold(0, u64::saturating_add));
    Some(format!("of all {operations} operations; intervals: scatter {from}"))
}

/// A row for each width that was measured.
#[must_use]
pub fn rows(view: &SweepView) -> Vec<[String; 8]> {
    view.points.iter().filter_map(|point| Some(row(point, point.latency.as_ref()?))).collect()
}

fn row(point: &PointView, latency: &PointLatency) -> [String; 8] {
    // Where operations are counted, that is the throughput; else those whose latency was measured.
    let rate = point.values.get("ops_per_s").and_then(|value| value.mean()).unwrap_or(latency.per_second.mean);
    let quantile = |share: f64| latency.quantile(share);
    [
        point.n.to_string(),
        quantity(rate, Unit::PerSecond).joined(),
        quantile(0.5).map_or(dash(), value),
        quantile(0.5).map_or(String::new(), interval),
        quantile(0.99).map_or(dash(), value),
        quantile(0.99).map_or(String::new(), interval),
        quantile(0.999).map_or(dash(), value),
        latency.longest.map_or(dash(), time),
    ]
}

/// `p50 161 us, p99 4.20 ms [3.98 ms, 4.50 ms]`.
#[must_use]
pub fn text(latency: &PointLatency) -> String {
    let part = |(name, share): (&str, f64)| {
        let quantile = latency.quantile(share)?;
        quantile.value.value()?;
        let interval = interval(quantile);
        let interval = if interval.is_empty() { interval } else { format!(" [{interval}]") };
        Some(format!("{name} {}{interval}", value(quantile)))
    };
    let parts: Vec<String> = [("p50", 0.5), ("p99", 0.99)].into_iter().filter_map(part).collect();
    if parts.is_empty() { "no operation was measured".to_string() } else { parts.join(", ") }
}

fn dash() -> String {
    "-".to_string()
}

fn time(ns: f64) -> String {
    quantity(ns, Unit::Nanos).joined()
}

fn value(quantile: &PointQuantile) -> String {
    quantile.value.value().map_or(dash(), |value| time(*value))
}

fn interval(quantile: &PointQuantile) -> String {
    match quantile.interval {
        Some((low, Some(high))) => format!("{} to {}", time(low), time(high)),
        Some((low, None)) => format!("{} or more", time(low)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sweep::fixture::{self, Machine};

    #[test]
    fn a_sweep_with_latency_has_its_columns_and_rows_and_others_have_no_gap() {
        let plain = SweepView::of(&fixture::meta(Machine::Clock), &fixture::analysis(Machine::Clock), None);
        assert!(plain.columns.iter().all(|column| !column.name.starts_with("latency_")));
        assert_eq!((about(&plain), rows(&plain).len()), (None, 0));
        let (meta, analysis) = fixture::with_latency();
        let view = SweepView::of(&meta, &analysis, None);
        let p99 = view.points[1].values.get("latency_p99_ns").and_then(|value| value.mean());
        assert!(p99.is_some_and(|p99| p99 > 1e6), "{p99:?}");
        assert!(about(&view).is_some_and(|about| about.contains("or within an only one")), "{:?}", about(&view));
        let rows = rows(&view);
        assert_eq!(rows.len(), 7);
        assert_eq!([&rows[0][0], &rows[0][2], &rows[0][6], &rows[0][7]], ["1", "100 us", "1.10 ms", "1.10 ms"]);
        assert!(rows[1][5].contains(" to "), "{rows:?}");
        let text = view.points[1].latency.as_ref().map(text).unwrap_or_default();
        assert!(text.starts_with("p50 100 us [") && text.contains(", p99 "), "{text}");
    }
}

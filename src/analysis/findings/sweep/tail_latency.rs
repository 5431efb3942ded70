//! Finds the width from which operations take longer while throughput does not follow: more of them wait at a time.
//!
//! Each width is compared with the narrower one of most throughput. The tail grows if the intervals of its 99th percentile
//! lie apart. Throughput does not follow if, at the upper end of its interval, it grows by less than a quarter of
//! what the width grows by. Where an interval leaves either open, the rule is undecided.

use super::{Confidence, Evidence, Finding};
use crate::analysis::finding::Verdict;
use crate::analysis::sweep::{Estimate, Point, PointLatency};
use crate::analysis::text::{digits, seconds};
use crate::model::{Measure, Unit, Why};

pub(super) const ID: &str = "tail-latency";
pub(super) const TITLE: &str = "tail latency grows, throughput does not";

/// The quantile that stands for the tail.
const TAIL: f64 = 0.99;
/// Growth of the tail that matters. [P]
const GROWN: f64 = 1.1;
/// The part of a width's growth that throughput must not reach. [P]
const FOLLOWS: f64 = 0.25;

/// One width, as the rule sees it.
struct Width<'a> {
    point: &'a Point,
    /// The 99th percentile and its interval, nanoseconds.
    tail: (f64, f64, f64),
    /// Operations per second.
    rate: Estimate,
}

/// The verdict on all widths from the base on; `None` if latency was not measured.
pub(super) fn verdict(points: &[Point], base: usize) -> Option<Verdict> {
    let points = points.get(base..).unwrap_or_default();
    let measured: Vec<(&Point, PointLatency)> =
        points.iter().filter_map(|point| Some((point, PointLatency::of(&point.runs)?))).collect();
    if measured.is_empty() {
        return None;
    }
    let widths: Vec<Width<'_>> = measured.iter().filter_map(|(point, latency)| Width::of(point, latency)).collect();
    if widths.len() < 2 {
        return Some(Verdict::Undecided(Why::TooFewSamples));
    }
    let mut open = None;
    for (at, here) in widths.iter().enumerate().skip(1) {
        let narrower = widths[..at].iter().max_by(|a, b| a.rate.mean.total_cmp(&b.rate.mean))?;
        match (here.tail_grew(narrower), here.is_ahead(narrower)) {
            (Some(true), Some(false)) => return Some(Verdict::Found(finding(here, narrower))),
            (Some(false), _) | (_, Some(true)) => {}
            (None, _) | (_, None) => open = Some(Why::RunsScatter),
        }
    }
    Some(open.map_or(Verdict::Clear, Verdict::Undecided))
}

impl<'a> Width<'a> {
    fn of(point: &'a Point, latency: &PointLatency) -> Option<Width<'a>> {
        let quantile = latency.quantile(TAIL)?;
        let (low, high) = quantile.interval?;
        let rate = match point.numbers.ops_per_s {
            Measure::Known { value, .. } => value,
            // What was measured stands for what was done, if nothing else counts operations.
            Measure::Missing(_) => latency.per_second,
        };
        Some(Width { point, tail: (*quantile.value.value()?, low, high?), rate })
    }

    /// Whether the tail is longer than that of a narrower width; `None` if the intervals overlap.
    fn tail_grew(&self, narrower: &Width<'_>) -> Option<bool> {
        let (here, low, _) = self.tail;
        let (before, _, high) = narrower.tail;
        match here >= before * GROWN {
            false => Some(false),
            true => (low > high).then_some(true),
        }
    }

    /// Whether throughput follows the width; `None` if its interval leaves that open.
    fn is_ahead(&self, narrower: &Width<'_>) -> Option<bool> {
        let wider = f64::from(self.point.n) / f64::from(narrower.point.n) - 1.0;
        let least = FOLLOWS * wider * narrower.rate.mean;
        let grown = self.rate.mean - narrower.rate.mean;
        let margin = self.rate.margin().hypot(narrower.rate.margin());
        match (grown - margin >= least, grown + margin < least) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

fn finding(here: &Width<'_>, narrower: &Width<'_>) -> Finding {
    let time = |ns: f64| seconds(ns * 1e-9);
    let tail = |(value, low, high): (f64, f64, f64)| format!("{} [{}, {}]", time(value), time(low), time(high));
    let rate = |rate: Estimate| format!("{}/s", digits(rate.mean));
    let runs = here.point.runs.len().min(narrower.point.runs.len());
    let (n, before) = (here.point.n, narrower.point.n);
    Finding {
        rule: ID,
        title: TITLE,
        share: None,
        claim: format!(
            "At n={n}: one of a hundred operations takes longer than {}, at n={before} than {}, while throughput goes \
             from {} to {}: the wider load waits.",
            tail(here.tail),
            tail(narrower.tail),
            rate(narrower.rate),
            rate(here.rate)
        ),
        evidence: vec![
            Evidence::of("growth of p99", here.tail.0 / narrower.tail.0, Unit::Ratio, GROWN),
            Evidence::plain("growth of throughput", here.rate.mean / narrower.rate.mean, Unit::Ratio),
            Evidence::plain("p99 at the lower end of its interval", here.tail.1 * 1e-9, Unit::Seconds),
            Evidence::plain("p99 before, at the upper end", narrower.tail.2 * 1e-9, Unit::Seconds),
        ],
        // One run per width says nothing about how runs scatter.
        confidence: match runs {
            0 | 1 => Confidence::Low,
            2 => Confidence::Medium,
            _ => Confidence::High,
        },
        place: None,
        culprits: Vec::new(),
        refuted_by: "more throughput, or the same p99, in longer runs at this width",
        next_step: format!(
            "Load it no wider than n={before} where latency matters; to see what slow operations wait for, open the \
             recording of a run at n={n} (:run) and its screens Latency and Threads."
        ),
    }
}

//! View model: why the slowest operations took longer than the others.

use super::escape::visible;
use super::number;
use crate::analysis::{
    Cause, Counters, Names, SlowCause, SlowOperations, Tasks, ThreadSet, TimePart, Window, latencies, metrics,
    neighbours, slow_operations, throttled_share, value_of,
};
use crate::model::profile::Profile;
use crate::model::{MetricId, NeighbourKind, Unit};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Most neighbours listed with time in the run queue.
const NEIGHBOURS: usize = 3;
/// A neighbour that kept fewer CPUs busy is not listed.
const BUSY: f64 = 0.05;

const RUN_QUEUE: SlowCauseName = SlowCauseName::Part("run_queue");

/// The slowest operations compared with the others, or why they cannot be explained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SlowOperationsView {
    /// The explanation.
    Known(Box<SlowView>),
    /// It is missing.
    Missing {
        /// The reason.
        missing: &'static str,
    },
}

/// The slowest operations compared with the others. All times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowView {
    /// The share of the operations that is faster.
    pub quantile: f64,
    /// Slow operations take at least as long.
    pub threshold: f64,
    /// Slow operations that were recorded one by one.
    pub recorded: usize,
    /// Their share of all slow ones.
    pub coverage: f64,
    /// The mean latency of the slow ones.
    pub mean: f64,
    /// The mean latency of the others.
    pub mean_others: f64,
    /// Page faults of a slow operation.
    pub faults: Option<SlowFaults>,
    /// What takes longer in slow operations, largest share first.
    pub causes: Vec<SlowCauseRow>,
}

/// Mean page faults of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlowFaults {
    /// Without a read from storage, of slow ones.
    pub minor: f64,
    /// With one.
    pub major: f64,
    /// Without a read, of the others.
    pub minor_others: f64,
    /// With one.
    pub major_others: f64,
}

/// What takes longer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowCauseRow {
    /// What it is.
    pub cause: SlowCauseName,
    /// In words.
    #[serde(skip)]
    pub label: &'static str,
    /// Its share of what slow operations take longer.
    pub share: f64,
    /// Its mean in slow operations.
    pub slow: f64,
    /// Its mean in the others.
    pub others: f64,
    /// The functions, innermost first, or for the run queue the neighbours that used CPUs; empty if unknown.
    #[serde(rename = "where")]
    pub place: Vec<String>,
}

/// `on_cpu`, `interrupts`, `run_queue`, `throttled`, `short_waits`, or the cause of a wait as in the table of waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SlowCauseName {
    /// A part of the time in which the thread did not wait for anything.
    Part(&'static str),
    /// What the thread waited for.
    Wait(Cause),
}

/// Captions of [`SlowCauseRow::cells`].
pub const CAPTIONS: [&str; 5] = ["cause", "share", "slow", "others", "where"];

impl SlowOperationsView {
    /// Explains the slowest operations of the window; `None` if none is recorded.
    #[must_use]
    pub fn of(
        profile: &Profile,
        (names, tasks, counters): (&Names, &Tasks, &Counters),
        window: Window,
    ) -> Option<SlowOperationsView> {
        // Only latencies that the kernel measured have operations one by one.
        let latencies = latencies(profile, window).filter(|_| !profile.operations.is_empty())?;
        let throttled = throttled(counters, window);
        Some(match slow_operations(profile, names, tasks, &latencies, throttled, window) {
            Ok(found) => SlowOperationsView::Known(Box::new(SlowView::of(&found, profile, window))),
            Err(why) => SlowOperationsView::Missing { missing: why.text() },
        })
    }
}

fn throttled(counters: &Counters, window: Window) -> f64 {
    let all = metrics(counters, &ThreadSet::All, window, None);
    let value = |id| value_of(&all, id);
    let wall = window.span().seconds();
    let threads = value(MetricId::Threads).value().copied().unwrap_or_default();
    throttled_share(value(MetricId::ThrottledTime), value(MetricId::RunQueueDelay).map(|share| share * threads * wall))
}

impl SlowView {
    fn of(found: &SlowOperations, profile: &Profile, window: Window) -> SlowView {
        let faults = found.faults.map(|[(minor, minor_others), (major, major_others)]| SlowFaults {
            minor,
            major,
            minor_others,
            major_others,
        });
        SlowView {
            quantile: found.quantile,
            threshold: found.threshold,
            recorded: found.recorded,
            coverage: found.coverage,
            mean: found.slow,
            mean_others: found.others,
            faults,
            causes: found.causes.iter().map(|cause| SlowCauseRow::of(cause, profile, window)).collect(),
        }
    }

    /// What is compared with what.
    #[must_use]
    pub fn about(&self) -> String {
        let time = |ns: f64| number::quantity(ns, Unit::Nanos).joined();
        format!(
            "the slowest {} ({} or more) take {} on average, the others {}",
            number::percent(1.0 - self.quantile).joined(),
            time(self.threshold),
            time(self.mean),
            time(self.mean_others)
        )
    }

    /// What the explanation leaves out, and what else differs.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.coverage < 0.95 {
            remarks.push(format!(
                "only {} of the slow operations were recorded one by one",
                number::percent(self.coverage).joined()
            ));
        }
        if let Some(faults) = self.faults {
            for (kind, slow, others) in
                [("minor", faults.minor, faults.minor_others), ("major", faults.major, faults.major_others)]
            {
                // Operations whose faults differ by less than one in ten are not slow because of them.
                if slow - others >= 0.1 {
                    let count = |faults: f64| number::quantity(faults, Unit::Count).joined();
                    remarks.push(format!("{kind} page faults: {} each, {} in the others", count(slow), count(others)));
                }
            }
        }
        remarks
    }
}

impl SlowCauseRow {
    fn of(cause: &SlowCause, profile: &Profile, window: Window) -> SlowCauseRow {
        let (name, label) = words(cause.part);
        let place = match cause.part {
            TimePart::Queued => busy_neighbours(profile, window),
            _ => cause.place.clone(),
        };
        SlowCauseRow { cause: name, label, share: cause.share, slow: cause.slow, others: cause.others, place }
    }

    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 5] {
        let time = |ns: f64| number::quantity(ns, Unit::Nanos).joined();
        let share = number::percent(self.share).joined();
        [self.label.to_string(), share, time(self.slow), time(self.others), self.shown_places().join(self.joint())]
    }

    /// The names of its place, safe to print.
    #[must_use]
    pub fn shown_places(&self) -> Vec<Cow<'_, str>> {
        self.place.iter().map(|name| visible(name)).collect()
    }

    /// What stands between two names of its place.
    #[must_use]
    pub fn joint(&self) -> &'static str {
        if self.cause == RUN_QUEUE { ", " } else { " < " }
    }
}

fn words(part: TimePart) -> (SlowCauseName, &'static str) {
    match part {
        TimePart::OnCpu => (SlowCauseName::Part("on_cpu"), "on a CPU"),
        TimePart::Interrupted => (SlowCauseName::Part("interrupts"), "interrupts"),
        TimePart::Queued => (RUN_QUEUE, "waiting for a CPU"),
        TimePart::Throttled => (SlowCauseName::Part("throttled"), "CPU quota used up"),
        TimePart::Blocked(cause) => (SlowCauseName::Wait(cause), cause.label()),
        TimePart::Unseen => (SlowCauseName::Part("short_waits"), "short waits"),
    }
}

/// The neighbours that kept CPUs busy in the window, by name, with how many.
fn busy_neighbours(profile: &Profile, window: Window) -> Vec<String> {
    let wall = window.span().seconds().max(f64::MIN_POSITIVE);
    let rows = neighbours(profile, window).into_iter().filter(|row| row.who.kind != NeighbourKind::Resctrl);
    let mut named: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        *named.entry(&row.who.name).or_default() += row.cpu.seconds() / wall;
    }
    let mut busy: Vec<_> = named.into_iter().filter(|(_, cpus)| *cpus >= BUSY).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let text = |(name, cpus)| format!("{name} ({} CPUs)", number::quantity(cpus, Unit::Cores).joined());
    busy.into_iter().take(NEIGHBOURS).map(text).collect()
}

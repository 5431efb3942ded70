//! What a screen requests: the time, the threads, the axis, and the view.

use crate::analysis::diff::Per;
use crate::analysis::{Axis, GroupBy, Selection, TimeRange};
use crate::units::Nanos;

/// The known time. A live history loses its beginning and grows at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// First moment that is still held.
    pub since: Nanos,
    /// Last moment that is known.
    pub now: Nanos,
}

/// Which part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeSelector {
    /// This many nanoseconds before `end`.
    Last(Nanos),
    /// From a moment on.
    Since(Nanos),
    /// Everything held.
    All,
    /// Exactly this range.
    Between(Nanos, Nanos),
}

/// What changes are measured against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompareWith {
    /// No comparison: changes are not shown.
    #[default]
    Nothing,
    /// The same profile before this moment.
    Before(Nanos),
    /// The recording that was loaded for comparison.
    Recording,
}

/// Which processes and threads; empty lists mean all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Processes by id.
    pub pids: Vec<u32>,
    /// Threads by id.
    pub tids: Vec<u32>,
    /// Control groups by path.
    pub cgroups: Vec<String>,
    /// CPUs; waits have none, and are not left out.
    pub cpus: Vec<u32>,
}

/// What a line of the threads view stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKey {
    /// A thread.
    #[default]
    Thread,
    /// A process.
    Process,
    /// A control group.
    Cgroup,
    /// A CPU.
    Cpu,
}

impl LineKey {
    /// The next one, around in a circle.
    #[must_use]
    pub fn next(self) -> LineKey {
        match self {
            LineKey::Thread => LineKey::Process,
            LineKey::Process => LineKey::Cgroup,
            LineKey::Cgroup => LineKey::Cpu,
            LineKey::Cpu => LineKey::Thread,
        }
    }

    /// Its name, as a heading.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            LineKey::Thread => "thread",
            LineKey::Process => "process",
            LineKey::Cgroup => "control group",
            LineKey::Cpu => "CPU",
        }
    }
}

/// What the roots of the call tree are grouped by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// By process, where there are several.
    #[default]
    Plain,
    /// By thread.
    Threads,
}

impl Grouping {
    /// The other one.
    #[must_use]
    pub fn next(self) -> Grouping {
        match self {
            Grouping::Plain => Grouping::Threads,
            Grouping::Threads => Grouping::Plain,
        }
    }
}

/// A screen of a comparison. The flame graph is a separate view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparisonTab {
    /// The answer, the factors, the quantities.
    Overview,
    /// The code that changed.
    Functions,
    /// Expectations, gates, load, and the conditions in which the sides differ.
    Conditions,
}

/// A screen of a data set of many machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FleetTab {
    /// The jobs, and what is known of one.
    Jobs,
    /// Unusual hosts and alarms.
    Hosts,
    /// Functions.
    Functions,
    /// Suspects, influences and contention.
    Suspects,
    /// Versions and configurations.
    Versions,
    /// Usual values and seasons.
    Usual,
}

/// The requested view, with its own parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ViewRequest {
    /// The factors, rates and findings.
    #[default]
    Overview,
    /// The call tree.
    Flame {
        /// What the roots are grouped by.
        by: Grouping,
        /// Whether to show the difference from the session's baseline, which has no threads.
        against_baseline: bool,
    },
    /// The table of functions.
    Functions {
        /// What a row represents.
        by: GroupBy,
        /// Name and module path of the function to show with callers, callees and lines. `None` for the first by self
        /// weight.
        detail: Option<(String, String)>,
    },
    /// The threads.
    Threads {
        /// What a line stands for.
        by: LineKey,
        /// The line whose waits to show, by its number.
        detail: Option<u32>,
    },
    /// The counters.
    Counters,
    /// The findings.
    Findings,
    /// Memory and threads by node, and sampled accesses.
    Numa,
    /// How long operations took, over time.
    Latency,
    /// The sweep; only in a session of a sweep.
    Scaling,
    /// The session compared with its baseline.
    Baseline,
    /// A comparison; only in its own session.
    Comparison(ComparisonTab),
    /// A data set of many machines; only in its own session.
    Fleet(FleetTab),
}

/// One request of a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Which part of the history.
    pub time: TimeSelector,
    /// The moment that counts as now; `None` follows the session.
    pub end: Option<Nanos>,
    /// Which processes and threads.
    pub filter: TaskFilter,
    /// What is counted.
    pub axis: Axis,
    /// What changes are measured against.
    pub compare_with: CompareWith,
    /// The width of a sweep to compare with its base, or the index of a comparison. `None` for a profile, the widest
    /// point, or the first comparison.
    pub point: Option<u32>,
    /// What costs of a comparison are divided by; `None` keeps the initial divisor.
    pub per: Option<Per>,
    /// The requested view.
    pub request: ViewRequest,
}

impl Query {
    /// The moment that is shown, if it is not the session's end.
    #[must_use]
    pub fn moment(&self) -> Option<Nanos> {
        match self.time {
            TimeSelector::Between(_, to) => Some(to),
            _ => self.end,
        }
    }

    /// The selected time, limited to what is held; never empty.
    #[must_use]
    pub fn time_range(&self, bounds: Bounds) -> TimeRange {
        let end = self.end.unwrap_or(bounds.now).clamp(bounds.since, bounds.now.max(bounds.since));
        let (from, to) = match self.time {
            TimeSelector::Last(span) => (end - span, end),
            TimeSelector::Since(from) => (from, end),
            TimeSelector::All => (bounds.since, end),
            TimeSelector::Between(from, to) => (from, to.min(bounds.now)),
        };
        let from = from.max(bounds.since);
        TimeRange { from, to: Some(to.max(from + Nanos(1))) }
    }

    /// The selection of a profile that it requests.
    #[must_use]
    pub fn selection(&self, bounds: Bounds) -> Selection {
        Selection {
            pids: self.filter.pids.clone(),
            tids: self.filter.tids.clone(),
            cgroups: self.filter.cgroups.clone(),
            cpus: self.filter.cpus.clone(),
            time: self.time_range(bounds),
            axis: self.axis,
            ..Selection::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_time_stays_within_what_is_held() {
        let bounds = Bounds { since: Nanos(100), now: Nanos(1000) };
        for (time, end, expected) in [
            (TimeSelector::Last(Nanos(50)), None, (950, 1000)),
            (TimeSelector::Last(Nanos(5000)), None, (100, 1000)),
            (TimeSelector::Last(Nanos(50)), Some(Nanos(500)), (450, 500)),
            (TimeSelector::Last(Nanos(50)), Some(Nanos(10)), (100, 101)),
            (TimeSelector::Since(Nanos(700)), None, (700, 1000)),
            (TimeSelector::All, Some(Nanos(9999)), (100, 1000)),
            (TimeSelector::Between(Nanos(0), Nanos(300)), None, (100, 300)),
            (TimeSelector::Between(Nanos(900), Nanos(3000)), Some(Nanos(1)), (900, 1000)),
        ] {
            let moment = if let TimeSelector::Between(_, to) = time { Some(to) } else { end };
            let query = Query {
                time,
                end,
                filter: TaskFilter::default(),
                axis: Axis::Event(0),
                compare_with: CompareWith::Nothing,
                point: None,
                per: None,
                request: ViewRequest::Overview,
            };
            assert_eq!(query.moment(), moment);
            let range = query.time_range(bounds);
            assert_eq!((range.from.0, range.to.map(|to| to.0)), (expected.0, Some(expected.1)), "{time:?}");
        }
    }
}

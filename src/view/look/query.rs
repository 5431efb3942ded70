//! What a screen wants to see: which time, whose, what is counted, and which of the views.
//! It never holds data.

use super::comparison::Leaf;
use crate::analysis::{Axis, GroupBy, Selection, TimeRange};
use crate::units::Nanos;
use crate::view::compare::Per;

/// What is known of the time: a live history loses its beginning and gains at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// First moment that is still held.
    pub since: Nanos,
    /// Last moment that is known.
    pub now: Nanos,
}

/// Which part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The last so many nanoseconds before `end`.
    Last(Nanos),
    /// From a moment on.
    Since(Nanos),
    /// Everything held.
    All,
    /// Exactly this.
    Between(Nanos, Nanos),
}

/// What changes are measured against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Against {
    /// Nothing: no changes are shown.
    #[default]
    Nothing,
    /// The same profile before this moment.
    Before(Nanos),
    /// The baseline recording that was loaded.
    Baseline,
}

/// Whose; empty lists mean everybody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whose {
    /// Processes by id.
    pub pids: Vec<u32>,
    /// Threads by id.
    pub tids: Vec<u32>,
}

/// What the call tree is divided by at its root.
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

/// Which view, with what only that view needs to know.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Ask {
    /// The factors, rates and findings.
    #[default]
    Overview,
    /// The call tree.
    Flame {
        /// What stands below each root.
        by: Grouping,
        /// Whether it is the difference against the session's baseline, which knows no threads.
        usual: bool,
    },
    /// The table of functions.
    Functions {
        /// What a row stands for.
        by: GroupBy,
        /// The function whose callers, callees and lines are wanted: its name and its module's path. `None` for the
        /// first by own weight.
        detail: Option<(String, String)>,
    },
    /// The threads.
    Threads {
        /// The thread whose waits are wanted.
        detail: Option<u32>,
    },
    /// The counters.
    Counters,
    /// The findings.
    Findings,
    /// The sweep: of a sweep's session only.
    Scaling,
    /// How the session stands against its baseline.
    Baseline,
    /// A comparison: of its session only.
    Comparison(Leaf),
}

/// One question of the screen to the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Which part of the history.
    pub when: When,
    /// The moment that counts as now; `None` follows the session.
    pub end: Option<Nanos>,
    /// Whose.
    pub whose: Whose,
    /// What is counted.
    pub axis: Axis,
    /// What changes are measured against.
    pub against: Against,
    /// The width of a sweep that is compared with its base, or which of the sides of a comparison; `None` for a profile, for
    /// the widest, or for the first.
    pub point: Option<u32>,
    /// What costs of a comparison are divided by, if not what it began with.
    pub per: Option<Per>,
    /// Which view.
    pub ask: Ask,
}

impl Query {
    /// The selected time within what is held; never empty, never outside.
    #[must_use]
    pub fn time(&self, bounds: Bounds) -> TimeRange {
        let end = self.end.unwrap_or(bounds.now).clamp(bounds.since, bounds.now.max(bounds.since));
        let (from, to) = match self.when {
            When::Last(span) => (end - span, end),
            When::Since(from) => (from, end),
            When::All => (bounds.since, end),
            When::Between(from, to) => (from, to.min(bounds.now)),
        };
        let from = from.max(bounds.since);
        TimeRange { from, to: Some(to.max(from + Nanos(1))) }
    }

    /// The part of a profile it asks for.
    #[must_use]
    pub fn selection(&self, bounds: Bounds) -> Selection {
        Selection {
            pids: self.whose.pids.clone(),
            tids: self.whose.tids.clone(),
            time: self.time(bounds),
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
        for (when, end, expected) in [
            (When::Last(Nanos(50)), None, (950, 1000)),
            (When::Last(Nanos(5000)), None, (100, 1000)),
            (When::Last(Nanos(50)), Some(Nanos(500)), (450, 500)),
            (When::Last(Nanos(50)), Some(Nanos(10)), (100, 101)),
            (When::Since(Nanos(700)), None, (700, 1000)),
            (When::All, Some(Nanos(9999)), (100, 1000)),
            (When::Between(Nanos(0), Nanos(300)), None, (100, 300)),
            (When::Between(Nanos(900), Nanos(3000)), Some(Nanos(1)), (900, 1000)),
        ] {
            let query = Query {
                when,
                end,
                whose: Whose::default(),
                axis: Axis::Event(0),
                against: Against::Nothing,
                point: None,
                per: None,
                ask: Ask::Overview,
            };
            let time = query.time(bounds);
            assert_eq!((time.from.0, time.to.map(|to| to.0)), (expected.0, Some(expected.1)), "{when:?}");
        }
    }
}

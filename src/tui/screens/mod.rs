//! The screens, one module each: state, keys, drawing. Screens do not depend on each other.

mod baseline;
mod code;
mod conditions;
mod counters;
mod diff;
mod findings;
mod flame;
mod functions;
mod overview;
mod sweep;
mod threads;

use super::panel::{Panel, ScreenId};
use crate::view::query::ComparisonTab;
use crate::view::snapshot::Body;

/// The screens in the order of their numbers.
const ORDER: [(ScreenId, &str); 8] = [
    (ScreenId::Overview, "Overview"),
    (ScreenId::Flame, "Flame"),
    (ScreenId::Functions, "Functions"),
    (ScreenId::Threads, "Threads"),
    (ScreenId::Counters, "Counters"),
    (ScreenId::Findings, "Findings"),
    (ScreenId::Scaling, "Scaling"),
    (ScreenId::Baseline, "Baseline"),
];

/// The screens of a comparison; numbers mean the same as elsewhere.
const OF_COMPARISON: [(u8, ScreenId, &str); 4] = [
    (1, ScreenId::Changes, "Overview"),
    (2, ScreenId::Flame, "Flame"),
    (3, ScreenId::Code, "Functions"),
    (6, ScreenId::Conditions, "Conditions"),
];

/// What a session shows, which determines its screens. A screen keeps its number in all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// A capture or a recording.
    #[default]
    Profile,
    /// A sweep.
    Sweep,
    /// A comparison.
    Comparison,
}

impl Kind {
    /// Whether its sessions have that screen.
    #[must_use]
    pub fn has(self, screen: ScreenId) -> bool {
        self.screens().any(|(_, other, _)| other == screen)
    }

    /// Its screens: number, ID, name.
    pub fn screens(self) -> impl Iterator<Item = (u8, ScreenId, &'static str)> {
        let all = ORDER.iter().zip(1_u8..).map(|((screen, name), number)| (number, *screen, *name));
        let shown = move |(_, screen, _): &(u8, ScreenId, &str)| match self {
            Kind::Profile => *screen != ScreenId::Scaling,
            Kind::Sweep => matches!(screen, ScreenId::Flame | ScreenId::Findings | ScreenId::Scaling),
            Kind::Comparison => false,
        };
        let compared = OF_COMPARISON.into_iter().filter(move |_| self == Kind::Comparison);
        all.filter(shown).chain(compared)
    }

    /// Its screen with that number.
    #[must_use]
    pub fn numbered(self, number: u8) -> Option<ScreenId> {
        self.screens().find(|(other, ..)| *other == number).map(|(_, screen, _)| screen)
    }

    /// Its first screen.
    #[must_use]
    pub fn first(self) -> ScreenId {
        match self {
            Kind::Profile => ScreenId::Overview,
            Kind::Sweep => ScreenId::Scaling,
            Kind::Comparison => ScreenId::Changes,
        }
    }

    /// The screen that many places further, with wrap-around.
    #[must_use]
    pub fn after(self, screen: ScreenId, by: isize) -> ScreenId {
        let all: Vec<_> = self.screens().map(|(_, screen, _)| screen).collect();
        let here = all.iter().position(|other| *other == screen).unwrap_or(0);
        all[(here as isize + by).rem_euclid(all.len() as isize) as usize]
    }
}

/// All panels in their initial state.
#[must_use]
pub fn all() -> Panels {
    Panels {
        overview: overview::State::default(),
        flame: flame::State::default(),
        functions: functions::State::default(),
        threads: threads::State::default(),
        counters: counters::State::default(),
        findings: findings::State::default(),
        scaling: sweep::State::default(),
        baseline: baseline::State::default(),
        changes: diff::State::default(),
        code: code::State::default(),
        conditions: conditions::State::default(),
    }
}

/// The state of all panels.
#[derive(Debug)]
pub struct Panels {
    overview: overview::State,
    /// The flame graph; other screens zoom into it.
    pub flame: flame::State,
    /// The functions; other screens open details in it.
    pub functions: functions::State,
    threads: threads::State,
    counters: counters::State,
    findings: findings::State,
    /// The sweep; the session queries the point chosen there.
    pub scaling: sweep::State,
    baseline: baseline::State,
    changes: diff::State,
    /// The code that changed; other screens point into it.
    pub code: code::State,
    conditions: conditions::State,
}

impl Panels {
    /// A screen's panel.
    #[must_use]
    pub fn get(&self, screen: ScreenId) -> &dyn Panel {
        match screen {
            ScreenId::Overview => &self.overview,
            ScreenId::Flame => &self.flame,
            ScreenId::Functions => &self.functions,
            ScreenId::Threads => &self.threads,
            ScreenId::Counters => &self.counters,
            ScreenId::Findings => &self.findings,
            ScreenId::Scaling => &self.scaling,
            ScreenId::Baseline => &self.baseline,
            ScreenId::Changes => &self.changes,
            ScreenId::Code => &self.code,
            ScreenId::Conditions => &self.conditions,
        }
    }

    /// A screen's panel, mutable.
    pub fn get_mut(&mut self, screen: ScreenId) -> &mut dyn Panel {
        match screen {
            ScreenId::Overview => &mut self.overview,
            ScreenId::Flame => &mut self.flame,
            ScreenId::Functions => &mut self.functions,
            ScreenId::Threads => &mut self.threads,
            ScreenId::Counters => &mut self.counters,
            ScreenId::Findings => &mut self.findings,
            ScreenId::Scaling => &mut self.scaling,
            ScreenId::Baseline => &mut self.baseline,
            ScreenId::Changes => &mut self.changes,
            ScreenId::Code => &mut self.code,
            ScreenId::Conditions => &mut self.conditions,
        }
    }

    /// The number of findings in the latest view, for the tab; `None` before the first one.
    #[must_use]
    pub fn findings(&self, open: ScreenId) -> Option<usize> {
        match open {
            ScreenId::Findings => self.findings.count(),
            _ => self.overview.findings().or(self.scaling.findings()).or(self.findings.count()),
        }
    }
}

/// The screen a view belongs to.
#[must_use]
pub fn of(body: &Body) -> ScreenId {
    match body {
        Body::Overview(_) => ScreenId::Overview,
        Body::Flame(_) => ScreenId::Flame,
        Body::Functions(_) => ScreenId::Functions,
        Body::Threads(_) => ScreenId::Threads,
        Body::Counters(_) => ScreenId::Counters,
        Body::Findings(_) => ScreenId::Findings,
        Body::Scaling(_) => ScreenId::Scaling,
        Body::Baseline(_) => ScreenId::Baseline,
        Body::Comparison(ComparisonTab::Overview, _) => ScreenId::Changes,
        Body::Comparison(ComparisonTab::Functions, _) => ScreenId::Code,
        Body::Comparison(ComparisonTab::Conditions, _) => ScreenId::Conditions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screens_follow_each_other_around() {
        assert_eq!(Kind::Profile.numbered(2), Some(ScreenId::Flame));
        assert_eq!((Kind::Profile.numbered(0), Kind::Profile.numbered(9)), (None, None));
        assert_eq!(Kind::Comparison.after(ScreenId::Conditions, 1), ScreenId::Changes);
        assert_eq!(Kind::Profile.after(ScreenId::Overview, -1), ScreenId::Baseline);
        assert_eq!(Kind::Profile.after(ScreenId::Findings, 1), ScreenId::Baseline);
        assert_eq!(Kind::Profile.after(ScreenId::Baseline, 1), ScreenId::Overview);
        assert_eq!(Kind::Sweep.after(ScreenId::Scaling, 1), ScreenId::Flame);
        assert_eq!(Kind::Sweep.after(ScreenId::Flame, -1), ScreenId::Scaling);
    }

    #[test]
    fn a_screen_has_its_number_in_every_session() {
        for kind in [Kind::Profile, Kind::Sweep, Kind::Comparison] {
            assert!(kind.has(kind.first()));
            assert!(kind.screens().all(|(number, screen, _)| kind.numbered(number) == Some(screen)));
        }
    }
}

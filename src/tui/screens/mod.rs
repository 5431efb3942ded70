//! The screens, one file each: state, keys, drawing. A screen never knows another one.

mod counters;
mod findings;
mod flame;
mod functions;
mod overview;
mod threads;

use super::panel::{Panel, ScreenId};
use crate::view::look::Body;

/// The screens in the order of their numbers.
pub const ORDER: [(ScreenId, &str); 6] = [
    (ScreenId::Overview, "Overview"),
    (ScreenId::Flame, "Flame"),
    (ScreenId::Functions, "Functions"),
    (ScreenId::Threads, "Threads"),
    (ScreenId::Counters, "Counters"),
    (ScreenId::Findings, "Findings"),
];

/// All panels, empty.
#[must_use]
pub fn all() -> Panels {
    Panels {
        overview: overview::State::default(),
        flame: flame::State::default(),
        functions: functions::State::default(),
        threads: threads::State::default(),
        counters: counters::State::default(),
        findings: findings::State::default(),
    }
}

/// The panels' states.
#[derive(Debug)]
pub struct Panels {
    overview: overview::State,
    /// The flame graph: other screens point into it.
    pub flame: flame::State,
    /// The functions: other screens ask for details.
    pub functions: functions::State,
    threads: threads::State,
    counters: counters::State,
    findings: findings::State,
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
        }
    }

    /// A screen's panel, to be changed.
    pub fn get_mut(&mut self, screen: ScreenId) -> &mut dyn Panel {
        match screen {
            ScreenId::Overview => &mut self.overview,
            ScreenId::Flame => &mut self.flame,
            ScreenId::Functions => &mut self.functions,
            ScreenId::Threads => &mut self.threads,
            ScreenId::Counters => &mut self.counters,
            ScreenId::Findings => &mut self.findings,
        }
    }

    /// How many findings the open screen has seen last, for the tab; `None` before any was looked for.
    #[must_use]
    pub fn findings(&self, open: ScreenId) -> Option<usize> {
        match open {
            ScreenId::Findings => self.findings.count(),
            _ => self.overview.findings().or(self.findings.count()),
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
    }
}

/// The screen of that number, from 1.
#[must_use]
pub fn numbered(number: u8) -> Option<ScreenId> {
    ORDER.get(usize::from(number).checked_sub(1)?).map(|(screen, _)| *screen)
}

/// The screen so many places further, around the end.
#[must_use]
pub fn after(screen: ScreenId, by: isize) -> ScreenId {
    let here = ORDER.iter().position(|(other, _)| *other == screen).unwrap_or(0);
    ORDER[(here as isize + by).rem_euclid(ORDER.len() as isize) as usize].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screens_follow_each_other_around() {
        assert_eq!(numbered(2), Some(ScreenId::Flame));
        assert_eq!((numbered(0), numbered(7)), (None, None));
        assert_eq!(after(ScreenId::Overview, -1), ScreenId::Findings);
        assert_eq!(after(ScreenId::Findings, 1), ScreenId::Overview);
    }
}

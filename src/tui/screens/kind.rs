//! Which screens a session has, and their numbers.

use crate::tui::panel::ScreenId;
use crate::view::query::FleetTab;

/// The screens in the order of their numbers; the tenth has the key 0, as on a keyboard.
const ORDER: [(ScreenId, &str); 10] = [
    (ScreenId::Overview, "Overview"),
    (ScreenId::Flame, "Flame"),
    (ScreenId::Functions, "Functions"),
    (ScreenId::Threads, "Threads"),
    (ScreenId::Counters, "Counters"),
    (ScreenId::Findings, "Findings"),
    (ScreenId::Scaling, "Scaling"),
    (ScreenId::Baseline, "Baseline"),
    (ScreenId::Numa, "NUMA"),
    (ScreenId::Latency, "Latency"),
];

/// The screens of a comparison; numbers mean the same as elsewhere.
const OF_COMPARISON: [(u8, ScreenId, &str); 4] = [
    (1, ScreenId::Changes, "Overview"),
    (2, ScreenId::Flame, "Flame"),
    (3, ScreenId::Code, "Functions"),
    (6, ScreenId::Conditions, "Conditions"),
];

/// The screens of a data set of many machines.
const OF_FLEET: [(u8, ScreenId, &str); 6] = [
    (1, ScreenId::Fleet(FleetTab::Jobs), "Fleet"),
    (2, ScreenId::Fleet(FleetTab::Hosts), "Hosts"),
    (3, ScreenId::Fleet(FleetTab::Functions), "Functions"),
    (4, ScreenId::Fleet(FleetTab::Suspects), "Suspects"),
    (5, ScreenId::Fleet(FleetTab::Versions), "Versions"),
    (6, ScreenId::Fleet(FleetTab::Usual), "Usual"),
];

/// What a session shows, which determines its screens. A screen keeps its number in all of them but in that of
/// a data set, whose screens are its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionKind {
    /// A capture or a recording.
    #[default]
    Profile,
    /// A sweep.
    Sweep,
    /// A comparison.
    Comparison,
    /// A data set of many machines.
    Fleet,
}

impl SessionKind {
    /// Whether its sessions have that screen.
    #[must_use]
    pub fn has(self, screen: ScreenId) -> bool {
        self.screens().any(|(_, other, _)| other == screen)
    }

    /// Its screens: number, ID, name.
    pub fn screens(self) -> impl Iterator<Item = (u8, ScreenId, &'static str)> {
        let all = ORDER.iter().zip(1_u8..).map(|((screen, name), number)| (number % 10, *screen, *name));
        let shown = move |(_, screen, _): &(u8, ScreenId, &str)| match self {
            SessionKind::Profile => *screen != ScreenId::Scaling,
            SessionKind::Sweep => matches!(screen, ScreenId::Flame | ScreenId::Findings | ScreenId::Scaling),
            SessionKind::Comparison | SessionKind::Fleet => false,
        };
        let compared = OF_COMPARISON.into_iter().filter(move |_| self == SessionKind::Comparison);
        let fleet = OF_FLEET.into_iter().filter(move |_| self == SessionKind::Fleet);
        all.filter(shown).chain(compared).chain(fleet)
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
            SessionKind::Profile => ScreenId::Overview,
            SessionKind::Sweep => ScreenId::Scaling,
            SessionKind::Comparison => ScreenId::Changes,
            SessionKind::Fleet => ScreenId::Fleet(FleetTab::Jobs),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screens_follow_each_other_around() {
        assert_eq!(SessionKind::Profile.numbered(2), Some(ScreenId::Flame));
        assert_eq!(
            (SessionKind::Profile.numbered(0), SessionKind::Profile.numbered(10)),
            (Some(ScreenId::Latency), None)
        );
        assert_eq!(SessionKind::Comparison.after(ScreenId::Conditions, 1), ScreenId::Changes);
        assert_eq!(SessionKind::Profile.after(ScreenId::Overview, -1), ScreenId::Latency);
        assert_eq!(SessionKind::Profile.after(ScreenId::Findings, 1), ScreenId::Baseline);
        assert_eq!(SessionKind::Profile.after(ScreenId::Latency, 1), ScreenId::Overview);
        assert_eq!(SessionKind::Sweep.after(ScreenId::Scaling, 1), ScreenId::Flame);
        assert_eq!(SessionKind::Sweep.after(ScreenId::Flame, -1), ScreenId::Scaling);
    }

    #[test]
    fn a_screen_has_its_number_in_every_session() {
        for kind in [SessionKind::Profile, SessionKind::Sweep, SessionKind::Comparison, SessionKind::Fleet] {
            assert!(kind.has(kind.first()));
            assert!(kind.screens().all(|(number, screen, _)| kind.numbered(number) == Some(screen)));
        }
    }
}

//! Unusual windows that raise no alarm: since when, why not, and what explains them all the same.

use super::explanation::Explanation;
use super::types::{NoAlarm, Settings, UnusualPeriod};
use crate::analysis::Window;

/// Unusual windows one after the other; usual ones in between are too few to end them.
#[derive(Debug, Clone)]
pub(super) struct UnusualRun {
    pub period: UnusualPeriod,
    pub explanation: Option<Explanation>,
    /// Windows since the last unusual one.
    usual: usize,
}

impl UnusualRun {
    pub fn starting(window: Window) -> UnusualRun {
        let period = UnusualPeriod { window, windows: 1, no_alarm: NoAlarm::Brief };
        UnusualRun { period, explanation: None, usual: 0 }
    }

    pub fn extend(&mut self, window: Window) {
        self.period.window.to = window.to;
        self.period.windows += 1;
        self.usual = 0;
    }

    /// Takes a window that is not unusual and returns whether it ends the run.
    pub fn ends(&mut self, settings: &Settings) -> bool {
        self.usual += 1;
        self.usual > settings.n.saturating_sub(settings.k)
    }

    /// Whether it is long enough to be reported.
    pub fn is_notable(&self, settings: &Settings) -> bool {
        self.period.windows as usize >= settings.k
    }
}

impl NoAlarm {
    /// The reason, to follow "because".
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            NoAlarm::Brief => "no quantity was unusual in most windows in a row",
            NoAlarm::Slight => "the growth over all of them is too small to matter",
            NoAlarm::MayBeChance => {
                "the runs and windows of the baseline differ too much to rule out that it is chance"
            }
        }
    }
}

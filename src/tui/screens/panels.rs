//! The panels of all screens.

use super::{
    baseline, code, conditions, counters, diff, findings, flame, fleet, functions, latency, numa, overview, sweep,
    threads,
};
use crate::tui::panel::{Panel, ScreenId};
use crate::view::query::ComparisonTab;
use crate::view::snapshot::PanelView;

/// The state of all panels.
#[derive(Debug, Default)]
pub struct Panels {
    overview: overview::State,
    /// The flame graph; other screens zoom into it.
    pub flame: flame::State,
    /// The functions; other screens open details in it.
    pub functions: functions::State,
    /// The threads; other screens point to one.
    pub threads: threads::State,
    /// The counters; other screens point to a metric.
    pub counters: counters::State,
    findings: findings::State,
    /// The sweep; the session queries the point chosen there.
    pub scaling: sweep::State,
    baseline: baseline::State,
    numa: numa::State,
    latency: latency::State,
    changes: diff::State,
    /// The code that changed; other screens point into it.
    pub code: code::State,
    conditions: conditions::State,
    fleet: fleet::Screens,
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
            ScreenId::Numa => &self.numa,
            ScreenId::Latency => &self.latency,
            ScreenId::Changes => &self.changes,
            ScreenId::Code => &self.code,
            ScreenId::Conditions => &self.conditions,
            ScreenId::Fleet(tab) => self.fleet.get(tab),
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
            ScreenId::Numa => &mut self.numa,
            ScreenId::Latency => &mut self.latency,
            ScreenId::Changes => &mut self.changes,
            ScreenId::Code => &mut self.code,
            ScreenId::Conditions => &mut self.conditions,
            ScreenId::Fleet(tab) => self.fleet.get_mut(tab),
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
pub fn screen_of(body: &PanelView) -> ScreenId {
    match body {
        PanelView::Overview(_) => ScreenId::Overview,
        PanelView::Flame(_) => ScreenId::Flame,
        PanelView::Functions(_) => ScreenId::Functions,
        PanelView::Threads(_) => ScreenId::Threads,
        PanelView::Counters(_) => ScreenId::Counters,
        PanelView::Findings(_) => ScreenId::Findings,
        PanelView::Scaling(_) => ScreenId::Scaling,
        PanelView::Baseline(_) => ScreenId::Baseline,
        PanelView::Numa(_) => ScreenId::Numa,
        PanelView::Latency(_) => ScreenId::Latency,
        PanelView::Comparison(ComparisonTab::Overview, _) => ScreenId::Changes,
        PanelView::Comparison(ComparisonTab::Functions, _) => ScreenId::Code,
        PanelView::Comparison(ComparisonTab::Conditions, _) => ScreenId::Conditions,
        PanelView::Fleet(tab, _) => ScreenId::Fleet(*tab),
    }
}

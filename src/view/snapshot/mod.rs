//! A snapshot of a profile (live or recorded), a sweep, a comparison or a data set: the head that every screen shows, and the view
//! that a screen requested.

mod diff;
mod fleet;
mod head;
mod profile;
mod sweep;

pub use diff::{SelectedComparison, snapshot_of_comparison};
pub use fleet::snapshot_of_fleet;
pub use head::{ComparisonHeader, FleetHeader, LoadHistory, MarkView, ScreenHeader, SweepHeader};
pub use profile::{SessionBaseline, snapshot_of_profile};
pub use sweep::snapshot_of_sweep;

use super::baseline::BaselineComparisonView;
use super::counters::CountersView;
use super::findings::FindingsView;
use super::flame_tree::FlameTree;
use super::fleet::FleetTables;
use super::functions::FunctionsView;
use super::latency_history::LatencyView;
use super::numa::NumaView;
use super::overview::Overview;
use super::query::{ComparisonTab, FleetTab, Query};
use super::sweep::SweepView;
use super::threads::ThreadsView;
use crate::error::Result;
use std::sync::Arc;

/// The answer to one query.
#[derive(Debug)]
pub struct Snapshot {
    /// The query it answers.
    pub query: Query,
    /// What every screen shows.
    pub head: ScreenHeader,
    /// The view, or an error that names what is missing and the remedy.
    pub body: Result<PanelView>,
}

/// The view that a screen requested.
#[derive(Debug)]
pub enum PanelView {
    /// The factors, rates and findings.
    Overview(Overview),
    /// The call tree.
    Flame(FlameTree),
    /// The functions.
    Functions(FunctionsView),
    /// The threads.
    Threads(ThreadsView),
    /// The counters.
    Counters(CountersView),
    /// The findings.
    Findings(FindingsView),
    /// Memory and threads by node, and sampled accesses.
    Numa(Box<NumaView>),
    /// How long operations took, over time.
    Latency(Box<LatencyView>),
    /// The sweep.
    Scaling(Box<SweepView>),
    /// The session compared with its baseline; `None` without a baseline.
    Baseline(Option<Box<BaselineComparisonView>>),
    /// One comparison with a base, for a screen.
    Comparison(ComparisonTab, SelectedComparison),
    /// The tables of a data set, for a screen.
    Fleet(FleetTab, Arc<FleetTables>),
}

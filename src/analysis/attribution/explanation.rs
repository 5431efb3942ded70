//! Explains an alarm: causes, where to look, which neighbours moved with it, and what remains unknown.

use super::cpu_placement::CpuPlacement;
use super::explain::{explain, location, unknown};
use super::functions::FunctionShift;
use super::pooled::PooledWindows;
use super::score::ENOUGH_BEFORE;
use super::suspects::{CONVINCING, RankedSuspect, suspects};
use super::types::{Cause, CauseLocation, Evidence, Settings, Suspect};
use super::window_summary::{SuspectQuery, WindowSummary, is_wait};
use super::window_verdict::WindowVerdict;
use crate::analysis::diff::PRIMARY;
use crate::analysis::finding::Confidence;
use crate::analysis::text::percent;
use crate::model::{HostFacts, MetricId, NeighbourDef, NeighbourKind};
use crate::units::Nanos;

/// The explanation of an alarm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Explanation {
    pub cause: Cause,
    pub confidence: Confidence,
    pub location: CauseLocation,
    pub evidence: Vec<Evidence>,
    pub suspects: Vec<Suspect>,
    pub unknown: Vec<String>,
    pub pool: PooledWindows,
}

/// Input of an explanation.
pub(super) struct AlarmContext<'a> {
    /// The judged windows of the alarm.
    pub windows: &'a [&'a WindowVerdict],
    /// The windows that neighbours are compared over.
    pub summaries: &'a [WindowSummary],
    /// When the trouble began.
    pub from: Nanos,
    /// Times of earlier alarms, excluded because they are neither usual nor part of this one.
    pub earlier: &'a [(Nanos, Nanos)],
    pub neighbours: &'a [NeighbourDef],
    pub facts: &'a HostFacts,
    pub shift: Option<&'a FunctionShift>,
    pub settings: &'a Settings,
}

/// Share of slow windows with a busy sibling thread from which on that is evidence.
const SIBLING: f64 = 0.5;

impl Explanation {
    pub fn of(context: &AlarmContext<'_>) -> Explanation {
        let pool = PooledWindows::of(context.windows.iter().copied(), context.settings);
        let mut evidence = explain(&pool, context.facts);
        let first = evidence.first().map_or_else(|| default_cause(&pool), |evidence| evidence.cause);
        let slow = SlowWindows::of(context, first);
        let mut ranked = slow.suspects(context, first);
        let convincing = |ranked: &[RankedSuspect]| ranked.first().is_some_and(|first| first.fit >= CONVINCING);
        add_smt_evidence(&mut evidence, &slow.placement(context, first));
        // Without windows from before the alarm no neighbour can be ruled out.
        let compared = !context.neighbours.is_empty() && slow.before() >= ENOUGH_BEFORE;
        add_program_evidence(&mut evidence, context, &pool, convincing(&ranked), compared && ranked.is_empty());
        let lead = evidence.first();
        let cause = lead.map_or(first, |lead| lead.cause);
        let confidence = lead.map_or(Confidence::Low, |lead| lead.confidence);
        if !blames_others(cause) {
            ranked.clear();
        }
        let seen = !context.neighbours.is_empty();
        let functions_flat = context.shift.is_some_and(|shift| !shift.implicates_program());
        let innocent = cause != Cause::CpuTimeOther || functions_flat;
        let resctrl = context.neighbours.iter().any(|def| def.kind == NeighbourKind::Resctrl);
        Explanation {
            cause,
            confidence,
            location: location(cause, convincing(&ranked), compared && innocent, context.facts),
            suspects: ranked.into_iter().map(|ranked| ranked.suspect).collect(),
            unknown: unknown(&pool, Some(cause), seen, resctrl, context.facts),
            evidence,
            pool,
        }
    }
}

/// The cause if nothing that moved explains an alarm.
fn default_cause(pool: &PooledWindows) -> Cause {
    let costlier = pool.get(PRIMARY).is_some_and(|cost| cost.moved && cost.deviations > 0.0);
    match (costlier, pool.get(MetricId::Cpi).is_some()) {
        (false, _) => Cause::Waiting,
        (true, true) => Cause::CpiOther,
        (true, false) => Cause::CpuTimeOther,
    }
}

/// Whether a neighbour can be the cause at all.
fn blames_others(cause: Cause) -> bool {
    !matches!(cause, Cause::PathLength | Cause::Throttling | Cause::Steal)
}

/// The windows that a neighbour is compared over.
struct SlowWindows<'a> {
    summaries: Vec<&'a WindowSummary>,
    slow: Vec<bool>,
}

impl<'a> SlowWindows<'a> {
    fn of(context: &AlarmContext<'a>, cause: Cause) -> SlowWindows<'a> {
        let earlier =
            |summary: &WindowSummary| context.earlier.iter().any(|(from, to)| summary.to > *from && summary.to <= *to);
        let summaries: Vec<&WindowSummary> =
            context.summaries.iter().filter(|summary| summary.excess(cause).is_some() && !earlier(summary)).collect();
        // Above the highest usual value is slow, so an intermittent slowdown counts only in the windows where it
        // occurs.
        let slow = |summary: &&WindowSummary| {
            summary.to > context.from && summary.excess(cause).is_some_and(|excess| excess > 1.0)
        };
        SlowWindows { slow: summaries.iter().map(slow).collect(), summaries }
    }

    /// The number of windows outside the slowdown.
    fn before(&self) -> usize {
        self.slow.iter().filter(|slow| !**slow).count()
    }

    fn query<'q>(&'q self, context: &'q AlarmContext<'_>, cause: Cause) -> SuspectQuery<'q> {
        let AlarmContext { neighbours, facts, settings, .. } = context;
        SuspectQuery { cause, summaries: &self.summaries, slow: &self.slow, neighbours, facts, settings }
    }

    fn suspects(&self, context: &AlarmContext<'_>, cause: Cause) -> Vec<RankedSuspect> {
        suspects(&self.query(context, cause))
    }

    fn placement(&self, context: &AlarmContext<'_>, cause: Cause) -> CpuPlacement {
        CpuPlacement::of(&self.query(context, cause))
    }
}

/// If hardware does not measure what the sibling thread took, a neighbour running there is a sign.
fn add_smt_evidence(evidence: &mut Vec<Evidence>, placement: &CpuPlacement) {
    let busy = placement.sibling_busy();
    let running = evidence.first().is_some_and(|lead| !is_wait(lead.cause) && blames_others(lead.cause));
    let covered = evidence.iter().any(|evidence| evidence.cause == Cause::Smt);
    if busy < SIBLING || !running || covered {
        return;
    }
    evidence.push(Evidence {
        cause: Cause::Smt,
        share: None,
        confidence: Confidence::Low,
        text: format!(
            "A neighbour was on the other thread of the target's core in {} of the slow windows.",
            percent(busy)
        ),
    });
    // This is more specific than an unexplained cause, so it leads.
    if evidence.first().is_some_and(|lead| matches!(lead.cause, Cause::CpuTimeOther | Cause::CpiOther)) {
        let share = evidence.first().and_then(|lead| lead.share);
        if let Some(mut smt) = evidence.pop() {
            smt.share = share;
            evidence.insert(0, smt);
        }
    }
}

/// Without counted instructions: blames the program if no neighbour fits the slowdown and its own functions shifted.
fn add_program_evidence(
    evidence: &mut Vec<Evidence>,
    context: &AlarmContext<'_>,
    pool: &PooledWindows,
    convincing: bool,
    nobody: bool,
) {
    let no_pmu = pool.get(MetricId::Cpi).is_none();
    // Slower memory probes alone do not explain the slowdown yet.
    let open = evidence.first().is_some_and(|lead| !is_wait(lead.cause) && lead.confidence == Confidence::Low);
    let Some(shift) = context.shift.filter(|shift| no_pmu && open && !convincing && shift.implicates_program()) else {
        return;
    };
    let share = evidence.first().and_then(|lead| lead.share);
    evidence.insert(0, shift.evidence(share, nobody));
    if let Some(other) = evidence.get_mut(1) {
        other.share = None;
    }
}

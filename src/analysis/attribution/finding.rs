//! Explains an alarm: causes, where to look, which neighbours moved with it, and what remains unknown.

use super::cpu_placement::CpuPlacement;
use super::deviation::WindowVerdict;
use super::explain::{explain, place, unknown};
use super::functions::Shift;
use super::pooled::PooledWindows;
use super::score::ENOUGH_BEFORE;
use super::series::{Past, is_wait};
use super::settings::Settings;
use super::suspects::{CONVINCING, Question, Ranked, suspects};
use super::types::{Cause, Confidence, Evidence, Suspect, Where};
use crate::analysis::diff::PRIMARY;
use crate::analysis::text::percent;
use crate::model::{HostFacts, MetricId, NeighbourDef, NeighbourKind};
use crate::units::Nanos;

/// The explanation of an alarm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub cause: Cause,
    pub confidence: Confidence,
    pub place: Where,
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
    pub past: &'a [Past],
    /// When the trouble began.
    pub from: Nanos,
    /// Times of earlier alarms, excluded because they are neither usual nor part of this one.
    pub earlier: &'a [(Nanos, Nanos)],
    pub neighbours: &'a [NeighbourDef],
    pub facts: &'a HostFacts,
    pub shift: Option<&'a Shift>,
    pub settings: &'a Settings,
}

/// Share of slow windows with a busy sibling thread from which on that is evidence.
const SIBLING: f64 = 0.5;

impl Finding {
    pub fn of(trail: &AlarmContext<'_>) -> Finding {
        let pool = PooledWindows::of(trail.windows.iter().copied(), trail.settings);
        let mut evidence = explain(&pool, trail.facts);
        let first = evidence.first().map_or_else(|| unexplained(&pool), |evidence| evidence.cause);
        let slow = Slow::of(trail, first);
        let mut ranked = slow.suspects(trail, first);
        let convincing = |ranked: &[Ranked]| ranked.first().is_some_and(|first| first.fit >= CONVINCING);
        sibling(&mut evidence, &slow.beside(trail, first));
        // Without windows from before the alarm no neighbour can be ruled out.
        let compared = !trail.neighbours.is_empty() && slow.before() >= ENOUGH_BEFORE;
        program(&mut evidence, trail, &pool, convincing(&ranked), compared && ranked.is_empty());
        let lead = evidence.first();
        let cause = lead.map_or(first, |lead| lead.cause);
        let confidence = lead.map_or(Confidence::Low, |lead| lead.confidence);
        if !blames_others(cause) {
            ranked.clear();
        }
        let seen = !trail.neighbours.is_empty();
        let functions_flat = trail.shift.is_some_and(|shift| !shift.tells());
        let innocent = cause != Cause::CpuTimeOther || functions_flat;
        let resctrl = trail.neighbours.iter().any(|def| def.kind == NeighbourKind::Resctrl);
        Finding {
            cause,
            confidence,
            place: place(cause, convincing(&ranked), compared && innocent, trail.facts),
            suspects: ranked.into_iter().map(|ranked| ranked.suspect).collect(),
            unknown: unknown(&pool, Some(cause), seen, resctrl, trail.facts),
            evidence,
            pool,
        }
    }
}

/// The cause if nothing that moved explains an alarm.
fn unexplained(pool: &PooledWindows) -> Cause {
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
struct Slow<'a> {
    past: Vec<&'a Past>,
    slow: Vec<bool>,
}

impl<'a> Slow<'a> {
    fn of(trail: &AlarmContext<'a>, cause: Cause) -> Slow<'a> {
        let earlier = |past: &Past| trail.earlier.iter().any(|(from, to)| past.to > *from && past.to <= *to);
        let past: Vec<&Past> =
            trail.past.iter().filter(|past| past.excess(cause).is_some() && !earlier(past)).collect();
        // Above the highest usual value is slow, so an intermittent slowdown counts only in the windows where it
        // occurs.
        let slow = |past: &&Past| past.to > trail.from && past.excess(cause).is_some_and(|excess| excess > 1.0);
        Slow { slow: past.iter().map(slow).collect(), past }
    }

    /// The number of windows outside the slowdown.
    fn before(&self) -> usize {
        self.slow.iter().filter(|slow| !**slow).count()
    }

    fn question<'q>(&'q self, trail: &'q AlarmContext<'_>, cause: Cause) -> Question<'q> {
        let AlarmContext { neighbours, facts, settings, .. } = trail;
        Question { cause, past: &self.past, slow: &self.slow, neighbours, facts, settings }
    }

    fn suspects(&self, trail: &AlarmContext<'_>, cause: Cause) -> Vec<Ranked> {
        suspects(&self.question(trail, cause))
    }

    fn beside(&self, trail: &AlarmContext<'_>, cause: Cause) -> CpuPlacement {
        CpuPlacement::of(&self.question(trail, cause))
    }
}

/// If hardware does not measure what the sibling thread took, a neighbour running there is a sign.
fn sibling(evidence: &mut Vec<Evidence>, beside: &CpuPlacement) {
    let busy = beside.sibling_busy();
    let running = evidence.first().is_some_and(|lead| !is_wait(lead.cause) && blames_others(lead.cause));
    let told = evidence.iter().any(|evidence| evidence.cause == Cause::Smt);
    if busy < SIBLING || !running || told {
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
fn program(
    evidence: &mut Vec<Evidence>,
    trail: &AlarmContext<'_>,
    pool: &PooledWindows,
    convincing: bool,
    nobody: bool,
) {
    let blind = pool.get(MetricId::Cpi).is_none();
    // Slower memory probes alone do not explain the slowdown yet.
    let open = evidence.first().is_some_and(|lead| !is_wait(lead.cause) && lead.confidence == Confidence::Low);
    let Some(shift) = trail.shift.filter(|shift| blind && open && !convincing && shift.tells()) else { return };
    let share = evidence.first().and_then(|lead| lead.share);
    evidence.insert(0, shift.evidence(share, nobody));
    if let Some(other) = evidence.get_mut(1) {
        other.share = None;
    }
}

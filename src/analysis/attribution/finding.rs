//! An alarm's explanation: causes, where to look, who moved with it, and what cannot be told.
//! It never decides whether there is an alarm.

use super::beside::Beside;
use super::explain::{explain, place, unknown};
use super::functions::Shift;
use super::held::Judged;
use super::pool::Pool;
use super::score::ENOUGH_BEFORE;
use super::series::{Past, is_wait};
use super::settings::Settings;
use super::suspects::{CONVINCING, Question, Ranked, suspects};
use super::types::{Cause, Confidence, Evidence, Suspect, Where};
use crate::analysis::compare::PRIMARY;
use crate::analysis::findings::words::percent;
use crate::model::{HostFacts, NeighbourDef, NeighbourKind};
use crate::units::Nanos;

/// What is known of an alarm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub cause: Cause,
    pub confidence: Confidence,
    pub place: Where,
    pub evidence: Vec<Evidence>,
    pub suspects: Vec<Suspect>,
    pub unknown: Vec<String>,
    pub pool: Pool,
}

/// What there is to go by.
pub(super) struct Trail<'a> {
    /// The judged windows of the alarm.
    pub windows: &'a [&'a Judged],
    /// The windows that neighbours are held against.
    pub past: &'a [Past],
    /// When the trouble began.
    pub from: Nanos,
    /// Times of earlier trouble: neither usual nor this one's.
    pub earlier: &'a [(Nanos, Nanos)],
    pub neighbours: &'a [NeighbourDef],
    pub facts: &'a HostFacts,
    pub shift: Option<&'a Shift>,
    pub settings: &'a Settings,
}

/// The share of slow windows with a busy sibling from which on that is evidence.
const SIBLING: f64 = 0.5;

impl Finding {
    pub fn of(trail: &Trail<'_>) -> Finding {
        let pool = Pool::of(trail.windows.iter().copied(), trail.settings);
        let mut evidence = explain(&pool, trail.facts);
        let first = evidence.first().map_or_else(|| unexplained(&pool), |evidence| evidence.cause);
        let slow = Slow::of(trail, first);
        let mut ranked = slow.suspects(trail, first);
        let convincing = |ranked: &[Ranked]| ranked.first().is_some_and(|first| first.fit >= CONVINCING);
        sibling(&mut evidence, &slow.beside(trail, first));
        // Without windows from before nobody can be ruled out.
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

/// What is left where nothing that moved explains an alarm.
fn unexplained(pool: &Pool) -> Cause {
    let dearer = pool.get(PRIMARY).is_some_and(|cost| cost.moved && cost.deviations > 0.0);
    match (dearer, pool.get("cpi").is_some()) {
        (false, _) => Cause::Waiting,
        (true, true) => Cause::CpiOther,
        (true, false) => Cause::CpuTimeOther,
    }
}

/// Whether somebody beside the target can be the cause at all.
fn blames_others(cause: Cause) -> bool {
    !matches!(cause, Cause::PathLength | Cause::Throttling | Cause::Steal)
}

/// The windows that a neighbour is held against.
struct Slow<'a> {
    past: Vec<&'a Past>,
    slow: Vec<bool>,
}

impl<'a> Slow<'a> {
    fn of(trail: &Trail<'a>, cause: Cause) -> Slow<'a> {
        let earlier = |past: &Past| trail.earlier.iter().any(|(from, to)| past.to > *from && past.to <= *to);
        let past: Vec<&Past> =
            trail.past.iter().filter(|past| past.excess(cause).is_some() && !earlier(past)).collect();
        // Half of the rise is enough: a slowdown that comes and goes is slow where it is.
        let slow = |past: &&Past| past.to > trail.from && past.excess(cause).is_some_and(|excess| excess > 1.0);
        Slow { slow: past.iter().map(slow).collect(), past }
    }

    /// Windows from before.
    fn before(&self) -> usize {
        self.slow.iter().filter(|slow| !**slow).count()
    }

    fn question<'q>(&'q self, trail: &'q Trail<'_>, cause: Cause) -> Question<'q> {
        let Trail { neighbours, facts, settings, .. } = trail;
        Question { cause, past: &self.past, slow: &self.slow, neighbours, facts, settings }
    }

    fn suspects(&self, trail: &Trail<'_>, cause: Cause) -> Vec<Ranked> {
        suspects(&self.question(trail, cause))
    }

    fn beside(&self, trail: &Trail<'_>, cause: Cause) -> Beside {
        Beside::of(&self.question(trail, cause))
    }
}

/// Where hardware does not say what the core's other thread took, that somebody ran there is a sign.
fn sibling(evidence: &mut Vec<Evidence>, beside: &Beside) {
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
    // It says more than that nothing is known.
    if evidence.first().is_some_and(|lead| matches!(lead.cause, Cause::CpuTimeOther | Cause::CpiOther)) {
        let share = evidence.first().and_then(|lead| lead.share);
        if let Some(mut smt) = evidence.pop() {
            smt.share = share;
            evidence.insert(0, smt);
        }
    }
}

/// Without counted instructions: the program, if nobody beside it goes with the slowdown and its own functions shifted.
fn program(evidence: &mut Vec<Evidence>, trail: &Trail<'_>, pool: &Pool, convincing: bool, nobody: bool) {
    let blind = pool.get("cpi").is_none();
    // That a cache or memory answers the probes later as well explains nothing yet.
    let open = evidence.first().is_some_and(|lead| !is_wait(lead.cause) && lead.confidence == Confidence::Low);
    let Some(shift) = trail.shift.filter(|shift| blind && open && !convincing && shift.tells()) else { return };
    let share = evidence.first().and_then(|lead| lead.share);
    evidence.insert(0, shift.evidence(share, nobody));
    if let Some(other) = evidence.get_mut(1) {
        other.share = None;
    }
}

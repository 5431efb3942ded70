//! One look at a comparison: its head, and the view that a screen asked for.
//! It never compares: the comparison's view holds all of that.

use super::{Ask, Body, Head, Look, Query, Strip};
use crate::analysis::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Measure, Note, Why};
use crate::units::Nanos;
use crate::view::compare::{ComparisonView, DiffView, Gravity, Per, words};
use crate::view::icicle::Icicle;
use crate::view::scaling::CostAxis;
use serde::Serialize;
use std::sync::Arc;

/// A screen of a comparison; the flame graph is one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// The answer, the factors, the quantities.
    Overview,
    /// The code that changed.
    Functions,
    /// What it was put to, and what to know before believing it.
    Conditions,
}

/// One of the sides that are compared with a base.
#[derive(Debug, Clone)]
pub struct Compared {
    /// All of them.
    pub view: Arc<DiffView>,
    /// Which.
    pub at: usize,
}

impl Compared {
    /// It; `None` only without any.
    #[must_use]
    pub fn one(&self) -> Option<&ComparisonView> {
        self.view.comparisons.get(self.at)
    }
}

/// What every screen says of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonHead {
    /// Recordings of both sides.
    pub runs: [usize; 2],
    /// Which of the sides that are compared with the base, and how many there are.
    pub at: [usize; 2],
    /// What costs of functions are divided by.
    pub per: Option<Per>,
    /// What else they could be divided by.
    pub choices: Vec<Per>,
    /// How it was compared, in words.
    pub settings: String,
    /// What is known of the load, in a sentence.
    pub load: String,
}

/// Looks at a comparison; `choices` are what costs can be divided by.
#[must_use]
pub fn look_at_comparison(view: &Arc<DiffView>, choices: &[Per], query: Query) -> Look {
    let last = view.comparisons.len().saturating_sub(1);
    let at = query.point.map_or(0, |at| at as usize).min(last);
    let compared = Compared { view: Arc::clone(view), at };
    let head = Head::of_comparison(&compared, choices);
    let body = match &query.ask {
        Ask::Comparison(leaf) => Ok(Body::Comparison(*leaf, compared)),
        Ask::Flame { .. } => flame(&compared, query.axis),
        _ => Err(Error::new(ErrorKind::Unsupported, "a comparison has no such view")
            .hint("Open one of its recordings: ironlaw view RECORDING")),
    };
    Look { query, head, body }
}

fn flame(compared: &Compared, axis: Axis) -> Result<Body> {
    let cost = if axis == Axis::OffCpu { CostAxis::Blocked } else { CostAxis::Cpu };
    let Some(found) = compared.one() else { return Err(Error::new(ErrorKind::NotFound, "nothing is compared")) };
    let lacking = || match (found.code_missing, cost) {
        (Some(why), _) => Error::new(ErrorKind::NotFound, format!("there is no difference to draw: {why}")),
        (None, CostAxis::Blocked) => Error::new(ErrorKind::NotFound, "time off the CPU is not on both sides")
            .hint("Record both with --off-cpu; it has no share of the samples on a CPU."),
        (None, CostAxis::Cpu) => Error::new(ErrorKind::NotFound, "there is no difference to draw"),
    };
    let picture = found.picture(cost).cloned();
    picture.map(|difference| Body::Flame(Icicle::of_difference(difference))).ok_or_else(lacking)
}

impl Head {
    /// The head of a comparison: who, and nothing of what only one profile has.
    #[must_use]
    pub fn of_comparison(compared: &Compared, choices: &[Per]) -> Head {
        let missing = Measure::Missing(Why::NotRecorded);
        let (view, found) = (&compared.view, compared.one());
        let label = |found: &ComparisonView| words::label(&found.new);
        Head {
            target: format!("{} -> {}", words::label(&view.base), found.map(label).unwrap_or_default()),
            threads: missing,
            event: "CPU time".to_string(),
            unit: "ns",
            events: vec!["CPU time".to_string()],
            has_off_cpu: found.is_some_and(|found| found.picture(CostAxis::Blocked).is_some()),
            rate: String::new(),
            samples: 0,
            whole: None,
            coverage: Measure::Missing(Why::NotRecorded),
            lost: 0,
            own_cpu: missing,
            live: false,
            since: Nanos(0),
            now: Nanos(0),
            from: Nanos(0),
            to: Nanos(0),
            started_unix_ns: 0,
            marks: Vec::new(),
            strip: Strip::default(),
            notes: found.map(notes).unwrap_or_default(),
            cpus: 0,
            sweep: None,
            standing: None,
            comparison: Some(ComparisonHead {
                runs: [view.base.recordings.len(), found.map_or(0, |found| found.new.recordings.len())],
                at: [compared.at, view.comparisons.len()],
                per: found.and_then(|found| found.code.as_ref()).map(|code| code.per),
                choices: choices.to_vec(),
                settings: words::settings(&view.settings),
                load: found.map_or(String::new(), |found| found.load_text.clone()),
            }),
        }
    }
}

/// What may be the reason of a change besides what is compared.
fn notes(found: &ComparisonView) -> Vec<Note> {
    let note = |topic: &str, text: String| Note { topic: topic.to_string(), text, fix: None };
    let unlike = found.unlike.iter().filter(|unlike| unlike.gravity != Gravity::Tell);
    let unlike =
        unlike.map(|unlike| note("unlike", format!("{} ({})", words::unlike(unlike), words::gravity(unlike.gravity))));
    let guards = found.groups.iter().filter(|guard| guard.disagrees);
    unlike.chain(guards.map(|guard| note("groups", words::guard_text(guard)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::compare::testing::dearer;
    use crate::view::look::{Against, When, Whose};

    fn looked(ask: Ask, axis: Axis, point: Option<u32>) -> Look {
        let (when, against) = (When::All, Against::Nothing);
        let query = Query { when, end: None, whose: Whose::default(), axis, against, point, per: None, ask };
        look_at_comparison(&Arc::new(dearer()), &[Per::Op, Per::Cpu], query)
    }

    #[test]
    fn every_screen_of_a_comparison_gets_its_view_and_no_other_does() {
        let flame = || Ask::Flame { by: Default::default(), usual: false };
        for leaf in [Leaf::Overview, Leaf::Functions, Leaf::Conditions] {
            let look = looked(Ask::Comparison(leaf), Axis::Event(0), Some(9));
            assert!(matches!(look.body, Ok(Body::Comparison(seen, one)) if seen == leaf && one.one().is_some()));
        }
        assert!(matches!(looked(flame(), Axis::Event(0), None).body, Ok(Body::Flame(icicle)) if icicle.is_compared()));
        let blocked = looked(flame(), Axis::OffCpu, None).body;
        assert!(blocked.is_err_and(|error| error.remedy().is_some_and(|remedy| remedy.contains("--off-cpu"))));
        assert!(looked(Ask::Counters, Axis::Event(0), None).body.is_err());
    }

    #[test]
    fn the_head_says_who_is_compared_and_what_to_know() {
        let head = looked(Ask::Comparison(Leaf::Overview), Axis::Event(0), None).head;
        assert!(head.notes.iter().any(|note| note.text.starts_with("kernel: ")), "{:?}", head.notes);
        let comparison = head.comparison.unwrap_or_else(|| panic!("it is one"));
        assert_eq!((comparison.runs, comparison.at, comparison.per), ([3, 3], [0, 1], Some(Per::Op)));
    }
}

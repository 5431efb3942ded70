//! Fewer busy threads than the width: one thread, or a few, do all the work, however many there are. The others must
//! have next to none; otherwise it is uneven load.

use super::context::WidthContext;
use super::values::known;
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::sweep::Run;
use crate::analysis::text::{digits, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "one-worker",
    title: "too few threads do the work",
    kind: CostKind::Idle,
    explains: &[CodeClass::Signal],
    evaluate,
};

/// Share of the busiest thread's CPU time up to which another thread does none of the work. [P]
const IDLE: f64 = 0.1;

/// Share of the CPU time that helper threads may have, or that no reading attributes to a thread. [P]
const HELPERS: f64 = 0.25;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let idle = context.left_idle(context.idle());
    if idle < limits::FACTOR {
        return Ok(None);
    }
    let busy: Option<Vec<usize>> = context.here.runs.iter().map(busy).collect();
    let Some(busy) = busy.and_then(|counts| counts.into_iter().max()) else { return Ok(None) };
    let (n, k) = (context.wanted().round(), busy as f64);
    // At most as many lost cores as there are missing workers.
    let share = ((n - k) / context.lost()).min(idle);
    if k >= n || share < limits::FACTOR {
        return Ok(None);
    }
    let worked = context.state(|run| Ok(known(run.split.running)? + known(run.split.queued).unwrap_or(0.0)))?;
    let running = worked.here.value * f64::from(context.here.n);
    let at_work = (running / k).min(1.0);
    let who = if busy == 1 {
        format!("one thread does the work and is busy {} of the time", percent(at_work))
    } else {
        format!("{busy} threads do the work and are busy {} of the time", percent(at_work))
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some((share + context.code_share(CodeClass::Signal)).min(1.0)),
        claim: format!("{who}: {} of the lost cores have no thread to run at n={n}.", percent(share)),
        evidence: vec![
            lost_cores(share),
            Evidence::up_to("busy threads (below)", k, U::Threads, n),
            Evidence::plain("busy threads working", at_work, U::Share),
            Evidence::plain("CPUs kept busy", running, U::Cores),
        ],
        confidence: match at_work {
            all if all >= limits::SATURATED => Confidence::High,
            half if half >= 0.5 => Confidence::Medium,
            _ => Confidence::Low,
        },
        place: None,
        culprits: Vec::new(),
        refuted_by: "under more load other threads use as much CPU time as the busiest",
        next_step: format!(
            "Profile the busy thread in the run at n={} (`ironlaw report --by thread`): make its work cheaper, \
             distribute it, or run {} of the program.",
            context.here.n,
            if busy == 1 { "several".to_string() } else { format!("{} times as many", digits((n / k).ceil())) }
        ),
    }))
}

/// Number of threads with at least half the CPU time of the busiest, if all others together have next to none. `None`
/// if the work is distributed otherwise, or by threads that come and go.
pub(super) fn busy(run: &Run) -> Option<usize> {
    let most = run.workers.first().copied().filter(|most| *most > 0.0)?;
    let busy = run.workers.iter().filter(|cpu| **cpu >= most / 2.0).count();
    // A thread that does a tenth as much works too, only less: that is uneven load.
    let less = |cpu: &f64| *cpu < most / 2.0 && *cpu > most * IDLE;
    if run.workers.iter().any(less) {
        return None;
    }
    let theirs: f64 = run.workers.iter().take(busy).sum();
    let all = run.totals.cpu.value()?;
    (theirs >= all * (1.0 - HELPERS)).then_some(busy)
}

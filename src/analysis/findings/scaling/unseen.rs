//! Time in which workers neither ran nor queued, where nobody recorded what blocked them.
//! It never guesses by what.

use super::mean::Change;
use super::words::{digits, percent};
use super::{Confidence, Evidence, Finding, Kind, Rule, Step, limits};
use crate::analysis::MetricUnit as U;
use crate::analysis::scaling::SliceKind;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "unseen-wait", title: "blocked, unseen by what", kind: Kind::Idle, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let share = step.left_idle(step.share(&[SliceKind::Unseen]));
    let busy = step.number(|numbers| numbers.utilisation)?;
    let fell = Change { base: busy.here, here: busy.base }.grew();
    if share < limits::FACTOR || !fell {
        return Ok(None);
    }
    let mut evidence = vec![
        Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
        Evidence::plain("of their time on a CPU", busy.here.value, U::Share),
    ];
    let switches = step.per_op("voluntary_switches").ok();
    evidence.extend(
        switches.map(|change| Evidence::plain("switches, blocked, per operation", change.here.value, U::Count)),
    );
    let often = match switches.and_then(|change| change.ratio()).filter(|ratio| *ratio >= limits::SWITCHES) {
        Some(ratio) => format!("; they go to sleep {} times as often per operation", digits(ratio)),
        None => String::new(),
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores are workers that are blocked, and the runs did not record by what{often}: locks, storage, \
             uneven load and a lack of work cannot be told apart.",
            percent(share)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: None,
        refuted_by: "the workers are fewer than n, so that some of their time is nobody's",
        next_step: "Repeat the sweep without --no-off-cpu: it then records what blocks the workers.".to_string(),
    }))
}

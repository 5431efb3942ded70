//! Computes how many groups fit into the available descriptors: each event needs one at each place. Groups that do not
//! fit are reported in a note.

use super::trial::{LeftOut, without};
use crate::model::{HardwarePlan, Note};
use crate::sys::limits;

/// Descriptors reserved for everything else.
const SPARE: usize = 256;
/// Opening an event takes some 20 us, and each context switch of a busy task visits its events.
const MOST_EVENTS: usize = 8192;
const WHY: &str = "is left out: the target has too many threads or CPUs to count every event on each";

/// How many events may be opened when `used` descriptors are in use.
pub(super) fn descriptors(used: usize) -> usize {
    let limit = limits::raise_open_files().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    limit.saturating_sub(used).saturating_sub(SPARE).min(MOST_EVENTS)
}

/// How many of the plan's groups, from the first on, fit when each is opened at `places` places.
pub(super) fn affordable_groups(plan: &HardwarePlan, places: usize, descriptors: usize) -> usize {
    let mut needed = 0_usize;
    let fits = |events: usize| {
        needed = needed.saturating_add(events.saturating_mul(places));
        needed <= descriptors
    };
    plan.groups.iter().map(|group| group.events.len()).map(fits).take_while(|fits| *fits).count()
}

/// The first `groups` groups of the plan, and a note if there were more.
pub(super) fn cut(plan: HardwarePlan, groups: usize) -> (HardwarePlan, Option<Note>) {
    let whole = plan.groups.len();
    if groups >= whole {
        return (plan, None);
    }
    let dropped = plan.groups[groups..].iter().flat_map(|group| &group.events);
    let beyond: Vec<_> = dropped.map(|event| LeftOut::event(event, WHY)).collect();
    let note = Note {
        topic: "fewer-hardware-events".to_string(),
        text: format!(
            "The target has too many threads or CPUs to count every hardware event on each: {groups} of {whole} groups are \
             counted."
        ),
        fix: Some("Raise the limit of open files (ulimit -Hn), or profile fewer threads.".to_string()),
    };
    (without(plan, |number| number < groups, &beyond), Some(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::hardware::trial::tests::plan;

    #[test]
    fn groups_beyond_the_descriptors_are_left_out_from_the_last_on() {
        let three = plan(&[&["cycles", "instructions"], &["llc-miss", "instructions"], &["l2-miss"]]);
        for (places, descriptors, groups) in [(1, 5, 3), (1, 4, 2), (10, 25, 1), (100, 100, 0), (0, 0, 3)] {
            assert_eq!(
                affordable_groups(&three, places, descriptors),
                groups,
                "{places} places, {descriptors} descriptors"
            );
            let (plan, note) = cut(three.clone(), groups);
            assert_eq!((plan.groups.len(), note.is_some()), (groups, groups < 3));
        }
    }

    #[test]
    fn a_metric_lost_to_the_limit_says_so() {
        let (plan, _) = cut(plan(&[&["cycles", "instructions"], &["llc-miss", "instructions"]]), 1);
        let absent: Vec<_> = plan.absent.iter().map(|absent| (absent.metric.as_str(), absent.why.as_str())).collect();
        let why = format!("LLC-MISS {WHY}");
        assert!(
            absent.contains(&("llc_mpki", why.as_str())) && absent.iter().all(|(_, told)| *told == why),
            "{absent:?}"
        );
    }
}

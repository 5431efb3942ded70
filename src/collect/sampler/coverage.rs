//! Computes the share of the time for which each sampled event actually counted: less than all of it if events
//! outnumber counters. Samples are not scaled by it.

use super::origin::{Origins, Role};
use crate::model::{Coverage, EventSpec};
use crate::sys::perf::event::{Counted, PerfEvent};

/// One row per event that was enabled at all, in the order of `specs`.
pub fn coverage<'a>(
    events: impl Iterator<Item = &'a PerfEvent>,
    origins: &Origins,
    specs: &[EventSpec],
) -> Vec<Coverage> {
    let counted = events.filter_map(|event| {
        let origin = origins.get(&event.id().ok()?)?;
        let Role::Event(index) = origin.role else { return None };
        let counted = match usize::from(origin.layout.members) {
            0 => event.read().ok()?,
            members => event.read_group(1 + members).ok()?.into(),
        };
        Some((usize::from(index), counted))
    });
    shares(counted, specs)
}

fn shares(counted: impl Iterator<Item = (usize, Counted)>, specs: &[EventSpec]) -> Vec<Coverage> {
    let mut times = vec![(0u64, 0u64); specs.len()];
    for (index, count) in counted {
        if let Some((enabled, running)) = times.get_mut(index) {
            *enabled = enabled.saturating_add(count.enabled_ns);
            *running = running.saturating_add(count.running_ns);
        }
    }
    let share = |(spec, (enabled, running)): (&EventSpec, (u64, u64))| {
        (enabled > 0).then(|| Coverage { event: spec.name.clone(), share: running as f64 / enabled as f64 })
    };
    specs.iter().zip(times).filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EventKind, Unit};

    fn spec(name: &str) -> EventSpec {
        EventSpec::new(name, EventKind::Software(0), Unit::Count)
    }

    #[test]
    fn threads_add_up_and_an_event_that_never_ran_has_no_share() {
        let count = |enabled_ns, running_ns| Counted { value: 0, enabled_ns, running_ns };
        let counted = [(0, count(10, 10)), (0, count(30, 10)), (1, count(0, 0)), (7, count(9, 9))];
        let rows = shares(counted.into_iter(), &[spec("a"), spec("b")]);
        assert_eq!(rows, [Coverage { event: "a".into(), share: 0.5 }]);
    }
}

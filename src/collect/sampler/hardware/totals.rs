//! What all places of a group counted together, and what single threads did.
//! It never lets a total fall: a place that can no longer be read keeps what it had counted.

use crate::model::{CounterDef, CounterId, CounterReading, Event, HardwarePlan, Scope};
use crate::sys::perf::event::GroupCounted;
use crate::units::Nanos;

/// The last counts of every place, and the counters they belong to.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// The counters of each group, in the order of its events.
    counters: Vec<Vec<CounterId>>,
    places: Vec<Counted>,
}

#[derive(Debug, Default, Clone)]
struct Counted {
    group: usize,
    tid: Option<u32>,
    last: GroupCounted,
}

impl Totals {
    /// Nothing yet, of the plan's counters.
    pub fn of(plan: &HardwarePlan, definitions: Vec<CounterDef>) -> Totals {
        let mut ids = definitions.into_iter().map(|def| def.id);
        let counters = plan.groups.iter().map(|group| ids.by_ref().take(group.events.len()).collect());
        Totals { counters: counters.collect(), places: vec![] }
    }

    /// What the group at a place has counted by now; `None` if it cannot be read.
    pub fn take(&mut self, place: usize, group: usize, tid: Option<u32>, counted: Option<GroupCounted>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, Counted::default());
        }
        let last = counted.unwrap_or_else(|| std::mem::take(&mut self.places[place].last));
        self.places[place] = Counted { group, tid, last };
    }

    /// The target's readings of every counter; then those of the first group by thread.
    pub fn readings(&self, at: Nanos) -> Vec<Event> {
        let target = self.counters.iter().enumerate().flat_map(|(group, counters)| {
            let mut sum = GroupCounted { values: vec![0; counters.len()], ..GroupCounted::default() };
            self.places.iter().filter(|place| place.group == group).for_each(|place| add(&mut sum, &place.last));
            let opened = self.places.iter().any(|place| place.group == group);
            opened.then(|| events(counters, &sum, Scope::Target, at)).into_iter().flatten()
        });
        let base = self.counters.first().map_or(&[][..], Vec::as_slice);
        let threads = self.places.iter().filter(|place| place.group == 0);
        let threads = threads.filter_map(|place| Some(events(base, &place.last, Scope::Thread(place.tid?), at)));
        target.chain(threads.flatten()).collect()
    }
}

fn add(sum: &mut GroupCounted, counted: &GroupCounted) {
    sum.values.iter_mut().zip(&counted.values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
    sum.enabled_ns = sum.enabled_ns.saturating_add(counted.enabled_ns);
    sum.running_ns = sum.running_ns.saturating_add(counted.running_ns);
}

/// A place that was never read has no values, and so no readings.
fn events(counters: &[CounterId], counted: &GroupCounted, scope: Scope, at: Nanos) -> Vec<Event> {
    let reading = |(counter, value): (&CounterId, &u64)| {
        Event::Reading(CounterReading {
            counter: *counter,
            scope,
            at,
            value: *value,
            enabled: Nanos(counted.enabled_ns),
            running: Nanos(counted.running_ns),
        })
    };
    counters.iter().zip(&counted.values).map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::catalog;
    use crate::collect::sampler::hardware::trial::tests::plan;

    fn counted(values: &[u64], enabled_ns: u64, running_ns: u64) -> Option<GroupCounted> {
        Some(GroupCounted { values: values.to_vec(), enabled_ns, running_ns })
    }

    fn read(totals: &Totals) -> Vec<(u16, Scope, u64, u64, u64)> {
        let first = catalog::definitions().len() as u16;
        let rows = totals.readings(Nanos(9)).into_iter().map(|event| match event {
            Event::Reading(r) => (r.counter.0 - first, r.scope, r.value, r.enabled.0, r.running.0),
            other => panic!("{other:?}"),
        });
        rows.collect()
    }

    fn totals() -> Totals {
        let plan = plan(&[&["cycles", "instructions"], &["llc-miss", "instructions"]]);
        let definitions = catalog::hardware(&plan);
        Totals::of(&plan, definitions)
    }

    #[test]
    fn each_group_keeps_its_own_times_and_its_own_counters() {
        let mut totals = totals();
        totals.take(0, 0, None, counted(&[100, 50], 10, 8));
        totals.take(1, 0, None, counted(&[10, 5], 10, 10));
        totals.take(2, 1, None, counted(&[7, 40], 10, 4));
        let target = Scope::Target;
        let expected =
            [(0, target, 110, 20, 18), (1, target, 55, 20, 18), (2, target, 7, 10, 4), (3, target, 40, 10, 4)];
        assert_eq!(read(&totals), expected);
    }

    #[test]
    fn threads_counted_one_by_one_are_told_by_the_first_group() {
        let mut totals = totals();
        totals.take(0, 0, Some(41), counted(&[100, 50], 10, 10));
        totals.take(1, 1, Some(41), counted(&[1, 2], 10, 10));
        let threads: Vec<_> = read(&totals).into_iter().filter(|row| row.1 == Scope::Thread(41)).collect();
        assert_eq!(threads, [(0, Scope::Thread(41), 100, 10, 10), (1, Scope::Thread(41), 50, 10, 10)]);
    }

    #[test]
    fn a_place_that_cannot_be_read_any_more_keeps_what_it_had() {
        let mut totals = totals();
        totals.take(0, 0, None, counted(&[100, 50], 10, 10));
        totals.take(0, 0, None, None);
        assert_eq!(read(&totals)[0], (0, Scope::Target, 100, 10, 10));
        assert!(!read(&totals).iter().any(|row| row.0 >= 2), "a group opened nowhere has no reading");
    }
}

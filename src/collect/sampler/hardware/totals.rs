//! What all places of a group counted together, and what single threads did.
//! It never lets a total fall: a place that can no longer be read keeps what it had counted.
//!
//! Where cores are of several kinds each has a group of its own for cycles and instructions, and a thread's time is split
//! between them: the law's counters are the sums over all kinds, those of the other kinds stand beside them apart.

use crate::model::{CounterDef, CounterId, CounterReading, Event, HardwareGroup, HardwarePlan, KIND_MARK, Scope};
use crate::sys::perf::event::GroupCounted;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// The last counts of every place, and the counters they belong to.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// The counters of each group, in the order of its events.
    counters: Vec<Vec<CounterId>>,
    /// The groups that count cycles and instructions: the first, and one for each other kind of core.
    law: Vec<usize>,
    /// Whether threads are counted, which all kinds of core watch all the time; else each kind has its own CPUs.
    by_task: bool,
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
    pub fn of(plan: &HardwarePlan, definitions: Vec<CounterDef>, by_task: bool) -> Totals {
        let mut ids = definitions.into_iter().map(|def| def.id);
        let counters = plan.groups.iter().map(|group| ids.by_ref().take(group.events.len()).collect());
        let apart = |group: &HardwareGroup| group.events.iter().any(|event| event.role.contains(KIND_MARK));
        let law = plan.groups.iter().enumerate().filter(|(number, group)| *number == 0 || apart(group));
        Totals { counters: counters.collect(), law: law.map(|(number, _)| number).collect(), by_task, places: vec![] }
    }

    /// What the group at a place has counted by now; `None` if it cannot be read.
    pub fn take(&mut self, place: usize, group: usize, tid: Option<u32>, counted: Option<GroupCounted>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, Counted::default());
        }
        let last = counted.unwrap_or_else(|| std::mem::take(&mut self.places[place].last));
        self.places[place] = Counted { group, tid, last };
    }

    /// The target's readings of every counter; then those of the law by thread.
    pub fn readings(&self, at: Nanos) -> Vec<Event> {
        let target = self.counters.iter().enumerate().flat_map(|(group, counters)| {
            let sum = self.sum(group);
            sum.map(|sum| events(counters, &sum, Scope::Target, at)).into_iter().flatten()
        });
        let base = self.counters.first().map_or(&[][..], Vec::as_slice);
        let mut threads: BTreeMap<u32, GroupCounted> = BTreeMap::new();
        for place in &self.places {
            if let (Some(tid), Some(share)) = (place.tid, self.share(0, place)) {
                add(threads.entry(tid).or_insert_with(|| self.nothing(0)), &place.last, share);
            }
        }
        let threads = threads.into_iter().flat_map(|(tid, sum)| events(base, &sum, Scope::Thread(tid), at));
        target.chain(threads).collect()
    }

    /// What a group counted at all its places; `None` if it was opened at none of them, or never read there.
    fn sum(&self, group: usize) -> Option<GroupCounted> {
        let mut sum: Option<GroupCounted> = None;
        for place in &self.places {
            if let Some(share) = self.share(group, place) {
                add(sum.get_or_insert_with(|| self.nothing(group)), &place.last, share);
            }
        }
        sum
    }

    /// What a place is to a group's sum; the law's groups of other kinds of core belong to the first group's as well. `None`
    /// if it has no part in it, or was never read.
    fn share(&self, group: usize, place: &Counted) -> Option<Share> {
        let other_kind = group == 0 && place.group != 0 && self.law.contains(&place.group);
        match (place.group == group, other_kind) {
            _ if place.last.values.is_empty() => None,
            (true, _) => Some(Share::Own),
            (false, true) if self.by_task => Some(Share::SameTime),
            (false, true) => Some(Share::Own),
            (false, false) => None,
        }
    }

    fn nothing(&self, group: usize) -> GroupCounted {
        let counters = self.counters.get(group).map_or(0, Vec::len);
        GroupCounted { values: vec![0; counters], ..GroupCounted::default() }
    }
}

/// What a place adds to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Its counts and its time.
    Own,
    /// Its counts: another kind of core watched the same time.
    SameTime,
}

fn add(sum: &mut GroupCounted, counted: &GroupCounted, share: Share) {
    sum.values.iter_mut().zip(&counted.values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
    sum.enabled_ns = sum.enabled_ns.saturating_add(if share == Share::Own { counted.enabled_ns } else { 0 });
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
        Totals::of(&plan, definitions, true)
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
    fn kinds_of_core_come_to_one_sum_whose_time_counts_once_where_threads_are_watched() {
        let kinds = plan(&[&["cycles", "instructions"], &["cycles@cpu_atom", "instructions@cpu_atom"]]);
        for (by_task, enabled) in [(true, 100), (false, 200)] {
            let mut totals = Totals::of(&kinds, catalog::hardware(&kinds), by_task);
            totals.take(0, 0, Some(41), counted(&[600, 300], 100, 60));
            totals.take(1, 1, Some(41), counted(&[200, 50], 100, 40));
            let rows = read(&totals);
            let own = Scope::Thread(41);
            let law = |scope| [(0, scope, 800, enabled, 100), (1, scope, 350, enabled, 100)];
            assert_eq!((&rows[..2], &rows[4..]), (&law(Scope::Target)[..], &law(own)[..]), "{by_task}");
            assert_eq!(rows[2..4], [(2, Scope::Target, 200, 100, 40), (3, Scope::Target, 50, 100, 40)], "apart");
        }
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

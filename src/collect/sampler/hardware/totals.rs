//! Adds up what each group counted at all its places, and what single threads did. Totals never fall: a place that can
//! no longer be read keeps its last count.
//!
//! On machines with several kinds of core, each kind has its own group for cycles and instructions, and a thread's time
//! is split between them. The law's counters are the sums over all kinds; those of the other kinds are also reported
//! separately.

use crate::model::{CounterDef, CounterId, CounterReading, Event, HardwareGroup, HardwarePlan, KIND_MARK, Scope};
use crate::sys::perf::event::GroupCounted;
use crate::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The last counts of every place, and the counters they belong to.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// The counters of each group, in the order of its events.
    counters: Vec<Vec<CounterId>>,
    /// The groups that count cycles and instructions: the first, and one for each other kind of core.
    law: Vec<usize>,
    /// Whether threads are counted: every kind's group covers all their time. Otherwise each kind has its own CPUs.
    by_task: bool,
    places: Vec<Counted>,
    /// For each thread or CPU, the first of the law's groups that was read there: its time counts for all of them.
    timed_by: Vec<Option<usize>>,
}

/// Where a group counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupLocation {
    /// Number of the group.
    pub group: usize,
    /// Position of the thread, CPU or control group: groups of the same position cover the same time.
    pub at: usize,
    /// The single thread it counts, if new threads do not inherit it.
    pub tid: Option<u32>,
    /// The control group, if it is one of several.
    pub cgroup: Option<CgroupLocation>,
}

/// One of several control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CgroupLocation {
    /// Its position in the target.
    pub number: u32,
    /// Whether it lies in another one of them, which counts the same.
    pub is_within: bool,
}

impl GroupLocation {
    /// Whether its counts are part of what the scope counts.
    fn is_in(&self, scope: Scope) -> bool {
        match (scope, self.cgroup) {
            (Scope::Cgroup(number), cgroup) => cgroup.is_some_and(|cgroup| cgroup.number == number),
            (_, cgroup) => cgroup.is_none_or(|cgroup| !cgroup.is_within),
        }
    }
}

#[derive(Debug, Default, Clone)]
struct Counted {
    location: GroupLocation,
    last: GroupCounted,
}

impl Totals {
    /// Starts at zero for the plan's counters.
    pub fn of(plan: &HardwarePlan, definitions: Vec<CounterDef>, by_task: bool) -> Totals {
        let mut ids = definitions.into_iter().map(|def| def.id);
        let counters = plan.groups.iter().map(|group| ids.by_ref().take(group.events.len()).collect());
        let apart = |group: &HardwareGroup| group.events.iter().any(|event| event.role.contains(KIND_MARK));
        // If the first kind has no group left, there is no sum over all kinds: each is reported separately.
        let whole = plan.groups.first().is_some_and(|group| !apart(group));
        let law = plan.groups.iter().enumerate().filter(|(number, group)| *number == 0 || (whole && apart(group)));
        Totals {
            counters: counters.collect(),
            law: law.map(|(number, _)| number).collect(),
            by_task,
            ..Totals::default()
        }
    }

    /// Takes the current count of the group at a place; `None` if it cannot be read.
    pub fn take(&mut self, place: usize, location: GroupLocation, counted: Option<GroupCounted>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, Counted::default());
        }
        let last = counted.unwrap_or_else(|| std::mem::take(&mut self.places[place].last));
        if !last.values.is_empty() && self.law.contains(&location.group) {
            self.time(location);
        }
        self.places[place] = Counted { location, last };
    }

    fn time(&mut self, location: GroupLocation) {
        if self.timed_by.len() <= location.at {
            self.timed_by.resize(location.at + 1, None);
        }
        let first = &mut self.timed_by[location.at];
        *first = Some(first.map_or(location.group, |group| group.min(location.group)));
    }

    /// The target's readings of every counter, then those of each of several control groups, then the law's counters by
    /// thread.
    pub fn readings(&self, at: Nanos) -> Vec<Event> {
        let sums = |scope: Scope| {
            self.counters.iter().enumerate().flat_map(move |(group, counters)| {
                let sum = self.sum(group, scope);
                sum.map(|sum| events(counters, &sum, scope, at)).into_iter().flatten()
            })
        };
        let cgroups: BTreeSet<u32> =
            self.places.iter().filter_map(|place| Some(place.location.cgroup?.number)).collect();
        let target = sums(Scope::Target).chain(cgroups.into_iter().flat_map(|number| sums(Scope::Cgroup(number))));
        let base = self.counters.first().map_or(&[][..], Vec::as_slice);
        let mut threads: BTreeMap<u32, GroupCounted> = BTreeMap::new();
        for place in &self.places {
            if let (Some(tid), Some(share)) = (place.location.tid, self.share(0, place)) {
                add(threads.entry(tid).or_insert_with(|| self.nothing(0)), &place.last, share);
            }
        }
        let threads = threads.into_iter().flat_map(|(tid, sum)| events(base, &sum, Scope::Thread(tid), at));
        target.chain(threads).collect()
    }

    /// The count of a group at all its places of a scope; `None` if it was not opened there, or never read.
    fn sum(&self, group: usize, scope: Scope) -> Option<GroupCounted> {
        let mut sum: Option<GroupCounted> = None;
        for place in self.places.iter().filter(|place| place.location.is_in(scope)) {
            if let Some(share) = self.share(group, place) {
                add(sum.get_or_insert_with(|| self.nothing(group)), &place.last, share);
            }
        }
        sum
    }

    /// How a place contributes to a group's sum. The law's groups of other kinds of core also contribute to the first
    /// group's. `None` if it does not contribute, or was never read.
    fn share(&self, group: usize, place: &Counted) -> Option<Share> {
        let own = place.location.group;
        let other_kind = group == 0 && own != 0 && self.law.contains(&own);
        let times = || self.timed_by.get(place.location.at).is_some_and(|first| *first == Some(own));
        match (own == group, other_kind) {
            _ if place.last.values.is_empty() => None,
            (true, _) => Some(Share::Own),
            (false, true) if self.by_task && !times() => Some(Share::SameTime),
            (false, true) => Some(Share::Own),
            (false, false) => None,
        }
    }

    fn nothing(&self, group: usize) -> GroupCounted {
        let counters = self.counters.get(group).map_or(0, Vec::len);
        GroupCounted { values: vec![0; counters], ..GroupCounted::default() }
    }
}

/// Contribution of a place to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Its counts and its time.
    Own,
    /// Only its counts: another kind of core covered the same time.
    SameTime,
}

fn add(sum: &mut GroupCounted, counted: &GroupCounted, share: Share) {
    sum.values.iter_mut().zip(&counted.values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
    sum.enabled_ns = sum.enabled_ns.saturating_add(if share == Share::Own { counted.enabled_ns } else { 0 });
    sum.running_ns = sum.running_ns.saturating_add(counted.running_ns);
}

/// A place that was never read has no values, and thus no readings.
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

    fn location(group: usize, at: usize, tid: Option<u32>) -> GroupLocation {
        GroupLocation { group, at, tid, cgroup: None }
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
    fn several_control_groups_are_read_one_by_one_and_one_within_another_counts_once_in_all() {
        let mut totals = totals();
        // Two CPUs for each of three groups, of which the last lies in the first.
        for (at, values) in [[1, 10], [2, 20], [4, 40], [8, 80], [1, 5], [1, 5]].into_iter().enumerate() {
            let number = at as u32 / 2;
            let cgroup = Some(CgroupLocation { number, is_within: number == 2 });
            totals.take(at, GroupLocation { cgroup, ..location(0, at, None) }, counted(&values, 100, 50));
        }
        let rows: Vec<_> =
            read(&totals).into_iter().map(|(counter, scope, value, ..)| (counter, scope, value)).collect();
        let both = |scope, cycles, instructions| [(0, scope, cycles), (1, scope, instructions)];
        let groups = [(0, 3, 30), (1, 12, 120), (2, 2, 10)];
        let groups = groups.into_iter().flat_map(|(number, a, b)| both(Scope::Cgroup(number), a, b));
        assert_eq!(rows, both(Scope::Target, 15, 150).into_iter().chain(groups).collect::<Vec<_>>());
    }

    #[test]
    fn each_group_keeps_its_own_times_and_its_own_counters() {
        let mut totals = totals();
        totals.take(0, location(0, 0, None), counted(&[100, 50], 10, 8));
        totals.take(1, location(0, 1, None), counted(&[10, 5], 10, 10));
        totals.take(2, location(1, 0, None), counted(&[7, 40], 10, 4));
        let target = Scope::Target;
        let expected =
            [(0, target, 110, 20, 18), (1, target, 55, 20, 18), (2, target, 7, 10, 4), (3, target, 40, 10, 4)];
        assert_eq!(read(&totals), expected);
    }

    #[test]
    fn threads_counted_one_by_one_are_told_by_the_first_group() {
        let mut totals = totals();
        totals.take(0, location(0, 0, Some(41)), counted(&[100, 50], 10, 10));
        totals.take(1, location(1, 0, Some(41)), counted(&[1, 2], 10, 10));
        let threads: Vec<_> = read(&totals).into_iter().filter(|row| row.1 == Scope::Thread(41)).collect();
        assert_eq!(threads, [(0, Scope::Thread(41), 100, 10, 10), (1, Scope::Thread(41), 50, 10, 10)]);
    }

    #[test]
    fn kinds_of_core_come_to_one_sum_whose_time_counts_once_where_threads_are_watched() {
        let kinds = plan(&[&["cycles", "instructions"], &["cycles@cpu_atom", "instructions@cpu_atom"]]);
        for (by_task, enabled) in [(true, 100), (false, 200)] {
            let mut totals = Totals::of(&kinds, catalog::hardware(&kinds), by_task);
            totals.take(0, location(0, 0, Some(41)), counted(&[600, 300], 100, 60));
            totals.take(1, location(1, 0, Some(41)), counted(&[200, 50], 100, 40));
            let rows = read(&totals);
            let own = Scope::Thread(41);
            let law = |scope| [(0, scope, 800, enabled, 100), (1, scope, 350, enabled, 100)];
            assert_eq!((&rows[..2], &rows[4..]), (&law(Scope::Target)[..], &law(own)[..]), "{by_task}");
            assert_eq!(rows[2..4], [(2, Scope::Target, 200, 100, 40), (3, Scope::Target, 50, 100, 40)], "apart");
        }
    }

    #[test]
    fn where_the_first_kind_was_refused_the_time_of_the_next_one_counts_and_coverage_is_not_full() {
        let names = ["cycles", "instructions"];
        let apart = |kind: &str| names.map(|name| format!("{name}@{kind}"));
        let (atom, low) = (apart("cpu_atom"), apart("cpu_lowpower"));
        let [atom, low] = [&atom, &low].map(|kind| [kind[0].as_str(), kind[1].as_str()]);
        let kinds = plan(&[&names, &atom, &low]);
        let mut totals = Totals::of(&kinds, catalog::hardware(&kinds), true);
        totals.take(0, location(0, 0, Some(41)), counted(&[600, 300], 100, 60));
        totals.take(1, location(1, 0, Some(41)), counted(&[200, 50], 100, 30));
        totals.take(2, location(1, 1, Some(42)), counted(&[200, 50], 100, 30));
        totals.take(3, location(2, 1, Some(42)), counted(&[10, 5], 100, 10));
        let rows = read(&totals);
        let cycles = |scope| rows.iter().find(|row| row.0 == 0 && row.1 == scope).map(|row| (row.2, row.3, row.4));
        assert_eq!(cycles(Scope::Target), Some((1010, 200, 130)));
        assert_eq!(cycles(Scope::Thread(41)), Some((800, 100, 90)));
        assert_eq!(cycles(Scope::Thread(42)), Some((210, 100, 40)), "what ran on the first kind is not known");
    }

    #[test]
    fn without_a_group_of_the_first_kind_the_others_are_not_added_to_one_of_them() {
        let kinds = plan(&[&["cycles@cpu_atom"], &["cycles@cpu_lowpower"]]);
        let mut totals = Totals::of(&kinds, catalog::hardware(&kinds), true);
        totals.take(0, location(0, 0, None), counted(&[200], 100, 60));
        totals.take(1, location(1, 0, None), counted(&[10], 100, 40));
        assert_eq!(read(&totals), [(0, Scope::Target, 200, 100, 60), (1, Scope::Target, 10, 100, 40)]);
    }

    #[test]
    fn a_place_that_cannot_be_read_any_more_keeps_what_it_had() {
        let mut totals = totals();
        totals.take(0, location(0, 0, None), counted(&[100, 50], 10, 10));
        totals.take(0, location(0, 0, None), None);
        assert_eq!(read(&totals)[0], (0, Scope::Target, 100, 10, 10));
        assert!(!read(&totals).iter().any(|row| row.0 >= 2), "a group opened nowhere has no reading");
    }
}

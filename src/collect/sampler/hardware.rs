//! Cycles and instructions of the target as one group, read once per interval: the iron law's two counters.
//! It never scales: enabled and running times go with each reading.

use super::attach::{Reach, threads_of};
use super::request::Menu;
use crate::collect::catalog::{CYCLES, INSTRUCTIONS};
use crate::model::{CounterReading, Event, Note, Scope};
use crate::sys::perf::event::{self, Counted, Inherit, PerfEvent, Place, Request};
use crate::units::Nanos;
use std::path::Path;

/// Counting groups beyond which the counters are left out.
const MOST_GROUPS: usize = 1024;

/// The counting groups; none where no PMU counts.
#[derive(Debug, Default)]
pub struct Hardware {
    groups: Vec<[PerfEvent; 2]>,
}

impl Hardware {
    /// Opens the groups on the target. What cannot be opened is left out and said.
    pub fn open(menu: &Menu, reach: &Reach, cpus: &[u32], on_exec: bool, root: &Path) -> (Hardware, Option<Note>) {
        if !menu.hardware {
            return (Hardware::default(), None);
        }
        let (places, inherit) = places(reach, cpus, root);
        if places.is_empty() || places.len() > MOST_GROUPS {
            return (Hardware::default(), Some(note("the target has too many threads")));
        }
        let mut leader = Request::counting(0, [0, 0, 0]);
        leader.exclude.kernel = menu.exclude_kernel;
        leader.exclude.guest = true;
        leader.inherit = inherit;
        leader.enable_on_exec = on_exec;
        let mut member = leader.clone();
        member.config = [1, 0, 0];
        let groups: Vec<_> = places
            .into_iter()
            .filter_map(|place| event::open(&leader, std::slice::from_ref(&member), place).ok()?.try_into().ok())
            .collect();
        let missing = groups.is_empty().then(|| note("the kernel refused the group"));
        (Hardware { groups }, missing)
    }

    /// Starts counting.
    pub fn enable(&self) {
        // A thread that has ended meanwhile has nothing left to count.
        self.groups.iter().for_each(|[leader, _]| drop(leader.enable()));
    }

    /// The target's totals by now.
    pub fn read(&self, at: Nanos) -> impl Iterator<Item = Event> + '_ {
        let counters = if self.groups.is_empty() { &[][..] } else { &[CYCLES, INSTRUCTIONS][..] };
        counters.iter().enumerate().map(move |(member, counter)| {
            let total = sum(self.groups.iter().filter_map(|group| group[member].read().ok()));
            Event::Reading(CounterReading {
                counter: *counter,
                scope: Scope::Target,
                at,
                value: total.value,
                enabled: Nanos(total.enabled_ns),
                running: Nanos(total.running_ns),
            })
        })
    }
}

fn sum(counts: impl Iterator<Item = Counted>) -> Counted {
    counts.fold(Counted::default(), |total, count| Counted {
        value: total.value + count.value,
        enabled_ns: total.enabled_ns + count.enabled_ns,
        running_ns: total.running_ns + count.running_ns,
    })
}

/// Each thread on whatever CPU it runs, or each CPU; nothing when whole CPUs stand in for a few processes.
fn places<'a>(reach: &'a Reach, cpus: &'a [u32], root: &Path) -> (Vec<Place<'a>>, Inherit) {
    let task = |tid: u32| Place::Task { tid, cpu: None };
    match reach {
        Reach::Processes(pids, inherit) => {
            (pids.iter().flat_map(|pid| threads_of(root, *pid)).map(task).collect(), *inherit)
        }
        Reach::Threads(tids) => (tids.iter().copied().map(task).collect(), Inherit::No),
        Reach::Cpus(None) => (cpus.iter().map(|cpu| Place::Cpu(*cpu)).collect(), Inherit::No),
        Reach::Cpus(Some(_)) => (Vec::new(), Inherit::No),
        Reach::Cgroup(directory) => {
            (cpus.iter().map(|cpu| Place::Cgroup { directory, cpu: *cpu }).collect(), Inherit::No)
        }
    }
}

fn note(why: &str) -> Note {
    Note {
        topic: "no-hardware-counters".to_string(),
        text: format!("Cycles and instructions of the target are not counted: {why}."),
        fix: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_with_their_times() {
        let one = Counted { value: 5, enabled_ns: 10, running_ns: 8 };
        assert_eq!(sum([one, one].into_iter()), Counted { value: 10, enabled_ns: 20, running_ns: 16 });
    }

    #[test]
    fn without_a_pmu_nothing_is_opened_and_nothing_read() {
        let menu = Menu { sets: vec![], specs: vec![], notes: vec![], hardware: false, exclude_kernel: false };
        let (hardware, note) = Hardware::open(&menu, &Reach::Threads(vec![1]), &[0], false, Path::new("/"));
        assert!(hardware.read(Nanos(1)).next().is_none() && note.is_none());
    }
}

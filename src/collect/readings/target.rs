//! The target's own counters, each from its best source, and what of the machine's use is its own.

use super::cache::TickTiming;
use super::command::Command;
use super::group::Group;
use super::thread::{COUNTERS, KNOWN_PER_PROCESS};
use super::{Members, Readings};
use crate::collect::catalog::{TASK_CLOCK, THREAD_TIME};
use crate::collect::neighbours::TargetUsage;
use crate::model::{Event, Scope};
use crate::sys::cgroupfs;
use crate::units::Nanos;
use rustc_hash::FxHashSet;

impl Readings {
    /// Uses the best source of each counter: the group's or the processes' own, else the sum of the threads. `fresh`:
    /// whether the processes have just been read.
    pub(super) fn say_target(&mut self, fresh: bool, now: TickTiming, out: &mut Vec<Event>) {
        let own = match &self.members {
            Members::Processes(processes) => Some(processes.total()),
            _ => None,
        };
        let group = self.group.as_ref().map(Group::values).unwrap_or_default();
        let group_cpu = group.iter().find_map(|&(counter, value)| (counter == TASK_CLOCK).then_some(value));
        let ended = self.command.as_ref().and_then(Command::ended);
        let cpu = own.map(|own| own[0].max(ended.map_or(0, |ended| ended.cpu_ns))).or(group_cpu);
        let threads = *self.threads.totals();
        // During a round, some threads have been read in this window and some before.
        let covered = self.threads.round_is_over().then(|| match cpu {
            Some(cpu) => self.unread.moment(cpu, threads[0].unwrap_or(0), now),
            None => now,
        });
        for (index, counter) in COUNTERS.into_iter().enumerate() {
            let found = match (own, ended.and_then(|ended| ended.count(counter))) {
                (Some(_), _) if index < KNOWN_PER_PROCESS && !fresh => None,
                (Some(_), _) if index == 0 => cpu.map(|cpu| (cpu, now)),
                (Some(own), _) if index < KNOWN_PER_PROCESS => Some((own[index], now)),
                (Some(_), Some(count)) => {
                    let covered = ended.map_or(0, |ended| ended.cpu_ns).min(cpu.unwrap_or(0));
                    let enabled = Nanos(cpu.unwrap_or(0));
                    Some((count, TickTiming { enabled, running: Nanos(covered), ..now }))
                }
                _ => threads[index].zip(covered),
            };
            if let Some((value, when)) = found.filter(|_| !group.iter().any(|(better, _)| *better == counter)) {
                self.cache.sum(Scope::Target, counter, value, when, out);
            }
        }
        for (counter, value) in group {
            self.cache.sum(Scope::Target, counter, value, now, out);
        }
        if !matches!(self.members, Members::Nobody) {
            self.cache.sum(Scope::Target, THREAD_TIME, self.thread_time as u64, now, out);
        }
    }

    /// Everything that does not count as a neighbour.
    pub(super) fn ours(&self) -> TargetUsage {
        let (mut pids, mut group, mut children) = (FxHashSet::default(), None, false);
        match &self.members {
            Members::Processes(processes) => {
                pids.extend(processes.alive().map(|(pid, _)| pid));
                children = processes.follows_children();
            }
            // Other threads of these processes are not the target, but share its process ids.
            Members::Threads(tids) => {
                pids.extend(tids.iter().filter_map(|&tid| self.proc.status(tid).ok()?.tgid));
            }
            Members::Group(path) => {
                pids.extend(cgroupfs::processes(path).unwrap_or_default());
                group = Some(path.clone());
            }
            Members::Nobody => {}
        }
        let group_cpu = self.group.as_ref().filter(|_| group.is_some()).and_then(Group::cpu);
        let cpu = match &self.members {
            Members::Processes(processes) => Some(processes.total()[0]),
            _ => group_cpu.or(self.threads.totals()[0]),
        };
        TargetUsage { pids, children, group, cpu: Nanos(cpu.unwrap_or(0)), tool: self.tool.cpu() }
    }
}

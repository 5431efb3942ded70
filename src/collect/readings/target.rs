//! The target's own counters, each from its best source, and what of the machine's use is its own.

use super::cache::TickTiming;
use super::group::Group;
use super::limiting_groups::LimitingGroups;
use super::thread::{COUNTERS, KNOWN_PER_PROCESS};
use super::{Members, Readings};
use crate::collect::catalog::{INVOLUNTARY_SWITCHES, TASK_CLOCK, THREAD_TIME, VOLUNTARY_SWITCHES};
use crate::collect::neighbours::TargetUsage;
use crate::model::{CounterId, Event, Scope};
use crate::sys::cgroupfs;
use crate::sys::clock::CpuClock;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::spawn::{self, Usage};
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
        let mut group = self.group.as_mut().map(Group::values).unwrap_or_default();
        group.extend(self.limiting.iter().flat_map(LimitingGroups::values));
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
        for (number, (part, cache)) in (0..).zip(&mut self.parts) {
            for (counter, value) in part.values() {
                cache.sum(Scope::Cgroup(number), counter, value, now, out);
            }
        }
        if !matches!(self.members, Members::Nobody) {
            self.cache.sum(Scope::Target, THREAD_TIME, self.thread_time as u64, now, out);
        }
    }

    /// Everything that does not count as a neighbour.
    pub(super) fn ours(&self) -> TargetUsage {
        let (mut pids, mut groups, mut children) = (FxHashSet::default(), Vec::new(), false);
        match &self.members {
            Members::Processes(processes) => {
                pids.extend(processes.alive().map(|(pid, _)| pid));
                children = processes.follows_children();
            }
            // Other threads of these processes are not the target, but share its process ids.
            Members::Threads(tids) => {
                pids.extend(tids.iter().filter_map(|&tid| self.proc.status(tid).ok()?.tgid));
            }
            Members::Groups(paths) => {
                pids.extend(paths.iter().flat_map(|path| cgroupfs::processes(path).unwrap_or_default()));
                groups.clone_from(paths);
            }
            Members::Nobody => {}
        }
        let group_cpu = self.group.as_ref().filter(|_| !groups.is_empty()).and_then(Group::cpu);
        let cpu = match &self.members {
            Members::Processes(processes) => Some(processes.total()[0]),
            _ => group_cpu.or(self.threads.totals()[0]),
        };
        TargetUsage { pids, children, groups, cpu: Nanos(cpu.unwrap_or(0)), tool: self.tool.cpu() }
    }
}

/// The two clocks are read one after the other: a difference below this share (a divisor) is not an unread thread.
const CLOCK_ERROR: u64 = 100;

/// CPU time of threads that ended unread, and of ended ones after their last reading: how well sums over threads
/// represent the target.
#[derive(Debug, Default)]
pub(super) struct UnreadTime {
    cpu_ns: u64,
}

impl UnreadTime {
    /// The moment of sums over threads that account for `read` of the target's `total` nanoseconds of CPU time.
    pub(super) fn moment(&mut self, total: u64, read: u64, now: TickTiming) -> TickTiming {
        let beyond = total.saturating_sub(read).saturating_sub(total / CLOCK_ERROR);
        self.cpu_ns = self.cpu_ns.max(beyond).min(total);
        TickTiming { enabled: Nanos(total), running: Nanos(total - self.cpu_ns), ..now }
    }
}

/// A command, and what its process had used before it ran.
#[derive(Debug)]
pub(super) struct Command {
    pid: u32,
    before: Usage,
}

impl Command {
    /// Takes the starting values of a process that waits to run.
    pub(super) fn open(proc: &ProcFs, pid: u32, cpu_clock: CpuClock) -> Command {
        let status = proc.read(format!("{pid}/status")).unwrap_or_default();
        let (voluntary, involuntary) = procfs::switches(&status).unwrap_or_default();
        let cpu_ns = cpu_clock(pid).map_or(0, |Nanos(ns)| ns);
        Command { pid, before: Usage { cpu_ns, user_ns: 0, voluntary, involuntary } }
    }

    /// What it and the processes it waited for have used since, whether or not that was read while they ran; `None`
    /// while it runs.
    pub(super) fn ended(&self) -> Option<Usage> {
        let all = spawn::usage_of_ended(self.pid)?;
        Some(Usage {
            cpu_ns: all.cpu_ns.saturating_sub(self.before.cpu_ns),
            user_ns: all.user_ns,
            voluntary: all.voluntary.saturating_sub(self.before.voluntary),
            involuntary: all.involuntary.saturating_sub(self.before.involuntary),
        })
    }
}

impl Usage {
    /// The value of a counter, if these totals include it.
    pub(super) fn count(&self, counter: CounterId) -> Option<u64> {
        match counter {
            VOLUNTARY_SWITCHES => Some(self.voluntary),
            INVOLUNTARY_SWITCHES => Some(self.involuntary),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_read_threads_stays_unread() {
        let mut unread = UnreadTime::default();
        let now = TickTiming::whole(Nanos(9), Nanos(9));
        for (total, read, running) in [(1000, 995, 1000), (2000, 1480, 1500), (3000, 2970, 2500), (4000, 1000, 1040)] {
            let moment = unread.moment(total, read, now);
            assert_eq!((moment.enabled.0, moment.running.0), (total, running), "{read} of {total}");
        }
    }
}

//! Reads the machine's own counters (CPU time by use, pressure) and those of ironlaw itself.

use super::cache::{ReadingCache, TickTiming};
use super::group::pressures;
use crate::collect::catalog::{
    HOST_BUSY, HOST_STEAL, HOST_TIME, SYSTEM_TIME, TASK_CLOCK, TOOL_CPU, TOOL_MEMORY, USER_TIME,
};
use crate::model::{CounterId, Event, Scope};
use crate::sys::procfs::{self, CpuTimes, ProcFs};
use crate::sys::{clock, helper};
use crate::units::Nanos;

/// The machine's counters.
#[derive(Debug)]
pub(super) struct Machine {
    proc: ProcFs,
    tick_ns: u64,
    /// The target's CPUs, if the target is CPUs; empty for all.
    cpus: Option<Vec<u32>>,
    baseline: Vec<(Scope, CounterId, u64)>,
    caches: [ReadingCache; 2],
}

impl Machine {
    /// Starts counting.
    pub(super) fn open(proc: ProcFs, tick_ns: u64, cpus: Option<Vec<u32>>) -> Machine {
        let mut machine = Machine { proc, tick_ns, cpus, baseline: Vec::new(), caches: Default::default() };
        machine.baseline = machine.absolute();
        machine
    }

    /// Reports the values since the start.
    pub(super) fn tick(&mut self, now: TickTiming, out: &mut Vec<Event>) {
        for (scope, counter, value) in self.absolute() {
            let before =
                self.baseline.iter().find(|known| (known.0, known.1) == (scope, counter)).map_or(0, |known| known.2);
            let cache = &mut self.caches[usize::from(scope == Scope::Target)];
            cache.sum(scope, counter, value.saturating_sub(before), now, out);
        }
    }

    fn absolute(&self) -> Vec<(Scope, CounterId, u64)> {
        let pressure = |resource: &str| procfs::pressure(&self.proc.read(format!("pressure/{resource}")).ok()?);
        let mut values: Vec<_> = pressures(pressure).into_iter().map(|(id, value)| (Scope::Host, id, value)).collect();
        let text = self.proc.read("stat").unwrap_or_default();
        let nanos = |ticks: u64| ticks.saturating_mul(self.tick_ns);
        if let Some(all) = procfs::cpu_times(&text).find(|times| times.cpu.is_none()) {
            let host = [(HOST_TIME, all.total()), (HOST_BUSY, all.busy()), (HOST_STEAL, all.steal)];
            values.extend(host.map(|(counter, ticks)| (Scope::Host, counter, nanos(ticks))));
        }
        if let Some((user, system)) = self.cpus.as_deref().and_then(|cpus| used(&text, cpus)) {
            let time = [(TASK_CLOCK, user.saturating_add(system)), (USER_TIME, user), (SYSTEM_TIME, system)];
            values.extend(time.map(|(counter, ticks)| (Scope::Target, counter, nanos(ticks))));
        }
        values
    }
}

/// User and kernel time of these CPUs (of all, if none is given) in ticks; `None` if the file contains none of them.
fn used(stat: &[u8], cpus: &[u32]) -> Option<(u64, u64)> {
    let wanted = |times: &CpuTimes| match times.cpu {
        None => cpus.is_empty(),
        Some(cpu) => cpus.contains(&cpu),
    };
    let parts = procfs::cpu_times(stat).filter(wanted).map(|times| (times.user, times.system));
    parts.reduce(|sum, part| (sum.0.saturating_add(part.0), sum.1.saturating_add(part.1)))
}

/// ironlaw's own cost.
#[derive(Debug)]
pub(super) struct OwnUsage {
    proc: ProcFs,
    baseline: Nanos,
    cache: ReadingCache,
}

impl OwnUsage {
    /// Starts counting.
    pub(super) fn open(proc: ProcFs) -> OwnUsage {
        OwnUsage { proc, baseline: own_cpu(), cache: ReadingCache::default() }
    }

    /// ironlaw's CPU time since the capture began.
    pub(super) fn cpu(&self) -> Nanos {
        own_cpu() - self.baseline
    }

    /// Reports CPU time, and memory if it changed.
    pub(super) fn tick(&mut self, now: TickTiming, out: &mut Vec<Event>) {
        self.cache.sum(Scope::Tool, TOOL_CPU, self.cpu().0, now, out);
        let resident = |who: &str| procfs::resident_bytes(&self.proc.read(format!("{who}/statm")).ok()?);
        if let Some(own) = resident("self") {
            let bytes =
                helper::pids().iter().filter_map(|pid| resident(&pid.to_string())).fold(own, u64::saturating_add);
            self.cache.gauge(Scope::Tool, TOOL_MEMORY, bytes, now, out);
        }
    }
}

/// CPU time of ironlaw and of the processes that make its names.
fn own_cpu() -> Nanos {
    clock::process_cpu() + helper::cpu()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_cpus_count_as_the_target() {
        let stat = b"cpu  30 0 3 100 0 0 0 0\ncpu0 10 0 1 50 0 0 0 0\ncpu1 20 0 2 50 0 0 0 0\nintr 1\n";
        assert_eq!(used(stat, &[]), Some((30, 3)), "all");
        assert_eq!(used(stat, &[1]), Some((20, 2)));
        assert_eq!(used(stat, &[0, 1]), Some((30, 3)));
        assert_eq!(used(stat, &[7]), None);
    }
}

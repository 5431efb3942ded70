//! Lists every counter this version reads, so that all live sources agree on the numbers: first the kernel's counters,
//! then the hardware counters in the order of the plan.

use crate::model::{CounterDef, CounterId, HardwarePlan, Unit};

macro_rules! catalog {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $unit:ident;)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Index { $($constant),* }
        $($(#[$doc])* pub const $constant: CounterId = CounterId(Index::$constant as u16);)*

        /// The definitions, in order of their numbers.
        #[must_use]
        pub fn definitions() -> Vec<CounterDef> {
            vec![$(CounterDef { id: $constant, name: $name.to_string(), unit: Unit::$unit, group: None }),*]
        }
    };
}

catalog! {
    /// CPU time consumed (user and kernel). Scopes: target, thread.
    TASK_CLOCK = "task-clock", Nanos;
    /// CPU time in user mode. Scopes: target, thread.
    USER_TIME = "user-time", Nanos;
    /// CPU time in the kernel. Scopes: target, thread.
    SYSTEM_TIME = "system-time", Nanos;
    /// Context switches because the thread blocked. Scopes: target, thread.
    VOLUNTARY_SWITCHES = "voluntary-switches", Count;
    /// Context switches because the thread was preempted. Scopes: target, thread.
    INVOLUNTARY_SWITCHES = "involuntary-switches", Count;
    /// Moves to another CPU. Scopes: target, thread.
    MIGRATIONS = "migrations", Count;
    /// Page faults served without I/O. Scopes: target, thread.
    MINOR_FAULTS = "minor-faults", Count;
    /// Page faults that waited for I/O. Scopes: target, thread.
    MAJOR_FAULTS = "major-faults", Count;
    /// Time spent runnable but waiting for a CPU. Scopes: target, thread.
    RUN_DELAY = "run-delay", Nanos;
    /// Times a thread was put on a CPU. Scopes: target, thread.
    TIMESLICES = "timeslices", Count;
    /// Time waiting for block I/O (delay accounting). Scopes: target, thread.
    BLKIO_DELAY = "blkio-delay", Nanos;
    /// Living threads times elapsed time, that is, 100% utilisation of every thread. Scope: target.
    THREAD_TIME = "thread-time", Nanos;
    /// Bandwidth periods of the target's cgroup in which it was runnable. Scope: target.
    CGROUP_PERIODS = "cgroup-periods", Count;
    /// Periods of these in which it was throttled. Scope: target.
    CGROUP_THROTTLED_PERIODS = "cgroup-throttled-periods", Count;
    /// Time it was throttled. Scope: target.
    CGROUP_THROTTLED_TIME = "cgroup-throttled-time", Nanos;
    /// Time some task waited for a CPU (pressure stall information). Scopes: host, target (its cgroup).
    PSI_CPU_SOME = "psi-cpu-some", Nanos;
    /// Time some task waited for memory. Scopes: host, target.
    PSI_MEMORY_SOME = "psi-memory-some", Nanos;
    /// Time all tasks waited for memory. Scopes: host, target.
    PSI_MEMORY_FULL = "psi-memory-full", Nanos;
    /// Time some task waited for I/O. Scopes: host, target.
    PSI_IO_SOME = "psi-io-some", Nanos;
    /// Time all tasks waited for I/O. Scopes: host, target.
    PSI_IO_FULL = "psi-io-full", Nanos;
    /// CPU time of all CPUs, idle included. Scope: host.
    HOST_TIME = "host-time", Nanos;
    /// The part of `host-time` that is neither idle nor waiting for I/O. Scope: host.
    HOST_BUSY = "host-busy", Nanos;
    /// CPU time that the hypervisor took for others. Scope: host.
    HOST_STEAL = "host-steal", Nanos;
    /// Bytes that the memory controllers read. Scopes: host, CPU (the one that speaks for its socket), as for the next.
    MEMORY_READ = "memory-read", Bytes;
    /// Bytes that they wrote.
    MEMORY_WRITTEN = "memory-written", Bytes;
    /// Bytes that they read or wrote.
    MEMORY_TRAFFIC = "memory-traffic", Bytes;
    /// Bytes of data that a socket sent to another.
    SOCKET_LINK = "socket-link", Bytes;
    /// CPU time of ironlaw's own process. Scope: tool.
    TOOL_CPU = "tool-cpu", Nanos;
    /// Resident memory of ironlaw's own process (a gauge, not a sum). Scope: tool.
    TOOL_MEMORY = "tool-memory", Bytes;
    /// Time of ironlaw's own walk through half of the second-level cache. Scope: host, as for all canaries.
    PROBE_L2_TIME = "probe-l2-time", Nanos;
    /// Loads of that walk. Each load depends on the previous one, so time divided by loads is the latency of one load.
    PROBE_L2_LOADS = "probe-l2-loads", Count;
    /// Time of the walk in the last-level cache.
    PROBE_LLC_TIME = "probe-llc-time", Nanos;
    /// Loads of that walk.
    PROBE_LLC_LOADS = "probe-llc-loads", Count;
    /// Time of the walk in memory.
    PROBE_DRAM_TIME = "probe-dram-time", Nanos;
    /// Loads of that walk.
    PROBE_DRAM_LOADS = "probe-dram-loads", Count;
    /// Time of the walk in memory of another node than the walker's.
    PROBE_REMOTE_TIME = "probe-remote-time", Nanos;
    /// Loads of that walk.
    PROBE_REMOTE_LOADS = "probe-remote-loads", Count;
    /// Time of the walk through lines of the second-level cache, each in its own small page.
    PROBE_SMALL_PAGES_TIME = "probe-small-pages-time", Nanos;
    /// Loads of that walk.
    PROBE_SMALL_PAGES_LOADS = "probe-small-pages-loads", Count;
    /// Time of the walk through the same lines in huge pages.
    PROBE_HUGE_PAGES_TIME = "probe-huge-pages-time", Nanos;
    /// Loads of that walk.
    PROBE_HUGE_PAGES_LOADS = "probe-huge-pages-loads", Count;
    /// Time that passing on stacks of waits took from the waiting threads. Scope: target.
    WAIT_STACKS_TIME = "wait-stacks-time", Nanos;
    /// Time in which latencies of operations were measured. Scope: target.
    LATENCY_TIME = "latency-time", Nanos;
    /// Time that the probes which measure latencies took from the target. Scope: target.
    LATENCY_PROBES_TIME = "latency-probes-time", Nanos;
    /// CPU time of all canaries, setup included; part of `tool-cpu`. Scope: tool.
    PROBE_CPU = "probe-cpu", Nanos;
}

/// The counters of the plan's events, in the order of its groups, then cycles and instructions if no group contains
/// them, so that a recording without them states what it lacks.
#[must_use]
pub fn hardware(plan: &HardwarePlan) -> Vec<CounterDef> {
    let first = definitions().len();
    let mut all = plan.definitions(first as u16);
    for (name, unit) in [("cycles", Unit::Cycles), ("instructions", Unit::Instructions)] {
        if !all.iter().any(|def| def.name == name) {
            let id = CounterId((first + all.len()) as u16);
            all.push(CounterDef { id, name: name.to_string(), unit, group: None });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_stands_at_its_own_number_and_no_name_occurs_twice() {
        let plan = HardwarePlan::default();
        let definitions = [definitions(), hardware(&plan)].concat();
        let mut names: Vec<_> = definitions.iter().map(|def| def.name.clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), definitions.len());
        assert!(definitions.iter().enumerate().all(|(at, def)| usize::from(def.id.0) == at));
    }
}

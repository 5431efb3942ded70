//! The registry of metrics: every number that ironlaw computes, once. Reports, screens, comparisons, baselines, watches
//! and exports read names, labels, units, directions and formulas from here.

use super::metric_def::{MetricDef, cost, hardware, latency, law, metric, quantile};
use super::{Better, Computation, LatencyMeasure, MetricSet as Set, Readings, Role, Section as S, Unit as U};
use Better::{Less, More, Neither};
use Computation::{
    Counting, EventsPerOperation, Gap, Grouped, LostShare, OperationRate, Operations, Over, OverWall, Part, Peak,
    PerCpuSecond, PerOperation, PerSecond, Rest, Sampled, Sampling, Total,
};
use Readings::{Host, Target, Tasks as Own, Tool};
use Role::{Context, Cost, Load};
use serde::{Serialize, Serializer};
use std::fmt;

macro_rules! metrics {
    ($($id:ident $name:literal = $def:expr;)*) => {
        /// A metric of the registry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MetricId {
            $(#[doc = concat!("`", $name, "`")] $id,)*
        }

        impl MetricId {
            /// All metrics, in the order of reports.
            pub const ALL: &[MetricId] = &[$(MetricId::$id),*];
        }

        static METRICS: &[MetricDef] = &[$(MetricDef { name: $name, ..$def }),*];
    };
}

metrics! {
    CpuTime "cpu_time" = metric(S::Cpu, "CPU time", U::Seconds, Total(Own, "task-clock", 1e-9));
    CpuUtilisation "cpu_utilisation" = metric(
        S::Cpu, "busy cores", U::Cores, OverWall(Own, "task-clock"),
    ).redundant("busy_cores");
    UserShare "user_share" = metric(S::Cpu, "user mode", U::Share, Part("user-time", "system-time"));
    SystemShare "system_share" = metric(S::Cpu, "kernel mode", U::Share, Part("system-time", "user-time"));
    Cycles "cycles" = metric(S::Cpu, "cycles", U::Count, Total(Own, "cycles", 1.0));
    Instructions "instructions" = metric(S::Cpu, "instructions", U::Count, Total(Own, "instructions", 1.0));
    Ipc "ipc" = metric(S::Cpu, "IPC", U::Ratio, Grouped("instructions", "cycles")).redundant("cpi, its inverse");
    Cpi "cpi" = metric(
        S::Cpu, "CPI", U::Ratio, Grouped("cycles", "instructions"),
    ).factor("cycles per instruction", Less);
    Frequency "frequency" = metric(
        S::Cpu, "frequency", U::Hertz, PerCpuSecond("cycles", "task-clock"),
    ).factor("frequency", More);
    Threads "threads" = metric(S::Scheduler, "threads alive", U::Threads, OverWall(Own, "thread-time"));
    RunShare "run_share" = metric(
        S::Scheduler, "of their time: running", U::Share, Over(Own, "task-clock", "thread-time"),
    ).redundant("utilisation");
    RunQueueDelay "run_queue_delay" = metric(
        S::Scheduler, "waiting for a CPU", U::Share, Over(Own, "run-delay", "thread-time"),
    );
    BlockedShare "blocked_share" = metric(
        S::Scheduler, "blocked", U::Share, Rest("task-clock", "run-delay", "thread-time"),
    );
    VoluntarySwitches "voluntary_switches" = metric(
        S::Scheduler, "switches, blocked", U::PerSecond, PerSecond(Own, "voluntary-switches"),
    );
    InvoluntarySwitches "involuntary_switches" = metric(
        S::Scheduler, "switches, preempted", U::PerSecond, PerSecond(Own, "involuntary-switches"),
    );
    Migrations "migrations" = metric(S::Scheduler, "moves between CPUs", U::PerSecond, PerSecond(Own, "migrations"));
    BlockIoDelay "block_io_delay" = metric(
        S::Scheduler, "waiting for block I/O", U::Share, Over(Own, "blkio-delay", "thread-time"),
    );
    MinorFaults "minor_faults" = metric(S::Memory, "minor page faults", U::PerSecond, PerSecond(Own, "minor-faults"));
    MajorFaults "major_faults" = metric(S::Memory, "major page faults", U::PerSecond, PerSecond(Own, "major-faults"));
    ThrottledShare "throttled_share" = metric(
        S::Cgroup, "periods throttled", U::Share, Over(Target, "cgroup-throttled-periods", "cgroup-periods"),
    );
    ThrottledPeriods "throttled_periods" = metric(
        S::Cgroup, "throttled", U::PerSecond, PerSecond(Target, "cgroup-throttled-periods"),
    );
    ThrottledTime "throttled_time" = metric(
        S::Cgroup, "throttled time, all CPUs", U::Seconds, Total(Target, "cgroup-throttled-time", 1e-9),
    );
    PsiCpuSome "psi_cpu_some" = metric(S::Cgroup, "some wait for CPU", U::Share, OverWall(Target, "psi-cpu-some"));
    PsiMemorySome "psi_memory_some" = metric(
        S::Cgroup, "some wait for memory", U::Share, OverWall(Target, "psi-memory-some"),
    );
    PsiMemoryFull "psi_memory_full" = metric(
        S::Cgroup, "all wait for memory", U::Share, OverWall(Target, "psi-memory-full"),
    );
    PsiIoSome "psi_io_some" = metric(S::Cgroup, "some wait for I/O", U::Share, OverWall(Target, "psi-io-some"));
    PsiIoFull "psi_io_full" = metric(S::Cgroup, "all wait for I/O", U::Share, OverWall(Target, "psi-io-full"));
    HostBusy "host_busy" = metric(S::Host, "CPUs busy", U::Share, Over(Host, "host-busy", "host-time"));
    StealShare "steal_share" = metric(
        S::Host, "stolen by hypervisor", U::Share, Over(Host, "host-steal", "host-time"),
    );
    HostPsiCpuSome "host_psi_cpu_some" = metric(
        S::Host, "some wait for CPU", U::Share, OverWall(Host, "psi-cpu-some"),
    );
    HostPsiMemorySome "host_psi_memory_some" = metric(
        S::Host, "some wait for memory", U::Share, OverWall(Host, "psi-memory-some"),
    );
    HostPsiMemoryFull "host_psi_memory_full" = metric(
        S::Host, "all wait for memory", U::Share, OverWall(Host, "psi-memory-full"),
    );
    HostPsiIoSome "host_psi_io_some" = metric(S::Host, "some wait for I/O", U::Share, OverWall(Host, "psi-io-some"));
    HostPsiIoFull "host_psi_io_full" = metric(S::Host, "all wait for I/O", U::Share, OverWall(Host, "psi-io-full"));
    HostMemoryTraffic "host_memory_bandwidth" = metric(
        S::Host, "memory bandwidth", U::BytesPerSecond, PerSecond(Host, "memory-traffic"),
    );
    HostMemoryRead "host_memory_read" = metric(
        S::Host, "memory read", U::BytesPerSecond, PerSecond(Host, "memory-read"),
    );
    HostMemoryWritten "host_memory_written" = metric(
        S::Host, "memory written", U::BytesPerSecond, PerSecond(Host, "memory-written"),
    );
    SocketLink "socket_link" = metric(
        S::Host, "data between sockets", U::BytesPerSecond, PerSecond(Host, "socket-link"),
    );
    ProbeL2Latency "probe_l2_latency" = metric(
        S::Probe, "L2", U::Nanos, Over(Host, "probe-l2-time", "probe-l2-loads"),
    );
    ProbeLlcLatency "probe_llc_latency" = metric(
        S::Probe, "last-level cache", U::Nanos, Over(Host, "probe-llc-time", "probe-llc-loads"),
    );
    ProbeDramLatency "probe_dram_latency" = metric(
        S::Probe, "memory", U::Nanos, Over(Host, "probe-dram-time", "probe-dram-loads"),
    );
    ProbeTlbLatency "probe_tlb_latency" = metric(
        S::Probe, "address translation", U::Nanos,
        Gap(["probe-small-pages-time", "probe-small-pages-loads"], ["probe-huge-pages-time", "probe-huge-pages-loads"]),
    );
    ProbeRemoteLatency "probe_remote_latency" = metric(
        S::Probe, "memory of another node", U::Nanos, Over(Host, "probe-remote-time", "probe-remote-loads"),
    );
    ProbeCpuShare "probe_cpu_share" = metric(
        S::Probe, "CPU they took, of one", U::Share, OverWall(Tool, "probe-cpu"),
    );
    ToolCpuShare "tool_cpu_share" = metric(S::Tool, "CPU, of one", U::Share, OverWall(Tool, "tool-cpu"));
    ToolMemory "tool_memory" = metric(S::Tool, "memory", U::Bytes, Peak(Tool, "tool-memory"));
    SamplingShare "sampling_share" = metric(S::Tool, "target: by samples", U::Share, Sampling);
    CountingShare "counting_share" = metric(S::Tool, "target: by counters", U::Share, Counting);
    WaitStacksShare "wait_stacks_share" = metric(
        S::Tool, "target: by seeing waits", U::Share, Over(Target, "wait-stacks-time", "task-clock"),
    );
    LatencyProbesShare "latency_probes_share" = metric(
        S::Tool, "target: by probes", U::Share, Over(Target, "latency-probes-time", "task-clock"),
    );
    SamplesCoverage "samples_coverage" = metric(S::Tool, "CPU time sampled", U::Share, Sampled);
    SamplesLostShare "samples_lost_share" = metric(S::Tool, "records lost", U::Share, LostShare);
    LlcMpki "llc_mpki" = hardware(
        "LLC misses per 1000 instr", U::PerKiloInstructions,
        &["1000 * llc-miss / instructions", "1000 * (dram-all + remote-cache-all + l2-pf-miss-l3-miss) / instructions"],
        "Misses of the last-level cache, prefetches by it left out; a growing path length hides them.",
    ).above(10.0).set(Set::Cache, 1);
    L2Mpki "l2_mpki" = hardware(
        "L2 misses per 1000 instr", U::PerKiloInstructions, &["1000 * l2-miss / instructions"],
        "Misses of the second-level cache; the last level may still serve them.",
    ).above(10.0).set(Set::Cache, 2);
    L1dMpki "l1d_mpki" = hardware(
        "L1D misses per 1000 instr", U::PerKiloInstructions,
        &["1000 * l1d-miss / instructions", "1000 * l1d-replacement / instructions"],
        "Misses of the first-level data cache.",
    ).above(20.0).within(0.0, 4000.0).set(Set::Cache, 3);
    MemoryBandwidth "memory_bandwidth" = hardware(
        "memory bandwidth", U::BytesPerSecond,
        &["64000000000 * llc-miss / wall", "64000000000 * (dram-all + l2-pf-miss-l3-miss) / wall"],
        "64 bytes for each line read from beyond the last-level cache; lines written back are not counted.",
    ).set(Set::Cache, 4);
    MemoryStallShare "memory_stall_share" = hardware(
        "stalled on memory", U::Share,
        &["(stalls-mem-any + bound-on-stores) / cycles", "noretire-load / cycles", "stall-backend-mem / cycles"],
        "Cycles in which nothing went on while memory was waited for.",
    ).above(0.2).set(Set::Cache, 5);
    PageWalkShare "page_walk_share" = hardware(
        "page walks", U::Share, &["(dtlb-load-walk-active + dtlb-store-walk-active + itlb-walk-active) / cycles"],
        "Cycles in which a page walk was under way: an upper bound of what walks cost, as they overlap with work.",
    ).above(0.1).within(0.0, 3.0).set(Set::Tlb, 1);
    WalksPerKinstr "walks_per_kinstr" = hardware(
        "page walks per 1000 instr", U::PerKiloInstructions,
        &["1000 * (dtlb-load-walk-completed + dtlb-store-walk-completed + itlb-walk-completed) / instructions"],
        "Misses of all TLBs that were walked to their end, for data and code.",
    ).set(Set::Tlb, 2);
    MeanWalkCycles "mean_walk_cycles" = hardware(
        "cycles of one page walk", U::Ratio, &["dtlb-load-walk-pending / dtlb-load-walk-completed"],
        "Mean length of a page walk for data; walks whose tables lie in memory take hundreds of cycles.",
    ).within(0.0, 10000.0).set(Set::Tlb, 3);
    RemoteDramShare "remote_dram_share" = hardware(
        "remote memory", U::Share,
        &[
            "remote-dram-load / (local-dram-load + remote-dram-load)",
            "l2-fill-dram-far / (l2-fill-dram-near + l2-fill-dram-far)",
            "dram-far / (dram-near + dram-far)",
            "remote-dram-ocr / (local-dram-ocr + remote-dram-ocr)",
        ],
        "Of what came from memory, what came from another node.",
    ).above(0.1).set(Set::Numa, 1);
    RemoteAccessPerKinstr "remote_access_per_kinstr" = hardware(
        "accesses to other sockets per 1000 instr", U::PerKiloInstructions, &["1000 * remote-access / instructions"],
        "Accesses to another socket, to its caches and its memory alike.",
    ).set(Set::Numa, 2);
    RemoteCachePerKinstr "remote_cache_per_kinstr" = hardware(
        "from other caches per 1000 instr", U::PerKiloInstructions,
        &[
            "1000 * (remote-cache-hitm + remote-cache-fwd) / instructions",
            "1000 * l2-fill-remote-cache / instructions",
            "1000 * remote-cache-all / instructions",
        ],
        "Lines that came from a cache beyond the own last level, modified or clean.",
    ).set(Set::Numa, 3);
    HitmPerKinstr "hitm_per_kinstr" = hardware(
        "modified lines of others per 1000 instr", U::PerKiloInstructions,
        &[
            "1000 * (local-hitm + remote-cache-hitm) / instructions",
            // Since Ice Lake, one event counts both modified and clean forwarded lines. The ratio of requests separates
            // the two, as in the top-down method's Contested_Accesses.
            "1000 * (local-xsnp-fwd * demand-rd-local-hitm-ocr \
             / max(1, demand-rd-local-hitm-ocr + demand-rd-local-fwd-ocr) + remote-cache-hitm) / instructions",
        ],
        "Loads of a line that another core had modified: the mark of shared data that is written.",
    ).above(0.5).set(Set::Sharing, 1);
    OrderClearsPerKinstr "order_clears_per_kinstr" = hardware(
        "ordering clears per 1000 instr", U::PerKiloInstructions,
        &["1000 * machine-clears-memory-ordering / instructions"],
        "Pipeline flushes because another core wrote a line that was read ahead of its turn.",
    ).set(Set::More, 3);
    LockShare "lock_share" = hardware(
        "locked loads", U::Share, &["lock-loads / loads"], "Of all loads, those of locked instructions.",
    ).set(Set::More, 2);
    LocksPerKinstr "locks_per_kinstr" = hardware(
        "locked instructions per 1000 instr", U::PerKiloInstructions,
        &["1000 * lock-loads / instructions", "1000 * locks / instructions", "1000 * strex-spec / instructions"],
        "Atomic operations; each is cheap alone and expensive when CPUs share the line.",
    ).above(10.0).set(Set::Sharing, 2);
    StrexFailShare "strex_fail_share" = hardware(
        "failed exclusive stores", U::Share, &["strex-fail-spec / strex-spec"],
        "Exclusive stores that failed, of all: threads that contend for the same line.",
    ).set(Set::Sharing, 3);
    PauseShare "pause_share" = hardware(
        "spinning", U::Share, &["pause-cycles / cycles"],
        "Cycles in the PAUSE instruction: threads that spin for a lock.",
    ).above(0.05).set(Set::More, 4);
    L3MissLatency "l3_miss_latency" = hardware(
        "latency of an L3 miss", U::Seconds,
        &["1e-9 * (offcore-l3miss-outstanding / offcore-l3miss-requests * task-clock / cycles)"],
        "Mean time of a demand read that missed the L3, by Little's law; needs the cycles of both modes.",
    ).set(Set::Memory, 7);
    Mlp "mlp" = hardware(
        "reads under way at once", U::Ratio, &["offcore-rd-outstanding / offcore-rd-cycles"],
        "Mean number of data reads under way while there is any: few is a chain of dependent loads.",
    ).within(0.0, 256.0).set(Set::Memory, 8);
    ClockRatio "clock_ratio" = hardware(
        "clock over base clock", U::Ratio, &["cycles / ref-cycles"],
        "Cycles over cycles of the base clock while on a CPU: above 1 is turbo, below it the CPU is held back.",
    ).within(0.0, 20.0).set(Set::Base, 2);
    BranchMpki "branch_mpki" = hardware(
        "branch misses per 1000 instr", U::PerKiloInstructions, &["1000 * branch-misses / instructions"],
        "Mispredicted branches.",
    ).above(10.0).set(Set::Base, 1);
    BranchMissShare "branch_miss_share" = hardware(
        "mispredicted branches", U::Share, &["branch-misses / branches"],
        "Of all branches, those that were mispredicted.",
    ).set(Set::More, 1);
    TmaFrontend "tma_frontend" = hardware(
        "frontend bound", U::Share,
        &[
            "td-fe-bound / slots",
            "td-fe-undelivered / (slots-per-cycle * cycles)",
            "td-fe-slots / (slots-per-cycle * cycles)",
        ],
        "Pipeline slots that got no operation: code that misses caches, or is hard to decode.",
    ).above(0.15).of_slots().set(Set::Topdown, 1);
    TmaBadSpeculation "tma_bad_speculation" = hardware(
        "bad speculation", U::Share,
        &[
            "td-bad-spec / slots",
            "(td-uops-issued - td-uops-retired-slots + slots-per-cycle * td-recovery) / (slots-per-cycle * cycles)",
            "(td-ops-dispatched - td-ops-retired) / (slots-per-cycle * cycles)",
        ],
        "Slots of work that was thrown away, mostly after mispredicted branches.",
    ).above(0.15).of_slots().set(Set::Topdown, 2);
    TmaBackend "tma_backend" = hardware(
        "backend bound", U::Share,
        &[
            "td-be-bound / slots",
            "1 - (td-fe-undelivered + td-uops-issued + slots-per-cycle * td-recovery) / (slots-per-cycle * cycles)",
            "td-be-slots / (slots-per-cycle * cycles)",
        ],
        "Slots in which work waited for data or for execution units.",
    ).above(0.2).of_slots().set(Set::Topdown, 3);
    TmaRetiring "tma_retiring" = hardware(
        "retiring", U::Share,
        &[
            "td-retiring / slots",
            "td-uops-retired-slots / (slots-per-cycle * cycles)",
            "td-ops-retired / (slots-per-cycle * cycles)",
            "op-retired / op-spec * (1 - stall-slot / (slots-per-cycle * cycles))",
        ],
        "Slots of work that was kept: much of it is good, or a sign of too many instructions.",
    ).above(0.7).of_slots().set(Set::Topdown, 4);
    TmaSmtContention "tma_smt_contention" = hardware(
        "given to the sibling", U::Share, &["td-smt-slots / (slots-per-cycle * cycles)"],
        "Slots that the other thread of the core took.",
    ).above(0.1).of_slots().set(Set::Topdown, 5);
    TmaMemoryBound "tma_memory_bound" = hardware(
        "memory bound", U::Share,
        &["td-mem-bound / slots", "td-be-slots / (slots-per-cycle * cycles) * noretire-load / noretire-notcomplete"],
        "Of all slots, those lost in the backend to memory.",
    ).above(0.2).of_slots().set(Set::Topdown, 6);
    TmaCoreBound "tma_core_bound" = hardware(
        "core bound", U::Share,
        &[
            "(td-be-bound - td-mem-bound) / slots",
            "td-be-slots / (slots-per-cycle * cycles) * (1 - noretire-load / noretire-notcomplete)",
        ],
        "Of all slots, those lost in the backend, but not to memory.",
    ).above(0.1).of_slots().set(Set::Topdown, 7);
    TmaFetchLatency "tma_fetch_latency" = hardware(
        "fetch latency", U::Share, &["td-fetch-lat / slots", "td-fe-latency-cycles / cycles"],
        "Slots of cycles in which the frontend delivered nothing.",
    ).above(0.1).of_slots().set(Set::Topdown, 8);
    TmaBranchMispredicts "tma_branch_mispredicts" = hardware(
        "branch mispredicts", U::Share, &["td-br-mispredict / slots"], "Slots lost to mispredicted branches.",
    ).above(0.1).of_slots().set(Set::Topdown, 9);
    TmaHeavyOperations "tma_heavy_operations" = hardware(
        "heavy operations", U::Share, &["td-heavy-ops / slots"], "Slots of instructions that take several operations.",
    ).above(0.1).of_slots().set(Set::Topdown, 10);
    TmaL3Bound "tma_l3_bound" = hardware(
        "L3 bound", U::Share, &["(stalls-l2-miss - stalls-l3-miss) / cycles"],
        "Cycles stalled on loads that missed the L2 and not the L3: also on lines that other cores hold.",
    ).above(0.05).of_slots().set(Set::Memory, 2);
    TmaDramBound "tma_dram_bound" = hardware(
        "DRAM bound", U::Share, &["stalls-l3-miss / cycles"], "Cycles stalled on loads that missed the L3.",
    ).above(0.1).set(Set::Memory, 1);
    TmaMemoryBandwidth "tma_memory_bandwidth" = hardware(
        "bound by memory bandwidth", U::Share, &["min(cycles, offcore-rd-ge4) / cycles"],
        "Cycles with four or more data reads under way beyond the L2.",
    ).above(0.2).set(Set::Memory, 3);
    TmaMemoryLatency "tma_memory_latency" = hardware(
        "bound by memory latency", U::Share,
        &["(min(cycles, offcore-rd-cycles) - min(cycles, offcore-rd-ge4)) / cycles"],
        "Cycles with one to three data reads under way beyond the L2.",
    ).above(0.1).of_slots().set(Set::Memory, 4);
    TmaStoreBound "tma_store_bound" = hardware(
        "store bound", U::Share, &["bound-on-stores / cycles"], "Cycles stalled because the store buffer was full.",
    ).above(0.2).set(Set::Memory, 5);
    TmaDtlbLoad "tma_dtlb_load" = hardware(
        "data TLB bound", U::Share, &["dtlb-load-walk-active / cycles"],
        "Cycles in which loads waited for the second-level TLB or a walk: an upper bound.",
    ).above(0.1).within(0.0, 3.0).set(Set::Memory, 6);
    FrontendStallShare "frontend_stall_share" = hardware(
        "frontend stalls", U::Share, &["stall-frontend / cycles", "fe-stall / cycles"],
        "Cycles in which the frontend gave no operation.",
    ).set(Set::Topdown, 11);
    BackendStallShare "backend_stall_share" = hardware(
        "backend stalls", U::Share, &["stall-backend / cycles"], "Cycles in which the backend took no operation.",
    ).set(Set::Topdown, 12);
    AvxLicenseShare "avx_license_share" = hardware(
        "cycles at AVX frequency", U::Share, &["(core-power-lvl1 + core-power-lvl2) / cycles"],
        "Cycles in which wide vector instructions lowered the highest frequency.",
    ).set(Set::More, 5);
    Operations "operations" = metric(S::Operation, "operations, all", U::Count, Operations);
    Throughput "throughput" = metric(S::Operation, "operations", U::PerSecond, OperationRate).redundant("ops_per_s");
    CpuPerOp "cpu_per_op" = cost("CPU time", U::Seconds, PerOperation("task-clock", 1e-9)).redundant("cpu_ns_per_op");
    PathLength "path_length" = cost(
        "instructions", U::Count, PerOperation("instructions", 1.0),
    ).factor("instructions per operation", Less).repeatable();
    CyclesPerOp "cycles_per_op" = cost(
        "cycles", U::Count, PerOperation("cycles", 1.0),
    ).factor("cycles per operation", Less);
    RunQueueDelayPerOp "run_queue_delay_per_op" = cost(
        "waiting for a CPU", U::Seconds, PerOperation("run-delay", 1e-9),
    );
    VoluntarySwitchesPerOp "voluntary_switches_per_op" = cost(
        "switches, blocked", U::Count, PerOperation("voluntary-switches", 1.0),
    );
    InvoluntarySwitchesPerOp "involuntary_switches_per_op" = cost(
        "switches, preempted", U::Count, PerOperation("involuntary-switches", 1.0),
    );
    MinorFaultsPerOp "minor_faults_per_op" = cost(
        "minor page faults", U::Count, PerOperation("minor-faults", 1.0),
    ).repeatable();
    MajorFaultsPerOp "major_faults_per_op" = cost(
        "major page faults", U::Count, PerOperation("major-faults", 1.0),
    ).repeatable();
    L1dMissesPerOp "l1d_misses_per_op" = cost(
        "L1D misses", U::Count, EventsPerOperation(&["l1d-miss", "l1d-replacement"]),
    );
    L2MissesPerOp "l2_misses_per_op" = cost("L2 misses", U::Count, EventsPerOperation(&["l2-miss"]));
    LlcMissesPerOp "llc_misses_per_op" = cost(
        "LLC misses", U::Count,
        EventsPerOperation(&[
            "llc-miss",
            "dram-all + remote-cache-all + l2-pf-miss-l3-miss",
            "dram-all + far-cache + l2-pf-miss-l3-miss",
        ]),
    );
    BranchMissesPerOp "branch_misses_per_op" = cost(
        "branch misses", U::Count, EventsPerOperation(&["branch-misses"]),
    );
    PageWalkCyclesPerOp "page_walk_cycles_per_op" = cost(
        "page-walk cycles", U::Count,
        EventsPerOperation(&[
            "dtlb-load-walk-active + dtlb-store-walk-active + itlb-walk-active",
            "dtlb-load-walk-pending + itlb-walk-pending",
        ]),
    );
    PageWalksPerOp "page_walks_per_op" = cost(
        "page walks", U::Count,
        EventsPerOperation(&[
            "dtlb-load-walk-completed + dtlb-store-walk-completed + itlb-walk-completed",
            "dtlb-load-walk-completed + itlb-walk-completed",
        ]),
    );
    RemoteDramPerOp "remote_dram_per_op" = cost(
        "remote memory reads", U::Count,
        EventsPerOperation(&["remote-dram-load", "l2-fill-dram-far", "dram-far", "remote-dram-ocr"]),
    );
    HitmPerOp "hitm_per_op" = cost(
        "others' modified lines", U::Count,
        EventsPerOperation(&[
            "local-hitm + remote-cache-hitm",
            "local-xsnp-fwd * demand-rd-local-hitm-ocr / max(1, demand-rd-local-hitm-ocr + demand-rd-local-fwd-ocr) \
             + remote-cache-hitm",
        ]),
    );
    CpuNsPerOp "cpu_ns_per_op" = law("CPU time per operation", U::Nanos, Cost, Less, "d task-clock / d operations");
    OpsPerCoreSecond "ops_per_core_second" = law(
        "operations per core-second", U::Ratio, Cost, More, "d operations / d task-clock",
    );
    OpsPerS "ops_per_s" = law("operations per second", U::PerSecond, Load, Neither, "d operations / wall");
    BusyCores "busy_cores" = law("busy CPUs", U::Cores, Load, Neither, "d task-clock / wall");
    Utilisation "utilisation" = law(
        "share of threads' time running", U::Share, Load, Neither, "d task-clock / d thread-time",
    );
    InstructionRate "instruction_rate" = law("instr/s", U::PerSecond, Context, Neither, "d instructions / wall");
    LatencyP50 "latency_p50" = quantile("p50", "median latency", 0.5);
    LatencyP90 "latency_p90" = quantile("p90", "p90 of the latency", 0.9);
    LatencyP99 "latency_p99" = quantile("p99", "p99 of the latency", 0.99);
    LatencyP999 "latency_p999" = quantile("p99.9", "p99.9 of the latency", 0.999);
    LatencyFluctuation "latency_p99_fluctuation" = latency(
        "p99 fluctuation", U::Share, LatencyMeasure::Fluctuation, Less,
    );
    LatencyRange "latency_p99_range" = latency("range of p99 over windows", U::Share, LatencyMeasure::Range, Less);
    ExperienceAvailability "experience_availability" = latency(
        "windows within the SLO", U::Share, LatencyMeasure::Availability, More,
    );
    LatencyEntropy "latency_entropy" = latency("latency entropy", U::Ratio, LatencyMeasure::Entropy, Less);
}

impl MetricId {
    /// What the registry says of it.
    #[must_use]
    pub fn def(self) -> &'static MetricDef {
        &METRICS[self as usize]
    }

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.def().name
    }

    /// Looks up a metric by its stable name.
    #[must_use]
    pub fn named(name: &str) -> Option<MetricId> {
        Self::ALL.iter().copied().find(|id| id.name() == name)
    }

    /// The metrics formed from hardware events, most informative first.
    pub fn from_events() -> impl Iterator<Item = MetricId> {
        Self::ALL.iter().copied().filter(|id| matches!(id.def().computation, Computation::Events(_)))
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for MetricId {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Formula;

    /// The value of a metric's formula, by index, for the given counts of roles.
    fn value(name: &str, formula: usize, counts: &[(&str, f64)]) -> Option<f64> {
        let text = MetricId::named(name).unwrap().def().formulas()[formula];
        Formula::parse(text).unwrap().value(&mut |role| Some(counts.iter().find(|(known, _)| *known == role)?.1))
    }

    #[test]
    fn every_metric_is_named_once_and_every_formula_can_be_read() {
        for id in MetricId::ALL {
            let metric = id.def();
            assert_eq!(MetricId::named(metric.name), Some(*id));
            assert!(metric.bounds.0 < metric.bounds.1 && !metric.computation.text().is_empty(), "{}", metric.name);
            assert!(metric.label.len() <= 40, "{}", metric.name);
            let outside = |value: f64| value <= metric.bounds.0 || value >= metric.bounds.1;
            assert!(!metric.threshold.is_some_and(outside), "{}", metric.name);
            for text in metric.formulas() {
                assert!(Formula::parse(text).is_some(), "{}: {text}", metric.name);
            }
        }
    }

    #[test]
    fn a_hardware_metric_says_what_it_shows_and_is_asked_for_with_one_set_at_a_place_of_its_own() {
        let mut places = Vec::new();
        for metric in MetricId::from_events().map(MetricId::def) {
            assert!(metric.about.ends_with('.') && !metric.formulas().is_empty(), "{}", metric.name);
            let place = metric.set.unwrap();
            assert!(!places.contains(&place), "{}", metric.name);
            places.push(place);
        }
        assert!(places.len() > 30);
    }

    #[test]
    fn known_counts_give_known_values() {
        let close = |name: &str, formula, counts: &[(&str, f64)], expected: f64| {
            let found = value(name, formula, counts).unwrap();
            assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{name}: {found} is not {expected}");
        };
        close("llc_mpki", 0, &[("llc-miss", 30.0), ("instructions", 2000.0)], 15.0);
        let zen4 = [
            ("dram-all", 20.0),
            ("remote-cache-all", 10.0),
            ("l2-pf-miss-l3-miss", 70.0),
            ("instructions", 2000.0),
            ("wall", 1e9),
        ];
        close("llc_mpki", 1, &zen4, 50.0);
        close("memory_bandwidth", 1, &zen4, 64.0 * 90.0);
        // A quarter of 40 forwarded lines were modified.
        let forwarded = |modified: f64, clean: f64| {
            [
                ("local-xsnp-fwd", 40.0),
                ("remote-cache-hitm", 5.0),
                ("demand-rd-local-hitm-ocr", modified),
                ("demand-rd-local-fwd-ocr", clean),
                ("instructions", 10_000.0),
            ]
        };
        close("hitm_per_kinstr", 1, &forwarded(20.0, 60.0), 1.5);
        close("hitm_per_kinstr", 1, &forwarded(0.0, 0.0), 0.5);
        // A billion lines in two seconds.
        close("memory_bandwidth", 0, &[("llc-miss", 1e9), ("wall", 2e9)], 32e9);
        // 300 cycles at 3 GHz.
        let latency = [
            ("offcore-l3miss-outstanding", 6e6),
            ("offcore-l3miss-requests", 2e4),
            ("task-clock", 1e9),
            ("cycles", 3e9),
        ];
        close("l3_miss_latency", 0, &latency, 1e-7);
        close("remote_dram_share", 0, &[("remote-dram-load", 19.0), ("local-dram-load", 81.0)], 0.19);
        let walks = [
            ("dtlb-load-walk-active", 50.0),
            ("dtlb-store-walk-active", 30.0),
            ("itlb-walk-active", 20.0),
            ("cycles", 1e3),
        ];
        close("page_walk_share", 0, &walks, 0.1);
        close(
            "tma_memory_latency",
            0,
            &[("cycles", 100.0), ("offcore-rd-cycles", 120.0), ("offcore-rd-ge4", 30.0)],
            0.7,
        );
    }

    #[test]
    fn the_four_parts_of_the_first_level_are_the_whole() {
        let names = ["tma_frontend", "tma_bad_speculation", "tma_backend", "tma_retiring"];
        let skylake = [
            ("slots-per-cycle", 4.0),
            ("cycles", 1000.0),
            ("td-fe-undelivered", 700.0),
            ("td-uops-issued", 2300.0),
            ("td-uops-retired-slots", 2000.0),
            ("td-recovery", 40.0),
        ];
        let zen = [
            ("slots-per-cycle", 6.0),
            ("cycles", 1000.0),
            ("td-fe-slots", 1200.0),
            ("td-be-slots", 1800.0),
            ("td-ops-dispatched", 2700.0),
            ("td-ops-retired", 2400.0),
            ("td-smt-slots", 300.0),
        ];
        let sum = |formula, counts: &[(&str, f64)]| -> f64 {
            names.iter().map(|name| value(name, formula, counts).unwrap()).sum()
        };
        assert!((sum(1, &skylake) - 1.0).abs() < 1e-12);
        assert!((sum(2, &zen) + value("tma_smt_contention", 0, &zen).unwrap() - 1.0).abs() < 1e-12);
    }
}

//! Every threshold of the scaling rules with its source, in one place.
//! `[V]` published, `[S]` measured in a published study, `[P]` chosen for ironlaw: to be tuned with planted bottlenecks.

pub(super) use crate::analysis::findings::limits::{
    BALANCE, FEW_READS, FEWEST_SAMPLES, IO_PRESSURE, LOCKED, MEMORY_BANDWIDTH, QUEUED, SATURATED, STEAL, STORAGE,
    THROTTLED_PERIODS,
};

/// Efficiency below which a width has lost enough to be judged. [P]; POP is content with 0.8 [V].
pub const SCALES: f64 = 0.9;
/// Part of the lost cores from which on a reason is reported. [P]
pub const FACTOR: f64 = 0.1;
/// Standard errors that a growth must exceed: 95% of what is noise does not. [P]
pub const ERRORS: f64 = 2.0;
/// Growth of blocking system calls per operation that speaks for locks that sleep. [P]
pub const SWITCHES: f64 = 2.0;
/// Part of the busiest thread's CPU time up to which another has no part in the work. [P]
pub const IDLE: f64 = 0.1;
/// Part of the CPU time that threads may have that only help, or that no reading gives to a thread. [P]
pub const HELPERS: f64 = 0.25;
/// Share of the workers' time on a CPU from which on waits are no matter: u about 1. [P]
pub const BUSY: f64 = 0.9;
/// How far the serial fraction of Karp and Flatt may vary over the widths and still be constant: largest over least.
/// A worker with twice the work of others lets it fall as 1 / (n + 1), by 1.67 from two threads to four. [P]
pub const CONSTANT: f64 = 1.5;
/// Growth of the time per cycle. [P]
pub const FREQUENCY: f64 = 1.05;
/// Growth of instructions per operation that means more work. [P]
pub const PATH: f64 = 1.05;
/// The same in one function, from which on it means retries. [P]
pub const RETRIES: f64 = 1.15;
/// Instructions a cycle of code that neither waits for memory nor is tuned. [P]
pub const ORDINARY_IPC: f64 = 1.0;
/// Growth of cycles per instruction by cache lines that move between cores. [P]
pub const SHARED_CPI: f64 = 1.5;
/// Growth of cycles per instruction that needs a reason. [P]
pub const CPI: f64 = 1.2;
/// Part of the growth of CPU time that one function must have. [P]
pub const CONCENTRATED: f64 = 0.5;
/// Growth of that function's own cost per operation. [P]
pub const HOTTER: f64 = 1.5;
/// How many times its part of the CPU time at the base that part must be: what slows all code stretches it evenly. [P]
pub const STANDS_OUT: f64 = 1.5;
/// Speed-up lost with more threads, at most: throughput fell, as no shortage of bandwidth makes it. [P]
pub const RETROGRADE: f64 = 0.95;
/// Growth of a core's time per operation when two threads share it, at most: half a core each, and noise. [P]
pub const SIBLINGS: f64 = 2.2;
/// CPU cost per operation that joins with the siblings for them to be a kink. [P]
pub const KINK: f64 = 1.1;
/// Lines that another core had changed, per thousand instructions. [P]
pub const HITM: f64 = 0.5;
/// Growth of that number. [P]
pub const HITM_GROWTH: f64 = 3.0;
/// Bytes a second below which no machine's memory is used up: less than a tenth of one channel. [P]
pub const LEAST_BANDWIDTH: f64 = 2e9;
/// Bandwidth at this width over the most seen anywhere in the sweep. [P]
pub const BANDWIDTH: f64 = 0.7;
/// Growth of bandwidth per growth of width up to which it is flat. [P]
pub const FLAT: f64 = 0.5;
/// Growth of the time a miss takes. [P]
pub const LATENCY: f64 = 1.5;
/// Growth of last-level cache misses per operation. [P]
pub const MISSES: f64 = 1.3;
/// Nanoseconds that a miss of the last-level cache takes at most, to local memory that is not used up. [P]
pub const MISS_NS: f64 = 150.0;
/// Part of the cycles in page walks: the line of the top-down method. [V]
pub const PAGE_WALKS: f64 = 0.1;
/// Growth of that part. [P]
pub const PAGE_WALKS_GROWTH: f64 = 1.5;
/// Growth of the share of memory reads from another node, in shares; 19% against 4% mattered in [S].
pub const REMOTE: f64 = 0.1;
/// Growth of minor faults per operation that confirms what samples say. [P]
pub const FAULTS: f64 = 1.5;
/// Nanoseconds of CPU time that a minor fault takes at least. [P]
pub const FAULT_NS: f64 = 500.0;
/// Share of the CPU time in the kernel that must be visible by name before its absence from samples says something. [P]
pub const KERNEL_SEEN: f64 = 0.05;

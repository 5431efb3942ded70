//! Every threshold of the scaling rules, with its source. `[V]` published, `[S]` measured in a published study, `[P]`
//! chosen for ironlaw: to be tuned with planted bottlenecks.

pub(super) use crate::analysis::findings::limits::{
    BALANCE, FEW_READS, FEWEST_SAMPLES, IO_PRESSURE, LOCKED, MEMORY_BANDWIDTH, QUEUED, SATURATED, STEAL, STORAGE,
    THROTTLED_PERIODS,
};

/// Efficiency below which a width has lost enough to be judged. [P]; POP accepts 0.8 [V].
pub const SCALES: f64 = 0.9;
/// Share of the lost cores from which a reason is reported. [P]
pub const FACTOR: f64 = 0.1;
/// Standard errors that growth must exceed: 95% of noise does not. [P]
pub const ERRORS: f64 = 2.0;
/// Growth of blocking system calls per operation that indicates sleeping locks. [P]
pub const SWITCHES: f64 = 2.0;
/// Share of the busiest thread's CPU time up to which another thread does none of the work. [P]
pub const IDLE: f64 = 0.1;
/// Share of the CPU time that helper threads may have, or that no reading attributes to a thread. [P]
pub const HELPERS: f64 = 0.25;
/// Share of the workers' time on a CPU from which waits do not matter: u about 1. [P]
pub const BUSY: f64 = 0.9;
/// Largest over smallest serial fraction of Karp and Flatt up to which it is constant over the widths. A worker with
/// twice the work of others lets it fall as 1 / (n + 1), by 1.67 from two threads to four. [P]
pub const CONSTANT: f64 = 1.5;
/// Growth of the time per cycle. [P]
pub const FREQUENCY: f64 = 1.05;
/// Growth of instructions per operation that means more work. [P]
pub const PATH: f64 = 1.05;
/// The same in one function, from which it means retries. [P]
pub const RETRIES: f64 = 1.15;
/// Instructions per cycle of code that neither waits for memory nor is tuned. [P]
pub const ORDINARY_IPC: f64 = 1.0;
/// Growth of cycles per instruction caused by cache lines that move between cores. [P]
pub const SHARED_CPI: f64 = 1.5;
/// Growth of cycles per instruction that needs a reason. [P]
pub const CPI: f64 = 1.2;
/// Share of the growth of CPU time that one function must have. [P]
pub const CONCENTRATED: f64 = 0.5;
/// Growth of that function's own cost per operation. [P]
pub const HOTTER: f64 = 1.5;
/// Ratio of that share to the function's share at the base: a slowdown of all code stretches it evenly. [P]
pub const STANDS_OUT: f64 = 1.5;
/// Useful cores over the base's width, up to which throughput fell: no shortage of bandwidth causes that. [P]
pub const RETROGRADE: f64 = 0.95;
/// Largest growth of a core's time per operation when two threads share it: half a core each, and noise. [P]
pub const SIBLINGS: f64 = 2.2;
/// Growth of CPU cost per operation where siblings join, from which it is a kink. [P]
pub const KINK: f64 = 1.1;
/// Lines modified by another core, per thousand instructions. [P]
pub const HITM: f64 = 0.5;
/// Growth of that number. [P]
pub const HITM_GROWTH: f64 = 3.0;
/// Bytes per second below which no machine's bandwidth is exhausted: less than a tenth of one channel. [P]
pub const LEAST_BANDWIDTH: f64 = 2e9;
/// Bandwidth at this width over the highest in the sweep. [P]
pub const BANDWIDTH: f64 = 0.7;
/// Growth of bandwidth over growth of width up to which bandwidth is flat. [P]
pub const FLAT: f64 = 0.5;
/// Growth of the time per miss. [P]
pub const LATENCY: f64 = 1.5;
/// Growth of last-level cache misses per operation. [P]
pub const MISSES: f64 = 1.3;
/// Maximum nanoseconds of a last-level cache miss, to local memory whose bandwidth is not exhausted. [P]
pub const MISS_NS: f64 = 150.0;
/// Share of the cycles in page walks: the threshold of the top-down method. [V]
pub const PAGE_WALKS: f64 = 0.1;
/// Growth of that share. [P]
pub const PAGE_WALKS_GROWTH: f64 = 1.5;
/// Growth of the share of memory reads from another node, in shares; 19% against 4% mattered in [S].
pub const REMOTE: f64 = 0.1;
/// Growth of minor faults per operation that confirms the samples. [P]
pub const FAULTS: f64 = 1.5;
/// Minimum nanoseconds of CPU time per minor fault. [P]
pub const FAULT_NS: f64 = 500.0;
/// Kernel share of the CPU time from which samples must name kernel functions before these are ruled out. [P]
pub const KERNEL_SEEN: f64 = 0.05;

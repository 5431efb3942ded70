//! The thresholds that several rules over a sweep share, with their source: see `analysis::findings`.

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
/// Share of the workers' time on a CPU from which waits do not matter: u about 1. [P]
pub const BUSY: f64 = 0.9;
/// Growth of instructions per operation in one function from which it means retries. [P]
pub const RETRIES: f64 = 1.15;
/// Growth of cycles per instruction that needs a reason. [P]
pub const CPI: f64 = 1.2;
/// Share of the growth of CPU time that one function must have. [P]
pub const CONCENTRATED: f64 = 0.5;
/// Growth of that function's own cost per operation. [P]
pub const HOTTER: f64 = 1.5;
/// Ratio of that share to the function's share at the base: a slowdown of all code stretches it evenly. [P]
pub const STANDS_OUT: f64 = 1.5;
/// Share of the growth of a lock's CPU time that only a contended one has: system calls and loops that pause. [P]
pub const SLOW_PATH: f64 = 0.1;
/// Share of the CPU time at the base from which code shows how much all code slowed down. [P]
pub const COMPARABLE: f64 = 0.1;
/// Largest growth of a core's time per operation when two threads share it: half a core each, and noise. [P]
pub const SIBLINGS: f64 = 2.2;
/// Kernel share of the CPU time from which samples must name kernel functions before these are ruled out. [P]
pub const KERNEL_SEEN: f64 = 0.05;

//! The thresholds that several rules share, and those of the hardware rules, with their source: see `analysis::findings`.

/// Busy share of the machine from which CPUs are scarce. [P]
pub const HOST_BUSY: f64 = 0.9;
/// Minimum samples to judge a share by: 10% of 100 has a standard error of 3 points. [P]
pub const FEWEST_SAMPLES: u64 = 100;
/// Minimum seconds to compute rates and shares of time from. [P]
pub const SHORTEST_WINDOW: f64 = 0.5;
/// Mean number of working threads (running, queued, blocked) below which the target is idle. [P]
pub const IDLE_THREADS: f64 = 0.05;
/// Share of lost records above which nothing is judged. [P]
pub const LOST_SHARE: f64 = 0.1;

/// Share of periods throttled; any is reported, below this with low confidence. [P]; 73% of shared instances in [S].
pub const THROTTLED_PERIODS: f64 = 0.01;
/// Steal time, as a share of all CPUs' time. [P]
pub const STEAL: f64 = 0.01;
/// Time runnable without a CPU, as a share of working time. [P]
pub const QUEUED: f64 = 0.05;
/// Time blocked on locks, as a share of working time. [P]
pub const LOCKED: f64 = 0.1;
/// A wait of at least this many seconds is idleness, not a hand-over or an answer. [P]
pub const SHORT_WAIT: f64 = 0.1;
/// Time blocked on storage, as a share of working time. [P]
pub const STORAGE: f64 = 0.1;
/// I/O pressure (PSI) below which storage does not matter: about 0. [P]
pub const IO_PRESSURE: f64 = 0.01;
/// Load balance, mean over maximum: the threshold that POP uses. [V]
pub const BALANCE: f64 = 0.8;
/// Share of its lifetime from which a thread is saturated. [P]
pub const SATURATED: f64 = 0.9;

/// Clock over base clock below which the CPU is limited: turbo is above 1, and readings vary little. [P]
pub const BASE_CLOCK: f64 = 0.95;
/// Busy CPUs from which an idle machine's low clock explains nothing. [P]
pub const BUSY_FOR_CLOCK: f64 = 0.5;
/// Share of slots that the core's other thread took: `smt_contention` in AMD's pipeline utilization. [P]
pub const SMT_SLOTS: f64 = 0.1;
/// `DRAM_Bound` of the top-down method (intel/perfmon, metrics list of Ice Lake-SP). [V]
pub const DRAM_BOUND: f64 = 0.1;
/// `Memory_Bound` of the same. [V]
pub const MEMORY_BOUND: f64 = 0.2;
/// `MEM_Bandwidth` of the same. [V]
pub const MEMORY_BANDWIDTH: f64 = 0.2;
/// `Contested_Accesses` of the same. [V]
pub const CONTESTED: f64 = 0.05;
/// Seconds that a load takes when another core's modified line serves it: the smallest of Intel's constants for
/// `Contested_Accesses` (44 ns on Skylake-SP; 48 on Ice Lake-SP, 76 on Sapphire Rapids). [V]
pub const HITM_SECONDS: f64 = 44e-9;
/// Reads of lines that another core modified, per thousand instructions. [P]
pub const HITM: f64 = 0.5;
/// Share of memory reads that another node served; 19% against 4% mattered in [S].
pub const REMOTE: f64 = 0.1;
/// Last-level cache misses per thousand instructions. [P]
pub const LLC_MPKI: f64 = 10.0;
/// Concurrent reads below which loads wait for each other: the top-down method's boundary between latency and
/// bandwidth. [V]
pub const FEW_READS: f64 = 4.0;
/// Share of cycles with a page walk in progress: `DTLB_Load` of the top-down method. [V]
pub const PAGE_WALKS: f64 = 0.1;

//! Every threshold of the rules, with its source. `[V]` published, `[S]` measured in a published study, `[P]` chosen
//! for ironlaw: to be tuned with planted bottlenecks.

/// Minimum samples to judge a share by: 10% of 100 has a standard error of 3 points. [P]
pub const FEWEST_SAMPLES: u64 = 100;
/// Minimum seconds to compute rates and shares of time from. [P]
pub const SHORTEST_WINDOW: f64 = 0.5;
/// Mean number of working threads (running, queued, held up) below which the target is idle. [P]
pub const IDLE_THREADS: f64 = 0.05;
/// Share of lost records above which nothing is judged. [P]
pub const LOST_SHARE: f64 = 0.1;

/// Share of periods throttled; any is reported, below this with low confidence. [P]; 73% of shared instances in [S].
pub const THROTTLED_PERIODS: f64 = 0.01;
/// Steal time, as a share of all CPUs' time. [P]
pub const STEAL: f64 = 0.01;
/// Time runnable without a CPU, as a share of working time. [P]
pub const QUEUED: f64 = 0.05;
/// Mean wait for a CPU, seconds. A shorter one is the cost of a wake-up, not another thread's time slice. [P]
pub const QUEUE_WAIT: f64 = 100e-6;
/// Share of time in which some task waited for a CPU. [P]
pub const CPU_PRESSURE: f64 = 0.1;
/// Busy share of the machine from which CPUs are scarce. [P]
pub const HOST_BUSY: f64 = 0.9;
/// Time blocked on locks, as a share of working time. [P]
pub const LOCKED: f64 = 0.1;
/// Share of a lock's CPU time in futex calls from which threads contend for it. [P]
pub const TRADED: f64 = 0.1;
/// Share of working time from which a lock is the first thing to examine. [P]
pub const LOCKED_MUCH: f64 = 0.25;
/// Waits for another thread's signal per second of CPU time: a thread works for 200 us or less between two. [P]
pub const HAND_OVERS: f64 = 5_000.0;
/// Busy cores below which threads that wait for a signal are assumed to wait for work from outside. [P]
pub const HAND_OVER_BUSY: f64 = 0.2;
/// A wait of at least this many seconds is idleness, not a hand-over or an answer. [P]
pub const SHORT_WAIT: f64 = 0.1;
/// Time blocked on storage, as a share of working time. [P]
pub const STORAGE: f64 = 0.1;
/// I/O pressure (PSI) below which storage does not matter: about 0. [P]
pub const IO_PRESSURE: f64 = 0.01;
/// Share of time in which some task waited for memory. [P]
pub const MEMORY_PRESSURE: f64 = 0.05;
/// Load balance, mean over maximum: the threshold that POP uses. [V]
pub const BALANCE: f64 = 0.8;
/// Share of its lifetime from which a thread is saturated. [P]
pub const SATURATED: f64 = 0.9;
/// The same for a single thread that does all the work. [P]
pub const SERIAL: f64 = 0.95;
/// Mean number of other working threads up to which one thread does all the work. [P]
pub const SERIAL_OTHERS: f64 = 0.2;
/// Minimum samples of a thread to describe its work by. [P]
pub const THREAD_SAMPLES: u64 = 10;
/// Share of their samples that threads with similar work have in common. [P]
pub const LIKENESS: f64 = 0.5;
/// Share of samples in the kernel's lock slow paths. [P]
pub const KERNEL_SPIN: f64 = 0.05;
/// Share of samples in TLB flushes, of several threads. [P]
pub const TLB_FLUSH: f64 = 0.1;
/// Share of samples in functions that wait actively, or yield the CPU to wait. [P]
pub const USER_SPIN: f64 = 0.05;
/// Share of samples in one function from which it may be a wait loop. [P]
pub const TIGHT_SHARE: f64 = 0.5;
/// Bytes of code that a wait loop fits into. [P]
pub const TIGHT_BYTES: u64 = 64;
/// Share of samples below page faults. [P]
pub const FAULTS: f64 = 0.1;
/// Minor faults per second of CPU time that cost at most 1%, at 0.5 us each. [P]
pub const FEW_FAULTS: f64 = 20_000.0;
/// Major faults per second: at 1 to 10 ms each on a disk, a twentieth of one thread's time or more. [P]
pub const MAJOR_FAULTS: f64 = 50.0;
/// Major faults that a program takes to start with a cold cache. [P]
pub const STARTING_FAULTS: f64 = 200.0;
/// Share of samples in the memory allocator. [P]
pub const ALLOCATOR: f64 = 0.1;
/// Migrations per second of CPU time: at 10 to 50 us of cold caches each, 1 to 5% of it. [P]
pub const MIGRATIONS: f64 = 1_000.0;
/// Share of samples in the kernel: more than in the program. [P]
pub const KERNEL: f64 = 0.5;
/// Short waits for sockets and pipes, as a share of working time plus these waits. [P]
pub const OTHERS: f64 = 0.5;
/// Such waits per second. [P]
pub const OTHERS_RATE: f64 = 10.0;
/// Share of samples in one function's own code. [P]
pub const HOT: f64 = 0.3;

/// Clock over base clock below which the CPU is held back: turbo is above 1, and readings vary little. [P]
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

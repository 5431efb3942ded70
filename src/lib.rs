//! ironlaw: an interactive terminal profiler and bottleneck finder for Linux.
//!
//! # The law
//!
//! ```text
//! CPU time / op  =  instructions / op  x  cycles / instruction  x  seconds / cycle
//!                   (path length)         (CPI = 1 / IPC)          (1 / effective frequency)
//! throughput     =  busy cores / (CPU time / op)
//! ```
//!
//! Every report answers the same question: which factor moved, in which code, and who caused it.
//!
//! # The map
//!
//! | module | what it does | what it must not do (`tests/layering`) |
//! |---|---|---|
//! | [`error`] | one error type: what failed, on which object, what to do | prints, exits |
//! | [`units`] | numbers with units | formats for people |
//! | [`abi`] | formats of the kernel, read from bytes: perf's records, mappings, lists of CPUs | does I/O, knows live from file |
//! | [`model`] | the vocabulary: plain data | does I/O, reads a clock |
//! | [`sys`] | the only `unsafe`, the only system calls | decides anything |
//! | [`pmu`] | event names to kernel attributes | opens an event |
//! | [`symbols`] | addresses to names | opens a file itself |
//! | [`unwind`] | registers and stack bytes to addresses | reads memory or files |
//! | [`disassembly`] | machine code to instructions and their classes | reads files |
//! | [`collect`] | live capture: open, drain, reassemble, host facts | symbolizes, blocks on a reader |
//! | [`ops`] | what counts a program's operations, apart from the kernel | tells operations apart |
//! | [`store`] | the recording on disk, and the data set of many machines | knows live from replay |
//! | [`tables`] | columns and Parquet; the only place that names crates of polars | knows what a sample is |
//! | [`analysis`] | profile to metrics, call trees, causes | does I/O, formats |
//! | [`view`] | plain, serialisable view models | draws |
//! | [`export`] | views to bytes: text, JSON, CSV, Markdown, SVG, other profilers' formats | opens a file |
//! | [`session`] | wiring of a source to its readers; of tables to the engines that answer SQL | formats |
//! | [`sweep`] | runs of one program at several widths, and the folder they end in | judges |
//! | [`colocate`] | runs of programs alone and beside each other, what holds the neighbours, and the folder they end in | judges |
//! | [`watch`] | what a watch does about each assessment: reports, alarms, recordings, commands | does I/O, reads a clock |
//! | [`tui`] | the terminal session: state, keys, screens; the only place that names ratatui | reaches a profile or the kernel |
//! | [`cli`] | the command line: parse, plan, run, print | measures |
//! | `fuzz` | what fuzz targets and tests feed to each reader of untrusted data | is compiled into the program |
//!
//! # What flows
//!
//! `Target -> Plan -> collect --Event--> session -> { store, ProfileBuilder } -> analysis -> view -> export -> bytes`
//!
//! The terminal session is one more reader: `LiveSession` in [`session`] owns the profile on a thread of its own and answers
//! requests, `LiveSession -> view::snapshot -> Msg -> tui::app -> Effect -> cli::top -> LiveSession`, so drawing never waits.
//!
//! A sweep is many recordings: `sweep -> session -> recording -> analysis::sweep::Run`; runs make points, points a stack of
//! lost cores and a loss per function. Only these digests are kept, so a sweep of any length is worked out in little memory.
//!
//! A colocation is many recordings too: `colocate -> session -> recording -> analysis::colocate::RunResult`; each run beside a
//! neighbour is paired with one alone, and pairs make cells: `-> Cell -> view::colocate`.
//!
//! An import joins in the middle: `store::perfdata --Record--> session::import --Event--> store`, through the sampler's own mappings,
//! stacks and unwinder; `perfdata` is the pure reading of the format, `session::import` what needs files and names.
//!
//! A comparison digests each recording on its own: `sweep | session -> analysis::diff::Digest -> Comparison -> view::diff::DiffView`.
//!
//! Names come from a process of their own: `session::naming` asks, opens the files and hands them over, and the same program,
//! started as `ironlaw-names` and confined by `sys::helper`, runs [`symbols`] on what profiled programs wrote.
//!
//! What another process can hold up is read by a process of its own, too: mappings, memory, files and lists of processes. The
//! same program, started as `ironlaw-proc` (`sys::proc_reader`), reads them with some threads for each user; who asks waits
//! a bounded time, and the end of a capture waits for none of them.
//!
//! SQL is answered by a process of its own, too: `session::fleet` writes the tables of recordings to Parquet files in memory, or
//! names the folder of a data set, and starts `ironlaw-fleet` (the package in `src/fleet`, which depends on nothing here).
//!
//! A recording read back yields the same [`model::Event`] stream, so live and replay share everything after the source.
//!
//! # Words
//!
//! | word | means |
//! |---|---|
//! | operation | what the program is asked for; counted by `--ops` |
//! | path length | instructions per operation |
//! | latency | the time from the beginning of an operation to its end; slow operations are the slowest hundredth |
//! | metric, quantity | an entry of the registry [`model::MetricId`]; a quantity is a metric that recordings are compared by |
//! | role | what an event counts on any CPU, e.g. `llc-miss`; formulas are written over roles |
//! | window | the time between two readings of all counters, one `--interval` |
//! | reading | a cumulative counter value with its enabled and running time |
//! | coverage | measured over total: counted over enabled time, sampled over CPU time, seen waits over blocked time |
//! | wait | time off the CPU, with its cause; run queue: runnable without a CPU |
//! | recording | `NAME.ironlaw`; the reference is a recording compared with, the baseline a learnt `NAME.baseline` |
//! | sweep, width | runs of one program at several widths (threads or CPUs); a loss is cores lost against the base width |
//! | victim, cell | a program whose slowdown `colocate` measures; a victim beside a neighbour at a load |
//! | data set, job | rows of minutes that many hosts write (`--dataset`); a job is one program on all of them |
//! | comparison | one side compared with the base, each a recording or repeats; `diff` is the command and its view |
//! | mismatch | a condition (CPU, kernel, events) in which two sides differ |
//! | rule, finding | a rule finds, clears or is undecided with a reason; a finding has evidence, confidence and a next step |
//! | remainder | a cost that no rule with a reason explains |
//! | tail call | a function's last call, made as a jump: it has no frame, but its caller's code names it |
//! | neighbour, canary | another program on the machine; a memory walk that measures what neighbours do to caches |
//! | snapshot | what one view shows of a profile at one moment |
//!
//! # Invariants
//!
//! - The stream is self-contained: whatever an event refers to by number was defined by an earlier [`model::Definition`].
//! - The sampling path allocates nothing per sample once its stacks are known, never symbolizes and never waits for a reader.
//! - A value that was not measured is [`model::Measure::Missing`] with its reason, never zero.
//! - Layers point down only; `tests/layering` holds the table and fails with file and line.
//!
//! # Walls that moved, and why
//!
//! - `collect` uses [`unwind`]: stack bytes are unwound at once, while they still lie in the ring, instead of being stored.
//! - `session` uses [`analysis`]: windows are compared with a baseline as they end, where the profile lies.
//! - `session` uses [`pmu`]: an imported event that has no name gets the one its numbers stand for.
//! - `session` uses [`tables`]: the engines of SQL take Parquet files, and so does a simulated fleet.
//! - [`model::Event`] also carries definitions: samples refer to interned stacks, which keeps them fixed-size.

pub(crate) mod abi;
pub mod analysis;
pub mod cli;
pub mod collect;
pub(crate) mod colocate;
pub(crate) mod disassembly;
pub mod error;
pub mod export;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod model;
pub(crate) mod ops;
pub(crate) mod pmu;
pub mod session;
pub mod store;
pub(crate) mod sweep;
pub mod symbols;
pub mod sys;
pub(crate) mod tables;
pub mod tui;
pub mod units;
pub(crate) mod unwind;
pub mod view;
pub(crate) mod watch;

#[cfg(test)]
#[path = "../tests/support/skips.rs"]
mod skips;

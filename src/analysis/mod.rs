//! Turns a profile into metrics, call trees and causes. Pure: it does no I/O and formats nothing.

mod accesses;
pub mod attribution;
pub mod baseline;
mod butterfly;
mod cache_lines;
mod calltree;
mod causes;
mod cgroups;
mod code_ipc;
pub mod colocate;
mod computable;
mod counters;
mod coverage;
mod cpu_users;
pub mod dataset;
pub mod diff;
pub mod finding;
pub mod findings;
pub mod fleet;
mod grouping;
mod hardware_metrics;
mod interpreted;
mod law;
mod lifetimes;
mod lock_calls;
mod memory_places;
mod metric;
mod metrics;
mod name_forms;
mod names;
mod neighbours;
mod observe;
mod offcpu;
mod operation_latency;
mod operations;
mod parked;
mod per_op;
mod profile_tree;
mod ranking;
mod remainder;
mod row_rates;
mod sampling_error;
mod selection;
mod slow_operations;
mod socket_traffic;
mod stack_counts;
mod stack_paths;
mod stack_tree;
pub mod stats;
mod summary;
pub mod sweep;
mod tasks;
mod text;
mod thread_starts;
mod threads;
mod time;
mod wait_coverage;

pub use accesses::{
    AccessSummary, Latency, LevelRow, NodeAccesses, PairAccesses, accesses, check_accesses, has_accesses,
};
pub use butterfly::{Branch, BranchKind, Butterfly, Instruction, SourceLine};
pub use cache_lines::{CacheLine, CacheLines, LineUse, Sharing, cache_lines};
pub use calltree::{CallTree, Node, Place, SideCosts};
pub use causes::Cause;
pub use cgroups::Cgroups;
pub use code_ipc::{CodeIpc, CodeRate, FEWEST_SAMPLES, PathRates, Rates};
pub use counters::Counters;
pub use coverage::Coverage;
pub use cpu_users::{CpuUser, CpuUserKind, cpu_users};
pub use grouping::{GroupKey, group};
pub use interpreted::Interpreted;
pub(crate) use law::LEAST_CHANGE;
pub use law::{Law, LawFactor, Part, Slowdown, Totals};
pub use lock_calls::LockCalls;
pub use memory_places::{ExpectedPair, MemoryPlaces, NodePlaces, memory_places};
pub use metric::{Metric, value_of};
pub use metrics::metrics;
pub use names::{CodeKind, Function, Label, Names, SourceOwner};
pub use neighbours::{NeighbourRow, neighbours};
pub use observe::{Observation, observations};
pub use offcpu::{
    BlockedPath, CauseTotal, OffCpuTotals, WaitAge, blocked_paths, cause_of, off_cpu_totals, waits_by_thread,
};
pub use operation_latency::{
    Band, Bin, Latencies, LatencyCounts, LatencyHistory, LatencyPart, LatencyReader, LatencyWindows, OVER_TIME,
    Quantile, latencies,
};
pub use operations::operations;
pub use per_op::per_operation;
pub use profile_tree::{ProfileTree, QUEUED, TRUNCATED, UNKNOWN, Weight};
pub use ranking::{GroupBy, Rank, Ranking, SortBy, rank};
pub use row_rates::RowRates;
pub use sampling_error::Lockstep;
pub use selection::{Axis, Selection, ThreadSet};
pub use slow_operations::{SlowCause, SlowOperations, TimePart, slow_operations, throttled_share};
pub use socket_traffic::{SocketTraffic, socket_traffic};
pub use stack_counts::{StackCount, StackCounts};
pub use summary::{EventTotal, KindLoss, Summary, summary};
pub use tasks::{Task, Tasks};
pub use thread_starts::stack_end;
pub use threads::{ProcessRow, ThreadRow, processes, threads};
pub use time::{TimeRange, Window};
pub use wait_coverage::WaitCoverage;

pub(crate) use name_forms::name_forms;
pub(crate) use names::{UNRESOLVED, short};
pub(crate) use remainder::remainder;

#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

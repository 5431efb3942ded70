//! Measured speed of this machine's caches and memory, together with the sizes that the machine reports.
//! There are no nominal values to compare with, because no file states them.

use serde::{Deserialize, Serialize};

/// The result of a measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Number of CPUs that the measurement could use.
    pub cpus: u32,
    /// The caches that the machine reports, nearest first.
    pub caches: Vec<CacheHealth>,
    /// Time of one load by level, in small and in huge pages.
    pub latency: Vec<LatencyRow>,
    /// Time of one load from each NUMA node to each.
    pub nodes: Vec<NodeRow>,
    /// Time of one load by size of the walked memory, in huge pages if available.
    pub curve: Vec<CurvePoint>,
    /// Bandwidth in bytes per second.
    pub bandwidth: Vec<BandwidthRow>,
    /// What could not be measured, and the limits of the numbers.
    pub unknown: Vec<String>,
    /// Duration of the whole measurement, seconds.
    pub seconds: f64,
}

/// A cache, and whether load latency confirms its size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheHealth {
    /// 1 is nearest to the CPU.
    pub level: u8,
    /// The reported size.
    pub bytes: u64,
    /// The reported number of CPUs that share it.
    pub shared_by: u32,
    /// Ratio of the load latency at twice the size to that at half the size; `None` if either was not measured.
    pub step: Option<f64>,
}

/// One level's latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// `L1`, `L2`, `LLC` or `DRAM`.
    pub level: String,
    /// Size of the walked memory, bytes.
    pub bytes: u64,
    /// Nanoseconds in pages of the smallest size.
    pub small_ns: Option<f64>,
    /// Nanoseconds in huge pages; `None` if the kernel provided none.
    pub huge_ns: Option<f64>,
    /// Additional time for address translation in small pages, nanoseconds.
    pub translation_ns: Option<f64>,
}

/// A pair of NUMA nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeRow {
    /// The node that the walker ran on.
    pub from: u32,
    /// The node that held the memory.
    pub to: u32,
    /// Nanoseconds of one load; `None` if it could not be measured.
    pub ns: Option<f64>,
}

/// A point of the curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Size of the walked memory, bytes.
    pub bytes: u64,
    /// Nanoseconds of one load.
    pub ns: f64,
}

/// The bandwidth of one access pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandwidthRow {
    /// `read`, `write` or `copy`.
    pub what: String,
    /// Number of threads, each on its own CPU.
    pub threads: u32,
    /// Bytes per second. A copied byte counts twice, because it is read and written.
    pub bytes_per_s: f64,
    /// The slowest and the fastest run; `bytes_per_s` is the median.
    pub spread: [f64; 2],
}

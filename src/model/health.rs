//! How fast this machine's caches and memory were when they were measured, beside what the machine says of them.
//! It never says what they ought to be: that is in no file.

use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// CPUs it was measured on.
    pub cpus: u32,
    /// Caches the machine says it has, nearest first.
    pub caches: Vec<CacheHealth>,
    /// Time of one load by level, in small and in huge pages.
    pub latency: Vec<LatencyRow>,
    /// Time of one load from each memory node to each.
    pub nodes: Vec<NodeRow>,
    /// Time of one load by how much memory is walked, in huge pages where there were any.
    pub curve: Vec<CurvePoint>,
    /// Bytes per second.
    pub bandwidth: Vec<BandwidthRow>,
    /// What could not be measured, or what a number does not say.
    pub unknown: Vec<String>,
    /// How long all of it took, seconds.
    pub seconds: f64,
}

/// A cache, and whether the walks noticed its size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheHealth {
    /// 1 is nearest to the CPU.
    pub level: u8,
    /// Its size as told.
    pub bytes: u64,
    /// How many CPUs share it, as told.
    pub shared_by: u32,
    /// How many times longer a load takes in twice the size than in half of it; `None` where either was not measured.
    pub step: Option<f64>,
}

/// One level's latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// `L1`, `L2`, `LLC` or `DRAM`.
    pub level: String,
    /// How much memory is walked, bytes.
    pub bytes: u64,
    /// Nanoseconds in pages of the smallest size.
    pub small_ns: Option<f64>,
    /// Nanoseconds in huge pages; `None` where none were given.
    pub huge_ns: Option<f64>,
    /// What address translation adds in small pages, nanoseconds.
    pub translation_ns: Option<f64>,
}

/// A pair of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Where the walker ran.
    pub from: u32,
    /// Where the memory was.
    pub to: u32,
    /// Nanoseconds of one load; `None` where it could not be had.
    pub ns: Option<f64>,
}

/// A point of the curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// How much memory is walked, bytes.
    pub bytes: u64,
    /// Nanoseconds of one load.
    pub ns: f64,
}

/// A stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandwidthRow {
    /// `read`, `write` or `copy`.
    pub what: String,
    /// Threads, each on a CPU of its own.
    pub threads: u32,
    /// Bytes per second; a copied byte counts twice, as it is read and written.
    pub bytes_per_s: f64,
    /// The slowest and the fastest of the runs, of which the middle one is told.
    pub spread: [f64; 2],
}

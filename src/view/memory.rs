//! View model: sampled memory accesses: where the data was, and which cache lines threads share.

use crate::analysis::{
    AccessSummary, CacheLine, CacheLines, Latency, LevelRow, LineUse, Names, NodeAccesses, PairAccesses, Selection,
    Sharing, Tasks, accesses, cache_lines, has_accesses,
};
use crate::model::profile::Profile;
use crate::model::{AccessPlace, Measure, Why};
use crate::view::{Measured, number};
use serde::Serialize;

/// Sampled memory accesses of the selected threads and time, of all events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryView {
    /// Number of accesses.
    pub accesses: u64,
    /// Loads among them.
    pub loads: u64,
    /// Stores among them.
    pub stores: u64,
    /// Loads of a line that a core of the same NUMA node had modified.
    pub hitm_local: u64,
    /// Loads of a line that a core of another node had modified.
    pub hitm_remote: u64,
    /// Locked (atomic) operations.
    pub locked: u64,
    /// Share that missed all TLBs, of those for which that is known.
    pub tlb_miss_share: Measured,
    /// Accesses without the address of their data.
    pub without_address: u64,
    /// How long they took.
    pub latency: LatencyView,
    /// By what they did and where the data was, those with the most cycles first.
    pub levels: Vec<LevelView>,
    /// By the NUMA node of their CPU; empty on a machine of one node.
    pub nodes: Vec<NodeView>,
    /// Those that memory or a cache of a known node answered, by pair of nodes; empty on a machine of one node.
    pub pairs: Vec<PairView>,
    /// Bytes of a cache line.
    pub line_bytes: u64,
    /// The lines that are shared, those most often found modified first.
    pub lines: Vec<LineView>,
    /// Number of shared lines left out.
    pub lines_left_out: usize,
    /// Number of lines that one thread used alone.
    pub lines_of_one_thread: usize,
}

/// CPU cycles of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyView {
    /// Accesses whose latency was measured.
    pub measured: u64,
    /// Cycles of one, on average.
    pub mean_cycles: Measured,
    /// Half of them took at most as many cycles.
    pub median_cycles: Measured,
}

/// Accesses whose data was at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelView {
    /// The place.
    #[serde(flatten)]
    pub place: AccessPlace,
    /// Number of sampled accesses.
    pub samples: u64,
    /// Their share of all sampled accesses.
    pub share: f64,
    /// Their share of the cycles of all.
    pub latency_share: Measured,
    /// How long they took.
    pub latency: LatencyView,
}

/// Accesses of CPUs of one NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NodeView {
    /// The node of the CPUs.
    pub node: u32,
    /// Accesses answered by their own node.
    pub local: u64,
    /// By a cache of another node.
    pub remote_cache: u64,
    /// By the memory of another node.
    pub remote_dram: u64,
    /// The hardware did not tell by whom.
    pub unknown: u64,
}

/// Accesses from the CPUs of one node that the memory or a cache of one answered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairView {
    /// The node of the CPUs.
    pub cpu_node: u32,
    /// The node that answered; `None`: another one of several.
    pub memory_node: Option<u32>,
    /// Answered by DRAM.
    pub dram: u64,
    /// By a cache of that node.
    pub cache: u64,
    /// How long they took.
    pub latency: LatencyView,
}

/// A cache line that several threads use, or that was modified by another core.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineView {
    /// Address of its first byte, in hexadecimal.
    pub address: String,
    /// The process whose address that is; `None` for one of the kernel.
    pub pid: Option<u32>,
    /// `false_sharing`, `true_sharing`, `read_only` or `undecided`.
    pub sharing: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Sampled loads.
    pub loads: u64,
    /// Sampled stores.
    pub stores: u64,
    /// Loads of it while a core of the same node had it modified.
    pub hitm_local: u64,
    /// Loads of it while a core of another node had it modified.
    pub hitm_remote: u64,
    /// How long its accesses took.
    pub latency: LatencyView,
    /// Who uses which offset.
    pub uses: Vec<UseView>,
}

/// The use of one offset of a line by one function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UseView {
    /// First byte of the access within the line.
    pub offset: u64,
    /// The function.
    pub function: String,
    /// The path of its module; empty if unknown.
    pub module: String,
    /// The threads: name and id.
    pub threads: Vec<String>,
    /// Sampled loads.
    pub loads: u64,
    /// Sampled stores.
    pub stores: u64,
    /// Loads while a core of the same node had the line modified.
    pub hitm_local: u64,
    /// Loads while a core of another node had the line modified.
    pub hitm_remote: u64,
    /// How long its accesses took.
    pub latency: LatencyView,
}

/// Captions of [`LevelView::cells`].
pub const LEVEL_CAPTIONS: [&str; 6] = ["where the data was", "samples", "share", "of latency", "mean", "median cycles"];
/// Captions of [`NodeView::cells`].
pub const NODE_CAPTIONS: [&str; 6] = ["CPUs of", "local", "remote cache", "remote DRAM", "unknown", "remote"];

impl MemoryView {
    /// Returns `None` for a recording in which no access was sampled.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection, most: usize) -> Option<Self> {
        has_accesses(profile).then(|| {
            let summary = accesses(profile, tasks, selection);
            let lines = cache_lines(profile, names, tasks, selection);
            MemoryView::build(&summary, &lines, tasks, most)
        })
    }

    /// How many there are, and what shares are of.
    #[must_use]
    pub fn about(&self) -> String {
        let [all, loads, stores] = [self.accesses, self.loads, self.stores].map(number::count);
        format!("{all} sampled: {loads} loads, {stores} stores; shares are of these, which hardware chooses")
    }

    /// What the levels do not tell.
    #[must_use]
    pub fn rest(&self) -> String {
        let tlb = self.tlb_miss_share.value().map_or("-".to_string(), |share| number::percent(share).joined());
        let mut text = format!("all: {}; TLB misses {tlb}; locked {}", self.latency.text(), number::count(self.locked));
        if self.without_address > 0 {
            text.push_str(&format!("; without an address {}", number::count(self.without_address)));
        }
        text
    }

    fn build(summary: &AccessSummary, lines: &CacheLines, tasks: &Tasks, most: usize) -> MemoryView {
        let accesses = summary.levels.iter().map(|row| row.samples).sum();
        let (missed, known) = summary.tlb_misses;
        MemoryView {
            accesses,
            loads: summary.loads,
            stores: summary.stores,
            hitm_local: summary.hitm_local,
            hitm_remote: summary.hitm_remote,
            locked: summary.locked,
            tlb_miss_share: share(missed, known).into(),
            without_address: summary.without_address,
            latency: summary.latency.into(),
            levels: summary.levels.iter().map(|row| LevelView::of(row, accesses, &summary.latency)).collect(),
            nodes: summary.nodes.iter().map(|row| NodeView::of(*row)).collect(),
            pairs: summary.pairs.iter().map(PairView::of).collect(),
            line_bytes: lines.bytes,
            lines: lines.shared.iter().take(most).map(|line| LineView::of(line, tasks)).collect(),
            lines_left_out: lines.shared.len().saturating_sub(most),
            lines_of_one_thread: lines.alone,
        }
    }
}

fn share(part: u64, whole: u64) -> Measure<f64> {
    if whole == 0 { Measure::Missing(Why::NotRecorded) } else { Measure::exact(part as f64 / whole as f64) }
}

impl From<Latency> for LatencyView {
    fn from(Latency { measured, mean, median, .. }: Latency) -> Self {
        LatencyView { measured, mean_cycles: mean.into(), median_cycles: median.into() }
    }
}

impl LatencyView {
    /// The cycles, or why there are none.
    #[must_use]
    pub fn text(&self) -> String {
        match self.mean_cycles {
            Measured::Known { value, .. } => {
                format!("{} cycles, median {}", number::three_digits(value), cycles(self.median_cycles))
            }
            Measured::Missing { reason, .. } => format!("latency {reason}"),
        }
    }
}

/// Cycles in a table.
#[must_use]
pub fn cycles(value: Measured) -> String {
    value.value().map_or("-".to_string(), number::three_digits)
}

impl LevelView {
    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let percent = |share| number::percent(share).joined();
        let of_latency = self.latency_share.value().map_or("-".to_string(), percent);
        let (mean, median) = (cycles(self.latency.mean_cycles), cycles(self.latency.median_cycles));
        [self.place.label(), number::count(self.samples), percent(self.share), of_latency, mean, median]
    }

    fn of(row: &LevelRow, accesses: u64, all: &Latency) -> LevelView {
        let LevelRow { place, samples, latency } = *row;
        LevelView {
            place,
            samples,
            share: samples as f64 / accesses.max(1) as f64,
            latency_share: share(latency.cycles, if latency.measured == 0 { 0 } else { all.cycles }).into(),
            latency: latency.into(),
        }
    }
}

impl NodeView {
    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let remote = self.remote_cache + self.remote_dram;
        let all = self.local + remote;
        let share = if all == 0 { "-".to_string() } else { number::percent(remote as f64 / all as f64).joined() };
        let counts = [self.local, self.remote_cache, self.remote_dram, self.unknown].map(number::count);
        let [local, cache, dram, unknown] = counts;
        [format!("node {}", self.node), local, cache, dram, unknown, share]
    }

    fn of(NodeAccesses { node, local, remote_cache, remote_dram, unknown }: NodeAccesses) -> NodeView {
        NodeView { node, local, remote_cache, remote_dram, unknown }
    }
}

/// Heading of the accesses by node, and their scope.
pub const NODE_HEADING: (&str, &str) = ("Accesses by NUMA node", "those of the CPUs of each node, by who answered");
/// Captions of [`PairView::cells`].
pub const PAIR_CAPTIONS: [&str; 6] = ["CPUs of", "answered by", "DRAM", "cache", "mean", "median cycles"];
/// Heading of the pairs, and what is left out.
pub const PAIR_HEADING: (&str, &str) =
    ("Accesses by pair of nodes", "without those that caches of the own node answered");

impl PairView {
    fn of(&PairAccesses { cpu_node, memory_node, dram, cache, latency }: &PairAccesses) -> PairView {
        PairView { cpu_node, memory_node, dram, cache, latency: latency.into() }
    }

    /// Its row in a table.
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let answered = self.memory_node.map_or("another node".to_string(), |node| format!("node {node}"));
        let (mean, median) = (cycles(self.latency.mean_cycles), cycles(self.latency.median_cycles));
        [format!("node {}", self.cpu_node), answered, number::count(self.dram), number::count(self.cache), mean, median]
    }
}

impl LineView {
    fn of(line: &CacheLine, tasks: &Tasks) -> LineView {
        LineView {
            address: format!("{:#x}", line.address),
            pid: line.pid,
            sharing: match line.sharing {
                Sharing::False => "false_sharing",
                Sharing::True => "true_sharing",
                Sharing::ReadOnly => "read_only",
                Sharing::Undecided => "undecided",
            },
            threads: line.threads,
            loads: line.sum(|it| it.loads),
            stores: line.sum(|it| it.stores),
            hitm_local: line.sum(|it| it.hitm_local),
            hitm_remote: line.sum(|it| it.hitm_remote),
            latency: line.latency.into(),
            uses: line.uses.iter().map(|it| UseView::of(it, tasks)).collect(),
        }
    }

    /// How it is shared, in words.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self.sharing {
            "false_sharing" => "false sharing: threads use different bytes of it, and it is written",
            "true_sharing" => "true sharing: one thread writes bytes that another one uses",
            "read_only" => "shared; no write was sampled",
            _ => "undecided: it is modified, and samples do not show which bytes",
        }
    }
}

impl UseView {
    fn of(it: &LineUse, tasks: &Tasks) -> UseView {
        let named = |tid: &u32| match tasks.get(*tid).map(|task| task.comm.as_str()) {
            Some(comm) if !comm.is_empty() => format!("{comm} {tid}"),
            _ => tid.to_string(),
        };
        UseView {
            offset: it.offset,
            function: it.function.clone(),
            module: it.module.clone(),
            threads: it.tids.iter().map(named).collect(),
            loads: it.loads,
            stores: it.stores,
            hitm_local: it.hitm_local,
            hitm_remote: it.hitm_remote,
            latency: it.latency.into(),
        }
    }
}

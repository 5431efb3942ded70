//! Where neighbours ran relative to the target: on its CPUs, on sibling threads of its cores, on its node. A
//! neighbour's place in a window is the CPU it was last seen on.

use super::score::UsageCorrelation;
use super::types::Cause;
use super::window_summary::SuspectQuery;
use crate::analysis::text::{digits, percent};
use crate::model::{CpuTopology, HostFacts, NeighbourDef, NeighbourId, NeighbourKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Shares of the slow windows in which a neighbour ran.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NeighbourShares {
    pub same_cpu: f64,
    pub sibling: f64,
    pub node: f64,
    windows: f64,
}

/// Where each neighbour was while the target was slow.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CpuPlacement {
    shares: FxHashMap<NeighbourId, NeighbourShares>,
    /// Whether the machine has more than one node; with a single node, sharing it carries no information.
    nodes: bool,
    /// The share of all slow windows in which a sibling thread of one of the target's cores was busy.
    sibling: f64,
}

/// Share of windows from which on a placement is reported.
const OFTEN: f64 = 0.5;
/// CPUs used in a window from which on a neighbour counts as present.
const RAN: f64 = 0.02;
/// CPUs used from which on a sibling thread counts as busy.
const BUSY: f64 = 0.25;

impl CpuPlacement {
    pub fn of(query: &SuspectQuery<'_>) -> CpuPlacement {
        let facts = query.facts;
        let mut shares: FxHashMap<NeighbourId, NeighbourShares> = FxHashMap::default();
        let slow = query.summaries.iter().zip(query.slow).filter(|(_, slow)| **slow);
        let (mut windows, mut busy) = (0.0_f64, 0.0_f64);
        for (summary, _) in slow.filter(|(summary, _)| !summary.cpus.is_empty()) {
            let mut other = false;
            let (siblings, nodes) = (siblings(facts, &summary.cpus), nodes(facts, &summary.cpus));
            for used in summary.neighbours.iter().filter(|used| used.cores >= RAN) {
                let Some(cpu) = used.on_cpu else { continue };
                other |= used.cores >= BUSY && siblings.contains(&cpu);
                let share = shares.entry(used.neighbour).or_default();
                share.windows += 1.0;
                share.same_cpu += f64::from(u8::from(summary.cpus.contains(&cpu)));
                share.sibling += f64::from(u8::from(siblings.contains(&cpu)));
                share.node += f64::from(u8::from(topology(facts, cpu).is_some_and(|at| nodes.contains(&at.node))));
            }
            windows += 1.0;
            busy += f64::from(u8::from(other));
        }
        for share in shares.values_mut() {
            let windows = share.windows.max(1.0);
            (share.same_cpu, share.sibling, share.node) =
                (share.same_cpu / windows, share.sibling / windows, share.node / windows);
        }
        let all: FxHashSet<u32> = facts.cpus.iter().map(|cpu| cpu.node).collect();
        CpuPlacement { shares, nodes: all.len() > 1, sibling: busy / windows.max(1.0) }
    }

    /// The weight of a neighbour's placement for a cause; 1 where placement carries no information.
    pub fn weight(&self, id: NeighbourId, cause: Cause) -> f64 {
        let Some(shares) = self.shares.get(&id) else { return 1.0 };
        match cause {
            Cause::RunQueue => 0.6 + 0.4 * shares.same_cpu,
            Cause::Smt => 0.6 + 0.4 * shares.sibling,
            Cause::Llc | Cause::MemoryBandwidth | Cause::RemoteMemory if self.nodes => 0.7 + 0.3 * shares.node,
            _ => 1.0,
        }
    }

    /// The share of slow windows in which a sibling thread of one of the target's cores was busy.
    pub fn sibling_busy(&self) -> f64 {
        self.sibling
    }
}

fn topology(facts: &HostFacts, cpu: u32) -> Option<&CpuTopology> {
    facts.cpus.iter().find(|topology| topology.cpu == cpu)
}

/// The sibling threads on these CPUs' cores.
fn siblings(facts: &HostFacts, cpus: &[u32]) -> FxHashSet<u32> {
    let cores: FxHashSet<(u32, u32)> =
        cpus.iter().filter_map(|cpu| topology(facts, *cpu)).map(|at| (at.package, at.core)).collect();
    let all = facts.cpus.iter().filter(|at| cores.contains(&(at.package, at.core)));
    all.map(|at| at.cpu).filter(|cpu| !cpus.contains(cpu)).collect()
}

fn nodes(facts: &HostFacts, cpus: &[u32]) -> FxHashSet<u32> {
    cpus.iter().filter_map(|cpu| topology(facts, *cpu)).map(|at| at.node).collect()
}

/// Evidence for a suspect, in sentences.
pub(super) fn evidence(
    def: &NeighbourDef,
    fit: &UsageCorrelation,
    query: &SuspectQuery<'_>,
    placement: &CpuPlacement,
) -> Vec<String> {
    // The CPU time of a monitoring group is not known; its cache and traffic are reported below.
    let mut all: Vec<String> = (def.kind != NeighbourKind::Resctrl).then(|| grown(fit, query)).into_iter().collect();
    if let Some(shares) = placement.shares.get(&def.id) {
        let placements = [
            (shares.same_cpu, "on a CPU that the target used"),
            (shares.sibling, "on the other thread of a core that the target used"),
            (if placement.nodes { shares.node } else { 0.0 }, "on the target's NUMA node"),
        ];
        let often = placements.iter().filter(|(share, _)| *share >= OFTEN);
        all.extend(
            often.map(|(share, at)| format!("It was seen {at} in {} of the slow windows it ran in.", percent(*share))),
        );
    }
    all.extend(cache(def.id, query));
    if let (NeighbourKind::Process, Some(group)) = (def.kind, &def.cgroup) {
        all.push(format!("It is in control group {group}."));
    }
    all
}

fn grown(fit: &UsageCorrelation, query: &SuspectQuery<'_>) -> String {
    let before = query.slow.iter().filter(|slow| !**slow).count();
    let (what, unit, scale) = match query.cause {
        Cause::Io => ("storage traffic", "MB/s", 1e-6),
        _ => ("CPUs used", "", 1.0),
    };
    let number = |value: f64| format!("{}{}{unit}", digits(value * scale), if unit.is_empty() { "" } else { " " });
    let now = number(fit.slow);
    match before {
        0 => format!("{what}: {now} while slow; nothing was seen before it."),
        _ => format!("{what}: {now} while slow, {} before.", number(fit.before)),
    }
}

/// Cache occupancy and memory traffic of resctrl groups, and storage traffic.
fn cache(id: NeighbourId, query: &SuspectQuery<'_>) -> Vec<String> {
    let mean = |of: fn(&super::types::NeighbourActivity) -> Option<f64>, slow: bool| {
        let chosen = query.summaries.iter().zip(query.slow).filter(|(_, is)| **is == slow);
        let values: Vec<f64> = chosen.filter_map(|(summary, _)| of(summary.of_neighbour(id)?)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let tell = |what: &str, unit: &str, scale: f64, of: fn(&super::types::NeighbourActivity) -> Option<f64>| {
        let now = mean(of, true)?;
        let before = mean(of, false).map_or(String::new(), |then| format!(", {} {unit} before", digits(then * scale)));
        Some(format!("{what}: {} {unit} while slow{before}.", digits(now * scale)))
    };
    let mib = 1.0 / (1024.0 * 1024.0);
    let held = tell("last-level cache held", "MiB", mib, |used| used.llc_bytes.map(|bytes| bytes as f64));
    let moved = tell("memory traffic", "GB/s", 1e-9, |used| used.memory_rate);
    let io = (query.cause != Cause::Io).then(|| tell("storage traffic", "MB/s", 1e-6, |used| used.io_rate)).flatten();
    // Constant traffic is reported only if it is high.
    let much = mean(|used| used.io_rate, true).is_some_and(|rate| rate >= 1e6);
    held.into_iter().chain(moved).chain(io.filter(|_| much)).collect()
}

//! Runs all measurements and lists the caveats of their numbers.

use super::latency::{self, LatencyWalks};
use super::{Bounds, streams};
use crate::abi::parse_cpu_list;
use crate::model::{CacheHealth, Health, NodeRow};
use crate::sys::procfs::{self, ProcFs};
use crate::sys::sysfs::{Cache, CacheSizes, SysFs};
use crate::sys::{affinity, clock};

/// A smaller ratio is not a step: walks within one level differ as much.
const STEP: f64 = 1.3;

/// Runs all measurements.
#[must_use]
pub fn measure(proc: &ProcFs, sys: &SysFs) -> Health {
    let start = clock::monotonic_ns();
    let allowed = affinity::get(0).unwrap_or_default();
    let first = allowed.first().copied().unwrap_or(0);
    let caches = sys.caches(first);
    let free = proc.text("meminfo").ok().as_deref().and_then(procfs::memory_available);
    let bounds = Bounds::new(CacheSizes::of(&caches), free);
    let cpuinfo = proc.text("cpuinfo").unwrap_or_default();
    let mut health = Health {
        cpu_model: procfs::cpu_model(&cpuinfo).unwrap_or_default(),
        cpus: u32::try_from(allowed.len()).unwrap_or(u32::MAX),
        ..Health::default()
    };
    // On its own thread, so that the caller's thread is not pinned.
    let walks = || {
        let mut walks = LatencyWalks::new(proc.clone());
        let pinned = affinity::set(0, &[first]);
        let rows = latency::by_level(&mut walks, &bounds);
        let points = latency::curve(&mut walks, &bounds);
        (rows, points, walks.into_unknown(), pinned.err())
    };
    match std::thread::scope(|scope| scope.spawn(walks).join()) {
        Ok((rows, points, unknown, pinned)) => {
            (health.latency, health.curve) = (rows, points);
            health.unknown.extend(unknown);
            health.unknown.extend(pinned.map(|error| format!("the walks were not kept on one CPU: {error}")));
        }
        Err(_) => health.unknown.push("the walks failed".to_string()),
    }
    health.nodes = nodes(proc, sys, &bounds, &mut health.unknown);
    health.bandwidth = streams::measure(&allowed, bounds.beyond(), &mut health.unknown);
    health.caches = caches.iter().map(|cache| told(cache, &health)).collect();
    let virtual_machine = procfs::hypervisor_flag(&cpuinfo) || sys.hypervisor().is_some();
    health.unknown.extend(doubts(&health, virtual_machine));
    health.seconds = (clock::monotonic_ns() - start) as f64 * 1e-9;
    health
}

/// Latency from each node to each node, on machines with several.
fn nodes(proc: &ProcFs, sys: &SysFs, bounds: &Bounds, unknown: &mut Vec<String>) -> Vec<NodeRow> {
    let nodes = sys.nodes();
    if nodes.len() < 2 {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for &from in &nodes {
        let list = sys.text(&format!("devices/system/node/node{from}/cpulist"));
        let cpus = list.and_then(|list| parse_cpu_list(&list).ok()).unwrap_or_default();
        let walk = || {
            let mut walks = LatencyWalks::new(proc.clone());
            // Nothing can be measured from a node without CPUs that this process may use.
            let there = !cpus.is_empty() && affinity::set(0, &cpus).is_ok();
            let far = |walks: &mut LatencyWalks, to| if there { latency::dram(walks, bounds, Some(to)) } else { None };
            let row = |walks: &mut LatencyWalks, to| NodeRow { from, to, ns: far(walks, to) };
            let rows: Vec<NodeRow> = nodes.iter().map(|&to| row(&mut walks, to)).collect();
            (rows, walks.into_unknown())
        };
        if let Ok((found, doubts)) = std::thread::scope(|scope| scope.spawn(walk).join()) {
            rows.extend(found);
            unknown.extend(doubts);
        }
    }
    rows
}

/// A cache with the latency step that the curve shows at its size.
fn told(cache: &Cache, health: &Health) -> CacheHealth {
    let at = |bytes: u64| latency::latency_at(&health.curve, bytes);
    let step = at(cache.bytes / 2).zip(at(cache.bytes.saturating_mul(2))).map(|(half, twice)| twice / half);
    CacheHealth {
        level: cache.level,
        bytes: cache.bytes,
        shared_by: u32::try_from(cache.cpus.len()).unwrap_or(u32::MAX),
        step,
    }
}

/// Caveats for the reader of the numbers.
fn doubts(health: &Health, virtual_machine: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    for cache in &health.caches {
        if cache.step.is_some_and(|step| step < STEP) {
            doubts.push(format!(
                "level {} is reported as {} KiB, but the walks show no step there: it is smaller, larger or shared with \
                 others than reported",
                cache.level,
                cache.bytes >> 10
            ));
        }
    }
    if health.caches.is_empty() {
        doubts.push("this machine reports no cache sizes: only the curve is shown".to_string());
    }
    if virtual_machine {
        doubts.push(
            "this is a virtual machine: other guests of its host share caches and memory and cannot be seen here"
                .to_string(),
        );
    }
    doubts.push(
        "what this model of machine can do at best is not known here: compare with a log of a good day".to_string(),
    );
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CurvePoint;

    #[test]
    fn a_size_that_the_walks_do_not_notice_is_doubted() {
        let point = |kib: u64, ns| CurvePoint { bytes: kib << 10, ns };
        let mut health = Health {
            curve: [(16, 1.0), (64, 4.0), (256, 4.1), (1024, 4.2)].map(|(a, b)| point(a, b)).to_vec(),
            ..Health::default()
        };
        let cache = |level, kib: u64| Cache { level, bytes: kib << 10, cpus: vec![0, 1] };
        health.caches =
            [cache(1, 32), cache(2, 512), cache(3, 32_768)].iter().map(|cache| told(cache, &health)).collect();
        let steps: Vec<_> = health.caches.iter().map(|cache| cache.step.map(|step| (step * 100.0).round())).collect();
        assert_eq!(steps, [Some(400.0), Some(102.0), None]);
        let doubts = doubts(&health, false);
        assert!(doubts[0].starts_with("level 2 is reported as 512 KiB"), "{doubts:?}");
        assert_eq!(doubts.iter().filter(|doubt| doubt.starts_with("level")).count(), 1);
    }
}

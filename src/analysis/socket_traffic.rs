//! The bytes that memory controllers and links between sockets move, by socket.

use super::counters::Counters;
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{CpuTopology, Measure, Scope, Why};
use std::collections::{BTreeMap, BTreeSet};

/// What one socket moves, in bytes a second of elapsed time.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketTraffic {
    /// The socket.
    pub package: u32,
    /// Its NUMA nodes.
    pub nodes: Vec<u32>,
    /// Read from its memory.
    pub read: Measure<f64>,
    /// Written to it.
    pub written: Measure<f64>,
    /// Both; the only number where the hardware does not tell one from the other.
    pub all: Measure<f64>,
    /// Sent to other sockets.
    pub link: Measure<f64>,
}

/// The sockets of which something was counted, ascending.
#[must_use]
pub fn socket_traffic(profile: &Profile, counters: &Counters, window: Window) -> Vec<SocketTraffic> {
    let mut packages: BTreeMap<u32, Vec<&CpuTopology>> = BTreeMap::new();
    for cpu in &profile.meta.host.cpus {
        packages.entry(cpu.package).or_default().push(cpu);
    }
    let of = |(package, cpus): (u32, Vec<&CpuTopology>)| {
        let rate = |name| rate(name, &cpus, counters, window);
        let [read, written, all, link] = ["memory-read", "memory-written", "memory-traffic", "socket-link"].map(rate);
        let nodes: BTreeSet<u32> = cpus.iter().map(|cpu| cpu.node).collect();
        let counted = [&all, &link].into_iter().any(|value| value.why() != Some(Why::NotRecorded));
        counted.then(|| SocketTraffic { package, nodes: nodes.into_iter().collect(), read, written, all, link })
    };
    packages.into_iter().filter_map(of).collect()
}

/// Bytes a second of all units of a socket; each is read on one of its CPUs.
fn rate(name: &str, cpus: &[&CpuTopology], counters: &Counters, window: Window) -> Measure<f64> {
    let parts = cpus.iter().map(|cpu| counters.delta(name, Scope::Cpu(cpu.cpu), window));
    let read = parts.filter(|part| part.why() != Some(Why::NotRecorded));
    let sum = read.reduce(|sum, part| sum.ratio(part, |sum, part| Some(sum + part)));
    sum.unwrap_or(Measure::Missing(Why::NotRecorded)).over(Measure::exact(window.span().seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::Quality;

    #[test]
    fn each_socket_has_the_sums_of_its_units_and_a_machine_without_them_has_no_socket() {
        let mut synthetic = Synthetic::new();
        for (cpu, package) in [(0, 0), (1, 0), (2, 1)] {
            synthetic.meta.host.cpus.retain(|known| known.cpu != cpu);
            synthetic.meta.host.cpus.push(CpuTopology { cpu, core: cpu, package, node: 2 * package + cpu % 2 });
        }
        for (name, cpu, bytes) in [
            ("memory-read", 0, 4_000),
            ("memory-traffic", 0, 6_000),
            // A unit of another kind speaks by another CPU.
            ("memory-traffic", 1, 1_000),
            ("socket-link", 0, 500),
            ("memory-traffic", 2, 0),
        ] {
            synthetic.reading(name, Scope::Cpu(cpu), 2000, bytes);
        }
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(2000) };
        let missing = Measure::Missing(Why::NotRecorded);
        let exact = |value| Measure::Known { value, quality: Quality::EXACT };
        let first = SocketTraffic {
            package: 0,
            nodes: vec![0, 1],
            read: exact(2000.0),
            written: missing,
            all: exact(3500.0),
            link: exact(250.0),
        };
        let second = SocketTraffic {
            package: 1,
            nodes: vec![2],
            read: missing,
            written: missing,
            all: exact(0.0),
            link: missing,
        };
        assert_eq!(socket_traffic(&profile, &Counters::of(&profile), window), [first, second]);
        let bare = Synthetic::new().finish();
        assert_eq!(socket_traffic(&bare, &Counters::of(&bare), window), []);
    }
}

//! Selects the CPUs for a run of a given width: one per physical core before siblings, node by node.
//! Pure: takes the machine as its topology.

use crate::model::{CpuTopology, Placement, Region};
use std::collections::{BTreeMap, BTreeSet};

/// The allowed CPUs in the order in which widths use them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuOrder {
    order: Vec<CpuTopology>,
    pinned: bool,
}

/// The CPUs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCpus {
    /// Ascending; empty if not pinned.
    pub cpus: Vec<u32>,
    /// The region of these CPUs.
    pub region: Region,
}

impl CpuOrder {
    /// Orders those CPUs of `machine` that are in `allowed`.
    #[must_use]
    pub fn of(machine: &[CpuTopology], allowed: &[u32], placement: Placement) -> CpuOrder {
        let usable = machine.iter().filter(|place| allowed.contains(&place.cpu));
        let mut cores: BTreeMap<(u32, u32, u32), Vec<CpuTopology>> = BTreeMap::new();
        for place in usable {
            cores.entry((place.node, place.package, place.core)).or_default().push(*place);
        }
        cores.values_mut().for_each(|siblings| siblings.sort_by_key(|place| place.cpu));
        let mut keyed: Vec<_> = Vec::new();
        let mut cores_of_node: BTreeMap<u32, usize> = BTreeMap::new();
        for (core, ((node, ..), siblings)) in cores.into_iter().enumerate() {
            let in_node = cores_of_node.entry(node).or_default();
            for (sibling, place) in siblings.into_iter().enumerate() {
                let key = match placement {
                    Placement::Cores | Placement::None => (sibling, core, 0),
                    Placement::Smt => (core, sibling, 0),
                    Placement::Spread => (sibling, *in_node, core),
                };
                keyed.push((key, place));
            }
            *in_node += 1;
        }
        keyed.sort_by_key(|(key, _)| *key);
        let order = keyed.into_iter().map(|(_, place)| place).collect();
        CpuOrder { order, pinned: placement != Placement::None }
    }

    /// Number of CPUs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The CPUs for a run of that width: one per thread, or all.
    #[must_use]
    pub fn cpus_for(&self, width: u32) -> RunCpus {
        if !self.pinned {
            return RunCpus { cpus: Vec::new(), region: Region::Unplaced };
        }
        let taken = &self.order[..self.order.len().min(width as usize)];
        let mut cpus: Vec<u32> = taken.iter().map(|place| place.cpu).collect();
        cpus.sort_unstable();
        let cores: BTreeSet<_> = taken.iter().map(core).collect();
        let nodes: BTreeSet<_> = taken.iter().map(|place| place.node).collect();
        let region = match (cores.len() < taken.len(), nodes.len()) {
            _ if width as usize > taken.len() => Region::Oversubscribed,
            (true, _) => Region::Smt,
            (false, 0 | 1) => Region::Cores,
            (false, nodes) => Region::Nodes(u32::try_from(nodes).unwrap_or(u32::MAX)),
        };
        RunCpus { cpus, region }
    }
}

fn core(place: &CpuTopology) -> (u32, u32, u32) {
    (place.node, place.package, place.core)
}

/// Mean number of used CPUs per used physical core; 1 if unknown.
#[must_use]
pub fn per_core(machine: &[CpuTopology], cpus: &[u32]) -> f64 {
    let used: Vec<_> = machine.iter().filter(|place| cpus.contains(&place.cpu)).collect();
    let cores: BTreeSet<_> = used.iter().map(|place| core(place)).collect();
    if cores.is_empty() { 1.0 } else { used.len() as f64 / cores.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores with two siblings each, numbered as Linux does on most servers.
    fn machine() -> Vec<CpuTopology> {
        let place = |cpu: u32| CpuTopology { cpu, core: cpu % 2, package: cpu / 2 % 2, node: cpu / 2 % 2 };
        (0..8).map(place).collect()
    }

    fn check(placement: Placement, order: &[u32], regions: &[Region]) {
        let cpu_order = CpuOrder::of(&machine(), &(0..8).collect::<Vec<_>>(), placement);
        let found: Vec<_> = cpu_order.order.iter().map(|place| place.cpu).collect();
        assert_eq!(found, order, "{placement:?}");
        for (width, region) in (1..).zip(regions) {
            assert_eq!(cpu_order.cpus_for(width).region, *region, "{placement:?} {width}");
        }
    }

    #[test]
    fn cores_come_before_siblings_and_a_node_before_the_next() {
        use Region::{Cores, Nodes, Oversubscribed, Smt};
        check(
            Placement::Cores,
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[Cores, Cores, Nodes(2), Nodes(2), Smt, Smt, Smt, Smt, Oversubscribed],
        );
        check(Placement::Smt, &[0, 4, 1, 5, 2, 6, 3, 7], &[Cores, Smt, Smt]);
        check(Placement::Spread, &[0, 2, 1, 3, 4, 6, 5, 7], &[Cores, Nodes(2), Nodes(2), Nodes(2), Smt]);
    }

    #[test]
    fn only_allowed_cpus_are_taken_and_none_when_nothing_is_pinned() {
        let cpu_order = CpuOrder::of(&machine(), &[3, 5, 6], Placement::Cores);
        assert_eq!(cpu_order.cpus_for(2), RunCpus { cpus: vec![5, 6], region: Region::Nodes(2) });
        assert_eq!(cpu_order.cpus_for(9).cpus, [3, 5, 6]);
        let free = CpuOrder::of(&machine(), &[0, 1], Placement::None).cpus_for(2);
        assert_eq!(free, RunCpus { cpus: vec![], region: Region::Unplaced });
    }

    #[test]
    fn siblings_share_their_core() {
        assert_eq!(per_core(&machine(), &[0, 4, 1]), 1.5);
        assert_eq!(per_core(&machine(), &[0, 1, 2, 3]), 1.0);
        assert_eq!(per_core(&[], &[0]), 1.0);
    }
}

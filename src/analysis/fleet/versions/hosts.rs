//! Pairs the hosts of two versions: a host that ran both is its own control.

use super::sums::{HostVersion, Version};
use std::collections::BTreeMap;

/// A host with what it ran of each version.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairedHost<'a> {
    pub versions: [Option<&'a HostVersion>; 2],
}

impl PairedHost<'_> {
    /// Hosts that ran the old version, the new one, or both.
    pub fn group(&self) -> usize {
        match self.versions {
            [Some(_), Some(_)] => 2,
            [None, _] => 1,
            [Some(_), None] => 0,
        }
    }
}

pub(super) fn paired<'a>(versions: [&'a Version; 2]) -> Vec<PairedHost<'a>> {
    let mut all: BTreeMap<&str, PairedHost<'a>> = BTreeMap::new();
    for (at, version) in versions.iter().enumerate() {
        version.hosts.iter().for_each(|host| all.entry(&host.host).or_default().versions[at] = Some(host));
    }
    all.into_values().collect()
}

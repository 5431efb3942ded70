//! The rows of `versions.sql`: sums over the windows of a version on a host.

use crate::analysis::fleet::rows::{sums, texts};
use crate::error::Result;
use crate::model::ResultTable;
use std::collections::BTreeMap;

/// A version on a host. `x` is intensity, `y` CPU time per operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HostVersion {
    pub host: String,
    pub first_s: f64,
    pub windows: f64,
    pub operations: f64,
    pub cpu_s: f64,
    /// Operations, CPU seconds, cycles and instructions of the windows that have all of them.
    pub law: [f64; 4],
    /// Sums of x to x^4.
    pub x: [f64; 4],
    /// Sums of y, xy and x^2 y.
    pub xy: [f64; 3],
}

/// A version with its hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Version {
    pub name: String,
    pub hosts: Vec<HostVersion>,
}

impl Version {
    pub fn sum(&self, of: impl Fn(&HostVersion) -> f64) -> f64 {
        self.hosts.iter().map(of).sum()
    }

    fn first_s(&self) -> f64 {
        self.hosts.iter().map(|host| host.first_s).fold(f64::INFINITY, f64::min)
    }
}

/// Job and platform.
pub(super) type Key = (String, String);

/// The versions of each job on each platform, in the order of their first window.
pub(super) fn versions_by_job(table: &ResultTable) -> Result<BTreeMap<Key, Vec<Version>>> {
    let [job, platform, version, host] = texts(table, ["job", "platform", "version", "host"])?;
    let [first_s, windows, operations, cpu_s] = sums(table, ["first_s", "windows", "operations", "cpu_s"])?;
    let law = sums(table, ["law_operations", "law_cpu_s", "law_cycles", "law_instructions"])?;
    let x = sums(table, ["x", "x2", "x3", "x4"])?;
    let xy = sums(table, ["y", "xy", "x2y"])?;
    let mut all: BTreeMap<Key, BTreeMap<&str, Version>> = BTreeMap::new();
    for at in 0..table.rows {
        let versions = all.entry((job[at].clone(), platform[at].clone())).or_default();
        let of = versions.entry(&version[at]).or_default();
        of.name.clone_from(&version[at]);
        of.hosts.push(HostVersion {
            host: host[at].clone(),
            first_s: first_s[at],
            windows: windows[at],
            operations: operations[at],
            cpu_s: cpu_s[at],
            law: law.each_ref().map(|column| column[at]),
            x: x.each_ref().map(|column| column[at]),
            xy: xy.each_ref().map(|column| column[at]),
        });
    }
    let in_order = |versions: BTreeMap<&str, Version>| {
        let mut versions: Vec<Version> = versions.into_values().collect();
        versions.sort_by(|a, b| a.first_s().total_cmp(&b.first_s()));
        versions
    };
    Ok(all.into_iter().map(|(key, versions)| (key, in_order(versions))).collect())
}

//! Control groups for `-G`.

use super::SCHEMA_VERSION;
use super::selection::{finds, unmatched};
use crate::collect::targets::{CgroupTotal, totals};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::cgroupfs::CgroupFs;
use serde::Serialize;

/// The list.
#[derive(Debug, Serialize)]
pub(super) struct Groups {
    schema_version: u32,
    pub(super) cgroups: Vec<CgroupTotal>,
}

/// The control groups whose paths match a pattern; all without one.
///
/// # Errors
/// `Unsupported` without a hierarchy that can be profiled, `NotFound` for a pattern that matches nothing.
pub(super) fn list(cgroups: &CgroupFs, patterns: &[String]) -> Result<Groups> {
    if cgroups.v2().or(cgroups.v1("perf_event")).is_none() {
        return Err(Error::new(ErrorKind::Unsupported, "no control group hierarchy that can be profiled is mounted")
            .hint("Mount one: mount -t cgroup2 none /sys/fs/cgroup"));
    }
    let mut all = totals(cgroups);
    let names: Vec<String> = all.iter().map(|group| group.path.clone()).collect();
    if let Some(error) = unmatched(patterns, &names, "control group", "ironlaw list cgroups") {
        return Err(error);
    }
    all.retain(|group| patterns.is_empty() || patterns.iter().any(|pattern| finds(pattern, &group.path)));
    Ok(Groups { schema_version: SCHEMA_VERSION, cgroups: all })
}

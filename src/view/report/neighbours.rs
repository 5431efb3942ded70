//! The report's table of other users of the machine.
//! A neighbour that used a lot may have done no harm.

use crate::analysis::{NeighbourRow, Window, neighbours};
use crate::model::NeighbourKind;
use crate::model::profile::Profile;
use serde::Serialize;

/// Neighbours that used resources in the selected time, whichever threads are selected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeighboursView {
    /// The neighbours, most CPU time first.
    pub rows: Vec<NeighbourView>,
    /// Number of neighbours left out.
    pub left_out: usize,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeighbourView {
    /// `process`, `cgroup`, `resctrl` or `rest`.
    pub kind: NeighbourKind,
    /// The process's name or the group's path.
    pub name: String,
    /// Process id, for a process.
    pub pid: Option<u32>,
    /// Control group, for a process.
    pub cgroup: Option<String>,
    /// CPU time, seconds; `None` if nothing counts it.
    pub cpu_s: Option<f64>,
    /// CPUs it kept busy on average; `None` if `cpu_s` is.
    pub busy_cpus: Option<f64>,
    /// Bytes it read from and wrote to storage; `None` if reading the count is not permitted.
    pub io_bytes: Option<u64>,
    /// The most last-level cache it occupied, bytes; `None` if unknown.
    pub llc_bytes: Option<u64>,
    /// Bytes it moved to and from memory; `None` if unknown.
    pub memory_bytes: Option<u64>,
    /// The CPU it was last seen on.
    pub on_cpu: Option<u32>,
}

impl NeighboursView {
    /// Returns `None` for a recording without neighbours. Recordings of waits have them for findings alone.
    pub(super) fn of(profile: &Profile, window: Window, most: usize) -> Option<Self> {
        let plan = &profile.meta.plan;
        (plan.neighbours || !plan.off_cpu && !profile.neighbours.is_empty()).then_some(())?;
        let wall = window.span().seconds();
        let all = neighbours(profile, window);
        let rows = all.iter().take(most).map(|row| NeighbourView::of(row, wall)).collect();
        Some(NeighboursView { rows, left_out: all.len().saturating_sub(most) })
    }
}

impl NeighbourView {
    fn of(row: &NeighbourRow<'_>, wall: f64) -> Self {
        let cpu_s = (row.who.kind != NeighbourKind::Resctrl).then(|| row.cpu.seconds());
        NeighbourView {
            kind: row.who.kind,
            name: row.who.name.clone(),
            pid: row.who.pid,
            cgroup: row.who.cgroup.clone(),
            cpu_s,
            busy_cpus: cpu_s.filter(|_| wall > 0.0).map(|cpu| cpu / wall),
            io_bytes: row.io_bytes,
            llc_bytes: row.llc_bytes,
            memory_bytes: row.memory_bytes,
            on_cpu: row.on_cpu,
        }
    }
}

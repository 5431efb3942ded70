//! Reads the resctrl groups outside the target: last-level cache occupancy and memory traffic, if such groups have been
//! set up. It creates no group and moves no task.

use super::TargetUsage;
use super::usage::{NeighbourIdentity, NeighbourTotals, NeighbourUsage, ReportedUsage};
use crate::model::{Event, NeighbourKind};
use crate::sys::resctrl::{MonGroup, ResctrlFs};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// The groups seen so far.
#[derive(Debug)]
pub(super) struct Monitors {
    files: ResctrlFs,
    known: BTreeMap<String, Known>,
}

#[derive(Debug, Default)]
struct Known {
    before: Option<u64>,
    reported: ReportedUsage,
}

impl Monitors {
    pub(super) fn new(files: ResctrlFs) -> Monitors {
        Monitors { files, known: BTreeMap::new() }
    }

    pub(super) fn take_baseline(&mut self, ours: &TargetUsage) {
        for group in self.others(ours) {
            let known = Known { before: group.read().memory_bytes, ..Known::default() };
            self.known.insert(group.name, known);
        }
    }

    /// Reads every group and reports what changed.
    pub(super) fn scan(&mut self, ours: &TargetUsage, at: Nanos, usages: &mut NeighbourUsage, out: &mut Vec<Event>) {
        let mut before = std::mem::take(&mut self.known);
        for group in self.others(ours) {
            let read = group.read();
            let mut known = before.remove(&group.name).unwrap_or(Known { before: Some(0), ..Known::default() });
            let memory_bytes = read.memory_bytes.zip(known.before).map(|(now, before)| now.saturating_sub(before));
            let used = NeighbourTotals { llc_bytes: read.llc_bytes, memory_bytes, ..NeighbourTotals::default() };
            let name = group.name.clone();
            let who = || NeighbourIdentity { kind: NeighbourKind::Resctrl, name, pid: None, cgroup: None };
            usages.report(&mut known.reported, who, used, at, out);
            self.known.insert(group.name, known);
        }
    }

    /// The groups that contain no process of the target.
    fn others(&self, ours: &TargetUsage) -> Vec<MonGroup> {
        let mut groups = self.files.groups();
        groups.retain(|group| !group.tasks().iter().any(|task| ours.pids.contains(task)));
        groups
    }
}

//! Follows the control groups that limit the target's CPU time. Threads join and leave groups while they run, as cgexec,
//! `systemd-run --scope` and container runtimes make them: a group counts from the reading that first finds a thread in
//! it or below it to the one that finds none left.
//!
//! The kernel does not say when a thread moved. What a group counted between a move and the next reading is left out.

use super::group::{pressures, throttling};
use crate::collect::reading_schedule::ReadingSchedule;
use crate::model::CounterId;
use crate::sys::cgroupfs::{self, CgroupFs};
use crate::sys::clock;
use crate::units::Nanos;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counters by their ids.
type Counts = BTreeMap<CounterId, u64>;

/// The groups around the target's threads.
#[derive(Debug)]
pub(super) struct LimitingGroups {
    cgroups: CgroupFs,
    /// Each group with what it last counted since its creation.
    known: BTreeMap<PathBuf, Counts>,
    /// The group that all threads are in, and its last pressures: those of several cannot be added up.
    common: Option<(PathBuf, Counts)>,
    totals: Counts,
    due: ReadingSchedule,
}

impl LimitingGroups {
    pub(super) fn new(cgroups: CgroupFs) -> LimitingGroups {
        LimitingGroups {
            cgroups,
            known: BTreeMap::new(),
            common: None,
            totals: Counts::new(),
            due: ReadingSchedule::default(),
        }
    }

    /// Whether reading them again keeps within the budget of CPU time.
    pub(super) fn is_due(&self, at: Nanos) -> bool {
        self.due.is_due(at)
    }

    /// The next reading is due at once, whatever the last one cost.
    pub(super) fn hurry(&mut self) {
        self.due = ReadingSchedule::default();
    }

    /// Reads the groups. `memberships` are the texts of the threads' `cgroup` files.
    pub(super) fn read(&mut self, at: Nanos, memberships: impl FnOnce() -> FxHashSet<String>) {
        let start = clock::thread_cpu();
        let chains: Vec<Vec<PathBuf>> = memberships().iter().map(|text| self.cgroups.limits_of(text)).collect();
        let mut before = std::mem::take(&mut self.known);
        for group in chains.iter().flatten() {
            if !self.known.contains_key(group) {
                let last = before.remove(group);
                let counts = self.count(group, last);
                self.known.insert(group.clone(), counts);
            }
        }
        // Until now they may have held threads back.
        for (group, last) in before {
            self.count(&group, Some(last));
        }
        self.read_pressure(&chains);
        self.due.was_read(at, clock::thread_cpu() - start);
    }

    /// What the groups counted while threads of the target were in them.
    pub(super) fn values(&self) -> impl Iterator<Item = (CounterId, u64)> + '_ {
        self.totals.iter().map(|(&counter, &value)| (counter, value))
    }

    fn count(&mut self, group: &Path, last: Option<Counts>) -> Counts {
        // A group that was removed counts no more.
        let now = self.cgroups.cpu_usage(group).map(|usage| throttling(usage).collect());
        self.add(now, last)
    }

    fn read_pressure(&mut self, chains: &[Vec<PathBuf>]) {
        let mut inner = chains.iter().filter_map(|chain| chain.first());
        let first = inner.next().cloned();
        let common = first.filter(|first| inner.all(|group| group == first));
        let before = self.common.take();
        let pressure =
            |group: &Path| pressures(|resource| cgroupfs::group_pressure(group, resource)).into_iter().collect();
        match (before, common) {
            (Some((group, last)), Some(common)) if group == common => {
                let counts = self.add(Some(pressure(&common)), Some(last));
                self.common = Some((common, counts));
            }
            (before, common) => {
                if let Some((group, last)) = before {
                    self.add(Some(pressure(&group)), Some(last));
                }
                self.common = common.map(|common| {
                    let counts = self.add(Some(pressure(&common)), None);
                    (common, counts)
                });
            }
        }
    }

    /// Adds what counters have grown by since they were last read. One that was not read before counts from now on.
    fn add(&mut self, now: Option<Counts>, last: Option<Counts>) -> Counts {
        let Some(now) = now else { return last.unwrap_or_default() };
        for (counter, value) in &now {
            let before = last.as_ref().and_then(|last| last.get(counter)).unwrap_or(value);
            let total = self.totals.entry(*counter).or_default();
            *total = total.saturating_add(value.saturating_sub(*before));
        }
        now
    }
}

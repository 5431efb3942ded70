//! Groups of our own with their journal: recorded before they are made, so that they are removed even after kill -9.

use super::cpu_confinement::started;
use super::journal::{Journal, JournalEntries, Journals};
use crate::error::Result;
use crate::sys::cgroupfs::{OwnGroup, remove_own};
use crate::sys::procfs::ProcFs;

/// Groups that are removed when this value is dropped or, after a kill, when a later process restores what it finds.
#[derive(Debug)]
pub struct GroupRecord {
    groups: Vec<OwnGroup>,
    journal: Journal,
    removed: bool,
}

impl GroupRecord {
    /// Records the groups in the journal, then creates them.
    ///
    /// # Errors
    /// The journal cannot be written, or a group not created; then none is left.
    pub fn create(proc: &ProcFs, journals: &Journals, groups: Vec<OwnGroup>) -> Result<GroupRecord> {
        let sweeper = std::process::id();
        let journal = journals.group_journal(sweeper);
        let paths = groups.iter().map(|group| group.path().to_path_buf()).collect();
        let sweeper_started = started(proc, sweeper).unwrap_or(0);
        journal.write(&JournalEntries { sweeper, sweeper_started, threads: vec![], groups: paths })?;
        let record = GroupRecord { groups, journal, removed: false };
        record.groups.iter().try_for_each(OwnGroup::create)?;
        Ok(record)
    }

    /// Moves a process into all of them.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn add(&self, pid: u32) -> Result<()> {
        self.groups.iter().try_for_each(|group| group.add(pid))
    }

    /// Removes the groups, then their journal.
    ///
    /// # Errors
    /// One cannot be removed. The journal stays.
    pub fn remove(&mut self) -> Result<()> {
        if !self.removed {
            self.groups.iter().try_for_each(|group| remove_own(group.path()))?;
            self.journal.close();
            self.removed = true;
        }
        Ok(())
    }
}

impl Drop for GroupRecord {
    fn drop(&mut self) {
        // A group that cannot be removed stays in the journal.
        let _ = self.remove();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::{Leftover, restore_killed};
    use super::*;
    use crate::sys::cgroupfs::{CgroupFs, Hierarchy};

    #[test]
    fn a_group_is_in_the_journal_while_it_exists_and_a_killed_makers_is_removed() {
        let (dir, proc) = (tempfile::tempdir().unwrap(), ProcFs::new("/proc"));
        let mount = dir.path().join("cgroup");
        std::fs::create_dir(&mount).unwrap();
        let controllers = vec!["cpu".to_string()];
        let hierarchy = Hierarchy { version: 1, controllers, mount: mount.clone(), root: "/".into() };
        let cgroups = CgroupFs { hierarchies: vec![hierarchy] };
        let journals = Journals::open(&dir.path().join("j")).unwrap();
        let group = OwnGroup::quota(&cgroups, "7", 1.0).unwrap();
        let path = group.path().to_path_buf();
        let record = GroupRecord::create(&proc, &journals, vec![group]).unwrap();
        let (journal, entries) = journals.all().unwrap().remove(0);
        let entries = entries.unwrap();
        assert_eq!(entries.groups, std::slice::from_ref(&path));
        // Files of a control group vanish with it; those of a directory do not.
        for file in ["cpu.cfs_period_us", "cpu.cfs_quota_us"] {
            std::fs::remove_file(path.join(file)).unwrap();
        }
        std::mem::forget(record);
        journal.write(&JournalEntries { sweeper_started: entries.sweeper_started + 1, ..entries }).unwrap();
        assert_eq!(restore_killed(&proc, &journals).unwrap().remove(0).1.unwrap(), Leftover::Restored(1));
        assert!(!path.exists() && journals.all().unwrap().is_empty());
    }
}

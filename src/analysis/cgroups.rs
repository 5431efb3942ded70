//! The control group of each thread at each moment.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Membership;
use crate::model::profile::Profile;
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The first format of recordings that holds control groups.
const SINCE: (u16, u16) = (1, 2);

/// The groups that threads were found in, by number.
#[derive(Debug, Clone, Default)]
pub struct Cgroups<'a> {
    paths: Vec<&'a str>,
    /// For each thread its groups, from when on, in order.
    by_tid: FxHashMap<u32, Vec<(Nanos, u32)>>,
    /// The first group of a process that any of its threads was found in.
    by_pid: FxHashMap<u32, u32>,
}

impl<'a> Cgroups<'a> {
    /// Collects them.
    #[must_use]
    pub fn of(profile: &'a Profile) -> Cgroups<'a> {
        let mut cgroups = Cgroups::default();
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for Membership { at, pid, tid, cgroup, .. } in &profile.memberships {
            let number = *numbers.entry(cgroup).or_insert_with(|| {
                cgroups.paths.push(cgroup);
                cgroups.paths.len() as u32 - 1
            });
            cgroups.by_tid.entry(*tid).or_default().push((*at, number));
            cgroups.by_pid.entry(*pid).or_insert(number);
        }
        // A parent's record may come later than its child's sample.
        cgroups.by_tid.values_mut().for_each(|groups| groups.sort_by_key(|(at, _)| *at));
        cgroups
    }

    /// Refuses a profile in which no thread was found in a group, with the reason.
    ///
    /// # Errors
    /// `Unsupported`, with the remedy.
    pub fn check(profile: &Profile) -> Result<()> {
        if !profile.memberships.is_empty() {
            return Ok(());
        }
        let (why, hint) = match profile.meta.format {
            format if format < SINCE => (
                "it was made by a version that did not record them",
                "Record it again, or choose other keys: --by process.",
            ),
            _ => (
                "its source did not name them",
                "Record with `perf record --all-cgroups` what is imported; a capture of ironlaw needs a mounted hierarchy.",
            ),
        };
        let text = format!("the recording holds no control groups: {why}");
        Err(Error::new(ErrorKind::Unsupported, text).hint(hint))
    }

    /// The number of a thread's group at a time; before it was first found in one, that first one.
    #[must_use]
    pub fn at(&self, pid: u32, tid: u32, at: Nanos) -> Option<u32> {
        let Some(groups) = self.by_tid.get(&tid) else { return self.by_pid.get(&pid).copied() };
        let next = groups.partition_point(|(from, _)| *from <= at);
        groups.get(next.saturating_sub(1)).map(|(_, number)| *number)
    }

    /// The path of a number.
    #[must_use]
    pub fn path(&self, number: u32) -> Option<&'a str> {
        self.paths.get(number as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};

    #[test]
    fn a_thread_is_in_its_latest_group_and_one_that_was_never_seen_in_its_processs() {
        let mut synthetic = Synthetic::new();
        synthetic.joins(10, 41, "/a").joins(20, 41, "/b");
        let profile = synthetic.finish();
        let cgroups = Cgroups::of(&profile);
        for (tid, at, path) in
            [(41, 0, "/a"), (41, 10, "/a"), (41, 19, "/a"), (41, 20, "/b"), (41, 99, "/b"), (42, 99, "/a")]
        {
            let found = cgroups.at(41, tid, ms(at)).and_then(|number| cgroups.path(number));
            assert_eq!(found, Some(path), "thread {tid} at {at} ms");
        }
        assert_eq!(cgroups.at(7, 7, ms(0)), None);
    }
}

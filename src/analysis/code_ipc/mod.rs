//! Instructions per cycle and cache misses of code, from samples of cycles and of instructions.
//!
//! Where one event's samples carry the counts of the others, each sample tells what was counted since the one before, by
//! whatever ran in between. It says something about some code only if the samples at both ends are in it, and if that
//! is more frequent than chance: code that takes turns faster than samples come has the same counts everywhere.
//! Where each event has samples of its own, these are compared, and nothing of the kind is needed.

mod paths;
mod places;
mod rates;
mod roles;
mod tally;

use super::selection::{Axis, Selection};
use super::tasks::Tasks;
use crate::model::SampleSource;
use crate::model::profile::Profile;
pub use paths::PathRates;
pub use rates::{CodeRate, FEWEST_SAMPLES, Rates};
use roles::Roles;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use tally::Tally;

/// The samples of a selection that cycles, instructions and misses are known of.
#[derive(Debug, Clone, Copy)]
pub struct CodeIpc<'a> {
    profile: &'a Profile,
    tasks: &'a Tasks,
    selection: &'a Selection,
    roles: Roles,
}

/// A sample and what it tells.
enum Seen {
    /// The leader's, and the leader's sample before it on that CPU, or on that CPU and of that thread.
    Leader { at: usize, before: Option<usize> },
    /// One of cycles, instructions or misses (0, 1, 2).
    Own { at: usize, place: usize },
}

impl<'a> CodeIpc<'a> {
    /// Those of a selection; `None` unless both cycles and instructions were sampled, and for time off the CPU.
    #[must_use]
    pub fn of(profile: &'a Profile, tasks: &'a Tasks, selection: &'a Selection) -> Option<CodeIpc<'a>> {
        let roles = Roles::of(&profile.meta).filter(|_| selection.axis != Axis::OffCpu)?;
        Some(CodeIpc { profile, tasks, selection, roles })
    }

    /// Whether samples of one event carry the counts of the others.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        self.roles.leader.is_some()
    }

    /// The rates of all of it.
    #[must_use]
    pub fn whole(&self) -> Rates {
        self.by(|_| ()).remove(&()).unwrap_or(Rates::NONE)
    }

    /// The rates of the code of programs, and of the kernel's.
    #[must_use]
    pub fn user_and_kernel(&self) -> [Rates; 2] {
        let mut found = self.by(|at| self.profile.samples.kernel[at]);
        [false, true].map(|mode| found.remove(&mode).unwrap_or(Rates::NONE))
    }

    /// The rates of the samples with each key; `key` gets a sample's index.
    pub fn by<K: Eq + Hash + Copy>(&self, mut key: impl FnMut(usize) -> K) -> FxHashMap<K, Rates> {
        let mut tallies: FxHashMap<K, Tally> = FxHashMap::default();
        self.visit(|seen| match seen {
            Seen::Own { at, place } => {
                tallies.entry(key(at)).or_default().add_own(place, self.profile.samples.weight[at]);
            }
            Seen::Leader { at, before } => {
                let own = key(at);
                let tally = tallies.entry(own).or_default();
                tally.add_sample(before.is_some());
                if before.is_some_and(|before| self.same_thread(before, at) && key(before) == own) {
                    tally.add_interval(self.roles.carried(self.profile, at));
                }
            }
        });
        let all = tallies.values().map(|tally| tally.samples).sum();
        tallies.into_iter().map(|(key, tally)| (key, self.rates(&tally, all))).collect()
    }

    /// The rates of a tally, of `all` samples.
    fn rates(&self, tally: &Tally, all: u64) -> Rates {
        let has_misses = self.roles.misses.is_some();
        match self.roles.leader {
            Some(_) => tally.by_intervals(tally.samples as f64 / all.max(1) as f64, has_misses),
            None => tally.by_samples(has_misses),
        }
    }

    fn same_thread(&self, one: usize, other: usize) -> bool {
        self.profile.samples.tid[one] == self.profile.samples.tid[other]
    }

    /// Calls `seen` with the selected samples that tell something, in order.
    fn visit(&self, mut seen: impl FnMut(Seen)) {
        let (all, selection) = (&self.profile.samples, self.selection);
        let who = selection.who(self.tasks);
        let is_selected = |at: usize| {
            selection.time.contains(all.at[at])
                && who.has(all.tid[at])
                && (selection.cpus.is_empty() || selection.cpus.contains(&all.cpu[at]))
        };
        let by_thread = self.profile.meta.samples == Some(SampleSource::Threads);
        let mut last: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for at in 0..all.len() {
            match self.roles.leader {
                Some(leader) if all.event[at] == leader => {
                    let queue = (all.cpu[at], if by_thread { all.tid[at] } else { 0 });
                    let before = last.insert(queue, at);
                    if is_selected(at) {
                        seen(Seen::Leader { at, before });
                    }
                }
                Some(_) => {}
                None => {
                    if let Some(place) = self.roles.place(all.event[at]).filter(|_| is_selected(at)) {
                        seen(Seen::Own { at, place });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;

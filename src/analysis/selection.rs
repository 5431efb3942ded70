//! The part of a profile that a report covers: which threads, which time, which event.

use super::tasks::Tasks;
use super::time::TimeRange;
use crate::error::{Error, ErrorKind, Result};
use crate::model::glob::matches;
use crate::model::profile::Profile;
use crate::model::{Meta, Unit};
use rustc_hash::FxHashSet;

/// What is counted: samples of an event, or time off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Samples of the event at that index of `Meta::events`.
    Event(u16),
    /// Blocked time.
    OffCpu,
}

impl Axis {
    /// The unit of its weights.
    pub(crate) fn unit(self, meta: &Meta) -> Unit {
        match self {
            Axis::OffCpu => Unit::Nanos,
            Axis::Event(index) => meta.events.get(usize::from(index)).map_or(Unit::Count, |event| event.unit),
        }
    }
}

/// A part of a profile; the default is all of it, by its first event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Threads by id; with `comms`, matching either suffices.
    pub tids: Vec<u32>,
    /// Threads by their last name, where `*` matches any characters.
    pub comms: Vec<String>,
    /// Processes by id; a thread must belong to one of them.
    pub pids: Vec<u32>,
    /// Threads by their last control group, where `*` matches any characters; empty for all.
    pub cgroups: Vec<String>,
    /// CPUs of samples; empty for all. Waits and counters are not restricted: they have none.
    pub cpus: Vec<u32>,
    /// The time range.
    pub time: TimeRange,
    /// What is counted.
    pub axis: Axis,
}

impl Default for Selection {
    fn default() -> Self {
        Selection {
            tids: vec![],
            comms: vec![],
            pids: vec![],
            cgroups: vec![],
            cpus: vec![],
            time: TimeRange::default(),
            axis: Axis::Event(0),
        }
    }
}

/// The threads of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadSet {
    /// Every thread.
    All,
    /// Only these.
    Only(FxHashSet<u32>),
}

impl ThreadSet {
    /// Whether the thread is selected.
    #[inline]
    #[must_use]
    pub fn has(&self, tid: u32) -> bool {
        match self {
            ThreadSet::All => true,
            ThreadSet::Only(tids) => tids.contains(&tid),
        }
    }
}

impl Selection {
    /// Resolves the selected threads.
    #[must_use]
    pub fn who(&self, tasks: &Tasks) -> ThreadSet {
        let any_thread = self.tids.is_empty() && self.comms.is_empty();
        if any_thread && self.pids.is_empty() && self.cgroups.is_empty() {
            return ThreadSet::All;
        }
        let in_group = |group: &str| self.cgroups.iter().any(|pattern| matches(pattern, group));
        let named = |comm: &str| self.comms.iter().any(|pattern| matches(pattern, comm));
        let chosen = tasks.iter().filter(|task| {
            (any_thread || self.tids.contains(&task.tid) || named(&task.comm))
                && (self.pids.is_empty() || self.pids.contains(&task.pid))
                && (self.cgroups.is_empty() || task.cgroup.as_deref().is_some_and(in_group))
        });
        ThreadSet::Only(chosen.map(|task| task.tid).collect())
    }

    /// The axis of the first event with samples; that of the first event if none has any.
    #[must_use]
    pub fn first_sampled(profile: &Profile) -> Axis {
        let events = &profile.samples.event;
        let first = if events.contains(&0) { Some(0) } else { events.iter().copied().min() };
        Axis::Event(first.unwrap_or_default())
    }

    /// The axis of the event with this name in the recording; modifiers may be omitted.
    ///
    /// # Errors
    /// `NotFound`, with a list of the events that exist.
    pub fn event(profile: &Profile, name: &str) -> Result<Axis> {
        let events = &profile.meta.events;
        let exact = events.iter().position(|event| event.name == name);
        let plain = || events.iter().position(|event| event.name.split(':').next() == Some(name));
        match exact.or_else(plain).and_then(|index| u16::try_from(index).ok()) {
            Some(index) => Ok(Axis::Event(index)),
            None => {
                let known: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
                Err(Error::new(ErrorKind::NotFound, format!("the recording has no event '{name}'"))
                    .hint(format!("It has: {}.", known.join(", "))))
            }
        }
    }

    /// Rejects a selection that no sample can match, so that an empty report is never mistaken for an idle program.
    ///
    /// # Errors
    /// `NotFound` for threads that are not in the recording or an event it does not have,
    /// `Unsupported` for time off the CPU in a recording without it.
    pub fn check(&self, profile: &Profile, tasks: &Tasks) -> Result<()> {
        if let Axis::Event(index) = self.axis
            && usize::from(index) >= profile.meta.events.len()
        {
            return Err(Error::new(ErrorKind::NotFound, format!("the recording has no event number {index}")));
        }
        if self.axis == Axis::OffCpu && !profile.meta.plan.off_cpu && profile.off_cpu.is_empty() {
            return Err(Error::new(ErrorKind::Unsupported, "the recording holds no time off the CPU")
                .hint("Record it with `ironlaw record --off-cpu`."));
        }
        if self.who(tasks) == ThreadSet::Only(FxHashSet::default()) {
            return Err(Error::new(ErrorKind::NotFound, "no thread of the recording is selected")
                .hint("`ironlaw report` without a selection lists the threads, with --by cgroup the control groups."));
        }
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn a_thread_is_chosen_by_id_or_name_within_the_chosen_processes() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "io-1").alive(43, "io-2");
        let tasks = Tasks::of(&synthetic.finish());
        let check = |tids: &[u32], comms: &[&str], pids: &[u32], expected: &[u32]| {
            let comms = comms.iter().map(ToString::to_string).collect();
            let selection = Selection { tids: tids.to_vec(), comms, pids: pids.to_vec(), ..Selection::default() };
            assert_eq!(selection.who(&tasks), ThreadSet::Only(expected.iter().copied().collect()));
        };
        check(&[41], &["io-2"], &[], &[41, 43]);
        check(&[], &["io-*"], &[41], &[42, 43]);
        check(&[41], &[], &[99], &[]);
    }

    #[test]
    fn a_thread_is_chosen_by_its_last_control_group() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "io").alive(43, "new");
        synthetic.joins(0, 41, "/a").joins(0, 42, "/a").joins(5, 42, "/b");
        let tasks = Tasks::of(&synthetic.finish());
        for (group, expected) in [("/a", vec![41]), ("/b", vec![42]), ("/*", vec![41, 42]), ("/c", vec![])] {
            let selection = Selection { cgroups: vec![group.to_string()], ..Selection::default() };
            assert_eq!(selection.who(&tasks), ThreadSet::Only(expected.into_iter().collect()), "{group}");
        }
    }

    #[test]
    fn the_first_event_with_samples_is_shown() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "app!main", 3);
        let mut profile = synthetic.finish();
        assert_eq!(Selection::first_sampled(&profile), Axis::Event(0));
        profile.samples.event.fill(2);
        assert_eq!(Selection::first_sampled(&profile), Axis::Event(2));
        assert_eq!(Selection::first_sampled(&Synthetic::new().finish()), Axis::Event(0));
    }

    #[test]
    fn an_event_may_be_named_without_its_modifiers() {
        let mut synthetic = Synthetic::new();
        synthetic.meta.events[0].name = "cycles:u".to_string();
        let profile = synthetic.finish();
        assert_eq!(Selection::event(&profile, "cycles").unwrap(), Axis::Event(0));
        let error = Selection::event(&profile, "cache-misses").unwrap_err();
        assert_eq!(error.remedy(), Some("It has: cycles:u."));
    }
}

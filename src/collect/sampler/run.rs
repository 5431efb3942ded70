//! The capture's thread: waits for rings to fill, drains them in time order, sends batches and detects the end. It
//! wakes for data, for the end of something, and a few times a second to keep the stream fresh.

use super::assemble::Assembler;
use super::busy_children::BusyChildren;
use super::counters::{LastReading, Reader};
use super::coverage::coverage;
use super::proc_source::LiveProc;
use super::sampling_turns::TURN;
use super::sorter::EventSorter;
use super::wait_cost::WaitCost;
use super::waiting::WaitSampler;
use super::{Sampler, stack_spacing};
use crate::error::Result;
use crate::model::{CallGraph, Coverage, Event, Note, RecordCount, Target, WaitSource};
use crate::sys::bpf::WaitSums;
use crate::sys::cgroupfs;
use crate::sys::clock::monotonic_ns;
use crate::sys::limits;
use crate::sys::perf::poll::Poll;
use crate::sys::perf::record;
use crate::sys::signals::StopToken;
use crate::sys::spawn::{Started, Usage};
use crate::units::Nanos;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::SyncSender;

/// Rings below their watermark are drained this often.
const FRESH: Nanos = Nanos(200_000_000);
/// Younger records stay in their ring until the next round: by then every CPU has written its records of that age.
const SLACK_NS: u64 = 2_000_000;
/// Threads that are looked at when a capture ends while they wait.
const MOST_LOOKS: usize = 4096;
/// Time after SIGTERM for a command that outlives its capture.
const GRACE: Nanos = Nanos(5_000_000_000);

const STOP: u64 = u64::MAX;
const COMMAND: u64 = u64::MAX - 1;

/// Why a capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The target ended.
    TargetGone,
    /// The planned time was over.
    Duration,
    /// It was asked to stop.
    Stopped,
    /// The stream's receiver is gone.
    ReaderGone,
    /// The connection to the machine that captures is lost.
    ConnectionLost,
}

/// How a capture ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The reason.
    pub reason: EndReason,
    /// When sampling stopped, since the clock's start.
    pub at: Nanos,
    /// How long sampling lasted.
    pub sampled: Nanos,
    /// Number of samples passed on.
    pub samples: u64,
    /// The share of the time for which each event counted.
    pub coverage: Vec<Coverage>,
    /// The kernel's records by kind, and how many of each were lost.
    pub records: Vec<RecordCount>,
    /// A command's exit code, or 128 plus the signal that ended it; `None` without a command, while it still runs, or if it
    /// was ended because the planned time was over.
    pub exit_status: Option<i32>,
    /// What a command used, if it has ended.
    pub usage: Option<Usage>,
    /// Notes on the counts.
    pub notes: Vec<Note>,
}

impl Sampler {
    /// Captures until the target ends, the planned time is over, or `stop` is set; meant for its own thread. Calls
    /// `counters` when counting begins, and again when sampling is over while an ended command can still be read. A
    /// command that still runs then is sent SIGTERM and has five seconds.
    ///
    /// # Errors
    /// When a command cannot be executed, or waiting fails. Samples taken until then have been sent.
    pub fn run(mut self, out: SyncSender<Vec<Event>>, stop: StopToken, counters: &mut impl Reader) -> Result<Ended> {
        let mut poll = self.watched(&stop)?;
        let (began, mut reason) = self.begin(&mut poll, &stop, counters)?;
        // After the threads that it starts, which would have its priority.
        limits::set_nice(limits::URGENT);
        counters.sampling();
        let deadline = self.plan.duration.map(|duration| began + duration);
        let mut merge = EventSorter::default();
        let reason = loop {
            if let Some(reason) = reason {
                break reason;
            }
            let now = self.clock.now();
            let fresh = if self.sampling.share() < 1.0 { TURN } else { FRESH };
            let wait = self.assembler.periods.due_in(now).map_or(fresh, |due| due.min(fresh));
            let wake = deadline.map_or(now + wait, |deadline| deadline.min(now + wait));
            self.wait(&mut poll, wake - now)?;
            // Checked before anything is drained: the last reading is from the moment of the end.
            reason = self.over(&stop, deadline, self.clock.now());
            if reason.is_none() {
                self.round(&mut merge, monotonic_ns().saturating_sub(SLACK_NS));
                self.read_sums();
                self.poll_earlier_waits();
                self.steer_sampling();
                self.vary_periods();
                let gone = self.assembler.out.flush(self.clock.now(), &out).is_err();
                reason = gone.then_some(EndReason::ReaderGone);
            }
        };
        let LastReading { at, mut notes, .. } = self.end(&mut merge, counters);
        notes.extend(self.wait_sampler.take().and_then(|looks| looks.note()));
        let earlier = self.assembler.earlier.notes().into_iter();
        notes.extend(earlier.filter(|note| notes.iter().all(|other| other.topic != note.topic)).collect::<Vec<_>>());
        notes.extend(self.sums.as_ref().and_then(unfollowed));
        notes.extend(self.sampling.note_on_end());
        notes.extend(self.sampling.exceeded(&self.overhead));
        notes.extend(self.assembler.modules().note());
        notes.extend(self.assembler.modules().maps_note());
        notes.extend(self.assembler.modules().late_note());
        notes.extend(late_processes(&self.assembler.without_maps()));
        // A reader that has gone needs nothing.
        let _ = self.assembler.out.finish(at, &out);
        let coverage = coverage(self.attached.all(), self.assembler.origins(), &self.events);
        let exit_status = self.dismiss(reason, &stop);
        let sampled = at - began;
        let (samples, records) = (self.assembler.samples, self.assembler.records.counts());
        let usage = self.command.as_ref().and_then(Started::usage);
        Ok(Ended { reason, at, sampled, samples, coverage, records, exit_status, usage, notes })
    }

    fn watched(&self, stop: &StopToken) -> Result<Poll> {
        let poll = Poll::new()?;
        for (at, ring) in self.attached.rings.all().iter().enumerate() {
            poll.add(ring, at as u64)?;
        }
        poll.add(stop, STOP)?;
        if let Some(command) = &self.command {
            poll.add(command, COMMAND)?;
        }
        Ok(poll)
    }

    /// Starts the command, waits for the delay, announces the target's tasks and starts the events. Tasks come first:
    /// reading hundreds of processes takes longer than a ring lasts. A change in between shows as an address without a
    /// mapping, and that process is then read again. Returns when that was.
    fn begin(
        &mut self,
        poll: &mut Poll,
        stop: &StopToken,
        counters: &mut impl Reader,
    ) -> Result<(Nanos, Option<EndReason>)> {
        let from_exec = self.command.is_some() && self.plan.delay.0 == 0;
        if from_exec {
            self.assembler.out.extend(counters.begin());
            self.attached.everywhere.iter().for_each(|event| drop(event.enable()));
            self.start_sums();
        }
        let released = self.clock.now();
        if let Some(command) = &mut self.command {
            command.release()?;
        }
        if from_exec {
            self.assembler.system().begin();
            self.look_at_waits()?;
            return Ok((released, None));
        }
        let until = self.clock.now() + self.plan.delay;
        while self.clock.now() < until {
            let left = until - self.clock.now();
            self.wait(poll, if left > FRESH { FRESH } else { left })?;
            if let Some(reason) = self.over(stop, None, self.clock.now()) {
                return Ok((self.clock.now(), Some(reason)));
            }
        }
        let met = self.meet_everybody(stop);
        self.meet_waiting(&met, stop);
        self.assembler.out.extend(counters.begin());
        for event in self.attached.everywhere.iter().chain(&self.attached.events) {
            // Fails only for a thread that has ended meanwhile.
            let _ = event.enable();
        }
        self.start_sums();
        self.assembler.earlier.begin(self.clock.now());
        self.busy_children = BusyChildren::begin(&self.plan.target, self.clock.now());
        self.assembler.mark_stale();
        self.assembler.system().begin();
        self.look_at_waits()?;
        Ok((self.clock.now(), None))
    }

    /// Samples blocked threads if the kernel provides no stacks of switches.
    fn look_at_waits(&mut self) -> Result<()> {
        if self.waits == Some(WaitSource::SwitchRecords) {
            let stacks = self.plan.call_graph != CallGraph::None;
            self.wait_sampler = Some(WaitSampler::start(&self.assembler.follow, stacks)?);
        }
        Ok(())
    }

    fn start_sums(&mut self) {
        if let Some(sums) = &mut self.sums {
            // Both worked when the capture was opened.
            let _ = sums.space(stack_spacing::LEAST).and_then(|()| sums.start());
            self.wait_cost = sums.run_times().ok().and_then(WaitCost::start);
        }
        self.sums_read.at = self.clock.now();
        self.assembler.summed.read_all(self.sums_read.at);
    }

    /// Reads the kernel's sums of waits once a window.
    fn read_sums(&mut self) {
        let now = self.clock.now();
        if let Some(sums) = &self.sums
            && now >= self.sums_read.at + self.plan.interval
        {
            let before = self.sums_read.spacing;
            self.sums_read = self.sums_read.next(now, sums.cost(), self.plan.max_sampling);
            if self.sums_read.spacing != before {
                // Stacks carry the spacing that they were chosen by: a refused change only costs more.
                let _ = sums.space(self.sums_read.spacing);
            }
            // What cannot be read now is read with the next window.
            let _ = sums.read(|thread| self.assembler.summed(now, thread));
            self.assembler.summed.read_all(now);
            self.count_wait_cost();
        }
    }

    fn count_wait_cost(&self) {
        let cost = self.wait_cost.as_ref().and_then(|cost| cost.of(self.assembler.summed.count()));
        cost.into_iter().for_each(|cost| self.overhead.waits_took(cost));
    }

    /// Counts the waits since the last reading of the sums, for what they cost: the counters are read for the last time
    /// before the sums are.
    fn last_wait_cost(&mut self) {
        if let (Some(sums), Some(_)) = (&self.sums, &self.wait_cost) {
            let now = self.clock.now();
            let _ = sums.read(|thread| self.assembler.summed(now, thread));
            self.count_wait_cost();
        }
    }

    /// Reads them for the last time, with a look at each thread that still waits.
    fn last_sums(&mut self, at: Nanos) {
        let Some(sums) = &self.sums else { return };
        let (stacks, mut looks) = (self.plan.call_graph != CallGraph::None, MOST_LOOKS);
        let _ = sums.read(|thread| {
            let is_blocked = thread.left.is_some_and(|left| left.state > 0) && looks > 0;
            looks -= usize::from(is_blocked);
            let seen = if is_blocked { self.assembler.look(thread.tid, stacks) } else { None };
            self.assembler.summed_last(at, thread, seen.as_ref());
        });
    }

    /// Looks at the threads that wait already, before any ring can fill. Of the whole machine nearly all do, always.
    fn meet_waiting(&mut self, met: &[(u32, u32)], stop: &StopToken) {
        if self.waits.is_none() || matches!(self.plan.target, Target::Cpus { .. }) {
            return;
        }
        let (at, stacks) = (self.clock.now(), self.plan.call_graph != CallGraph::None);
        for (pid, tid) in met.iter().take_while(|_| !stop.is_stopped()) {
            self.assembler.meet_waiting(at, *pid, *tid, stacks);
        }
    }

    fn poll_earlier_waits(&mut self) {
        let now = self.clock.now();
        if self.assembler.earlier.is_due(now, self.plan.interval) {
            self.assembler.poll_earlier_waits(now);
        }
    }

    /// Announces the threads that are alive, and returns them with their processes. Whoever does not want to wait for that
    /// stops it.
    fn meet_everybody(&mut self, stop: &StopToken) -> Vec<(u32, u32)> {
        let at = self.clock.now();
        let pids = match &self.plan.target {
            Target::Processes { pids, .. } => pids.clone(),
            Target::Command { .. } => self.command_pid().into_iter().collect(),
            Target::Cgroup { .. } => {
                let groups = self.plan.target.outermost_cgroups().into_iter();
                groups.flat_map(|path| cgroupfs::processes(path).unwrap_or_default()).collect()
            }
            Target::Cpus { .. } => self.assembler.system().processes(),
            Target::Threads { tids } => {
                let system = self.assembler.system();
                let met: Vec<_> = tids.iter().filter_map(|tid| Some((system.process_of(*tid)?, *tid))).collect();
                met.iter().for_each(|(pid, tid)| self.assembler.meet(at, *pid, *tid));
                return met;
            }
        };
        let mut met = Vec::new();
        for pid in pids.into_iter().take_while(|_| !stop.is_stopped()) {
            let threads = self.assembler.system().threads(pid);
            threads.iter().for_each(|tid| self.assembler.meet(at, pid, *tid));
            met.extend(threads.into_iter().map(|tid| (pid, tid)));
        }
        met
    }

    fn wait(&mut self, poll: &mut Poll, at_most: Nanos) -> Result<()> {
        let mut hung_up = Vec::new();
        hung_up.extend(poll.wait(at_most)?.filter(|ready| ready.hung_up).map(|ready| ready.token));
        for token in hung_up {
            if let Some(ring) = self.attached.rings.all().get(token as usize) {
                poll.remove(ring);
            }
        }
        Ok(())
    }

    /// Drains all rings up to a time on `CLOCK_MONOTONIC`, and forgets what has ended.
    fn round(&mut self, merge: &mut EventSorter, until: u64) {
        self.drain(merge, until);
        self.sweep();
    }

    fn drain(&mut self, merge: &mut EventSorter, until: u64) {
        let rings = self.attached.rings.all_mut();
        let assembler = &mut self.assembler;
        let looks = &mut self.wait_sampler;
        let mut looked = |assembler: &mut Assembler<LiveProc>, until| {
            while let Some(seen) = looks.as_mut().and_then(|looks| looks.next_until(until)) {
                assembler.waiting(&seen);
            }
        };
        rings.iter_mut().for_each(|ring| ring.refresh());
        merge.round(rings, until, |ring| {
            let length = ring.peek().map_or(0, |record| {
                looked(assembler, record::time(record).unwrap_or(0));
                assembler.apply(record);
                record.len()
            });
            ring.consume(length);
        });
        looked(assembler, until);
        rings.iter_mut().for_each(|ring| ring.release());
    }

    fn sweep(&mut self) {
        let assembler = &mut self.assembler;
        assembler.sweep();
        self.wait_sampler.iter().for_each(|looks| looks.watch(&assembler.follow));
        for pid in assembler.ended.drain(..) {
            let filters = self.attached.filter.iter().chain(self.sums.as_ref().and_then(WaitSums::filter));
            filters.for_each(|filter| filter.remove(pid));
        }
    }

    fn over(&mut self, stop: &StopToken, deadline: Option<Nanos>, now: Nanos) -> Option<EndReason> {
        if stop.is_stopped() {
            return Some(EndReason::Stopped);
        }
        let gone = match &self.command {
            // Not reaped yet: its counters still have to be read.
            Some(command) => command.has_ended(),
            None => match &self.plan.target {
                Target::Cgroup { .. } => {
                    let groups = self.plan.target.cgroups();
                    groups.iter().zip(&self.places).all(|((_, path), place)| is_gone(path, *place))
                }
                _ => self.assembler.is_over(),
            },
        };
        if gone {
            return Some(EndReason::TargetGone);
        }
        deadline.filter(|deadline| now >= *deadline).map(|_| EndReason::Duration)
    }

    /// Stops the events and reads the counters at once; draining the rings may take a while.
    fn end(&mut self, merge: &mut EventSorter, counters: &mut impl Reader) -> LastReading {
        self.wait_cost.iter_mut().for_each(WaitCost::end);
        // A thread that ends from now on keeps its sums; sent to an event that is stopped, they would be lost.
        self.sums.iter_mut().for_each(WaitSums::stop);
        for event in self.attached.events.iter().chain(&self.attached.everywhere) {
            // Fails only for a thread that has ended.
            let _ = event.disable();
        }
        let stopped = self.clock.now();
        self.assembler.poll_earlier_waits(stopped);
        self.last_wait_cost();
        let mut last = counters.end();
        last.notes.extend(self.busy_children.as_ref().and_then(|children| children.note(stopped)));
        // Counters whose thread has failed read nothing and know no time.
        last.at = last.at.max(stopped);
        self.drain(merge, u64::MAX);
        // Before the sweep: a process that has ended is followed no longer.
        self.last_sums(last.at);
        self.sweep();
        self.assembler.finish(last.at);
        self.assembler.out.extend(std::mem::take(&mut last.events));
        last
    }

    /// Waits for a started command to end, and ends it if the capture ended first.
    fn dismiss(&mut self, reason: EndReason, stop: &StopToken) -> Option<i32> {
        let command = self.command.as_mut()?;
        while stop.is_detached() {
            if let Some(status) = command.wait_for(FRESH) {
                return Some(status);
            }
        }
        if reason != EndReason::TargetGone {
            command.forward(false);
        }
        // What it makes of the signal says nothing about the command.
        command.wait_for(GRACE).filter(|_| reason != EndReason::Duration)
    }
}

/// A note about processes, by id and name, whose mappings are not known.
fn late_processes(late: &[(u32, &str)]) -> Option<Note> {
    const SHOWN: usize = 3;
    let (first, _) = late.first()?;
    let shown: Vec<String> = late.iter().take(SHOWN).map(|(pid, name)| format!("{name} {pid}")).collect();
    let more = if late.len() > SHOWN { format!(" and {} more", late.len() - SHOWN) } else { String::new() };
    Some(Note {
        topic: "processes-late".to_string(),
        text: format!(
            "The mappings of {}{more} came too late, or are more than one user's may be (`ironlaw doctor --limits`): their code has no names, and stacks end at it.",
            shown.join(", ")
        ),
        fix: Some(format!("See whether something holds it up in /proc/{first}/task/*/stack.")),
    })
}

fn unfollowed(sums: &WaitSums) -> Option<Note> {
    (sums.unfollowed() > 0).then(|| Note {
        topic: "waits-unseen".to_string(),
        text: "More threads waited at once than the kernel could sum waits for: those of some are missing.".to_string(),
        fix: Some("Profile fewer processes.".to_string()),
    })
}

/// Identity of a directory: one recreated under the same name is different, and none of the events is on it.
pub(super) fn place(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// Whether the opened directory no longer exists.
fn is_gone(path: &Path, opened: Option<(u64, u64)>) -> bool {
    std::fs::metadata(path).map_or(true, |about| opened.is_some_and(|opened| opened != place(&about)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_control_groups_processes_include_those_of_groups_below() {
        let root = tempfile::tempdir().unwrap();
        let below = root.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(root.path().join("cgroup.procs"), "12\n").unwrap();
        std::fs::write(below.join("cgroup.procs"), "34\n56\n").unwrap();
        assert_eq!(cgroupfs::processes(root.path()).unwrap(), [12, 34, 56].into());
    }

    #[test]
    fn a_directory_made_anew_under_the_same_name_is_another() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("unit");
        std::fs::create_dir(&path).unwrap();
        // Held open, as events hold a control group: its inode number is not reused.
        let opened = std::fs::File::open(&path).unwrap();
        let place = Some(place(&opened.metadata().unwrap()));
        assert!(!is_gone(&path, place));
        std::fs::remove_dir(&path).unwrap();
        assert!(is_gone(&path, place));
        std::fs::create_dir(&path).unwrap();
        assert!(is_gone(&path, place) && !is_gone(&path, None));
    }
}

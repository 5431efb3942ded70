//! Turns the kernel's records into the event stream. It is fed with bytes and asks the system only through
//! `ProcSource`. A sample whose task and stack are known costs no allocation.

mod group_counts;

pub use group_counts::MOST_MEMBERS;

use super::address_map::AddressMap;
use super::earlier_waits::{self, EarlierWaits};
use super::event_queue::EventQueue;
use super::follow::FollowedTasks;
use super::maps::Mapping;
use super::memberships::Memberships;
use super::modules::Modules;
use super::off_cpu::{self, DepartureSample, OffCpuSpans};
use super::origin::{Origin, Origins, RingKind, Role};
use super::overhead::Overhead;
use super::own_frames::OwnFrames;
use super::proc_source::ProcSource;
use super::rings::Records;
use super::sample_periods::SamplePeriods;
use super::stacks::{BuiltStack, Stacks};
use super::summed_waits::{StackedWait, SummedWaits};
use super::tasks::{TaskContext, Tasks};
use super::waiting::{self, WaitSample};
use crate::abi::perf::{CommRecord, Mode};
use crate::collect::accesses;
use crate::model::{CallGraph, Event, LossKind, Lost, Sample, StackEnd};
use crate::sys::bpf::{ThreadSums, WaitRecord};
use crate::sys::clock::Clock;
use crate::sys::perf::record::{self, Record, SampleId};
use crate::units::Nanos;
use group_counts::{Counts, GroupCounts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The thread id of every CPU's idle task, which waits for nothing.
const IDLE: u32 = 0;
/// The thread id in samples of a thread that the kernel is tearing down.
const GONE: u32 = u32::MAX;

/// Functions of just-in-time code whose tables one sample may be the first to need.
const MOST_MADE: usize = 64;
/// Things that one walk may lack at calls of measured functions, one after another.
const MOST_LACKS: usize = 16;
/// How a stack is built from a sample.
type Build = fn(&mut Stacks, &record::Sample<'_>, &AddressMap, &mut EventQueue) -> BuiltStack;

/// Turns records into events.
pub struct Assembler<W> {
    clock: Clock,
    origins: Origins,
    /// Whether samples have the address of their data.
    addressed: bool,
    /// The followed tasks.
    pub follow: FollowedTasks,
    /// Threads that may be sampled twice: by their own event and by one inherited while it was being opened.
    twice: FxHashSet<u32>,
    /// The thread that ended last on each CPU: samples of its remaining work come without its id.
    last_ended: FxHashMap<u32, u32>,
    tasks: Tasks,
    memberships: Memberships,
    modules: Modules,
    stacks: Stacks,
    spans: OffCpuSpans,
    /// Waits that began before the capture.
    pub earlier: EarlierWaits,
    /// Counts that samples of groups carry.
    groups: GroupCounts,
    /// What samples weigh.
    pub periods: SamplePeriods,
    /// Waits that the kernel sums.
    pub summed: SummedWaits,
    proc: W,
    /// The stream so far.
    pub out: EventQueue,
    /// Number of samples passed on.
    pub samples: u64,
    /// Takes the CPU time of samples in own code, where the first event is a clock.
    pub overhead: Option<Arc<Overhead>>,
    /// Counts of the kernel's records by kind.
    pub records: Records,
    /// Processes that have ended since the caller last took this list.
    pub ended: Vec<u32>,
    /// A started command before its `exec`: until then it runs ironlaw's own code.
    awaits_exec: Option<u32>,
}

impl<W: ProcSource> Assembler<W> {
    /// Starts without any task; times count from `clock`. With `partial` only some off-CPU spans come with a stack.
    pub fn new(clock: Clock, method: CallGraph, follow: FollowedTasks, partial: bool, proc: W) -> Assembler<W> {
        let mut out = EventQueue::default();
        let modules = Modules::new(&mut out);
        Assembler {
            clock,
            origins: Origins::default(),
            addressed: false,
            follow,
            twice: FxHashSet::default(),
            last_ended: FxHashMap::default(),
            tasks: Tasks::default(),
            memberships: Memberships::default(),
            modules,
            stacks: Stacks::new(method),
            spans: OffCpuSpans::new(partial),
            earlier: EarlierWaits::new(clock),
            groups: GroupCounts::default(),
            periods: SamplePeriods::default(),
            summed: SummedWaits::default(),
            proc,
            out,
            samples: 0,
            overhead: None,
            records: Records::default(),
            ended: Vec::new(),
            awaits_exec: None,
        }
    }

    /// Sets the opened events, and the threads that have their own event and may also have inherited one.
    pub fn opened(&mut self, origins: Origins, twice: FxHashSet<u32>) {
        self.addressed = origins.values().any(|origin| origin.layout.address);
        self.origins = origins;
        self.twice = twice;
    }

    /// Leaves these frames out of the stacks of waits.
    pub fn leave_out(&mut self, own: OwnFrames) {
        self.stacks.own = own;
    }

    /// Leaves out what this process does before its `exec`.
    pub fn await_exec(&mut self, pid: u32) {
        self.awaits_exec = Some(pid);
    }

    /// Opened events by the id in their records.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The modules, for the symbolizer.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Announces a task that was alive before, with its mappings.
    pub fn meet(&mut self, at: Nanos, pid: u32, tid: u32) {
        self.memberships.met(at, pid, tid, &mut self.proc, &mut self.out);
        let (tasks, mut with) = self.split();
        tasks.meet(at, pid, tid, &mut with);
        tasks.space(pid, &mut with);
    }

    /// Follows the wait of a task that is blocked before the capture begins; with `stacks` its stack is read too.
    pub fn meet_waiting(&mut self, at: Nanos, pid: u32, tid: u32, stacks: bool) {
        let has_room = self.earlier.has_room();
        let found = if has_room { earlier_waits::find(tid, stacks, &mut self.proc) } else { None };
        let Some(found) = found else { return };
        let built = found.sample.as_ref().map(|sample| self.waiting_stack(pid, at, sample));
        let stack = built.map_or((None, StackEnd::NotTaken), |built| (built.stack, built.end));
        self.earlier.follow((pid, tid), &found, stack, &mut self.proc);
    }

    /// Reports the waits that began before the capture and still go on.
    pub fn poll_earlier_waits(&mut self, now: Nanos) {
        for span in self.earlier.poll(now, &mut self.proc) {
            self.out.push(Event::OffCpu(span));
        }
    }

    /// What a thread waits in right now; `None` if it runs, has ended or may not be read.
    pub fn look(&mut self, tid: u32, stacks: bool) -> Option<WaitSample> {
        waiting::look(tid, stacks, &mut self.proc)
    }

    /// The system.
    pub fn system(&mut self) -> &mut W {
        &mut self.proc
    }

    /// Processes whose mappings have not come, by id and name.
    pub fn without_maps(&self) -> Vec<(u32, &str)> {
        self.tasks.without_maps()
    }

    /// Records that tasks may have mapped and named things unseen until now.
    pub fn mark_stale(&mut self) {
        self.tasks.mark_stale();
    }

    /// Applies one record, header included.
    pub fn apply(&mut self, bytes: &[u8]) {
        let origins = &self.origins;
        let Some((stamp, record)) =
            record::parse(bytes, self.addressed, |id| origins.get(&id).map(|origin| origin.layout))
        else {
            return;
        };
        let at = self.clock.instant(stamp.time);
        if let Some(ring_kind) = self.ring_kind(&stamp, &record) {
            self.records.read(ring_kind);
        }
        match record {
            Record::Sample(sample) => self.sampled(at, &stamp, &sample),
            Record::SwitchIn => self.runs(at, &stamp),
            Record::SwitchOut { preempted } => self.left(at, &stamp, preempted),
            Record::Mmap(mapping) if self.follow.concerns(mapping.pid) => {
                if let Some(found) = Mapping::from_record(&mapping) {
                    let (tasks, mut with) = self.split();
                    tasks.mapped(mapping.pid, &found, &mut with);
                }
            }
            Record::Comm(CommRecord { pid, tid, exec, comm }) if self.follow.concerns(pid) => {
                self.awaits_exec.take_if(|awaited| exec && *awaited == pid);
                self.tasks.named(at, pid, tid, &String::from_utf8_lossy(comm), exec, &mut self.out);
            }
            Record::Fork(task) => {
                self.follow.born(&task);
                if self.follow.concerns(task.pid) {
                    self.tasks.born(at, &task, &mut self.out);
                    self.memberships.born(at, &task, &mut self.out);
                }
            }
            Record::Exit(task) if self.follow.concerns(task.pid) => {
                self.last_ended.insert(stamp.cpu, task.tid);
                self.spans.ended(task.tid);
                self.earlier.forget(task.tid);
                self.twice.remove(&task.tid);
                self.memberships.ended(task.tid);
                self.groups.forget(task.tid);
                self.tasks.died(at, task.pid, task.tid, &mut self.out);
            }
            Record::Cgroup(cgroup) => self.memberships.created(cgroup.id, cgroup.path),
            Record::Lost(count) => self.lost(at, &stamp, count),
            Record::Throttle => self.say_lost(at, stamp.cpu, LossKind::Throttled, 1),
            Record::Mmap(_) | Record::Comm(_) | Record::Exit(_) | Record::Other => {}
        }
    }

    /// Applies a wait sample if its thread was off the CPU the whole time.
    pub fn waiting(&mut self, seen: &WaitSample) {
        let (from, to) = (self.clock.instant(seen.from), self.clock.instant(seen.to));
        let Some(pid) = self.spans.blocked_since(seen.tid, from) else { return };
        let built = self.waiting_stack(pid, to, seen);
        self.spans.seen(seen.tid, built.stack, built.end);
    }

    fn waiting_stack(&mut self, pid: u32, to: Nanos, seen: &WaitSample) -> BuiltStack {
        let Assembler { tasks, modules, proc, out, stacks, .. } = self;
        let mut with = TaskContext { modules, proc, out };
        tasks.meet(to, pid, seen.tid, &mut with);
        let space = tasks.space(pid, &mut with);
        let mut built = stacks.waiting(seen, &space, with.out);
        if let Some(space) = built.unknown.then(|| tasks.reread_if_stale(pid, &mut with)).flatten() {
            built = stacks.waiting(seen, &space, with.out);
        }
        for _ in 0..MOST_LACKS {
            let Some(lack) = stacks.lack() else { break };
            let Some(space) = tasks.read_measured_calls(to, pid, lack, &mut with) else { break };
            built = stacks.waiting(seen, &space, with.out);
        }
        built
    }

    fn ring_kind(&self, stamp: &SampleId, record: &Record<'_>) -> Option<RingKind> {
        match record {
            Record::Sample(_) => self.origins.get(&stamp.id).map(|origin| origin.role.ring_kind()),
            Record::SwitchIn | Record::SwitchOut { .. } => Some(RingKind::Switches),
            Record::Mmap(_) | Record::Comm(_) | Record::Cgroup(_) | Record::Fork(_) | Record::Exit(_) => {
                Some(RingKind::Tasks)
            }
            Record::Lost(_) | Record::Throttle | Record::Other => None,
        }
    }

    /// Ends the round.
    pub fn sweep(&mut self) {
        let (tasks, mut with) = self.split();
        tasks.take_late(&mut with);
        let Assembler { tasks, modules, proc, follow, spans, ended, clock, .. } = self;
        spans.sweep();
        tasks.sweep(
            |pid, at| proc.alive_since(pid, clock.now() - at),
            |pid| {
                modules.ended(pid);
                follow.leave(pid);
                ended.push(pid);
            },
        );
    }

    /// Whether no followed task is left.
    pub fn is_over(&mut self) -> bool {
        let proc = &mut self.proc;
        self.follow.is_over(|id| proc.alive(id))
    }

    /// Ends the capture: spans still open end here.
    pub fn finish(&mut self, at: Nanos) {
        for span in self.spans.close(at) {
            self.out.push(Event::OffCpu(span));
        }
    }

    fn split(&mut self) -> (&mut Tasks, TaskContext<'_, W>) {
        let Assembler { tasks, modules, proc, out, .. } = self;
        (tasks, TaskContext { modules, proc, out })
    }

    fn sampled(&mut self, at: Nanos, stamp: &SampleId, sample: &record::Sample<'_>) {
        let Some(origin) = self.origins.get(&stamp.id).copied() else { return };
        if let Role::Wakes(field) = origin.role {
            // The record is the waker's. Only followed threads have an open span that it can split.
            if let Some(tid) = field.read(sample.raw) {
                self.spans.woken(tid as u32, at);
            }
            return;
        }
        if origin.role == Role::Waits {
            return self.waited(at, stamp, sample);
        }
        // Samples of others, which are left out, end an interval as well.
        let (grown, weight) = self.counted(at, stamp, sample, &origin);
        let early = self.awaits_exec.is_some() && origin.role.ring_kind() == RingKind::Samples;
        if early || !self.follow.wants(stamp.pid, stamp.tid) || self.is_double(stamp.tid, &origin) {
            return;
        }
        if stamp.tid == IDLE && matches!(origin.role, Role::Leaves(_)) {
            return;
        }
        let built = self.stack(at, stamp, sample, Stacks::build);
        let tid = if stamp.tid == GONE { self.last_ended.get(&stamp.cpu).copied() } else { None };
        match origin.role {
            Role::Leaves(field) => self.leaves(stamp, field.and_then(|field| field.read(sample.raw)), built),
            Role::Event(event) => {
                self.samples += 1;
                if let (0, Some(code), Some(overhead)) = (event, built.own, &self.overhead) {
                    overhead.sampled(code, weight);
                }
                self.belongs(at, (stamp.pid, tid.unwrap_or(stamp.tid)), sample.cgroup);
                let own = Sample {
                    at,
                    pid: stamp.pid,
                    tid: tid.unwrap_or(stamp.tid),
                    cpu: stamp.cpu,
                    event,
                    weight,
                    stack: built.stack,
                    end: built.end,
                    kernel: sample.mode == Mode::Kernel,
                };
                if origin.layout.access
                    && let Some(access) = accesses::decode(sample.access, &own)
                {
                    // First: of the two, the last may find no room, and a lost sample is counted.
                    self.out.push(Event::Access(access));
                }
                self.out.push(Event::Sample(own));
                let members = grown.iter().flatten().zip(event..).skip(1).take(usize::from(origin.layout.members));
                members.filter(|(weight, _)| **weight > 0).for_each(|(weight, event)| {
                    self.out.push(Event::Sample(Sample { event, weight: *weight, ..own }));
                });
            }
            Role::Wakes(_) | Role::Waits | Role::Leads | Role::Switches | Role::Tasks => {}
        }
    }

    /// What the events of a group counted since the last sample of its leader, if that is known, and the weight of this.
    fn counted(
        &mut self,
        at: Nanos,
        stamp: &SampleId,
        sample: &record::Sample<'_>,
        origin: &Origin,
    ) -> (Option<Counts>, u64) {
        let period = match origin.role {
            Role::Event(_) => self.periods.weight(stamp.id, at, sample.period),
            _ => sample.period,
        };
        if origin.layout.members == 0 {
            return (None, period);
        }
        let tid = origin.owner.map_or(0, |_| stamp.tid);
        let grown = self.groups.grown(stamp.id, tid, sample.counts, period);
        (grown, grown.map_or(period, |grown| grown[0]))
    }

    /// The kernel passed on a wait, or the last sums of a thread.
    fn waited(&mut self, at: Nanos, stamp: &SampleId, sample: &record::Sample<'_>) {
        match WaitRecord::parse(sample.raw) {
            Some(WaitRecord::Wait { pid, tid, left, ran, spacing }) if self.follow.wants(pid, tid) => {
                if self.awaits_exec.is_some() {
                    return;
                }
                let built = self.stack(at, stamp, sample, Stacks::of_wait);
                let (left_at, woken) = (self.clock.instant(left.at), left.woken.map(|woken| self.clock.instant(woken)));
                let (blocked, queued) = StackedWait::split(left.state, left_at, woken, self.clock.instant(ran));
                let end = if built.stack.is_some() { built.end } else { StackEnd::NotTaken };
                let wait = StackedWait { at: left_at, blocked, queued, stack: built.stack, end, spacing };
                self.summed.stacked(tid, left.state, wait);
            }
            Some(WaitRecord::Ended(sums)) if self.follow.wants(sums.pid, sums.tid) => {
                self.summed.ended(at, &sums, &mut self.out);
            }
            _ => {}
        }
    }

    /// The kernel's sums of a thread were read.
    pub fn summed(&mut self, at: Nanos, sums: &ThreadSums) {
        if self.follow.wants(sums.pid, sums.tid) {
            self.summed.read(at, sums, &mut self.out);
        }
    }

    /// The kernel's sums of a thread were read for the last time. If it still waits, `seen` tells in what.
    pub fn summed_last(&mut self, at: Nanos, sums: &ThreadSums, seen: Option<&WaitSample>) {
        if !self.follow.wants(sums.pid, sums.tid) {
            return;
        }
        if let Some(left) = sums.left {
            let (left_at, woken) = (self.clock.instant(left.at), left.woken.map(|woken| self.clock.instant(woken)));
            let (blocked, queued) = StackedWait::split(left.state, left_at, woken, at);
            let built = seen.map(|seen| self.waiting_stack(sums.pid, at, seen));
            let (stack, end) = built.map_or((None, StackEnd::NotTaken), |built| (built.stack, built.end));
            self.summed.stacked(
                sums.tid,
                left.state,
                StackedWait { at: left_at, blocked, queued, stack, end, spacing: Nanos(0) },
            );
        }
        self.summed.ended(at, sums, &mut self.out);
    }

    /// The idle task of each CPU has the number 0, and is in the root group.
    fn belongs(&mut self, at: Nanos, (pid, tid): (u32, u32), cgroup: Option<u64>) {
        let Assembler { memberships, proc, out, .. } = self;
        match cgroup {
            Some(id) if tid != GONE => memberships.sampled(at, (pid, tid), id, proc, out),
            None if tid != GONE && tid != IDLE => memberships.met(at, pid, tid, proc, out),
            _ => {}
        }
    }

    fn is_double(&self, tid: u32, origin: &Origin) -> bool {
        origin.owner != Some(tid) && origin.owner.is_some() && self.twice.contains(&tid)
    }

    fn stack(&mut self, at: Nanos, stamp: &SampleId, sample: &record::Sample<'_>, build: Build) -> BuiltStack {
        if stamp.pid == 0 || stamp.pid == u32::MAX {
            // The idle task, or one that has already ended: nothing is mapped.
            return build(&mut self.stacks, sample, &Default::default(), &mut self.out);
        }
        let Assembler { tasks, modules, proc, out, stacks, .. } = self;
        let mut with = TaskContext { modules, proc, out };
        if stamp.tid != GONE {
            tasks.meet(at, stamp.pid, stamp.tid, &mut with);
        }
        let space = tasks.space(stamp.pid, &mut with);
        let mut built = build(stacks, sample, &space, with.out);
        drop(space);
        if let Some(space) = built.unknown.then(|| tasks.reread_if_stale(stamp.pid, &mut with)).flatten() {
            built = build(stacks, sample, &space, with.out);
        }
        for _ in 0..MOST_LACKS {
            let Some(lack) = stacks.lack() else { break };
            let Some(space) = tasks.read_measured_calls(at, stamp.pid, lack, &mut with) else { break };
            built = build(stacks, sample, &space, with.out);
        }
        // Each function that a runtime made may be the end of a walk.
        for _ in 0..MOST_MADE {
            let Some(end) = stacks.outermost() else { break };
            // No thread begins in such code: the frame pointer was zero because the code uses it for something else.
            if built.end == StackEnd::Whole && tasks.is_made(stamp.pid, end, with.modules) {
                built.end = StackEnd::Broken;
            }
            if !matches!(built.end, StackEnd::Truncated | StackEnd::Broken) {
                break;
            }
            let space = tasks.read_jit_tables(at, stamp.pid, end, &mut with);
            let space = space.or_else(|| tasks.read_trampolines(stamp.pid, stacks.outermost_calls(), &mut with));
            let Some(space) = space else { break };
            built = build(stacks, sample, &space, with.out);
        }
        built
    }

    /// A thread was sampled on its way off the CPU.
    fn leaves(&mut self, stamp: &SampleId, state: Option<u64>, built: BuiltStack) {
        let end = if built.stack.is_some() { built.end } else { StackEnd::NotTaken };
        self.spans.leaving(stamp.tid, DepartureSample { state: state.map(off_cpu::state), stack: built.stack, end });
    }

    fn left(&mut self, at: Nanos, stamp: &SampleId, preempted: bool) {
        let wanted = stamp.tid != IDLE && self.follow.wants(stamp.pid, stamp.tid);
        if !wanted || self.origins.get(&stamp.id).is_some_and(|origin| self.is_double(stamp.tid, origin)) {
            return;
        }
        self.earlier.forget(stamp.tid);
        if self.spans.left(at, stamp.pid, stamp.tid, preempted) {
            self.say_lost(at, stamp.cpu, LossKind::OffCpu, 1);
        }
    }

    fn runs(&mut self, at: Nanos, stamp: &SampleId) {
        let earlier = self.earlier.runs(stamp.tid, at);
        if let Some(span) = self.spans.runs(stamp.tid, at).or(earlier) {
            self.out.push(Event::OffCpu(span));
        }
    }

    /// Records of the stamped event's kind were lost. Without its wake-up a span is not split, but stays whole.
    fn lost(&mut self, at: Nanos, stamp: &SampleId, count: u64) {
        let ring_kind = self.origins.get(&stamp.id).map(|origin| origin.role.ring_kind());
        self.say_lost(at, stamp.cpu, ring_kind.map_or(LossKind::Ring, RingKind::loss), count);
        ring_kind.into_iter().for_each(|ring_kind| self.records.lost(ring_kind, count));
        if matches!(ring_kind, None | Some(RingKind::Tasks)) {
            self.tasks.mark_stale();
        }
        if matches!(ring_kind, None | Some(RingKind::Switches)) {
            self.earlier.lost();
            let spans = self.spans.lost();
            if spans > 0 {
                self.say_lost(at, stamp.cpu, LossKind::OffCpu, spans);
            }
        }
    }

    fn say_lost(&mut self, at: Nanos, cpu: u32, kind: LossKind, count: u64) {
        self.out.push(Event::Lost(Lost { at, cpu, kind, count }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;
    use crate::model::{MemoryAccess, MemoryLevel, OffCpu, Target, TaskState};
    use crate::sys::perf::record::{Layout, fake};
    use crate::sys::perf::tracefs::Format;

    const MAPS: &str = "1000-2000 r-xp 00000000 08:01 5 /bin/a\n";
    const SAMPLES: u64 = 1;
    const LEAVES: u64 = 2;
    const WAKES: u64 = 3;
    const TASKS: u64 = 4;

    /// An assembler with one event of each role, following process 5 and its children.
    fn assembler(twice: &[u32]) -> Assembler<Tables> {
        let maps = [(5, MAPS.to_string())].into();
        let follow = FollowedTasks::new(&Target::Processes { pids: vec![5], children: true });
        let proc = Tables { maps, ..Tables::default() };
        let mut assembler = Assembler::new(Clock::starting_at(100), CallGraph::None, follow, true, proc);
        let format = Format::parse("ID: 1\n field:long v;\toffset:0;\tsize:8;\tsigned:1;\n");
        let Some(field) = format.and_then(|format| format.field("v").ok()) else { panic!("no field") };
        let raw = Layout { raw: true, ..Layout::default() };
        let origins = [
            (SAMPLES, Origin { role: Role::Event(0), layout: Layout::default(), owner: Some(5) }),
            (LEAVES, Origin { role: Role::Leaves(Some(field)), layout: raw, owner: Some(5) }),
            (WAKES, Origin { role: Role::Wakes(field), layout: raw, owner: Some(5) }),
            (TASKS, Origin { role: Role::Tasks, layout: Layout::default(), owner: Some(5) }),
        ];
        assembler.opened(origins.into_iter().collect(), twice.iter().copied().collect());
        assembler
    }

    fn stamp(pid: u32, tid: u32, time: u64, id: u64) -> SampleId {
        SampleId { pid, tid, time, id, cpu: 1 }
    }

    fn sample(pid: u32, tid: u32, time: u64) -> Vec<u8> {
        fake::sample(2, 0x1010, 1003, stamp(pid, tid, time, SAMPLES), &[])
    }

    fn raw(id: u64, tid: u32, time: u64, value: u64) -> Vec<u8> {
        let mut tail = fake::words32(&[8]);
        tail.extend(fake::words64(&[value]));
        fake::sample(1, 0xffff_8000, 1, stamp(5, tid, time, id), &tail)
    }

    fn run(assembler: &mut Assembler<Tables>, records: &[Vec<u8>]) -> Vec<Event> {
        records.iter().for_each(|record| assembler.apply(record));
        assembler.out.take()
    }

    fn samples(events: &[Event]) -> Vec<(u32, u64)> {
        let of = |event: &Event| if let Event::Sample(s) = event { Some((s.tid, s.at.0)) } else { None };
        events.iter().filter_map(of).collect()
    }

    #[test]
    fn only_followed_processes_and_their_children_are_sampled_each_thread_once() {
        let mut assembler = assembler(&[6]);
        let events = run(
            &mut assembler,
            &[
                sample(5, 5, 110),
                sample(9, 9, 111),
                fake::fork(8, 8, stamp(5, 5, 112, SAMPLES)),
                sample(8, 8, 113),
                sample(5, 6, 114),
            ],
        );
        assert_eq!(samples(&events), [(5, 10), (8, 13)], "thread 6 has an event of its own");
    }

    #[test]
    fn samples_of_memory_accesses_are_accesses_too_and_those_of_other_events_are_not() {
        let mut assembler = assembler(&[]);
        let plain = Layout { address: true, ..Layout::default() };
        let layout = Layout { access: true, ..plain };
        let origin = |event, layout| Origin { role: Role::Event(event), layout, owner: Some(5) };
        let origins = [(SAMPLES, origin(1, layout)), (7, origin(0, plain))];
        assembler.opened(origins.into_iter().collect(), FxHashSet::default());
        let load = |address, cost, source| {
            let tail = fake::words64(&[cost, source]);
            fake::access(2, 0x1010, address, 1, stamp(5, 5, 110, SAMPLES), &tail)
        };
        // Skylake: a load that found its line on the way; then an instruction that did nothing to memory.
        let records = [
            load(0xadd0, 249, 0x118_6810_0242),
            load(0, 0, 1),
            fake::access(2, 0x1010, 0xbad, 1, stamp(5, 5, 111, 7), &[]),
        ];
        let events = run(&mut assembler, &records);
        let access = |event: &Event| if let Event::Access(access) = event { Some(*access) } else { None };
        let found: Vec<MemoryAccess> = events.iter().filter_map(access).collect();
        let [access] = &found[..] else { panic!("{found:?}") };
        assert_eq!((access.address, access.latency, access.event), (Some(0xadd0), Some(249), 1));
        assert_eq!((access.level, access.tid, access.at), (MemoryLevel::FillBuffer, 5, Nanos(10)));
        let samples: Vec<_> =
            events.iter().filter_map(|event| if let Event::Sample(it) = event { Some(it) } else { None }).collect();
        assert_eq!(samples.iter().map(|it| it.event).collect::<Vec<_>>(), [1, 1, 0]);
        assert!(access.stack.is_some() && access.stack == samples[0].stack);
    }

    #[test]
    fn a_sample_of_a_group_is_one_of_each_member_by_what_it_counted() {
        let mut assembler = assembler(&[]);
        let layout = Layout { members: 2, ..Layout::default() };
        let origins = [(SAMPLES, Origin { role: Role::Event(0), layout, owner: None })];
        assembler.opened(origins.into_iter().collect(), FxHashSet::default());
        let sample = |tid, time, counts: [u64; 3]| {
            let mut tail = fake::words64(&[3, 70, 70]);
            tail.extend(fake::words64(&counts));
            fake::sample(2, 0x1010, 1000, stamp(tid, tid, time, SAMPLES), &tail)
        };
        let records = [
            sample(5, 110, [1000, 700, 0]),
            // Another's on this CPU: the interval of the next begins there.
            sample(9, 120, [2000, 5000, 60]),
            sample(5, 130, [3000, 5900, 64]),
            // Samples were lost: nobody knows whose counts these are.
            sample(5, 140, [9000, 9900, 70]),
        ];
        let events = run(&mut assembler, &records);
        let seen: Vec<_> = events
            .iter()
            .filter_map(|event| if let Event::Sample(s) = event { Some((s.at.0, s.event, s.weight)) } else { None })
            .collect();
        assert_eq!(seen, [(10, 0, 1000), (10, 1, 700), (30, 0, 1000), (30, 1, 900), (30, 2, 4), (40, 0, 1000)]);
        assert_eq!(assembler.samples, 3);
    }

    #[test]
    fn what_a_thread_does_after_its_end_is_its_own() {
        let mut assembler = assembler(&[]);
        let records = [sample(5, 7, 110), fake::exit(stamp(5, 7, 120, SAMPLES)), sample(5, GONE, 130)];
        assert_eq!(samples(&run(&mut assembler, &records)), [(7, 10), (7, 30)]);
    }

    #[test]
    fn every_reference_is_defined_before_it_is_used() {
        let mut assembler = assembler(&[]);
        let events = run(&mut assembler, &[sample(5, 5, 110), sample(5, 5, 120)]);
        let (mut modules, mut frames, mut stacks) = (0, 0, 0);
        for event in &events {
            use crate::model::Definition::{Frame, Module, Stack};
            match event {
                Event::Define(Module(_)) => modules += 1,
                Event::Define(Frame(def)) => {
                    assert!(def.module.is_none_or(|module| module.0 < modules));
                    frames += 1;
                }
                Event::Define(Stack(def)) => {
                    assert!(def.frame.0 < frames);
                    stacks += 1;
                }
                Event::Sample(sample) => assert!(sample.stack.is_some_and(|stack| stack.0 < stacks)),
                _ => {}
            }
        }
        assert_eq!((modules, frames, stacks), (2, 1, 1));
    }

    #[test]
    fn a_blocked_thread_becomes_one_span_with_the_state_it_left_in() {
        let mut assembler = assembler(&[]);
        let records = [
            raw(LEAVES, 5, 109, 1),
            fake::switch_out(false, stamp(5, 5, 110, SAMPLES)),
            raw(WAKES, 9, 150, 5),
            fake::switch_in(stamp(5, 5, 155, SAMPLES)),
        ];
        let events = run(&mut assembler, &records);
        let spans: Vec<&OffCpu> =
            events.iter().filter_map(|event| if let Event::OffCpu(span) = event { Some(span) } else { None }).collect();
        assert_eq!(spans.len(), 1);
        let span = spans[0];
        assert_eq!((span.at.0, span.blocked.0, span.queued), (10, 40, Some(Nanos(5))));
        assert!(span.state == TaskState::Sleeping && span.stack.is_some());
    }

    #[test]
    fn a_look_counts_for_the_span_it_lies_in_whole_and_names_its_kernel_functions() {
        let look = |from, to| WaitSample {
            from,
            to,
            tid: 5,
            kernel: vec!["futex_do_wait".to_string(), "sys_futex".to_string()],
            user: Some((0x1010, 0x7000)),
            stack: Vec::new(),
        };
        for (from, to, seen) in [(111, 120, true), (105, 120, false), (155, 170, false)] {
            let mut assembler = assembler(&[]);
            assembler.apply(&fake::switch_out(false, stamp(5, 5, 110, SAMPLES)));
            if to >= 150 {
                assembler.apply(&fake::switch_in(stamp(5, 5, 150, SAMPLES)));
                assembler.apply(&fake::switch_out(false, stamp(5, 5, 160, SAMPLES)));
            }
            assembler.waiting(&look(from, to));
            assembler.apply(&fake::switch_in(stamp(5, 5, 180, SAMPLES)));
            let events = assembler.out.take();
            let mut stacks = events.iter().filter_map(|event| match event {
                Event::OffCpu(span) => Some(span.stack.is_some()),
                _ => None,
            });
            assert_eq!(stacks.next_back(), Some(seen), "looked from {from} to {to}");
            let names: Vec<_> = events
                .iter()
                .filter_map(|event| match event {
                    Event::Define(crate::model::Definition::Names { symbols, .. }) => Some(&symbols[0].function),
                    _ => None,
                })
                .collect();
            assert!(!seen || names == ["futex_do_wait", "sys_futex"], "{names:?}");
        }
    }

    #[test]
    fn a_loss_tells_its_kind_and_only_one_of_switches_takes_the_open_spans_with_it() {
        for (id, kinds, spans) in [
            (LEAVES, &[(LossKind::Switches, 12), (LossKind::OffCpu, 1)][..], 0),
            (77, &[(LossKind::Ring, 12), (LossKind::OffCpu, 1)], 0),
            (SAMPLES, &[(LossKind::Samples, 12)], 1),
            (WAKES, &[(LossKind::Wakeups, 12)], 1),
            (TASKS, &[(LossKind::Tasks, 12)], 1),
        ] {
            let mut assembler = assembler(&[]);
            let left = fake::switch_out(false, stamp(5, 5, 110, SAMPLES));
            let lost = fake::lost(12, stamp(5, 5, 120, id));
            let back = fake::switch_in(stamp(5, 5, 155, SAMPLES));
            let events = run(&mut assembler, &[raw(LEAVES, 5, 109, 1), left, lost, back]);
            let losses = events.iter().filter_map(|event| match event {
                Event::Lost(lost) => Some((lost.kind, lost.count)),
                _ => None,
            });
            assert_eq!(losses.collect::<Vec<_>>(), kinds, "{id}");
            assert_eq!(events.iter().filter(|event| matches!(event, Event::OffCpu(_))).count(), spans, "{id}");
            let counted = assembler.records.counts().into_iter().find(|count| count.kind == LossKind::Switches);
            assert_eq!(counted.map(|count| (count.read, count.lost)), Some((3, if id == LEAVES { 12 } else { 0 })));
        }
    }

    #[test]
    fn what_a_command_does_before_it_executes_is_left_out() {
        let mut assembler = assembler(&[]);
        assembler.await_exec(5);
        let named = fake::comm("other", false, stamp(5, 5, 111, TASKS));
        let executed = fake::comm("command", true, stamp(5, 5, 113, TASKS));
        let records = [sample(5, 5, 110), named, sample(5, 5, 112), executed, sample(5, 5, 114)];
        assert_eq!(samples(&run(&mut assembler, &records)), [(5, 14)]);
    }

    #[test]
    fn mappings_lost_on_the_way_are_found_when_an_address_misses() {
        let mut assembler = assembler(&[]);
        run(&mut assembler, &[sample(5, 5, 110)]);
        assembler.proc.maps.insert(5, format!("{MAPS}8000-9000 r-xp 00000000 08:01 6 /lib/late\n"));
        let late = |time| fake::sample(2, 0x8010, 1, stamp(5, 5, time, SAMPLES), &[]);
        let events = run(&mut assembler, &[fake::lost(1, stamp(5, 5, 120, TASKS)), late(130)]);
        let opened = assembler.proc.opened.clone();
        assert_eq!((opened, samples(&events).len()), (vec!["/bin/a".to_string(), "/lib/late".to_string()], 1));
    }

    #[test]
    fn bytes_that_are_no_record_change_nothing() {
        let mut assembler = assembler(&[]);
        let whole = sample(5, 5, 110);
        let cut: Vec<_> = (0..whole.len()).map(|length| whole[..length].to_vec()).collect();
        assert_eq!(samples(&run(&mut assembler, &cut)), []);
    }
}

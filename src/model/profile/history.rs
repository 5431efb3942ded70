//! Drops the oldest part of a profile, so that an endless session fits into bounded memory.
//! Results for the remaining time do not change.

use super::{Profile, Samples};
use crate::model::{
    Event, LatencyCount, Membership, MemoryAccess, NeighbourUse, NodeMemory, Scope, TaskChange, TaskEvent,
    TimedOperation,
};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::size_of;

/// Bytes of a sample in columns.
const SAMPLE_BYTES: usize = 40;
/// Limit for kept neighbours without any change in the remaining time.
const MOST_SILENT: usize = 4096;
/// Bytes of a definition, including its entries in related vectors.
const FRAME_BYTES: usize = 160;

impl Profile {
    /// Its memory use, bytes, computed from counts; the size of text is estimated.
    #[must_use]
    pub fn approximate_bytes(&self) -> u64 {
        let parts = [
            self.samples.len() * SAMPLE_BYTES,
            self.accesses.len() * size_of::<MemoryAccess>(),
            self.off_cpu.bytes(),
            self.readings.bytes(),
            self.neighbour_uses.len() * size_of::<NeighbourUse>(),
            self.memory.len() * size_of::<NodeMemory>(),
            self.latencies.len() * size_of::<LatencyCount>(),
            self.operations.len() * size_of::<TimedOperation>(),
            self.tasks.len() * (size_of::<TaskEvent>() + 16),
            self.memberships.len() * size_of::<Membership>(),
            self.stacks.bytes(),
            self.frames.len() * FRAME_BYTES,
        ];
        parts.iter().map(|part| *part as u64).sum()
    }

    /// Drops everything that ended by `cut`. Keeps the last cumulative counts before it, the base of later increases.
    pub fn forget_before(&mut self, cut: Nanos) {
        let gone = self.ended_before(cut);
        self.samples.retain(|samples, at| samples.at[at] >= cut);
        self.accesses.retain(|access| access.at >= cut);
        self.latencies.retain(|count| count.at > cut);
        self.operations.retain(|operation| operation.end() > cut);
        self.off_cpu.retain(|span| span.at + span.blocked + span.queued.unwrap_or_default() > cut);
        self.forget_memory(cut);
        self.tasks.retain(|task| task.at >= cut || !gone.contains(&task.tid));
        self.forget_memberships(cut, &gone);
        self.forget_readings(cut, &gone);
        self.forget_neighbours(cut);
        self.lost.retain(|lost| lost.at >= cut);
        self.marks.retain(|mark| mark.at >= cut);
        self.ticks.retain(|tick| tick.at > cut);
        let first = self.ops.partition_point(|(at, _)| *at <= cut).saturating_sub(1);
        self.ops.drain(..first);
        self.shrink();
    }

    /// Threads that ended before `cut` and whose thread id was not reused.
    fn ended_before(&self, cut: Nanos) -> FxHashSet<u32> {
        let mut gone = FxHashSet::default();
        for task in self.tasks.iter().filter(|task| task.at < cut) {
            match task.change {
                TaskChange::Ended => gone.insert(task.tid),
                _ => gone.remove(&task.tid),
            };
        }
        gone
    }

    /// Keeps the last group of each living thread.
    fn forget_memberships(&mut self, cut: Nanos, gone: &FxHashSet<u32>) {
        let mut last = FxHashMap::default();
        for (at, membership) in self.memberships.iter().enumerate().filter(|(_, it)| it.at < cut) {
            last.insert(membership.tid, at);
        }
        let mut at = 0;
        self.memberships.retain(|it| {
            let index = at;
            at += 1;
            it.at >= cut || !gone.contains(&it.tid) && last.get(&it.tid) == Some(&index)
        });
    }

    /// Keeps the last reading.
    fn forget_memory(&mut self, cut: Nanos) {
        let last = self.memory.iter().map(|it| it.at).max();
        self.memory.retain(|it| it.at >= cut || Some(it.at) == last);
    }

    fn forget_readings(&mut self, cut: Nanos, gone: &FxHashSet<u32>) {
        let mut last = FxHashMap::default();
        for (at, reading) in self.readings.iter().enumerate().filter(|(_, reading)| reading.at <= cut) {
            last.insert((reading.counter, reading.scope), at);
        }
        let mut at = 0;
        self.readings.retain(|reading| {
            let index = at;
            at += 1;
            let of_gone = matches!(reading.scope, Scope::Thread(tid) if gone.contains(&tid));
            reading.at > cut || !of_gone && last.get(&(reading.counter, reading.scope)) == Some(&index)
        });
    }

    /// Like readings, but keeps only the most recent neighbours without later readings. A neighbour that was idle for
    /// an hour has not ended, because its usage is reported only when it changes.
    fn forget_neighbours(&mut self, cut: Nanos) {
        let mut last = FxHashMap::default();
        for (at, used) in self.neighbour_uses.iter().enumerate().filter(|(_, used)| used.at <= cut) {
            last.insert(used.neighbour, at);
        }
        let after = |used: &&NeighbourUse| used.at > cut;
        let mut seen: FxHashSet<_> = self.neighbour_uses.iter().filter(after).map(|used| used.neighbour).collect();
        let mut silent: Vec<_> = last.iter().filter(|(id, _)| !seen.contains(id)).map(|(id, at)| (*at, *id)).collect();
        silent.sort_unstable_by(|a, b| b.cmp(a));
        seen.extend(silent.into_iter().take(MOST_SILENT).map(|(_, id)| id));
        let mut at = 0;
        self.neighbour_uses.retain(|used| {
            let index = at;
            at += 1;
            used.at > cut || seen.contains(&used.neighbour) && last.get(&used.neighbour) == Some(&index)
        });
        // A newly defined neighbour has no reading yet.
        self.neighbours.retain(|def| seen.contains(&def.id) || !last.contains_key(&def.id));
    }

    /// Releases memory if much more is reserved than used.
    fn shrink(&mut self) {
        fn fit<T>(list: &mut Vec<T>) {
            if list.capacity() > 2 * list.len() {
                list.shrink_to(list.len() * 3 / 2);
            }
        }
        fit(&mut self.neighbour_uses);
        fit(&mut self.memory);
        fit(&mut self.latencies);
        fit(&mut self.operations);
        fit(&mut self.tasks);
        fit(&mut self.memberships);
        fit(&mut self.accesses);
    }

    /// The whole profile as an event stream with times relative to `start`, to write a recording of it.
    pub fn events(&self, start: Nanos) -> impl Iterator<Item = Event> + '_ {
        use crate::model::Definition as D;
        let defined = |def| Event::Define(def);
        let modules = self.modules.iter().cloned().map(D::Module).map(defined);
        let frames = self.frames.iter().copied().map(D::Frame).map(defined);
        let names = self.frames.iter().zip(&self.names).filter(|(_, symbols)| !symbols.is_empty());
        let names = names.map(move |(frame, symbols)| defined(D::Names { frame: frame.id, symbols: symbols.clone() }));
        let stacks = self.stacks.iter().map(D::Stack).map(defined);
        let counters = self.counters.iter().cloned().map(D::Counter).map(defined);
        let neighbours = self.neighbours.iter().cloned().map(D::Neighbour).map(defined);
        let definitions = modules.chain(frames).chain(names).chain(stacks).chain(counters).chain(neighbours);
        definitions.chain(self.happened()).map(move |event| since(event, start))
    }

    fn happened(&self) -> impl Iterator<Item = Event> + '_ {
        let samples = self.samples.iter().map(Event::Sample);
        let accesses = self.accesses.iter().copied().map(Event::Access);
        let spans = self.off_cpu.iter().map(Event::OffCpu);
        let memory = self.memory.iter().copied().map(Event::Memory);
        let tasks = self.tasks.iter().cloned().map(Event::Task);
        let memberships = self.memberships.iter().cloned().map(Event::Membership);
        let readings = self.readings.iter().map(Event::Reading);
        let uses = self.neighbour_uses.iter().copied().map(Event::Neighbour);
        let lost = self.lost.iter().copied().map(Event::Lost);
        let ops = self.ops.iter().map(|(at, total)| Event::Ops { at: *at, total: *total });
        let latencies = self.latencies.iter().copied().map(Event::Latency);
        let operations = self.operations.iter().copied().map(Event::Operation);
        let marks = self.marks.iter().cloned().map(Event::Mark);
        let ticks = self.ticks.iter().copied().map(Event::Tick);
        let samples = samples.chain(accesses).chain(spans).chain(memory).chain(tasks).chain(memberships);
        samples
            .chain(readings)
            .chain(uses)
            .chain(lost)
            .chain(ops)
            .chain(latencies)
            .chain(operations)
            .chain(marks)
            .chain(ticks)
    }
}

impl Samples {
    /// Keeps the samples for which `keep`, called with the columns and an index, returns true.
    pub fn retain(&mut self, keep: impl Fn(&Samples, usize) -> bool) {
        let kept: Vec<bool> = (0..self.len()).map(|at| keep(self, at)).collect();
        fn column<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut at = 0;
            values.retain(|_| {
                at += 1;
                kept[at - 1]
            });
            if values.capacity() > 2 * values.len() {
                values.shrink_to(values.len() * 3 / 2);
            }
        }
        let Samples { at, pid, tid, cpu, event, weight, stack, end, kernel } = self;
        column(at, &kept);
        column(pid, &kept);
        column(tid, &kept);
        column(cpu, &kept);
        column(event, &kept);
        column(weight, &kept);
        column(stack, &kept);
        column(end, &kept);
        column(kernel, &kept);
    }
}

/// The event with its time relative to `start`; a span that began before `start` is clipped.
fn since(mut event: Event, start: Nanos) -> Event {
    match &mut event {
        Event::Define(_) => {}
        Event::Sample(sample) => sample.at = sample.at - start,
        Event::Access(access) => access.at = access.at - start,
        Event::OffCpu(span) => {
            let before = start - span.at;
            let waited = before - span.blocked;
            (span.at, span.blocked) = (span.at - start, span.blocked - before);
            span.queued = span.queued.map(|queued| queued - waited);
        }
        Event::Reading(reading) => reading.at = reading.at - start,
        Event::Neighbour(used) => used.at = used.at - start,
        Event::Memory(memory) => memory.at = memory.at - start,
        Event::Task(task) => task.at = task.at - start,
        Event::Membership(membership) => membership.at = membership.at - start,
        Event::Lost(lost) => lost.at = lost.at - start,
        Event::Ops { at, .. } => *at = *at - start,
        Event::Latency(count) => count.at = count.at - start,
        // One that began before keeps its latency: a part of it would be another operation.
        Event::Operation(operation) => operation.at = operation.at - start,
        Event::Mark(mark) => mark.at = mark.at - start,
        Event::Tick(tick) => tick.at = tick.at - start,
    }
    event
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::model::profile::ProfileBuilder;
    use crate::model::profile::builder::testing::meta;
    use crate::model::{
        CounterId, CounterReading, Definition, FrameDef, FrameId, Mark, MembershipSource, OffCpu, Sample, StackDef,
        StackEnd, StackId, TaskState, Tick, WaitBegan,
    };

    fn second(at: u64) -> Nanos {
        Nanos(at * 1_000_000_000)
    }

    fn sample(at: u64) -> Event {
        let (stack, end) = (Some(StackId(0)), StackEnd::Whole);
        Event::Sample(Sample { at: second(at), pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false })
    }

    fn reading(at: u64, scope: Scope, value: u64) -> Event {
        let (counter, enabled, running) = (CounterId(0), Nanos(0), Nanos(0));
        Event::Reading(CounterReading { counter, scope, at: second(at), value, enabled, running })
    }

    fn task(at: u64, tid: u32, change: TaskChange) -> Event {
        Event::Task(TaskEvent { at: second(at), pid: 1, tid, change })
    }

    fn membership(at: u64, tid: u32, cgroup: &str) -> Event {
        let source = MembershipSource::Sample;
        Event::Membership(Membership { at: second(at), pid: 1, tid, cgroup: cgroup.into(), source })
    }

    /// Ten windows of one second; thread 7 ends in the third.
    fn profile() -> Profile {
        let mut builder = ProfileBuilder::new(meta());
        builder.apply(Event::Define(Definition::Frame(FrameDef { id: FrameId(0), module: None, address: 1 })));
        builder.apply(Event::Define(Definition::Stack(StackDef { id: StackId(0), parent: None, frame: FrameId(0) })));
        builder.apply(task(0, 1, TaskChange::Alive { comm: "main".into() }));
        builder.apply(task(0, 7, TaskChange::Alive { comm: "short".into() }));
        builder.apply(task(3, 7, TaskChange::Ended));
        for event in [membership(0, 1, "/a"), membership(0, 7, "/a"), membership(2, 1, "/b"), membership(7, 1, "/c")] {
            builder.apply(event);
        }
        for at in 1..=10 {
            builder.apply(sample(at));
            builder.apply(reading(at, Scope::Target, at * 10));
            builder.apply(reading(at.min(3), Scope::Thread(7), at.min(3)));
            builder.apply(Event::Mark(Mark { at: second(at), label: String::new() }));
            builder.apply(Event::Tick(Tick { at: second(at), span: second(1) }));
        }
        let span = OffCpu {
            at: second(4),
            pid: 1,
            tid: 1,
            state: TaskState::Sleeping,
            blocked: second(3),
            queued: Some(second(1)),
            stack: None,
            end: StackEnd::NotTaken,
            estimated: false,
            count: 1,
            longest: second(4),
            began: WaitBegan::Seen,
        };
        builder.apply(Event::OffCpu(span));
        let meta = builder.profile().meta.clone();
        builder.finish(meta)
    }

    #[test]
    fn what_was_over_is_gone_and_growth_after_the_cut_stays_exact() {
        let mut profile = profile();
        let before = profile.approximate_bytes();
        profile.forget_before(second(5));
        assert_eq!((profile.samples.len(), profile.ticks.len(), profile.marks.len()), (6, 5, 6));
        assert!(profile.approximate_bytes() < before);
        let values: Vec<_> = profile.readings.iter().map(|reading| (reading.at, reading.value)).collect();
        assert_eq!(values[..2], [(second(5), 50), (second(6), 60)], "the last one before the cut is the base");
        assert!(profile.tasks.iter().all(|task| task.tid == 1), "an ended thread is forgotten, one alive is not");
        assert_eq!(profile.off_cpu.len(), 1, "a span that reaches over the cut stays");
        let groups: Vec<_> = profile.memberships.iter().map(|it| (it.tid, &*it.cgroup)).collect();
        assert_eq!(groups, [(1, "/b"), (1, "/c")], "the last group before the cut stays");
        profile.forget_before(second(9));
        assert!(profile.off_cpu.is_empty());
    }

    #[test]
    fn a_stream_made_of_it_counts_from_the_start_and_builds_the_same_again() {
        let mut profile = profile();
        profile.forget_before(second(5));
        let mut builder = ProfileBuilder::new(profile.meta.clone());
        profile.events(second(5)).for_each(|event| builder.apply(event));
        let again = builder.profile();
        assert_eq!((builder.rejected(), again.samples.len(), again.stacks.len()), (0, 6, 1));
        assert_eq!((again.samples.at[0], again.ticks[0].at), (second(0), second(1)));
        let span = again.off_cpu.iter().next().unwrap();
        assert_eq!((span.at, span.blocked, span.queued), (second(0), second(2), Some(second(1))));
        assert_eq!(again.readings.iter().next().unwrap().at, Nanos(0));
    }

    #[test]
    fn the_part_of_a_wait_before_the_start_is_cut_from_its_blocked_time_first() {
        let span = |start: u64| {
            let mut span = profile().off_cpu.iter().next().unwrap();
            (span.blocked, span.queued) = (second(3), Some(second(2)));
            match since(Event::OffCpu(span), second(start)) {
                Event::OffCpu(span) => (span.blocked, span.queued),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            (span(2), span(5), span(8)),
            ((second(3), Some(second(2))), (second(2), Some(second(2))), (second(0), Some(second(1))))
        );
    }
}

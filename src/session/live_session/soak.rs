//! A session of five thousand windows whose stacks, threads and neighbours change all the time: what it holds stays
//! within the bounds that it states, and says of every sample what it said when the sample came.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::history::{History, Limit};
use crate::collect::sampler::{EventQueue, Interner};
use crate::model::profile::{Newest, Profile, ProfileBuilder};
use crate::model::{
    AccessKind, CounterId, CounterReading, Definition, Event, MemoryAccess, MemoryLevel, NeighbourDef, NeighbourId,
    NeighbourKind, NeighbourUse, OffCpu, Sample, Scope, Snoop, StackEnd, StackId, Symbol, TaskChange, TaskEvent,
    TaskState, TlbResult, WaitBegan,
};
use crate::session::tests::support::{meta, second, tick};
use crate::sys::clock::Clock;
use crate::units::Nanos;

const WINDOWS: u64 = 5_000;
const NEWEST: Newest = Newest { frames: 500, stacks: 1_000 };
const LIMIT: Limit = Limit { bytes: 1_500_000, span: Nanos(600_000_000_000) };
/// Samples and waits of a window, each.
const ROWS: u64 = 20;
/// Threads alive at a time; one is born and one ends in each window.
const THREADS: u64 = 30;
/// Neighbours that have not been heard of for long are dropped beyond this number.
const NEIGHBOURS: usize = 4_096 + 3 * 600;

struct Stream {
    interner: Interner,
    out: EventQueue,
    /// A stack of long ago: a thread waits since then.
    asleep: Option<StackId>,
}

impl Stream {
    /// A window: each sample has an address of its own, which its weight repeats, below callers that change slowly.
    fn window(&mut self, at: u64) -> Vec<Event> {
        self.tasks(at);
        for nth in 0..ROWS {
            self.interner.renew_beyond(NEWEST);
            let leaf = 1_000_000 + at * ROWS + nth;
            let callers = [7, 100 + at / 50, 10_000 + at / 5 % 900 + nth];
            let stack = callers.iter().chain([&leaf]).fold(None, |parent, address| {
                self.interner.call(parent, None, *address, &mut self.out).map(|(_, stack)| stack)
            });
            self.rows(at, nth, leaf, stack);
        }
        self.out.push(tick(at));
        self.named()
    }

    fn tasks(&mut self, at: u64) {
        let mut task = |tid: u64, change| {
            self.out.push(Event::Task(TaskEvent { at: second(at), pid: 1, tid: tid as u32, change }));
        };
        task(at + THREADS, TaskChange::Born { parent: 1, comm: format!("worker-{at}") });
        task(at, TaskChange::Ended);
        for neighbour in [at * 2, at * 2 + 1] {
            let (id, name) = (NeighbourId(neighbour as u32), format!("cc1-{neighbour}"));
            let def = NeighbourDef { id, kind: NeighbourKind::Process, name, pid: Some(9), cgroup: None };
            self.out.push(Event::Define(Definition::Neighbour(def)));
            let (cpu, io_bytes) = (Nanos(at * 1_000), Some(at));
            let (on_cpu, llc_bytes, memory_bytes) = (None, None, None);
            let at = second(at);
            let used = NeighbourUse { neighbour: id, at, cpu, on_cpu, io_bytes, llc_bytes, memory_bytes };
            self.out.push(Event::Neighbour(used));
        }
    }

    fn rows(&mut self, at: u64, nth: u64, leaf: u64, stack: Option<StackId>) {
        let (when, tid) = (second(at - 1) + Nanos(nth * 1_000), (at + nth) as u32);
        let (end, kernel, cpu, event) = (StackEnd::Whole, false, 0, 0);
        self.out.push(Event::Sample(Sample { at: when, pid: 1, tid, cpu, event, weight: leaf, stack, end, kernel }));
        let (kind, level, snoop, tlb) = (AccessKind::Load, MemoryLevel::L2, Snoop::None, TlbResult::default());
        let (missed, locked, latency, address) = (false, false, None, Some(leaf));
        let access = MemoryAccess {
            at: when,
            pid: 1,
            tid,
            cpu,
            event,
            stack,
            address,
            kind,
            level,
            missed,
            snoop,
            tlb,
            locked,
            latency,
        };
        self.out.push(Event::Access(access));
        let waited = if nth == 0 && at % 400 == 399 { self.asleep } else { stack };
        if at.is_multiple_of(400) {
            self.asleep = stack;
        }
        self.out.push(Event::OffCpu(OffCpu {
            at: when,
            pid: 1,
            tid,
            state: TaskState::Sleeping,
            blocked: Nanos(leaf),
            queued: Some(Nanos(nth)),
            stack: waited,
            end,
            estimated: false,
            count: 1,
            longest: Nanos(leaf + nth),
            began: WaitBegan::Seen,
        }));
        let (counter, scope, at) = (CounterId(0), Scope::Thread(tid), second(at));
        let (enabled, running) = (Nanos(0), Nanos(0));
        self.out.push(Event::Reading(CounterReading { counter, scope, at, value: leaf, enabled, running }));
    }

    /// The events so far, with the name of each new frame behind them, as it comes from another thread.
    fn named(&mut self) -> Vec<Event> {
        let mut events = self.out.take();
        let frames = events.iter().filter_map(|event| match event {
            Event::Define(Definition::Frame(def)) => Some(*def),
            _ => None,
        });
        let name = |address| Symbol::named(format!("f{address}"));
        let names: Vec<_> = frames
            .map(|def| Event::Define(Definition::Names { frame: def.id, symbols: vec![name(def.address)] }))
            .collect();
        events.extend(names);
        events
    }
}

/// Each sample, and its access, still has its own address and name below the first caller; returns the number of waits without a stack.
fn checked(profile: &Profile) -> usize {
    for sample in profile.samples.iter() {
        let frames: Vec<_> = profile.walk(sample.stack).collect();
        let address = |at: usize| profile.frame(frames[at]).unwrap().address;
        assert_eq!((frames.len(), address(0), address(3)), (4, sample.weight, 7), "{:?}", sample.at);
        let name = profile.names_at(frames[0]);
        assert!(name.is_empty() || name[0].function == format!("f{}", sample.weight));
    }
    assert_eq!(profile.accesses.len(), profile.samples.len());
    for access in &profile.accesses {
        let leaf = profile.walk(access.stack).next().and_then(|frame| profile.frame(frame));
        assert_eq!(leaf.map(|frame| frame.address), access.address, "{:?}", access.at);
    }
    profile.off_cpu.iter().filter(|span| span.stack.is_none() && span.end == StackEnd::Broken).count()
}

#[test]
fn a_session_without_end_holds_a_bounded_number_of_rows_whatever_changes() {
    let builder = ProfileBuilder::new(meta());
    let mut history = History::live(builder, LIMIT, Clock::start(), None).with_newest(NEWEST);
    let mut stream = Stream { interner: Interner::default(), out: EventQueue::default(), asleep: None };
    let (mut most, mut without) = (0, 0);
    for at in 1..=WINDOWS {
        assert!(history.take(stream.window(at)));
        let profile = history.profile();
        let rows = profile.samples.len() + profile.off_cpu.len() + profile.readings.len();
        let tables = [profile.frames.len(), profile.names.len(), profile.stacks.len(), profile.tasks.len()];
        assert!(history.bytes() <= LIMIT.bytes, "{} bytes in window {at}", history.bytes());
        assert!(rows <= 600 * 3 * ROWS as usize, "{rows} rows in window {at}");
        // Every row that is left may refer to a stack of four frames, apart from the newest.
        let bounds = [NEWEST.frames + 2 * rows, NEWEST.frames + 2 * rows, NEWEST.stacks + 4 * rows, 4 * 600 + 60];
        assert!(tables.iter().zip(bounds).all(|(count, bound)| *count <= bound), "{tables:?} in window {at}");
        assert!(profile.neighbours.len() <= NEIGHBOURS && profile.ticks.len() <= 750, "in window {at}");
        most = most.max(profile.stacks.len());
        if at % 250 == 0 {
            without += checked(profile);
        }
    }
    assert!(most > NEWEST.stacks && history.since() > second(WINDOWS - 600), "the test reaches the bounds");
    assert!(without > 0, "a wait since long ago comes without its stack");
    let dir = tempfile::tempdir().unwrap();
    history.save(&dir.path().join("held.ironlaw"), false).unwrap();
    let saved = crate::session::open(&dir.path().join("held.ironlaw")).unwrap();
    checked(&saved);
    assert_eq!(saved.samples.len(), history.profile().samples.len());
}

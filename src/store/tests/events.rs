//! Event streams to record: a small fixed one with every kind of event, and arbitrary ones.

use crate::model::{
    AccessKind, BuildId, CounterDef, CounterId, CounterReading, Definition, Event, FrameDef, FrameId, LatencyCount,
    LossKind, Lost, Mark, Membership, MembershipSource, MemoryAccess, MemoryLevel, ModuleDef, ModuleId, ModuleKind,
    NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse, NodeMemory, OffCpu, PageKind, Sample, Scope, Snoop,
    StackDef, StackEnd, StackId, Symbol, TaskChange, TaskEvent, TaskState, Tick, TimedOperation, TlbResult, Unit,
    WaitBegan,
};
use crate::units::{Nanos, Ops};
use proptest::prelude::*;

/// One chunk of a recording in `chunks`: two new frames and stacks, and one of everything else.
pub fn chunk(number: u32) -> Vec<Event> {
    let (low, at) = (number * 2, Nanos(u64::from(number) * 1_000));
    let frame = |id: u32| FrameDef { id: FrameId(id), module: Some(ModuleId(number)), address: u64::from(id) << 12 };
    let symbol = |name: &str, inlined| Symbol { line: Some(7), inlined, ..Symbol::named(name) };
    let (pid, tid) = (41, 42 + number);
    let stack =
        |id: u32, parent: Option<u32>| StackDef { id: StackId(id), parent: parent.map(StackId), frame: FrameId(id) };
    vec![
        Event::Define(Definition::Module(ModuleDef {
            id: ModuleId(number),
            kind: ModuleKind::File,
            path: format!("/usr/lib/lib{number}.so"),
            build_id: Some(BuildId(vec![1, 2])),
            pid,
        })),
        Event::Define(Definition::Counter(CounterDef {
            id: CounterId(u16::try_from(number).unwrap()),
            name: format!("counter-{number}"),
            unit: Unit::Nanos,
            group: None,
        })),
        Event::Define(Definition::Neighbour(NeighbourDef {
            id: NeighbourId(number),
            kind: NeighbourKind::Process,
            name: "cron<\u{1b}[31m>".into(),
            pid: Some(900 + number),
            cgroup: Some("/system.slice".into()),
        })),
        Event::Define(Definition::Frame(frame(low))),
        Event::Define(Definition::Frame(frame(low + 1))),
        Event::Define(Definition::Stack(stack(low, low.checked_sub(1)))),
        Event::Define(Definition::Stack(stack(low + 1, Some(low)))),
        Event::Task(TaskEvent { at, pid, tid, change: TaskChange::Born { parent: 41, comm: "worker".into() } }),
        Event::Sample(Sample {
            at,
            pid,
            tid,
            cpu: 1,
            event: 0,
            weight: 1_003_009,
            stack: Some(StackId(low + 1)),
            end: StackEnd::Whole,
            kernel: false,
        }),
        Event::Access(MemoryAccess { address: Some(0x7f00_1240), ..access(at, tid, Some(StackId(low))) }),
        Event::OffCpu(OffCpu {
            at,
            pid,
            tid,
            state: TaskState::Sleeping,
            blocked: Nanos(70),
            queued: None,
            stack: Some(StackId(low)),
            end: StackEnd::Truncated,
            estimated: true,
            count: 2,
            longest: Nanos(5),
            began: WaitBegan::Before,
        }),
        Event::Reading(CounterReading {
            counter: CounterId(0),
            scope: Scope::Thread(tid),
            at,
            value: 5,
            enabled: at,
            running: at,
        }),
        Event::Tick(Tick { at, span: Nanos(1_000) }),
        Event::Neighbour(NeighbourUse {
            neighbour: NeighbourId(number),
            at,
            cpu: Nanos(1_000),
            on_cpu: Some(1),
            io_bytes: Some(4096),
            llc_bytes: None,
            memory_bytes: None,
        }),
        Event::Membership(Membership {
            at,
            pid: 41,
            tid,
            cgroup: format!("/web/{number}").into(),
            source: MembershipSource::Sample,
        }),
        Event::Memory(NodeMemory { at, pid: 41, node: number, kind: PageKind::Huge, bytes: 4096 }),
        Event::Lost(Lost { at, cpu: 3, kind: LossKind::Ring, count: 12 }),
        Event::Ops { at, total: Ops(u64::from(number)) },
        Event::Latency(LatencyCount {
            at,
            low: Nanos(2048),
            high: number.is_multiple_of(2).then_some(Nanos(2050)),
            count: 3,
        }),
        Event::Operation(TimedOperation {
            at,
            pid: 41,
            tid,
            latency: Nanos(3000),
            blocked: number.is_multiple_of(2).then_some(Nanos(2000)),
            queued: number.is_multiple_of(2).then_some(Nanos(10)),
            interrupted: None,
            minor_faults: Some(2),
            major_faults: None,
            weight: 1,
        }),
        Event::Mark(Mark { at, label: format!("mark {number}") }),
        Event::Define(Definition::Names {
            frame: FrameId(low),
            symbols: vec![symbol("inner<\u{1b}[31m>", true), symbol("outer", false)],
        }),
    ]
}

/// A load that another node's cache answered.
fn access(at: Nanos, tid: u32, stack: Option<StackId>) -> MemoryAccess {
    MemoryAccess {
        at,
        pid: 41,
        tid,
        cpu: 1,
        event: 0,
        stack,
        address: None,
        kind: AccessKind::Load,
        level: MemoryLevel::RemoteCache,
        missed: false,
        snoop: Snoop::Modified,
        tlb: TlbResult::Miss,
        locked: true,
        latency: Some(412),
    }
}

/// `count` chunks with consecutive definitions.
pub fn chunks(count: u32) -> Vec<Vec<Event>> {
    (0..count).map(chunk).collect()
}

fn nanos() -> impl Strategy<Value = Nanos> {
    any::<u64>().prop_map(Nanos)
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect())
}

fn end() -> impl Strategy<Value = StackEnd> {
    prop_oneof![Just(StackEnd::Whole), Just(StackEnd::Truncated), Just(StackEnd::Broken), Just(StackEnd::NotTaken)]
}

fn sample(stacks: u32) -> impl Strategy<Value = Event> {
    let ids = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u16>());
    let stack = proptest::option::of((0..stacks).prop_map(StackId));
    (nanos(), ids, any::<u64>(), stack, end(), any::<bool>()).prop_map(
        |(at, (pid, tid, cpu, event), weight, stack, end, kernel)| {
            Event::Sample(Sample { at, pid, tid, cpu, event, weight, stack, end, kernel })
        },
    )
}

fn off_cpu(stacks: u32) -> impl Strategy<Value = Event> {
    let states = [TaskState::Runnable, TaskState::Sleeping, TaskState::DiskSleep, TaskState::Other];
    let stack = proptest::option::of((0..stacks).prop_map(StackId));
    let spans = (nanos(), nanos(), proptest::option::of(nanos()));
    let states = proptest::sample::select(states.to_vec());
    let began = proptest::sample::select(vec![WaitBegan::Seen, WaitBegan::Before, WaitBegan::LongBefore]);
    (spans, any::<u32>(), any::<u32>(), states, stack, (end(), began), any::<bool>()).prop_map(
        |((at, blocked, queued), pid, tid, state, stack, (end, began), estimated)| {
            Event::OffCpu(OffCpu {
                at,
                pid,
                tid,
                state,
                blocked,
                queued,
                stack,
                end,
                estimated,
                count: 1 + u64::from(pid),
                longest: blocked,
                began,
            })
        },
    )
}

fn reading() -> impl Strategy<Value = Event> {
    let scope = prop_oneof![
        Just(Scope::Target),
        any::<u32>().prop_map(Scope::Thread),
        any::<u32>().prop_map(Scope::Cpu),
        any::<u32>().prop_map(Scope::Cgroup),
        Just(Scope::Host),
        Just(Scope::Tool)
    ];
    (any::<u16>(), scope, nanos(), any::<u64>(), nanos(), nanos()).prop_map(
        |(counter, scope, at, value, enabled, running)| {
            Event::Reading(CounterReading { counter: CounterId(counter), scope, at, value, enabled, running })
        },
    )
}

fn task() -> impl Strategy<Value = Event> {
    let change = prop_oneof![
        text().prop_map(|comm| TaskChange::Alive { comm }),
        (any::<u32>(), text()).prop_map(|(parent, comm)| TaskChange::Born { parent, comm }),
        (text(), any::<bool>()).prop_map(|(comm, exec)| TaskChange::Renamed { comm, exec }),
        Just(TaskChange::Ended)
    ];
    (nanos(), any::<u32>(), any::<u32>(), change)
        .prop_map(|(at, pid, tid, change)| Event::Task(TaskEvent { at, pid, tid, change }))
}

fn membership() -> impl Strategy<Value = Event> {
    let sources = vec![MembershipSource::Sample, MembershipSource::Process, MembershipSource::Parent];
    (nanos(), any::<u32>(), any::<u32>(), text(), proptest::sample::select(sources)).prop_map(
        |(at, pid, tid, cgroup, source)| Event::Membership(Membership { at, pid, tid, cgroup: cgroup.into(), source }),
    )
}

fn any_access(stacks: u32) -> impl Strategy<Value = Event> {
    use proptest::sample::select;
    let kinds = [AccessKind::Load, AccessKind::Store, AccessKind::Prefetch, AccessKind::Fetch];
    let snoops = [Snoop::None, Snoop::Miss, Snoop::Hit, Snoop::Modified, Snoop::Forwarded, Snoop::Unknown];
    let tlbs = [TlbResult::Hit, TlbResult::Miss, TlbResult::Unknown];
    let found = (select(&LEVELS[..]), select(kinds.to_vec()), select(snoops.to_vec()), select(tlbs.to_vec()));
    let numbers = (any::<Option<u64>>(), any::<Option<u64>>(), any::<[bool; 2]>());
    (nanos(), any::<u32>(), proptest::option::of(0..stacks), found, numbers).prop_map(
        |(at, tid, stack, (level, kind, snoop, tlb), (address, latency, [missed, locked]))| {
            let rest = access(at, tid, stack.map(StackId));
            Event::Access(MemoryAccess { address, kind, level, missed, snoop, tlb, locked, latency, ..rest })
        },
    )
}

const LEVELS: [MemoryLevel; 14] = [
    MemoryLevel::L1,
    MemoryLevel::FillBuffer,
    MemoryLevel::L2,
    MemoryLevel::L3,
    MemoryLevel::L4,
    MemoryLevel::PeerCache,
    MemoryLevel::LocalDram,
    MemoryLevel::RemoteCache,
    MemoryLevel::RemoteDram,
    MemoryLevel::Pmem,
    MemoryLevel::Cxl,
    MemoryLevel::Io,
    MemoryLevel::Uncached,
    MemoryLevel::Unknown,
];

fn small() -> impl Strategy<Value = Event> {
    let kinds = vec![LossKind::Ring, LossKind::Throttled, LossKind::OffCpu];
    prop_oneof![
        (nanos(), any::<u32>(), proptest::sample::select(kinds), any::<u64>())
            .prop_map(|(at, cpu, kind, count)| Event::Lost(Lost { at, cpu, kind, count })),
        (nanos(), any::<u32>(), any::<u32>(), any::<u64>(), 0..3usize).prop_map(|(at, pid, node, bytes, kind)| {
            let kind = [PageKind::Anonymous, PageKind::File, PageKind::Huge][kind];
            Event::Memory(NodeMemory { at, pid, node, kind, bytes })
        }),
        (nanos(), any::<u64>()).prop_map(|(at, total)| Event::Ops { at, total: Ops(total) }),
        (nanos(), nanos(), proptest::option::of(0..u64::MAX), any::<u64>()).prop_map(|(at, low, high, count)| {
            Event::Latency(LatencyCount { at, low, high: high.map(Nanos), count })
        }),
        (nanos(), any::<u32>(), nanos(), any::<[Option<u64>; 5]>(), any::<u64>()).prop_map(
            |(at, tid, latency, [blocked, queued, interrupted, minor_faults, major_faults], weight)| {
                let [blocked, queued, interrupted] = [blocked, queued, interrupted].map(|time| time.map(Nanos));
                Event::Operation(TimedOperation {
                    at,
                    pid: tid,
                    tid,
                    latency,
                    blocked,
                    queued,
                    interrupted,
                    minor_faults,
                    major_faults,
                    weight,
                })
            }
        ),
        (nanos(), text()).prop_map(|(at, label)| Event::Mark(Mark { at, label })),
        (nanos(), nanos()).prop_map(|(at, span)| Event::Tick(Tick { at, span })),
    ]
}

fn neighbour_use() -> impl Strategy<Value = Event> {
    let bytes = || any::<Option<u64>>();
    (any::<u32>(), nanos(), nanos(), any::<Option<u32>>(), [bytes(), bytes(), bytes()]).prop_map(
        |(neighbour, at, cpu, on_cpu, [io_bytes, llc_bytes, memory_bytes])| {
            let neighbour = NeighbourId(neighbour);
            Event::Neighbour(NeighbourUse { neighbour, at, cpu, on_cpu, io_bytes, llc_bytes, memory_bytes })
        },
    )
}

fn symbols() -> impl Strategy<Value = Vec<Symbol>> {
    let optional = || proptest::option::of(text());
    let symbol = (text(), optional(), any::<Option<u32>>(), any::<bool>(), optional());
    let symbol = symbol.prop_map(|(function, file, line, inlined, calls)| {
        let calls = calls.map(String::into_boxed_str);
        Symbol { function, file, line, inlined, calls }
    });
    proptest::collection::vec(symbol, 1..4)
}

/// Well-formed definitions: `count` of each kind, in order, with backward references only.
fn definitions(count: u32) -> impl Strategy<Value = Vec<Event>> {
    let kinds = vec![ModuleKind::File, ModuleKind::Kernel, ModuleKind::Vdso, ModuleKind::Jit];
    let units = vec![Unit::Count, Unit::Nanos, Unit::Cycles, Unit::Instructions, Unit::Bytes];
    let module = (proptest::sample::select(kinds), text(), any::<Option<[u8; 3]>>(), any::<u32>());
    let each = (module, any::<u64>(), symbols(), proptest::sample::select(units), any::<Option<u16>>(), any::<bool>());
    let neighbours = [NeighbourKind::Process, NeighbourKind::Cgroup, NeighbourKind::Resctrl, NeighbourKind::Rest];
    proptest::collection::vec(each, count as usize).prop_map(move |all| {
        let define = move |(id, (module, address, symbols, unit, group, linked))| {
            let (kind, path, build_id, pid): (ModuleKind, String, Option<[u8; 3]>, u32) = module;
            let build_id = build_id.map(|id| BuildId(id.to_vec()));
            let (frame, parent) = (FrameId(id), id.checked_sub(1).filter(|_| linked).map(StackId));
            let counter = CounterId(u16::try_from(id).unwrap());
            [
                Definition::Module(ModuleDef { id: ModuleId(id), kind, path: path.clone(), build_id, pid }),
                Definition::Frame(FrameDef { id: frame, module: linked.then_some(ModuleId(id)), address }),
                Definition::Stack(StackDef { id: StackId(id), parent, frame }),
                Definition::Names { frame, symbols },
                Definition::Counter(CounterDef { id: counter, name: path.clone(), unit, group }),
                Definition::Neighbour(NeighbourDef {
                    id: NeighbourId(id),
                    kind: neighbours[id as usize % neighbours.len()],
                    cgroup: linked.then(|| path.clone()),
                    name: path,
                    pid: linked.then_some(pid),
                }),
            ]
        };
        (0..).zip(all).flat_map(define).map(Event::Define).collect()
    })
}

/// Any stream that a capture could produce, cut into the chunks between its flushes.
pub fn streams() -> impl Strategy<Value = Vec<Vec<Event>>> {
    (1u32..20).prop_flat_map(|count| {
        let threads = prop_oneof![task(), membership(), any_access(count)];
        let event = prop_oneof![sample(count), off_cpu(count), reading(), threads, neighbour_use(), small()];
        (definitions(count), proptest::collection::vec(event, 0..60), 1usize..40).prop_map(
            |(definitions, events, cut)| {
                let all: Vec<Event> = definitions.into_iter().chain(events).collect();
                all.chunks(cut).map(<[Event]>::to_vec).collect()
            },
        )
    })
}

//! A made-up recording of a stated shape: a server with some 1,500 functions, call trees of uneven popularity, several
//! addresses in each function, jittery timers, counters per thread and window. The same shape gives the same events.

use ironlaw::model::{
    CallGraph, CounterDef, CounterId, CounterReading, Definition, Event, EventKind, EventSpec, FrameDef, FrameId, Meta,
    ModuleDef, ModuleId, ModuleKind, Plan, Rate, Sample, Scope, StackDef, StackEnd, StackId, Symbol, Target,
    TaskChange, TaskEvent, Tick, Unit,
};
use ironlaw::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What 997 Hz means to the kernel.
pub const PERIOD_NS: u64 = 1_003_009;
const FLUSH_NS: u64 = 2_000_000_000;
const CPUS: u32 = 4;
const PID: u32 = 4100;
const COUNTERS: u16 = 24;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Samples in all.
    pub samples: u32,
    /// Different stacks; as many samples meet each of them once, the others the popular ones.
    pub stacks: u32,
    /// Threads that take turns on four CPUs.
    pub threads: u32,
}

/// The events of a recording, in the portions in which a capture writes them.
#[derive(Debug)]
pub struct Synthetic {
    shape: Shape,
    /// A hardware event in frequency mode: the period wanders.
    wandering: bool,
    seed: u64,
    taken: u32,
    flushed: u64,
    /// When each thread is sampled next.
    turns: BinaryHeap<Reverse<(u64, u32)>>,
    frames: HashMap<u64, FrameId>,
    stacks: HashMap<(Option<StackId>, FrameId), StackId>,
    leaves: Vec<Option<StackId>>,
    chunk: Vec<Event>,
}

impl Synthetic {
    /// A recording of the CPU clock, or of an event whose period wanders.
    pub fn new(shape: Shape, wandering: bool) -> Synthetic {
        let mut new = Synthetic {
            shape,
            wandering,
            seed: 0,
            taken: 0,
            flushed: 0,
            turns: (0..shape.threads).map(|thread| Reverse((u64::from(thread) * PERIOD_NS / 4, thread))).collect(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            leaves: vec![None; shape.stacks as usize],
            chunk: Vec::new(),
        };
        new.prologue();
        new
    }

    /// The metadata that belongs to the events.
    pub fn meta(&self) -> Meta {
        let target = Target::Processes { pids: vec![PID], children: false };
        let mut plan = Plan::new(target, Rate::Frequency(997), CallGraph::Auto);
        let (name, unit) = if self.wandering { ("cycles", Unit::Cycles) } else { ("cpu-clock", Unit::Nanos) };
        plan.events = vec![EventSpec::new(name, EventKind::Software(0), unit)];
        Meta {
            tool: "benchmark".into(),
            duration_ns: self.turns.peek().map(|Reverse((at, _))| *at),
            ..Meta::new((0, 0), plan)
        }
    }

    fn prologue(&mut self) {
        for id in 0..20 {
            let (path, kind) = (format!("/usr/lib/x86_64-linux-gnu/libexample-{id}.so.6"), ModuleKind::File);
            let module = ModuleDef { id: ModuleId(id), kind, path, build_id: None, pid: PID };
            self.chunk.push(Event::Define(Definition::Module(module)));
        }
        for id in 0..COUNTERS {
            let counter =
                CounterDef { id: CounterId(id), name: format!("counter-{id}"), unit: Unit::Count, group: None };
            self.chunk.push(Event::Define(Definition::Counter(counter)));
        }
        for thread in 0..self.shape.threads {
            let change = TaskChange::Alive { comm: format!("worker-{}", thread % 100) };
            self.chunk.push(Event::Task(TaskEvent { at: Nanos(0), pid: PID, tid: PID + thread, change }));
        }
    }

    /// xorshift64*.
    fn random(&mut self) -> u64 {
        let mut state = self.seed | 0x9e37_79b9;
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.seed = state;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }

    /// One of `count`, the first ones much more often than the last.
    fn popular(&mut self, count: u32) -> u32 {
        let uniform = (self.random() % (1 << 20)) as f64 / f64::from(1 << 20);
        (uniform.powi(3) * f64::from(count)) as u32
    }

    fn sample(&mut self) -> u64 {
        let Some(Reverse((at, thread))) = self.turns.pop() else { return u64::MAX };
        let turn = PERIOD_NS * u64::from(self.shape.threads.div_ceil(CPUS));
        let jitter = self.random() % 3_000;
        self.turns.push(Reverse((at + turn - 1_500 + jitter, thread)));
        let stacks = self.shape.stacks;
        // A prime step: neighbours in the tree are not met one after the other.
        let next = || (u64::from(self.taken) * 7_919 % u64::from(stacks)) as u32;
        let leaf = if self.taken < stacks { next() } else { self.popular(stacks) };
        let (stack, random) = (self.stack(leaf), self.random());
        self.chunk.push(Event::Sample(Sample {
            at: Nanos(at),
            pid: PID,
            tid: PID + thread,
            cpu: if random.is_multiple_of(50) { self.taken % 8 } else { thread % CPUS },
            event: 0,
            weight: if self.wandering { 3_000_000 + random % 200_000 } else { PERIOD_NS },
            stack: Some(stack),
            end: if random.is_multiple_of(70) { StackEnd::Truncated } else { StackEnd::Whole },
            kernel: random.is_multiple_of(9),
        }));
        self.taken += 1;
        at
    }

    /// A call path shares its outer part with its neighbours; up to 40 stacks end at different places of its leaf.
    fn stack(&mut self, leaf: u32) -> StackId {
        if let Some(known) = self.leaves[leaf as usize] {
            return known;
        }
        let places = self.shape.stacks.isqrt().clamp(1, 40);
        let (path, place) = (u64::from(leaf / places), u64::from(leaf % places));
        let depth = 8 + path * 7 % 24;
        let mut parent = None;
        for level in 0..depth {
            let function = (path >> (depth - level - 1).min(12)).wrapping_mul(0x9e37_79b9).wrapping_add(level) % 1_500;
            let frame = self.frame(function * 512 + if level + 1 == depth { place * 4 } else { 1 }, function);
            parent = Some(self.push(parent, frame));
        }
        let stack = parent.expect("every path has a frame");
        self.leaves[leaf as usize] = Some(stack);
        stack
    }

    fn push(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        let next = StackId(self.stacks.len() as u32);
        let id = *self.stacks.entry((parent, frame)).or_insert(next);
        if id == next {
            self.chunk.push(Event::Define(Definition::Stack(StackDef { id, parent, frame })));
        }
        id
    }

    fn frame(&mut self, address: u64, function: u64) -> FrameId {
        let next = FrameId(self.frames.len() as u32);
        let frame = *self.frames.entry(address).or_insert(next);
        if frame == next {
            let module = Some(ModuleId((function % 20) as u32));
            self.chunk.push(Event::Define(Definition::Frame(FrameDef { id: frame, module, address })));
            let symbol = |name: String, inlined| Symbol {
                function: name,
                file: Some(format!("/build/server/src/unit{}/part{}.cc", function % 40, function % 200)),
                line: u32::try_from(address % 2_000).ok(),
                inlined,
                calls: None,
            };
            let outer = symbol(format!("server::unit{}::Handler<Request>::process_{function}", function % 40), false);
            let inner = symbol(format!("std::vector<Item>::operator[]_{}", function % 90), true);
            let symbols = if address.is_multiple_of(3) { vec![inner, outer] } else { vec![outer] };
            self.chunk.push(Event::Define(Definition::Names { frame, symbols }));
        }
        frame
    }

    /// Counters of the target and of every thread; of many threads only the scheduler's.
    fn tick(&mut self, at: u64) {
        let threads = self.shape.threads;
        for counter in 0..if threads > CPUS { 4 } else { COUNTERS } {
            for scope in (0..threads).map(|thread| Scope::Thread(PID + thread)).chain([Scope::Target]) {
                let (value, at) = (at / 7 + self.random() % 100_000, Nanos(at));
                let reading =
                    CounterReading { counter: CounterId(counter), scope, at, value, enabled: at, running: at };
                self.chunk.push(Event::Reading(reading));
            }
        }
        self.chunk.push(Event::Tick(Tick { at: Nanos(at), span: Nanos(FLUSH_NS) }));
    }
}

impl Iterator for Synthetic {
    type Item = Vec<Event>;

    fn next(&mut self) -> Option<Vec<Event>> {
        while self.taken < self.shape.samples {
            let at = self.sample();
            if at > self.flushed + FLUSH_NS {
                self.flushed = at;
                self.tick(at);
                break;
            }
        }
        Some(std::mem::take(&mut self.chunk)).filter(|chunk| !chunk.is_empty())
    }
}

//! Synthetic profiles from short texts, so that a test shows its whole input in a few lines.
//! It never measures anything: every number in it was written by hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot build its input should stop there")]

use super::model::profile::{Profile, ProfileBuilder};
use super::model::*;
use super::units::Nanos;
use std::collections::HashMap;

/// Builds a [`Profile`]; times are in milliseconds, stacks are `module!function;...` from the root to the leaf.
pub struct Synthetic {
    builder: ProfileBuilder,
    /// Free for a test to change before `finish`.
    pub meta: Meta,
    modules: HashMap<String, ModuleId>,
    frames: HashMap<String, FrameId>,
    stacks: HashMap<(Option<StackId>, FrameId), StackId>,
    counters: HashMap<String, CounterId>,
    /// What one sample weighs.
    pub weight: u64,
    /// The event of samples, by its index.
    pub event: u16,
}

pub fn ms(milliseconds: u64) -> Nanos {
    Nanos(milliseconds * 1_000_000)
}

pub fn event(name: &str, unit: Unit) -> EventSpec {
    EventSpec { exclude_hv: true, ..EventSpec::new(name, EventKind::Software(0), unit) }
}

fn meta() -> Meta {
    let cpus = (0..2).map(|cpu| CpuTopology { cpu, core: cpu, package: 0, node: 0 }).collect();
    Meta {
        events: vec![event("cpu-clock", Unit::Nanos)],
        tool: "0.1.0".to_string(),
        host: HostFacts {
            hostname: "web-1".to_string(),
            kernel: "6.1.0-18-amd64".to_string(),
            arch: "x86_64".to_string(),
            cpu_model: "Xeon Platinum 8383C".to_string(),
            cpuid: None,
            cpus,
            memory_bytes: 8 << 30,
            virtual_machine: true,
            governor: None,
            stolen_in_cpu_time: None,
            ..HostFacts::default()
        },
        started_unix_ns: 1_767_225_600_000_000_000,
        duration_ns: Some(10_000_000_000),
        ..Meta::new(
            (1, 0),
            Plan::new(Target::Processes { pids: vec![41], children: false }, Rate::Frequency(997), CallGraph::Auto),
        )
    }
}

impl Synthetic {
    pub fn new() -> Self {
        Synthetic {
            builder: ProfileBuilder::new(meta()),
            meta: meta(),
            modules: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            counters: HashMap::new(),
            weight: 1,
            event: 0,
        }
    }

    fn module(&mut self, path: &str) -> ModuleId {
        if let Some(id) = self.modules.get(path) {
            return *id;
        }
        let id = ModuleId(self.modules.len() as u32);
        let kind = match path {
            "[kernel]" => ModuleKind::Kernel,
            "[jit]" => ModuleKind::Jit,
            "[vdso]" => ModuleKind::Vdso,
            _ => ModuleKind::File,
        };
        let def = ModuleDef { id, kind, path: path.to_string(), build_id: None, pid: 41 };
        self.builder.apply(Event::Define(Definition::Module(def)));
        self.modules.insert(path.to_string(), id);
        id
    }

    /// `module!function`, `module!inner < outer` for a call inlined into `outer`, `module!function => called` for a call
    /// instruction that names `called`, `module!+0x40` for no name, `?` for no module.
    fn frame(&mut self, text: &str) -> FrameId {
        if let Some(id) = self.frames.get(text) {
            return *id;
        }
        let id = FrameId(self.frames.len() as u32);
        let (module, name) = text.split_once('!').unwrap_or(("", text));
        let module = (!module.is_empty()).then(|| self.module(module));
        let unresolved = name.strip_prefix("+0x").map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let address = unresolved.unwrap_or(u64::from(id.0) * 16);
        self.builder.apply(Event::Define(Definition::Frame(FrameDef { id, module, address })));
        if unresolved.is_none() && name != "?" {
            let (name, calls) = name.split_once(" => ").map_or((name, None), |(name, called)| (name, Some(called)));
            let chain: Vec<&str> = name.split(" < ").collect();
            let last = chain.len() - 1;
            let symbols = chain.iter().enumerate().map(|(at, function)| Symbol {
                inlined: at < last,
                calls: calls.filter(|_| at == last).map(Box::from),
                ..Symbol::named(*function)
            });
            self.builder.apply(Event::Define(Definition::Names { frame: id, symbols: symbols.collect() }));
        }
        self.frames.insert(text.to_string(), id);
        id
    }

    pub fn stack(&mut self, text: &str) -> Option<StackId> {
        let mut parent = None;
        for frame in text.split(';').filter(|frame| !frame.is_empty()) {
            let frame = self.frame(frame);
            let next = StackId(self.stacks.len() as u32);
            let id = *self.stacks.entry((parent, frame)).or_insert(next);
            if id == next {
                self.builder.apply(Event::Define(Definition::Stack(StackDef { id, parent, frame })));
            }
            parent = Some(id);
        }
        parent
    }

    /// `count` samples of one thread of process 41, one every 10 ms from `at_ms`.
    pub fn samples(&mut self, at_ms: u64, tid: u32, stack: &str, count: u64) -> &mut Self {
        self.ended(at_ms, tid, stack, count, StackEnd::Whole)
    }

    pub fn ended(&mut self, at_ms: u64, tid: u32, stack: &str, count: u64, end: StackEnd) -> &mut Self {
        let kernel = stack.rsplit(';').next().is_some_and(|leaf| leaf.starts_with("[kernel]"));
        let stack = self.stack(stack);
        for n in 0..count {
            let at = ms(at_ms + 10 * n);
            let sample =
                Sample { at, pid: 41, tid, cpu: 0, event: self.event, weight: self.weight, stack, end, kernel };
            self.builder.apply(Event::Sample(sample));
        }
        self
    }

    pub fn off_cpu(
        &mut self,
        at_ms: u64,
        tid: u32,
        state: TaskState,
        blocked_ms: u64,
        queued_ms: Option<u64>,
        stack: &str,
    ) -> &mut Self {
        let stack = self.stack(stack);
        self.builder.apply(Event::OffCpu(OffCpu {
            at: ms(at_ms),
            pid: 41,
            tid,
            state,
            blocked: ms(blocked_ms),
            queued: queued_ms.map(ms),
            stack,
            end: StackEnd::Whole,
            estimated: false,
            count: 1,
            longest: ms(blocked_ms + queued_ms.unwrap_or_default()),
            began: WaitBegan::Seen,
        }));
        self
    }

    /// A wait that began `before_ms` before the recording, or at an unknown time.
    pub fn earlier_wait(&mut self, tid: u32, before_ms: Option<u64>, until_ms: u64, stack: &str) -> &mut Self {
        let stack = self.stack(stack);
        self.builder.apply(Event::OffCpu(OffCpu {
            at: ms(0),
            pid: 41,
            tid,
            state: TaskState::Sleeping,
            blocked: ms(until_ms),
            queued: Some(Nanos(0)),
            stack,
            end: StackEnd::Whole,
            estimated: false,
            count: 1,
            longest: ms(before_ms.unwrap_or_default() + until_ms),
            began: if before_ms.is_some() { WaitBegan::Before } else { WaitBegan::LongBefore },
        }));
        self
    }

    pub fn task(&mut self, at_ms: u64, pid: u32, tid: u32, change: TaskChange) -> &mut Self {
        self.builder.apply(Event::Task(TaskEvent { at: ms(at_ms), pid, tid, change }));
        self
    }

    pub fn alive(&mut self, tid: u32, comm: &str) -> &mut Self {
        self.task(0, 41, tid, TaskChange::Alive { comm: comm.to_string() })
    }

    pub fn joins(&mut self, at_ms: u64, tid: u32, cgroup: &str) -> &mut Self {
        let source = MembershipSource::Sample;
        let membership = Membership { at: ms(at_ms), pid: 41, tid, cgroup: cgroup.into(), source };
        self.builder.apply(Event::Membership(membership));
        self
    }

    pub fn define(&mut self, counter: &str) -> CounterId {
        let (unit, group) = match counter {
            "cycles" => (Unit::Cycles, Some(0)),
            "instructions" => (Unit::Instructions, Some(0)),
            _ => (Unit::Count, None),
        };
        self.defined(counter, unit, group)
    }

    pub fn defined(&mut self, counter: &str, unit: Unit, group: Option<u16>) -> CounterId {
        if let Some(id) = self.counters.get(counter) {
            return *id;
        }
        let id = CounterId(self.counters.len() as u16);
        self.builder.apply(Event::Define(Definition::Counter(CounterDef {
            id,
            name: counter.to_string(),
            unit,
            group,
        })));
        self.counters.insert(counter.to_string(), id);
        id
    }

    pub fn reading(&mut self, counter: &str, scope: Scope, at_ms: u64, value: u64) -> &mut Self {
        self.multiplexed(counter, scope, at_ms, value, (at_ms, at_ms))
    }

    /// A reading with its enabled and running times in milliseconds.
    pub fn multiplexed(
        &mut self,
        counter: &str,
        scope: Scope,
        at_ms: u64,
        value: u64,
        (enabled, running): (u64, u64),
    ) -> &mut Self {
        let counter = self.define(counter);
        let at = ms(at_ms);
        let reading = CounterReading { counter, scope, at, value, enabled: ms(enabled), running: ms(running) };
        self.builder.apply(Event::Reading(reading));
        self
    }

    pub fn tick(&mut self, at_ms: u64, span_ms: u64) -> &mut Self {
        self.builder.apply(Event::Tick(Tick { at: ms(at_ms), span: ms(span_ms) }));
        self
    }

    pub fn lost(&mut self, at_ms: u64, kind: LossKind, count: u64) -> &mut Self {
        self.builder.apply(Event::Lost(Lost { at: ms(at_ms), cpu: 0, kind, count }));
        self
    }

    pub fn finish(self) -> Profile {
        assert_eq!(self.builder.rejected(), 0, "the test's own input is wrong");
        self.builder.finish(self.meta)
    }
}

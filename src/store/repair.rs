//! Keeps the ids of a damaged recording valid: stand-ins fill the gaps of lost definitions, so that later definitions
//! keep their ids and references to lost data stay visible as such. Names and call paths are not invented.

use crate::model::limits::STAND_INS;
use crate::model::profile::ProfileBuilder;
use crate::model::{
    CounterDef, CounterId, Definition, Event, FrameDef, FrameId, MemoryAccess, ModuleDef, ModuleId, ModuleKind, OffCpu,
    Sample, StackDef, StackEnd, StackId, Symbol, Unit,
};

/// The name of everything that was lost.
const LOST: &str = "[lost]";

/// Repairs made, by table.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RepairStats {
    /// Stand-ins for counters, mappings, frames and stacks.
    pub counters: u64,
    pub modules: u64,
    pub frames: u64,
    pub stacks: u64,
    /// Definitions refused, because their id is taken or impossible in a recording.
    pub refused: u64,
    /// Samples and off-CPU spans whose stack is lost.
    pub without_stack: u64,
}

/// What takes the events of a recording. The kinds with most rows come by themselves, so that a profile need not take
/// them apart again.
pub(super) trait EventSink {
    /// Takes an event.
    fn event(&mut self, event: Event);

    /// Takes a frame.
    fn frame(&mut self, def: FrameDef) {
        self.event(Event::Define(Definition::Frame(def)));
    }

    /// Takes a stack.
    fn stack(&mut self, def: StackDef) {
        self.event(Event::Define(Definition::Stack(def)));
    }

    /// Takes a sample.
    fn sample(&mut self, sample: Sample) {
        self.event(Event::Sample(sample));
    }
}

impl EventSink for &mut dyn FnMut(Event) {
    fn event(&mut self, event: Event) {
        self(event);
    }
}

impl EventSink for ProfileBuilder {
    fn event(&mut self, event: Event) {
        self.apply(event);
    }

    fn frame(&mut self, def: FrameDef) {
        self.add_frame(def);
    }

    fn stack(&mut self, def: StackDef) {
        self.add_stack(def);
    }

    fn sample(&mut self, sample: Sample) {
        self.add_sample(&sample);
    }
}

/// Passes events on, repaired. Definitions must come before the events that refer to them, one kind after another.
pub(super) struct Repair<'a, S> {
    sink: &'a mut S,
    counters: u32,
    modules: u32,
    frames: u32,
    stacks: u32,
    stand_ins: u32,
    /// The frame of all stand-in stacks, once there is one.
    lost_frame: Option<FrameId>,
    repair_stats: RepairStats,
}

impl<'a, S: EventSink> Repair<'a, S> {
    pub fn new(sink: &'a mut S) -> Self {
        let repair_stats = RepairStats::default();
        Repair { sink, counters: 0, modules: 0, frames: 0, stacks: 0, stand_ins: 0, lost_frame: None, repair_stats }
    }

    pub fn repair_stats(self) -> RepairStats {
        self.repair_stats
    }

    /// Passes on an event without an id to check.
    pub fn pass(&mut self, event: Event) {
        self.sink.event(event);
    }

    pub fn counter(&mut self, def: CounterDef) {
        let id = u32::from(def.id.0);
        if id < self.counters || !self.affords(self.counters, id) {
            self.repair_stats.refused += 1;
            return;
        }
        for missing in self.counters..id {
            let stand_in = CounterId(u16::try_from(missing).unwrap_or(u16::MAX));
            let name = format!("{LOST}-{missing}");
            self.define(Definition::Counter(CounterDef { id: stand_in, name, unit: Unit::Count, group: None }));
        }
        self.repair_stats.counters += u64::from(id - self.counters);
        self.counters = id + 1;
        self.define(Definition::Counter(def));
    }

    /// A known module is defined again when more is known about it.
    pub fn module(&mut self, def: ModuleDef) {
        let id = def.id.0;
        if id >= self.modules {
            if !self.affords(self.modules, id) {
                self.repair_stats.refused += 1;
                return;
            }
            for missing in self.modules..id {
                let (id, path) = (ModuleId(missing), LOST.to_string());
                self.define(Definition::Module(ModuleDef { id, kind: ModuleKind::File, path, build_id: None, pid: 0 }));
            }
            self.repair_stats.modules += u64::from(id - self.modules);
            self.modules = id + 1;
        }
        self.define(Definition::Module(def));
    }

    pub fn frame(&mut self, def: FrameDef) {
        let id = def.id.0;
        if id < self.frames || !self.affords(self.frames, id) {
            self.repair_stats.refused += 1;
            return;
        }
        for missing in self.frames..id {
            self.lost_frame_at(FrameId(missing));
        }
        self.repair_stats.frames += u64::from(id - self.frames);
        self.frames = id + 1;
        let module = def.module.filter(|module| module.0 < self.modules);
        self.sink.frame(FrameDef { module, ..def });
    }

    pub fn names(&mut self, frame: FrameId, symbols: Vec<Symbol>) {
        if frame.0 < self.frames {
            self.define(Definition::Names { frame, symbols });
        } else {
            self.repair_stats.refused += 1;
        }
    }

    pub fn stack(&mut self, def: StackDef) {
        let id = def.id.0;
        if id < self.stacks || !self.affords(self.stacks, id) {
            self.repair_stats.refused += 1;
            return;
        }
        for missing in self.stacks..id {
            let frame = self.lost_frame();
            self.define(Definition::Stack(StackDef { id: StackId(missing), parent: None, frame }));
        }
        self.repair_stats.stacks += u64::from(id - self.stacks);
        self.stacks = id + 1;
        let frame = if def.frame.0 < self.frames { def.frame } else { self.lost_frame() };
        let parent = def.parent.filter(|parent| parent.0 < id);
        self.sink.stack(StackDef { id: def.id, parent, frame });
    }

    pub fn sample(&mut self, mut sample: Sample) {
        self.check_stack(&mut sample.stack, &mut sample.end);
        self.sink.sample(sample);
    }

    pub fn access(&mut self, mut access: MemoryAccess) {
        let mut end = StackEnd::NotTaken;
        self.check_stack(&mut access.stack, &mut end);
        self.pass(Event::Access(access));
    }

    pub fn off_cpu(&mut self, mut span: OffCpu) {
        self.check_stack(&mut span.stack, &mut span.end);
        self.pass(Event::OffCpu(span));
    }

    fn check_stack(&mut self, stack: &mut Option<StackId>, end: &mut StackEnd) {
        if stack.is_some_and(|id| id.0 >= self.stacks) {
            *stack = None;
            *end = StackEnd::Broken;
            self.repair_stats.without_stack += 1;
        }
    }

    /// Whether the gap from `next` to `id` may be filled.
    fn affords(&mut self, next: u32, id: u32) -> bool {
        let hole = id.saturating_sub(next);
        let affordable = id < u32::MAX && hole <= STAND_INS - self.stand_ins;
        if affordable {
            self.stand_ins += hole;
        }
        affordable
    }

    /// Creates the frame when the first stack needs it: all frames of the recording have been defined by then.
    fn lost_frame(&mut self) -> FrameId {
        if let Some(frame) = self.lost_frame {
            return frame;
        }
        let frame = FrameId(self.frames);
        self.lost_frame_at(frame);
        self.frames += 1;
        self.lost_frame = Some(frame);
        frame
    }

    fn lost_frame_at(&mut self, id: FrameId) {
        self.define(Definition::Frame(FrameDef { id, module: None, address: 0 }));
        let symbols = vec![Symbol::named(LOST)];
        self.define(Definition::Names { frame: id, symbols });
    }

    fn define(&mut self, definition: Definition) {
        self.sink.event(Event::Define(definition));
    }
}

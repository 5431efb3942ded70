//! All data of one session, interned and in columns: the input of every analysis, whether captured live or replayed.

mod builder;
mod history;
mod packed;
mod samples;
mod stacks;
mod unused;

pub use builder::ProfileBuilder;
pub use packed::{Packed, Row};
pub use samples::Samples;
pub use stacks::Stacks;
pub use unused::{Left, Newest};

use super::{
    CounterDef, CounterReading, FrameDef, FrameId, LatencyCount, Lost, Mark, Membership, MemoryAccess, Meta, ModuleDef,
    ModuleId, NeighbourDef, NeighbourUse, NodeMemory, OffCpu, Sample, StackId, Symbol, TaskEvent, Tick, TimedOperation,
};
use crate::units::{Nanos, Ops};

/// One session's data. Indices in definitions are positions in these vectors.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The session's metadata.
    pub meta: Meta,
    /// Modules by id.
    pub modules: Vec<ModuleDef>,
    /// Frames by id.
    pub frames: Vec<FrameDef>,
    /// Names at each frame, innermost first; empty if unknown.
    pub names: Vec<Vec<Symbol>>,
    /// Stacks by id; a parent's id is always lower than its child's.
    pub stacks: Stacks,
    /// Samples in order of arrival.
    pub samples: Samples,
    /// Memory accesses that the hardware sampled; empty in older recordings and where it sampled none.
    pub accesses: Vec<MemoryAccess>,
    /// Off-CPU spans.
    pub off_cpu: Packed<OffCpu>,
    /// Counters by id.
    pub counters: Vec<CounterDef>,
    /// Readings in order of arrival.
    pub readings: Packed<CounterReading>,
    /// The neighbours, in any order.
    pub neighbours: Vec<NeighbourDef>,
    /// Their usage, in the order it was read.
    pub neighbour_uses: Vec<NeighbourUse>,
    /// Memory of the target's processes by NUMA node, reading by reading.
    pub memory: Vec<NodeMemory>,
    /// How many operations took how long, by window.
    pub latencies: Vec<LatencyCount>,
    /// Operations that were recorded one by one, in the order in which they ended; mostly the slow ones.
    pub operations: Vec<TimedOperation>,
    /// Births, renames and ends of tasks.
    pub tasks: Vec<TaskEvent>,
    /// The control groups that tasks were found in; empty in older recordings.
    pub memberships: Vec<Membership>,
    /// Lost records.
    pub lost: Vec<Lost>,
    /// Operations: time of the reading, and the total at that time.
    pub ops: Vec<(Nanos, Ops)>,
    /// Marks.
    pub marks: Vec<Mark>,
    /// Ends of windows.
    pub ticks: Vec<Tick>,
}

impl Profile {
    /// The frame by id; `None` if the stream never defined it.
    #[must_use]
    pub fn frame(&self, id: FrameId) -> Option<&FrameDef> {
        self.frames.get(id.0 as usize)
    }

    /// The module by id.
    #[must_use]
    pub fn module(&self, id: ModuleId) -> Option<&ModuleDef> {
        self.modules.get(id.0 as usize)
    }

    /// The names at a frame, innermost first; empty if unknown.
    #[must_use]
    pub fn names_at(&self, id: FrameId) -> &[Symbol] {
        self.names.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The frames of a stack, innermost first.
    pub fn walk(&self, stack: Option<StackId>) -> impl Iterator<Item = FrameId> + '_ {
        let mut next = stack;
        std::iter::from_fn(move || {
            let def = self.stacks.get(next?)?;
            next = def.parent;
            Some(def.frame)
        })
    }

    /// Looks up a counter by name.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<&CounterDef> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// Removes inlined calls. Their samples count for the function they were inlined into.
    pub fn drop_inlined(&mut self) {
        for names in &mut self.names {
            names.retain(|symbol| !symbol.inlined);
        }
    }

    /// Forgets which functions were called by name: stacks then lack those that ended in a jump.
    pub fn drop_tail_calls(&mut self) {
        self.names.iter_mut().flatten().for_each(|symbol| symbol.calls = None);
    }

    /// Keeps only the samples of the event with this name.
    pub fn keep_event(&mut self, name: &str) {
        let Some(at) = self.meta.events.iter().position(|event| event.name == name) else { return };
        let mut kept = Samples::default();
        for sample in self.samples.iter().filter(|sample| usize::from(sample.event) == at) {
            kept.push(&Sample { event: 0, ..sample });
        }
        self.samples = kept;
        self.meta.events = vec![self.meta.events.swap_remove(at)];
    }

    /// The length of the session: from its metadata, else the time of its last event.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let last = self.samples.at.last().copied().max(self.ticks.last().map(|tick| tick.at));
        self.meta.duration_ns.map(Nanos).or(last).unwrap_or_default()
    }
}

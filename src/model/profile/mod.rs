//! Everything known of one session, interned and in columns: what every analysis reads.
//! It never knows whether its events came from a live capture or from a recording.

mod builder;
mod history;
mod samples;

pub use builder::ProfileBuilder;
pub use samples::Samples;

use super::{
    CounterDef, CounterReading, FrameDef, FrameId, Lost, Mark, Meta, ModuleDef, ModuleId, NeighbourDef, NeighbourUse,
    OffCpu, StackDef, StackId, Symbol, TaskEvent, Tick,
};
use crate::units::{Nanos, Ops};

/// One session's data. Indices in definitions are positions in these vectors.
#[derive(Debug, Clone)]
pub struct Profile {
    /// What the session says about itself.
    pub meta: Meta,
    /// Modules by id.
    pub modules: Vec<ModuleDef>,
    /// Frames by id.
    pub frames: Vec<FrameDef>,
    /// Names at each frame, innermost first; empty where none are known.
    pub names: Vec<Vec<Symbol>>,
    /// Stacks by id; a parent's id is always lower than its child's.
    pub stacks: Vec<StackDef>,
    /// Samples in the order they came.
    pub samples: Samples,
    /// Spans off the CPU.
    pub off_cpu: Vec<OffCpu>,
    /// Counters by id.
    pub counters: Vec<CounterDef>,
    /// Readings in the order they came.
    pub readings: Vec<CounterReading>,
    /// Who else used the machine, in any order.
    pub neighbours: Vec<NeighbourDef>,
    /// What they used, in the order it was read.
    pub neighbour_uses: Vec<NeighbourUse>,
    /// Tasks' lives.
    pub tasks: Vec<TaskEvent>,
    /// Losses.
    pub lost: Vec<Lost>,
    /// Operations counted: when, and the total by then.
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

    /// The names at a frame, innermost first; empty where none are known.
    #[must_use]
    pub fn names_at(&self, id: FrameId) -> &[Symbol] {
        self.names.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The frames of a stack, innermost first.
    pub fn walk(&self, stack: Option<StackId>) -> impl Iterator<Item = FrameId> + '_ {
        let mut next = stack;
        std::iter::from_fn(move || {
            let def = self.stacks.get(next?.0 as usize)?;
            next = def.parent;
            Some(def.frame)
        })
    }

    /// The counter of that name.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<&CounterDef> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// Forgets inlined calls: their samples count for the function they were inlined into.
    pub fn drop_inlined(&mut self) {
        for names in &mut self.names {
            names.retain(|symbol| !symbol.inlined);
        }
    }

    /// How long the session lasted: its stated length, else the last thing that happened in it.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let last = self.samples.at.last().copied().max(self.ticks.last().map(|tick| tick.at));
        self.meta.duration_ns.map(Nanos).or(last).unwrap_or_default()
    }
}

//! The one closed stream of events that live capture, recordings and tests all produce.
//! Samples are fixed-size and refer to interned stacks; whatever they refer to is defined earlier in the stream.

use super::{
    CounterDef, CounterReading, FrameDef, FrameId, ModuleDef, NeighbourDef, NeighbourUse, StackDef, StackEnd, StackId,
    Symbol, TaskEvent,
};
use crate::units::{Nanos, Ops};
use serde::{Deserialize, Serialize};

/// One event of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Defines what later events refer to by number.
    Define(Definition),
    /// A sampled moment.
    Sample(Sample),
    /// A span in which a thread did not run.
    OffCpu(OffCpu),
    /// A counter's value.
    Reading(CounterReading),
    /// What somebody else on the machine has used.
    Neighbour(NeighbourUse),
    /// A task was born, renamed or ended.
    Task(TaskEvent),
    /// Records were lost or sampling was throttled.
    Lost(Lost),
    /// Operations counted so far.
    Ops {
        /// When, since the recording's start.
        at: Nanos,
        /// Total since the source began.
        total: Ops,
    },
    /// A mark set by the user or the program.
    Mark(Mark),
    /// A window ended: all its readings have come before.
    Tick(Tick),
}

/// What later events refer to.
#[derive(Debug, Clone, PartialEq)]
pub enum Definition {
    /// A piece of code that was mapped.
    Module(ModuleDef),
    /// An address in a module.
    Frame(FrameDef),
    /// A call stack.
    Stack(StackDef),
    /// The names at a frame, innermost first; may come any time after the frame, at most once unless improved.
    Names {
        /// The frame.
        frame: FrameId,
        /// Never empty: an unresolved frame has no `Names` at all.
        symbols: Vec<Symbol>,
    },
    /// A counter.
    Counter(CounterDef),
    /// Somebody else on the machine.
    Neighbour(NeighbourDef),
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When, since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The CPU it ran on.
    pub cpu: u32,
    /// Index into `Meta::events`.
    pub event: u16,
    /// Counts this sample stands for, in the event's unit.
    pub weight: u64,
    /// Its stack; `None` when even the address was not available.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// Whether the sampled instruction was in the kernel.
    pub kernel: bool,
}

/// The state a thread left the CPU in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Preempted while it could have run on.
    Runnable,
    /// Waiting, interruptibly (S).
    Sleeping,
    /// Waiting, uninterruptibly (D), mostly for storage.
    DiskSleep,
    /// Stopped, traced or ending.
    Other,
}

/// A span in which a thread did not run: first blocked, then runnable but waiting for a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffCpu {
    /// When it left the CPU, since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The state it left in.
    pub state: TaskState,
    /// Time from leaving until it was woken; zero when it was preempted.
    pub blocked: Nanos,
    /// Time from being woken (or preempted) until it ran again; `None` when the wake-up was not seen.
    pub queued: Option<Nanos>,
    /// The stack it left from, kernel frames included where permitted.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// Whether the stack is an estimate: it was taken of another span of the thread, of about this length.
    pub estimated: bool,
}

impl OffCpu {
    /// Which spans are of about this length: the next power of four, nanoseconds, as its exponent.
    #[must_use]
    pub fn length(&self) -> u8 {
        (64 - self.blocked.0.leading_zeros()).div_ceil(2) as u8
    }

    /// More than any length.
    pub const LENGTHS: u8 = 33;
}

/// Why samples are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// A buffer was full: `count` records of an unknown kind are gone.
    Ring,
    /// The same of samples.
    Samples,
    /// The same of records of threads that leave the CPU or get it.
    Switches,
    /// The same of records of threads that are woken.
    Wakeups,
    /// The same of records of births, ends, names and mappings of tasks.
    Tasks,
    /// The kernel paused sampling to bound its cost: `count` throttle records.
    Throttled,
    /// A span off the CPU could not be closed because records were lost.
    OffCpu,
}

impl LossKind {
    /// What was lost, in a word or two.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            LossKind::Ring => "records",
            LossKind::Samples => "samples",
            LossKind::Switches => "switch records",
            LossKind::Wakeups => "wake-up records",
            LossKind::Tasks => "task records",
            LossKind::Throttled => "pauses",
            LossKind::OffCpu => "waits",
        }
    }

    /// Whether samples were lost, or records of an unknown kind, which may have been samples.
    #[must_use]
    pub fn is_samples(self) -> bool {
        matches!(self, LossKind::Samples | LossKind::Ring)
    }
}

/// A loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// When it was noticed, since the recording's start.
    pub at: Nanos,
    /// On which CPU's ring.
    pub cpu: u32,
    /// Why.
    pub kind: LossKind,
    /// How many.
    pub count: u64,
}

/// A named moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When, since the recording's start.
    pub at: Nanos,
    /// What for.
    pub label: String,
}

/// The end of a window of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// When it ended, since the recording's start.
    pub at: Nanos,
    /// How long it was.
    pub span: Nanos,
}

//! The single, closed event stream that live capture, recordings and tests all produce.
//! Samples are fixed-size and refer to interned stacks. The stream defines everything before an event refers to it.

use super::{
    CounterDef, CounterReading, FrameDef, FrameId, LatencyCount, Membership, MemoryAccess, ModuleDef, NeighbourDef,
    NeighbourUse, NodeMemory, StackDef, StackEnd, StackId, Symbol, TaskEvent, TimedOperation,
};
use crate::units::{Nanos, Ops};
use serde::{Deserialize, Serialize};

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Defines an entity that later events refer to by number.
    Define(Definition),
    /// A sample.
    Sample(Sample),
    /// An access to memory that the hardware sampled.
    Access(MemoryAccess),
    /// An off-CPU span of a thread.
    OffCpu(OffCpu),
    /// A counter's value.
    Reading(CounterReading),
    /// The resources that a neighbour on the machine has used.
    Neighbour(NeighbourUse),
    /// Memory that a process had on a NUMA node.
    Memory(NodeMemory),
    /// A task was born, renamed or ended.
    Task(TaskEvent),
    /// A task was found in a control group.
    Membership(Membership),
    /// Records were lost or sampling was throttled.
    Lost(Lost),
    /// Operations counted so far.
    Ops {
        /// Time since the recording's start.
        at: Nanos,
        /// Total since the source began.
        total: Ops,
    },
    /// How many operations of a window took how long.
    Latency(LatencyCount),
    /// An operation by itself.
    Operation(TimedOperation),
    /// A mark set by the user or the program.
    Mark(Mark),
    /// The end of a window. All its readings come before it.
    Tick(Tick),
}

/// An entity that later events refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Definition {
    /// A mapped piece of code.
    Module(ModuleDef),
    /// An address in a module.
    Frame(FrameDef),
    /// A call stack.
    Stack(StackDef),
    /// The names at a frame, innermost first. They may follow any time after the frame, and only once unless improved.
    Names {
        /// The frame.
        frame: FrameId,
        /// At least one symbol: an unresolved frame has no `Names`.
        symbols: Vec<Symbol>,
    },
    /// A counter.
    Counter(CounterDef),
    /// A neighbour on the machine.
    Neighbour(NeighbourDef),
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The CPU it ran on.
    pub cpu: u32,
    /// Index into `Meta::events`.
    pub event: u16,
    /// Number of counts this sample represents, in the event's unit.
    pub weight: u64,
    /// Its stack; `None` if even the address was not available.
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
    /// Preempted while runnable.
    Runnable,
    /// Waiting, interruptibly (S).
    Sleeping,
    /// Waiting, uninterruptibly (D), mostly for storage.
    DiskSleep,
    /// Stopped, traced or ending.
    Other,
}

/// An off-CPU span of a thread: first blocked, then waiting in the run queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffCpu {
    /// When it left the CPU, since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The state it left in.
    pub state: TaskState,
    /// Time from leaving the CPU until the wake-up; zero if it was preempted.
    pub blocked: Nanos,
    /// Time from the wake-up (or preemption) until it ran again; `None` if the wake-up was not observed.
    pub queued: Option<Nanos>,
    /// The stack it left from, kernel frames included where permitted.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// Whether the stack is an estimate, taken from another span of the thread of about this length.
    pub estimated: bool,
    /// How many waits it is the sum of: 1, or more where the kernel summed the short ones; 0 for a part of the time of
    /// one that is counted elsewhere.
    pub count: u64,
    /// The longest of them as far as known, blocked and queued. Of a wait that began before the capture, its age at the
    /// end of this span.
    pub longest: Nanos,
    /// Whether the thread was seen to leave the CPU.
    pub began: WaitBegan,
}

/// When a wait began, as far as known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitBegan {
    /// The thread was seen to leave the CPU.
    #[default]
    Seen,
    /// Before the capture; `longest` is the wait's age. A later span of the same wait continues it and counts none.
    Before,
    /// The same, but the kernel does not tell when: `longest` is the least that the age can be.
    LongBefore,
}

impl OffCpu {
    /// The time off the CPU, blocked and queued.
    #[must_use]
    pub fn whole(&self) -> Nanos {
        Nanos(self.blocked.0.saturating_add(self.queued.unwrap_or_default().0))
    }

    /// The length class of the blocked time: spans of about the same length share one. The exponent of the next power
    /// of four, nanoseconds.
    #[must_use]
    pub fn length(&self) -> u8 {
        (64 - self.blocked.0.leading_zeros()).div_ceil(2) as u8
    }

    /// Upper bound of the length classes.
    pub const LENGTHS: u8 = 33;
}

/// Why samples are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// A buffer was full and `count` records of an unknown kind were lost.
    Ring,
    /// The same for samples.
    Samples,
    /// The same for records of threads that switch out or in.
    Switches,
    /// The same for wake-up records.
    Wakeups,
    /// The same for records of births, ends, names and mappings of tasks.
    Tasks,
    /// The kernel throttled sampling to limit its cost: `count` throttle records.
    Throttled,
    /// An off-CPU span could not be closed because records were lost.
    OffCpu,
}

impl LossKind {
    /// A short description of the lost records.
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

    /// Whether samples were lost, or records of an unknown kind, which may include samples.
    #[must_use]
    pub fn is_samples(self) -> bool {
        matches!(self, LossKind::Samples | LossKind::Ring)
    }
}

/// A loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// When the loss was noticed, since the recording's start.
    pub at: Nanos,
    /// The CPU whose ring buffer it was.
    pub cpu: u32,
    /// What was lost.
    pub kind: LossKind,
    /// How many.
    pub count: u64,
}

/// A named moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Time since the recording's start.
    pub at: Nanos,
    /// Its label.
    pub label: String,
}

/// The end of a window of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// When it ended, since the recording's start.
    pub at: Nanos,
    /// Its length.
    pub span: Nanos,
}

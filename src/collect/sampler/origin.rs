//! Where a record comes from: the event, how its samples are used, and the rings that its records go through.

use crate::model::LossKind;
use crate::sys::perf::record::Layout;
use crate::sys::perf::tracefs::Field;
use rustc_hash::FxHashMap;

/// A kind of record, with its own rings. At equal times, records of earlier kinds come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RingKind {
    /// Births, ends, names and mappings of tasks.
    Tasks,
    /// Threads that leave the CPU or are put on it.
    Switches,
    /// Threads that are woken.
    Wakeups,
    /// Samples of the events.
    Samples,
}

impl RingKind {
    /// Every kind.
    pub const ALL: [RingKind; 4] = [RingKind::Tasks, RingKind::Switches, RingKind::Wakeups, RingKind::Samples];

    /// Kind of the loss when one of its rings is full.
    pub fn loss(self) -> LossKind {
        match self {
            RingKind::Tasks => LossKind::Tasks,
            RingKind::Switches => LossKind::Switches,
            RingKind::Wakeups => LossKind::Wakeups,
            RingKind::Samples => LossKind::Samples,
        }
    }
}

/// How the samples of an event are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// As samples of the event with this index.
    Event(u16),
    /// A thread leaves the CPU; this field, if present, contains its state.
    Leaves(Option<Field>),
    /// The thread in this field is woken.
    Wakes(Field),
    /// A program in the kernel passes on a wait, or the sums of a thread that has ended.
    Waits,
    /// Not at all: the CPU needs the event as leader of another one's group.
    Leads,
    /// Not at all: the event carries context-switch records.
    Switches,
    /// Not at all: the event carries records of tasks and their mappings.
    Tasks,
}

impl Role {
    /// The rings that its records go through.
    pub fn ring_kind(self) -> RingKind {
        match self {
            Role::Event(_) | Role::Leads => RingKind::Samples,
            Role::Leaves(_) | Role::Switches | Role::Waits => RingKind::Switches,
            Role::Wakes(_) => RingKind::Wakeups,
            Role::Tasks => RingKind::Tasks,
        }
    }
}

/// Origin of a record.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// How its samples are used.
    pub role: Role,
    /// Layout of its samples.
    pub layout: Layout,
    /// The thread the event was opened on; `None` for a whole CPU or control group.
    pub owner: Option<u32>,
}

/// Opened events by the id in their records.
pub type Origins = FxHashMap<u64, Origin>;

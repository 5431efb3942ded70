//! Numbers the neighbours and says each change of what they used once.
//! It never reads anything.

use crate::model::{Definition, Event, NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
use crate::units::Nanos;

/// How many neighbours a recording tells apart; those met later add to the rest, so that a machine that starts a thousand
/// processes a second cannot fill a disk with their names.
const MOST: u32 = 100_000;

/// Who a neighbour is.
#[derive(Debug)]
pub(super) struct Who {
    pub kind: NeighbourKind,
    pub name: String,
    pub pid: Option<u32>,
    pub cgroup: Option<String>,
}

/// What one has used since the capture began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub cpu: Nanos,
    pub on_cpu: Option<u32>,
    pub io_bytes: Option<u64>,
    pub llc_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
}

/// What has been said of a neighbour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    id: NeighbourId,
    used: Used,
}

/// The numbers given out.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    next: u32,
}

impl Ledger {
    /// Whether another neighbour can be told apart.
    pub(super) fn has_room(&self) -> bool {
        self.next < MOST
    }

    /// Says who it is unless that has been said, and what it used if that has changed. One that never used anything is
    /// never named.
    pub(super) fn say(
        &mut self,
        said: &mut Option<Said>,
        who: impl FnOnce() -> Who,
        used: Used,
        at: Nanos,
        out: &mut Vec<Event>,
    ) {
        let idle = Used { on_cpu: used.on_cpu, io_bytes: used.io_bytes.map(|_| 0), ..Used::default() };
        let before = said.map(|said| said.used);
        let moved = |before: Used| (Used { on_cpu: used.on_cpu, ..before }) != used;
        if !moved(before.unwrap_or(idle)) || (before.is_none() && !self.has_room()) {
            return;
        }
        let id = match said {
            Some(said) => said.id,
            None => {
                let Who { kind, name, pid, cgroup } = who();
                let id = NeighbourId(self.next);
                self.next += 1;
                out.push(Event::Define(Definition::Neighbour(NeighbourDef { id, kind, name, pid, cgroup })));
                id
            }
        };
        *said = Some(Said { id, used });
        let Used { cpu, on_cpu, io_bytes, llc_bytes, memory_bytes } = used;
        out.push(Event::Neighbour(NeighbourUse { neighbour: id, at, cpu, on_cpu, io_bytes, llc_bytes, memory_bytes }));
    }
}

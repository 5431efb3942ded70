//! The events that rates of code are formed of, and the counts that samples of them carry.

use crate::model::profile::Profile;
use crate::model::{EventKind, EventSpec, Meta};

/// The events that the rates are formed of, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Roles {
    pub cycles: u16,
    pub instructions: u16,
    pub misses: Option<u16>,
    /// The event whose samples carry the counts of the others.
    pub leader: Option<u16>,
}

impl Roles {
    pub fn of(meta: &Meta) -> Option<Roles> {
        let events = &meta.events;
        let find = |is: &dyn Fn(&EventSpec) -> bool| {
            events.iter().position(is).and_then(|at| Some((u16::try_from(at).ok()?, events.get(at)?)))
        };
        let (cycles, counted) = find(&|event| generic(&event.kind) == EventKind::Hardware(0))?;
        // Only what counts the same code can be compared.
        let same = |event: &EventSpec| {
            let modes = |event: &EventSpec| [event.exclude_user, event.exclude_kernel, event.exclude_guest];
            modes(event) == modes(counted) && leader_of(events, event) == leader_of(events, counted)
        };
        let (instructions, _) = find(&|event| generic(&event.kind) == EventKind::Hardware(1) && same(event))?;
        let misses = find(&|event| is_llc_miss(meta, event) && same(event)).map(|(at, _)| at);
        Some(Roles { cycles, instructions, misses, leader: leader_of(events, counted) })
    }

    /// Cycles, instructions and misses that a sample of the leader carries. Those of the members follow it.
    pub fn carried(self, profile: &Profile, leader: usize) -> [u64; 3] {
        let all = &profile.samples;
        let mut counts = [0; 3];
        let together = |at: &usize| {
            *at == leader
                || all.event[*at] != all.event[leader]
                    && (all.at[*at], all.tid[*at], all.cpu[*at]) == (all.at[leader], all.tid[leader], all.cpu[leader])
        };
        for at in (leader..all.len()).take_while(together) {
            if let Some(place) = self.place(all.event[at]) {
                counts[place] = all.weight[at];
            }
        }
        counts
    }

    /// Which of cycles, instructions and misses an event counts.
    pub fn place(self, event: u16) -> Option<usize> {
        [Some(self.cycles), Some(self.instructions), self.misses].iter().position(|role| *role == Some(event))
    }

    /// The events whose samples tell something: the leader, or each.
    pub fn sampled(self) -> impl Iterator<Item = u16> {
        let own = [Some(self.cycles), Some(self.instructions), self.misses];
        let alone = [self.leader, None, None];
        (if self.leader.is_some() { alone } else { own }).into_iter().flatten()
    }
}

/// The leader of an event that it samples for or with; `None` if it has samples of its own.
fn leader_of(events: &[EventSpec], event: &EventSpec) -> Option<u16> {
    let group = event.group?;
    let read = events.iter().any(|event| event.group == Some(group) && event.read_by_leader);
    let leader = events.iter().position(|event| event.group == Some(group)).filter(|_| read)?;
    u16::try_from(leader).ok()
}

/// The kind without the upper half of its config, which selects the core type.
fn generic(kind: &EventKind) -> EventKind {
    match kind {
        EventKind::Hardware(config) => EventKind::Hardware(config & u64::from(u32::MAX)),
        other => other.clone(),
    }
}

/// The CPU's own event, or the kernel's for a read or a write that misses the last level.
fn is_llc_miss(meta: &Meta, event: &EventSpec) -> bool {
    let planned = meta.hardware.groups.iter().flat_map(|group| &group.events);
    let mut own = planned.filter(|known| known.role == "llc-miss");
    own.any(|known| known.event.kind == event.kind)
        || matches!(event.kind, EventKind::Cache(config) if config & 0xff == 2 && config >> 16 & 0xff == 1)
}

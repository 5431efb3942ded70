//! Assigns numbers to the neighbours and reports each change of their usage once.

use crate::model::{Definition, Event, NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
use crate::units::Nanos;

/// How many neighbours are distinguished at once. When no room is left, new ones count toward the rest, so that a
/// machine that starts a thousand processes a second cannot fill a disk with their names.
const MOST: u64 = 100_000;

/// Room for one more neighbour comes back at this interval.
const EACH: Nanos = Nanos(100_000_000);

/// A neighbour silent for longer gets a new number: a reader that keeps only the last minutes may have dropped it.
const SILENCE: Nanos = Nanos(600_000_000_000);

/// Identity of a neighbour.
#[derive(Debug)]
pub(super) struct NeighbourIdentity {
    pub kind: NeighbourKind,
    pub name: String,
    pub pid: Option<u32>,
    pub cgroup: Option<String>,
}

/// What a neighbour has used since the capture began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NeighbourTotals {
    pub cpu: Nanos,
    pub on_cpu: Option<u32>,
    pub io_bytes: Option<u64>,
    pub llc_bytes: Option<u64>,
    pub memory_bytes: Option<u64>,
}

/// What has been reported about a neighbour.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReportedUsage {
    id: Option<NeighbourId>,
    /// What it had used before it got its number; this belongs to its earlier number or to the rest.
    before: NeighbourTotals,
    /// As last seen.
    used: Option<NeighbourTotals>,
    at: Nanos,
}

impl ReportedUsage {
    /// Whether it has a number; usage without one counts toward the rest.
    pub(super) fn is_named(&self) -> bool {
        self.id.is_some()
    }

    /// Whether a report at this time must begin with its definition.
    pub(super) fn is_to_be_named(&self, at: Nanos) -> bool {
        self.id.is_none() || at - self.at > SILENCE
    }
}

/// Hands out the numbers.
#[derive(Debug)]
pub(super) struct NeighbourUsage {
    next: u32,
    room: u64,
    /// Time up to which returned room has been counted.
    counted: Nanos,
}

impl Default for NeighbourUsage {
    fn default() -> NeighbourUsage {
        NeighbourUsage { next: 0, room: MOST, counted: Nanos(0) }
    }
}

impl NeighbourUsage {
    /// Reports the neighbour's identity unless that was done recently, and its usage if that changed. A neighbour that
    /// used nothing is not defined.
    pub(super) fn report(
        &mut self,
        reported: &mut ReportedUsage,
        who: impl FnOnce() -> NeighbourIdentity,
        used: NeighbourTotals,
        at: Nanos,
        out: &mut Vec<Event>,
    ) {
        let nothing = |bytes: Option<u64>| bytes.map(|_| 0);
        let idle = NeighbourTotals {
            on_cpu: used.on_cpu,
            io_bytes: nothing(used.io_bytes),
            memory_bytes: nothing(used.memory_bytes),
            ..NeighbourTotals::default()
        };
        let before = reported.used.replace(used).unwrap_or(idle);
        if (NeighbourTotals { on_cpu: used.on_cpu, ..before }) == used {
            return;
        }
        if reported.is_to_be_named(at) {
            (reported.id, reported.before) = (self.number(at), before);
            let Some(id) = reported.id else { return };
            let NeighbourIdentity { kind, name, pid, cgroup } = who();
            out.push(Event::Define(Definition::Neighbour(NeighbourDef { id, kind, name, pid, cgroup })));
        }
        let Some(neighbour) = reported.id else { return };
        reported.at = at;
        let NeighbourTotals { cpu, on_cpu, io_bytes, llc_bytes, memory_bytes } = used.since(reported.before);
        out.push(Event::Neighbour(NeighbourUse { neighbour, at, cpu, on_cpu, io_bytes, llc_bytes, memory_bytes }));
    }

    /// The next number, if there is room.
    fn number(&mut self, at: Nanos) -> Option<NeighbourId> {
        let back = (at - self.counted).0 / EACH.0;
        self.counted += Nanos(back * EACH.0);
        self.room = self.room.saturating_add(back).min(MOST);
        let next = self.next.checked_add(1).filter(|_| self.room > 0)?;
        self.room -= 1;
        Some(NeighbourId(std::mem::replace(&mut self.next, next)))
    }
}

impl NeighbourTotals {
    /// The usage since `before`: counts as differences, everything else unchanged.
    fn since(self, before: NeighbourTotals) -> NeighbourTotals {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        NeighbourTotals {
            cpu: self.cpu - before.cpu,
            io_bytes: grown(self.io_bytes, before.io_bytes),
            memory_bytes: grown(self.memory_bytes, before.memory_bytes),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, CPU time and traffic.
    type Told = (u32, u64, Option<u64>);

    fn second(at: u64) -> Nanos {
        Nanos(at * 1_000_000_000)
    }

    fn used(cpu: u64) -> NeighbourTotals {
        NeighbourTotals { cpu: Nanos(cpu), io_bytes: Some(10 * cpu), ..NeighbourTotals::default() }
    }

    /// What is reported: the number if the neighbour is defined, and its CPU time and traffic.
    fn report(
        usages: &mut NeighbourUsage,
        reported: &mut ReportedUsage,
        cpu: u64,
        at: u64,
    ) -> (Option<u32>, Option<Told>) {
        let mut out = Vec::new();
        let who = || NeighbourIdentity { kind: NeighbourKind::Process, name: "x".into(), pid: None, cgroup: None };
        usages.report(reported, who, used(cpu), second(at), &mut out);
        let named = out.iter().find_map(|event| match event {
            Event::Define(Definition::Neighbour(def)) => Some(def.id.0),
            _ => None,
        });
        let told = out.iter().find_map(|event| match event {
            Event::Neighbour(used) => Some((used.neighbour.0, used.cpu.0, used.io_bytes)),
            _ => None,
        });
        (named, told)
    }

    #[test]
    fn one_that_was_silent_for_long_is_said_anew_and_counts_from_there() {
        let (mut usages, mut reported) = (NeighbourUsage::default(), ReportedUsage::default());
        assert_eq!(report(&mut usages, &mut reported, 0, 1), (None, None));
        assert_eq!(report(&mut usages, &mut reported, 5, 2), (Some(0), Some((0, 5, Some(50)))));
        assert_eq!(
            report(&mut usages, &mut reported, 7, 602),
            (None, Some((0, 7, Some(70)))),
            "ten minutes are not long"
        );
        assert_eq!(report(&mut usages, &mut reported, 7, 5000), (None, None));
        assert_eq!(report(&mut usages, &mut reported, 9, 5001), (Some(1), Some((1, 2, Some(20)))));
        assert_eq!(report(&mut usages, &mut reported, 10, 5002), (None, Some((1, 3, Some(30)))));
    }

    #[test]
    fn room_comes_back_and_what_was_used_without_it_is_not_told_later() {
        let mut usages = NeighbourUsage::default();
        for _ in 0..MOST {
            assert!(report(&mut usages, &mut ReportedUsage::default(), 1, 0).0.is_some());
        }
        let mut reported = ReportedUsage::default();
        assert_eq!(report(&mut usages, &mut reported, 100, 0), (None, None));
        assert!(!reported.is_named());
        assert_eq!(report(&mut usages, &mut reported, 104, 1), (Some(100_000), Some((100_000, 4, Some(40)))));
        let named = (0..20).filter(|_| report(&mut usages, &mut ReportedUsage::default(), 1, 1).0.is_some());
        assert_eq!(named.count(), 9, "ten a second");
        let named =
            (0..MOST + 1).filter(|_| report(&mut usages, &mut ReportedUsage::default(), 1, 1_000_000).0.is_some());
        assert_eq!(named.count() as u64, MOST, "never more at once");
    }
}

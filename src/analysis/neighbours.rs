//! The resources that each neighbour used in a window, from its readings, most CPU time first.

use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{NeighbourDef, NeighbourId, NeighbourUse};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// A neighbour that used something in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighbourRow<'a> {
    /// The neighbour.
    pub who: &'a NeighbourDef,
    /// CPU time it used. Zero for resctrl groups, whose CPU time is not counted.
    pub cpu: Nanos,
    /// Bytes read from and written to storage; `None` without permission to read the count.
    pub io_bytes: Option<u64>,
    /// The most last-level cache it held in any reading, bytes; only for resctrl groups.
    pub llc_bytes: Option<u64>,
    /// Bytes moved to and from memory; only for resctrl groups.
    pub memory_bytes: Option<u64>,
    /// The CPU it was last seen on.
    pub on_cpu: Option<u32>,
}

#[derive(Default)]
struct Span<'a> {
    before: Option<&'a NeighbourUse>,
    last: Option<&'a NeighbourUse>,
    llc_bytes: Option<u64>,
}

/// The neighbours that used something in the window, most CPU time first, then by id.
#[must_use]
pub fn neighbours(profile: &Profile, window: Window) -> Vec<NeighbourRow<'_>> {
    let mut spans: FxHashMap<NeighbourId, Span<'_>> = FxHashMap::default();
    for used in profile.neighbour_uses.iter().filter(|used| used.at <= window.to) {
        let span = spans.entry(used.neighbour).or_default();
        if used.at <= window.from {
            span.before = Some(used);
        } else {
            span.last = Some(used);
        }
        span.llc_bytes = if used.at <= window.from { used.llc_bytes } else { span.llc_bytes.max(used.llc_bytes) };
    }
    let mut rows: Vec<NeighbourRow<'_>> = profile.neighbours.iter().filter_map(|who| row(who, &spans)).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.cpu), row.who.id));
    rows.dedup_by_key(|row| row.who.id);
    rows
}

fn row<'a>(who: &'a NeighbourDef, spans: &FxHashMap<NeighbourId, Span<'a>>) -> Option<NeighbourRow<'a>> {
    let Span { before, last, llc_bytes } = spans.get(&who.id)?;
    let last = (*last)?;
    let grown = |of: fn(&NeighbourUse) -> Option<u64>| {
        // Without an earlier reading, growth counts from zero: readings are relative to the capture's start.
        Some(of(last)?.saturating_sub(before.and_then(of).unwrap_or(0)))
    };
    Some(NeighbourRow {
        who,
        cpu: Nanos(grown(|used| Some(used.cpu.0)).unwrap_or(0)),
        io_bytes: grown(|used| used.io_bytes),
        llc_bytes: *llc_bytes,
        memory_bytes: grown(|used| used.memory_bytes),
        on_cpu: last.on_cpu,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::NeighbourKind;

    fn used(neighbour: u32, at: u64, cpu: u64, io_bytes: Option<u64>) -> NeighbourUse {
        NeighbourUse {
            neighbour: NeighbourId(neighbour),
            at: ms(at),
            cpu: ms(cpu),
            on_cpu: Some(1),
            io_bytes,
            llc_bytes: None,
            memory_bytes: None,
        }
    }

    fn profile(uses: Vec<NeighbourUse>) -> Profile {
        let mut profile = Synthetic::new().finish();
        let def = |id| NeighbourDef {
            id: NeighbourId(id),
            kind: NeighbourKind::Process,
            name: format!("n{id}"),
            pid: Some(id),
            cgroup: None,
        };
        // A forged recording may define one twice.
        profile.neighbours = [0, 1, 2, 2].map(def).to_vec();
        profile.neighbour_uses = uses;
        profile
    }

    #[test]
    fn a_window_has_what_was_used_within_it_and_readings_left_out_change_nothing() {
        let profile = profile(vec![
            used(0, 1000, 100, Some(10)),
            used(1, 1000, 500, None),
            used(0, 3000, 400, Some(30)),
            used(2, 3000, 700, Some(0)),
            used(9, 3000, 700, Some(0)),
            used(0, 5000, 900, Some(90)),
        ]);
        let rows = |from, to| {
            let rows = neighbours(&profile, Window { from: ms(from), to: ms(to) });
            rows.iter().map(|row| (row.who.id.0, row.cpu, row.io_bytes)).collect::<Vec<_>>()
        };
        assert_eq!(rows(0, 4000), [(2, ms(700), Some(0)), (1, ms(500), None), (0, ms(400), Some(30))]);
        assert_eq!(rows(2000, 4000), [(2, ms(700), Some(0)), (0, ms(300), Some(20))], "the second one was idle");
        assert_eq!(rows(5000, 9000), []);
    }
}

//! What else used the host in each window, by name: processes of one program are one neighbour, as are those of one unit.

use super::Span;
use crate::model::profile::Profile;
use crate::model::{NeighbourDef, NeighbourId, NeighbourKind, NeighbourRow};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Neighbours of a window that are told apart.
const MOST_NEIGHBOURS: usize = 20;

/// The neighbours of each span; `None` where they were not recorded.
pub(super) fn rows(profile: &Profile, spans: &[Span]) -> Vec<Option<Vec<NeighbourRow>>> {
    if profile.neighbours.is_empty() {
        return vec![None; spans.len()];
    }
    let mut names: Vec<&str> = Vec::new();
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let mut of: FxHashMap<NeighbourId, usize> = FxHashMap::default();
    // Each process counts once, not again with its control group.
    let processes = |def: &&NeighbourDef| matches!(def.kind, NeighbourKind::Process | NeighbourKind::Rest);
    for def in profile.neighbours.iter().filter(processes) {
        let name = name(def);
        let number = *numbers.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
        of.insert(def.id, number);
    }
    let mut uses: Vec<_> = profile.neighbour_uses.iter().filter(|used| of.contains_key(&used.neighbour)).collect();
    uses.sort_by_key(|used| used.at);
    let mut uses = uses.into_iter().peekable();
    let mut before: FxHashMap<NeighbourId, Nanos> = FxHashMap::default();
    let each = spans.iter().map(|span| {
        let mut sums = vec![Nanos(0); names.len()];
        while let Some(used) = uses.next_if(|used| used.at <= span.window.to) {
            // Without an earlier reading, growth counts from zero: readings are relative to the capture's start.
            let last = before.insert(used.neighbour, used.cpu).unwrap_or_default();
            if used.at > span.window.from {
                sums[of[&used.neighbour]] += used.cpu - last;
            }
        }
        Some(most(&names, &sums, span))
    });
    each.collect()
}

/// The most CPU time first; the others together.
fn most(names: &[&str], sums: &[Nanos], span: &Span) -> Vec<NeighbourRow> {
    let mut used: Vec<(&str, Nanos)> =
        names.iter().copied().zip(sums.iter().copied()).filter(|(_, cpu)| cpu.0 > 0).collect();
    used.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let others = used.split_off(MOST_NEIGHBOURS.min(used.len()));
    let rest: Nanos = others.into_iter().map(|(_, cpu)| cpu).sum();
    if rest.0 > 0 {
        used.push((NeighbourRow::OTHERS, rest));
    }
    let row = |(name, cpu): (&str, Nanos)| NeighbourRow {
        start_s: span.start_s,
        length_s: span.window.span().seconds(),
        neighbour: name.to_string(),
        cpu_s: cpu.seconds(),
    };
    used.into_iter().map(row).collect()
}

/// The unit that a process belongs to, as the job that watches it would be called, or the program's name.
fn name(def: &NeighbourDef) -> &str {
    if def.kind == NeighbourKind::Rest {
        return NeighbourRow::OTHERS;
    }
    let parts = def.cgroup.as_deref().unwrap_or_default().rsplit('/');
    // Sessions of users hold whatever they start.
    let unit = parts.into_iter().find(|part| part.ends_with(".service"));
    unit.filter(|unit| !unit.starts_with("user@")).unwrap_or(&def.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_is_called_by_its_unit_or_its_program() {
        let def = |kind, cgroup: Option<&str>| NeighbourDef {
            id: NeighbourId(1),
            kind,
            name: "redis-server".into(),
            pid: Some(7),
            cgroup: cgroup.map(String::from),
        };
        for (kind, cgroup, expected) in [
            (NeighbourKind::Process, None, "redis-server"),
            (NeighbourKind::Process, Some("/system.slice/redis.service"), "redis.service"),
            (NeighbourKind::Process, Some("/system.slice/docker.service/init"), "docker.service"),
            (NeighbourKind::Process, Some("/user.slice/user@1000.service/app.slice"), "redis-server"),
            (NeighbourKind::Process, Some("/user.slice/session-3.scope"), "redis-server"),
            (NeighbourKind::Rest, None, "[others]"),
        ] {
            assert_eq!(name(&def(kind, cgroup)), expected, "{cgroup:?}");
        }
    }
}

//! The events with a portable name, as `perf_event_open(2)` numbers them, with perf's aliases.
//! A name in this list does not imply that this machine counts the event.

use crate::model::{EventKind, Unit};

/// Names (aliases after the first), config, and the unit of one count.
type Generic = (&'static [&'static str], u64, Unit);

const HARDWARE: &[Generic] = &[
    (&["cycles", "cpu-cycles"], 0, Unit::Cycles),
    (&["instructions"], 1, Unit::Instructions),
    (&["cache-references"], 2, Unit::Count),
    (&["cache-misses"], 3, Unit::Count),
    (&["branches", "branch-instructions"], 4, Unit::Count),
    (&["branch-misses"], 5, Unit::Count),
    (&["bus-cycles"], 6, Unit::Cycles),
    (&["stalled-cycles-frontend", "idle-cycles-frontend"], 7, Unit::Cycles),
    (&["stalled-cycles-backend", "idle-cycles-backend"], 8, Unit::Cycles),
    (&["ref-cycles"], 9, Unit::Cycles),
];

const SOFTWARE: &[Generic] = &[
    (&["cpu-clock"], 0, Unit::Nanos),
    (&["task-clock"], 1, Unit::Nanos),
    (&["page-faults", "faults"], 2, Unit::Count),
    (&["context-switches", "cs"], 3, Unit::Count),
    (&["cpu-migrations", "migrations"], 4, Unit::Count),
    (&["minor-faults"], 5, Unit::Count),
    (&["major-faults"], 6, Unit::Count),
    (&["alignment-faults"], 7, Unit::Count),
    (&["emulation-faults"], 8, Unit::Count),
    (&["dummy"], 9, Unit::Count),
    (&["bpf-output"], 10, Unit::Count),
    (&["cgroup-switches"], 11, Unit::Count),
];

/// Caches with the operations that they count: loads, stores, prefetches.
const CACHES: &[(&[&str], &str)] = &[
    (&["L1-dcache", "l1-d", "l1d", "L1-data"], "lsp"),
    (&["L1-icache", "l1-i", "l1i", "L1-instruction"], "lp"),
    (&["LLC", "L2"], "lsp"),
    (&["dTLB", "d-tlb", "Data-TLB"], "lsp"),
    (&["iTLB", "i-tlb", "Instruction-TLB"], "l"),
    (&["branch", "branches", "bpu", "btb", "bpc"], "l"),
    (&["node"], "lsp"),
];

const CACHE_OPERATIONS: &[(&[&str], char)] = &[
    (&["loads", "load", "read"], 'l'),
    (&["stores", "store", "write"], 's'),
    (&["prefetches", "prefetch", "speculative-read", "speculative-load"], 'p'),
];

const CACHE_RESULTS: &[&[&str]] = &[&["refs", "reference", "ops", "access"], &["misses", "miss"]];

/// Every portable event with its names, the usual one first.
pub(super) fn all() -> Vec<(EventKind, Vec<String>)> {
    let of = |table: &'static [Generic], kind: fn(u64) -> EventKind| {
        table.iter().map(move |(names, config, _)| (kind(*config), names.iter().map(ToString::to_string).collect()))
    };
    of(HARDWARE, EventKind::Hardware).chain(of(SOFTWARE, EventKind::Software)).chain(caches()).collect()
}

fn caches() -> impl Iterator<Item = (EventKind, Vec<String>)> {
    CACHES.iter().enumerate().flat_map(|(id, (names, operations))| {
        let counted = CACHE_OPERATIONS.iter().enumerate().filter(|(_, (_, letter))| operations.contains(*letter));
        counted.flat_map(move |(operation, (words, _))| {
            let tails = [words[0].to_string(), format!("{}-misses", words[1])];
            tails.into_iter().enumerate().map(move |(result, tail)| {
                let names = names.iter().map(|cache| format!("{cache}-{tail}")).collect();
                (EventKind::Cache(id as u64 | (operation as u64) << 8 | (result as u64) << 16), names)
            })
        })
    })
}

/// Looks up a generic event by name.
pub(super) fn generic(name: &str) -> Option<(EventKind, Unit)> {
    let among = |table: &[Generic], kind: fn(u64) -> EventKind| {
        let found = table.iter().find(|(names, ..)| names.contains(&name));
        found.map(|(_, config, unit)| (kind(*config), *unit))
    };
    among(HARDWARE, EventKind::Hardware)
        .or_else(|| among(SOFTWARE, EventKind::Software))
        .or_else(|| cache(name).map(|config| (EventKind::Cache(config), Unit::Count)))
}

/// The portable name of an event and the unit of one count: the reverse of [`generic`].
pub(super) fn name_of(kind: &EventKind) -> Option<(String, Unit)> {
    let among = |table: &[Generic], config: u64| {
        let found = table.iter().find(|(_, number, _)| *number == config);
        found.map(|(names, _, unit)| (names[0].to_string(), *unit))
    };
    match kind {
        EventKind::Hardware(config) => among(HARDWARE, *config),
        EventKind::Software(config) => among(SOFTWARE, *config),
        EventKind::Cache(config) => {
            let at = |shift: u32| (config >> shift & 0xff) as usize;
            let (names, _) = CACHES.get(at(0))?;
            let (words, _) = CACHE_OPERATIONS.get(at(8))?;
            let name = if at(16) == 0 { words[0].to_string() } else { format!("{}-misses", words[1]) };
            Some((format!("{}-{name}", names[0]), Unit::Count))
        }
        EventKind::Tracepoint { .. } | EventKind::Raw { .. } => None,
    }
}

/// All names of the same hardware event, including the given one. Sysfs may list it under an alias.
pub(super) fn hardware_aliases(name: &str) -> &'static [&'static str] {
    HARDWARE.iter().find(|(names, ..)| names.contains(&name)).map_or(&[], |(names, ..)| names)
}

/// The unit of one count of a PMU's named event, if the name is a generic one.
pub(super) fn unit_of(name: &str) -> Unit {
    HARDWARE.iter().find(|(names, ..)| names.contains(&name)).map_or(Unit::Count, |(.., unit)| *unit)
}

/// `CACHE[-OPERATION][-RESULT]`, e.g. `L1-dcache-load-misses`. Defaults are loads and references.
fn cache(name: &str) -> Option<u64> {
    CACHES.iter().enumerate().find_map(|(id, (names, operations))| {
        // One name may be the beginning of another: `l1-d` and `L1-data`.
        let mut rests = names.iter().filter_map(|cache| strip_prefix_any_case(name, cache));
        let (operation, result) = rests.find_map(operation_and_result)?;
        let (_, letter) = CACHE_OPERATIONS.get(operation)?;
        operations.contains(*letter).then_some(id as u64 | (operation as u64) << 8 | (result as u64) << 16)
    })
}

fn operation_and_result(rest: &str) -> Option<(usize, usize)> {
    if rest.is_empty() {
        return Some((0, 0));
    }
    let rest = rest.strip_prefix('-')?;
    let result_of = |text: &str| CACHE_RESULTS.iter().position(|names| any_case(names, text));
    CACHE_OPERATIONS
        .iter()
        .enumerate()
        .flat_map(|(id, (names, _))| names.iter().map(move |name| (id, name)))
        .find_map(|(id, name)| match strip_prefix_any_case(rest, name)? {
            "" => Some((id, 0)),
            tail => Some((id, result_of(tail.strip_prefix('-')?)?)),
        })
        .or_else(|| result_of(rest).map(|result| (0, result)))
}

fn any_case(names: &[&str], text: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(text))
}

fn strip_prefix_any_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The known name nearest to `wrong`, if it is near enough to be a typo. `more` are additional names of this machine.
pub(super) fn nearest(wrong: &str, more: &[String]) -> Option<String> {
    closest(wrong, all().into_iter().flat_map(|(_, names)| names).chain(more.iter().cloned()))
}

/// The name in `known` nearest to `wrong`, if it is near enough to be a typo.
pub(super) fn closest(wrong: &str, known: impl Iterator<Item = String>) -> Option<String> {
    known.filter_map(|name| Some((slip(wrong, &name)?, name))).min().map(|(_, name)| name)
}

/// The number of edits between two names, if they are few enough for a typo.
pub(super) fn slip(wrong: &str, name: &str) -> Option<usize> {
    // Longer than any name: computing a distance would be expensive and useless.
    let limit = if wrong.len() > 64 { return None } else { (wrong.len() / 3).clamp(1, 3) };
    Some(strsim::levenshtein(&wrong.to_lowercase(), &name.to_lowercase())).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_event_is_one_that_means_it() {
        for kind in [EventKind::Hardware(8), EventKind::Software(1), EventKind::Cache(0x10203), EventKind::Cache(2)] {
            let Some((name, unit)) = name_of(&kind) else { panic!("{kind:?} has no name") };
            assert_eq!(generic(&name), Some((kind, unit)), "{name}");
        }
        assert_eq!(name_of(&EventKind::Hardware(99)), None);
        assert_eq!(name_of(&EventKind::Cache(0xff_ffff)), None);
    }

    #[test]
    fn every_name_of_the_list_means_its_event() {
        let all = all();
        for (kind, names) in &all {
            assert_eq!(name_of(kind).map(|(name, _)| name).as_ref(), names.first());
            for name in names {
                assert_eq!(generic(name).map(|(kind, _)| kind).as_ref(), Some(kind), "{name}");
            }
        }
        assert_eq!(all.len(), 10 + 12 + 32);
    }

    #[test]
    fn cache_events_are_numbered_as_in_the_manual() {
        for (name, expected) in [
            ("L1-dcache-loads", Some(0)),
            ("L1-dcache-load-misses", Some(0x10000)),
            ("L1-dcache-stores", Some(0x100)),
            ("L1-dcache-prefetch-misses", Some(0x10200)),
            ("L1-icache-load-misses", Some(0x10001)),
            ("LLC-loads", Some(2)),
            ("LLC-store-misses", Some(0x10102)),
            ("llc-misses", Some(0x10002)),
            ("L1-data-loads", Some(0)),
            ("branches-load-misses", Some(0x10005)),
            ("dTLB-load-misses", Some(0x10003)),
            ("dtlb-store-misses", Some(0x10103)),
            ("iTLB-loads", Some(4)),
            ("branch-loads", Some(5)),
            ("node-prefetches", Some(0x206)),
            // These counters do not exist: instruction caches are not written.
            ("L1-icache-stores", None),
            ("iTLB-store-misses", None),
            ("LLC-", None),
            ("LLC-loads-", None),
            ("LLC-misses-loads-misses", None),
        ] {
            assert_eq!(cache(name), expected, "{name}");
        }
    }

    #[test]
    fn a_hardware_name_wins_over_the_cache_it_looks_like() {
        assert_eq!(generic("branch-misses"), Some((EventKind::Hardware(5), Unit::Count)));
        assert_eq!(generic("branches"), generic("branch-instructions"));
        assert_eq!(generic("cs"), Some((EventKind::Software(3), Unit::Count)));
    }

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_nonsense_finds_none() {
        for (wrong, meant) in [
            ("cylces", Some("cycles")),
            ("Instructions", Some("instructions")),
            ("cache-miss", Some("cache-misses")),
            ("L1-dcache-lode-misses", Some("L1-dcache-load-misses")),
            ("topdown-retirin", Some("topdown-retiring")),
            ("zzzzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, &["topdown-retiring".into()]).as_deref(), meant, "{wrong}");
        }
    }
}

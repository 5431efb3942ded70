//! Resolves events by the vendor's name or by role, in addition to those in sysfs, so that `-e LONGEST_LAT_CACHE.MISS`
//! and `-e lock-loads` work. Names that perf itself defines take precedence.

use super::table::EventEncoding;
use super::{CoreType, EventSources};
use crate::error::Result;
use crate::model::EventKind;
use std::fmt;

/// The kernel's event sources combined with the event table of this machine's cores.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The event sources in sysfs.
    pub sources: &'a dyn EventSources,
    /// The core types. On a hybrid CPU, a name refers to the first core type that has it.
    pub cores: &'a [CoreType],
}

impl fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("cores", &self.cores).finish_non_exhaustive()
    }
}

impl EventSources for Known<'_> {
    fn read(&self, path: &str) -> Option<String> {
        self.sources.read(path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.sources.list(folder)
    }

    fn tracepoints(&self) -> Result<Vec<String>> {
        self.sources.tracepoints()
    }

    fn known(&self, name: &str) -> Option<EventKind> {
        self.cores.iter().find_map(|core| {
            let mut events = core.uarch.events.iter();
            let event = events.find(|event| event.name.eq_ignore_ascii_case(name) || event.role == name)?;
            Some(kind(&event.code, core.capacity.kind, core.capacity.hybrid))
        })
    }

    fn known_names(&self) -> Vec<String> {
        let events = self.cores.iter().flat_map(|core| &core.uarch.events);
        events.flat_map(|event| [event.name.clone(), event.role.clone()]).collect()
    }
}

/// The kernel encoding of an event for the PMU with that type number.
pub(super) fn kind(code: &EventEncoding, pmu: u32, hybrid: bool) -> EventKind {
    // The upper half of a generic event's config selects the core type.
    let of_core = |config: u64| if hybrid { u64::from(pmu) << 32 | config } else { config };
    match code {
        EventEncoding::Raw { config, config1 } => {
            EventKind::Raw { pmu, config: *config, config1: *config1, config2: 0 }
        }
        EventEncoding::Generic { kind: EventKind::Hardware(config), .. } => EventKind::Hardware(of_core(*config)),
        EventEncoding::Generic { kind: EventKind::Cache(config), .. } => EventKind::Cache(of_core(*config)),
        EventEncoding::Generic { kind, .. } => kind.clone(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::pmu::fake::INTEL;
    use crate::pmu::{Machine, Table, assumed, parse};

    #[test]
    fn an_event_is_found_by_its_vendors_name_and_by_its_role() {
        let table = Table::built_in().unwrap();
        let cores = [assumed(&Machine::default(), table.by_id("intel-spr").unwrap())];
        let known = Known { sources: &INTEL, cores: &cores };
        let raw = |config, config1| EventKind::Raw { pmu: 4, config, config1, config2: 0 };
        for (name, expected) in [
            ("LONGEST_LAT_CACHE.MISS", raw(0x412e, 0)),
            ("longest_lat_cache.miss:u", raw(0x412e, 0)),
            ("lock-loads:k", raw(0x21d0, 0)),
            ("remote-dram-ocr", raw(0x12a, 0x7_3000_4477)),
            // Perf's own names take precedence.
            ("cycles", EventKind::Hardware(0)),
            ("llc-miss", EventKind::Cache(0x10002)),
        ] {
            assert_eq!(parse(name, &known).unwrap()[0].kind, expected, "{name}");
        }
        let slip = parse("LONGEST_LAT_CACHE.MIS", &known).unwrap_err();
        assert_eq!(slip.remedy(), Some("Did you mean 'LONGEST_LAT_CACHE.MISS'?"));
        assert!(parse("lock-loads", &INTEL).is_err());
    }
}

//! The events that this machine has a name for, by kind. A name does not imply that the event counts here.

use super::{EventSources, Known, core_pmus, names, terms};
use crate::model::EventKind;
use serde::Serialize;

/// How an event is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventClass {
    /// Counted by the CPU, under a portable name.
    Hardware,
    /// Counted by the kernel.
    Software,
    /// An event of a cache, under a portable name.
    Cache,
    /// Named by a PMU in sysfs or by the vendor.
    Pmu,
}

/// An event with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEvent {
    /// How it is implemented.
    pub class: EventClass,
    /// What `-e` takes for it, the usual name first.
    pub names: Vec<String>,
    /// Whether its PMU counts whole CPUs or more, but not threads.
    pub whole_cpus: bool,
}

/// Every event that has a name, by class; within a class as the kernel numbers them, or sorted.
#[must_use]
pub fn catalog(known: &Known<'_>) -> Vec<NamedEvent> {
    let portable = names::all().into_iter().map(|(kind, names)| {
        let class = match kind {
            EventKind::Software(_) => EventClass::Software,
            EventKind::Cache(_) => EventClass::Cache,
            _ => EventClass::Hardware,
        };
        NamedEvent { class, names, whole_cpus: false }
    });
    portable.chain(of_sysfs(known.sources)).chain(of_vendor(known)).collect()
}

fn of_sysfs(sources: &dyn EventSources) -> Vec<NamedEvent> {
    let core = core_pmus(sources);
    let mut pmus = sources.list("");
    pmus.sort();
    let mut events = Vec::new();
    for pmu in pmus {
        let mut names = terms::event_names(&pmu, sources);
        names.sort();
        // Uncore PMUs state the CPUs to open their events on.
        let whole_cpus = sources.read(&format!("{pmu}/cpumask")).is_some();
        events.extend(names.into_iter().map(|name| {
            // A portable event of the same name takes precedence without the PMU.
            let short = core.contains(&pmu) && names::generic(&name).is_none();
            let names = std::iter::once(format!("{pmu}/{name}/")).chain(short.then_some(name)).collect();
            NamedEvent { class: EventClass::Pmu, names, whole_cpus }
        }));
    }
    events
}

/// The events of the CPU's table by the vendor's name, with the roles that they have in formulas.
fn of_vendor(known: &Known<'_>) -> Vec<NamedEvent> {
    let mut events: Vec<NamedEvent> = Vec::new();
    for event in known.cores.iter().flat_map(|core| &core.uarch.events) {
        // Perf's own names take precedence, and so does what these signs mean in a list.
        let own = |name: &String| names::generic(name).is_none() && !name.contains([':', '/', ',', '{', '}', '*', '?']);
        let role = Some(event.role.clone()).filter(own);
        match events.iter_mut().find(|other| other.names[0].eq_ignore_ascii_case(&event.name)) {
            Some(other) => other.names.extend(role.filter(|role| !other.names.contains(role))),
            None => {
                let names: Vec<String> = Some(event.name.clone()).filter(own).into_iter().chain(role).collect();
                if !names.is_empty() {
                    events.push(NamedEvent { class: EventClass::Pmu, names, whole_cpus: false });
                }
            }
        }
    }
    events.sort_by(|a, b| a.names.cmp(&b.names));
    events
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::pmu::fake::INTEL;
    use crate::pmu::{Machine, Table, assumed, parse};

    #[test]
    fn every_name_in_the_catalog_is_taken_and_the_names_of_an_event_mean_the_same() {
        let table = Table::built_in().unwrap();
        let mut vendors = 0;
        for uarch in &table.uarchs {
            let cores = [assumed(&Machine::default(), uarch)];
            let known = Known { sources: &INTEL, cores: &cores };
            for event in catalog(&known) {
                let asks = event.names[0] == "cpu/asks/";
                let kinds: Vec<_> =
                    event.names.iter().filter_map(|name| Some(parse(name, &known).ok()?.remove(0).kind)).collect();
                assert!(asks || kinds.len() == event.names.len(), "{}: {event:?}", uarch.id);
                // A vendor's name in several roles stands for several encodings.
                let roles = event.class == EventClass::Pmu && !event.names[0].contains('/');
                assert!(roles || kinds.iter().all(|kind| *kind == kinds[0]), "{}: {event:?} {kinds:?}", uarch.id);
                vendors += usize::from(roles);
            }
        }
        assert!(vendors > 500, "{vendors}");
    }

    #[test]
    fn what_sysfs_and_the_vendor_name_is_listed_once_and_uncore_is_told_apart() {
        let table = Table::built_in().unwrap();
        let cores = [assumed(&Machine::default(), table.by_id("intel-spr").unwrap())];
        let all = catalog(&Known { sources: &INTEL, cores: &cores });
        let find =
            |name: &str| all.iter().filter(|event| event.names.iter().any(|own| own == name)).collect::<Vec<_>>();
        for (name, class, names, whole_cpus) in [
            ("cpu-cycles", EventClass::Hardware, vec!["cycles", "cpu-cycles"], false),
            ("cs", EventClass::Software, vec!["context-switches", "cs"], false),
            ("mem-loads", EventClass::Pmu, vec!["cpu/mem-loads/", "mem-loads"], false),
            ("cpu/instructions/", EventClass::Pmu, vec!["cpu/instructions/"], false),
            ("uncore_imc_0/cas_count_read/", EventClass::Pmu, vec!["uncore_imc_0/cas_count_read/"], true),
        ] {
            let found = find(name);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert_eq!((found[0].class, found[0].whole_cpus), (class, whole_cpus), "{name}");
            assert_eq!(found[0].names, names, "{name}");
        }
        assert!(find("lock-loads")[0].names.len() > 1, "{:?}", find("lock-loads"));
        let mut names: Vec<_> = all.iter().map(|event| &event.names[0]).collect();
        names.sort();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}

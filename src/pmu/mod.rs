//! Converts event names to kernel attributes, in perf's own syntax, so that perf users need not learn another one.
//! Opens no events and reads sysfs only through [`EventSources`], so tests run on any machine.
//!
//! Tables supply the rest: [`Table`] lists the events of many cores by role, [`core_types`] identifies this machine's
//! cores, and [`planner`] decides which events can be counted together for which metric.
//!
//! ```text
//! list   = item { "," item }
//! item   = event | "{" event { "," event } "}" [ ":" modifiers ]
//! event  = name [ ":" modifiers ] | "rNNN" [ ":" modifiers ] | category ":" name [ ":" modifiers ]
//!        | pmu "/" term { "," term } "/" [ [ ":" ] modifiers ]
//!        | pattern [ ":" modifiers ] | pattern ":" pattern [ ":" modifiers ]
//! ```

mod accesses;
mod catalog;
pub(crate) mod detect;
mod event;
mod expand;
mod glob;
mod known;
mod list;
mod machine;
mod modifiers;
mod names;
mod perf_syntax;
pub(crate) mod planner;
mod sets;
mod table;
mod terms;
mod uncore;

pub use accesses::access_events;
pub use catalog::{EventClass, NamedEvent, catalog};
pub use glob::{is_glob, matches, nearest};
pub use known::Known;
pub use list::parse;
pub use machine::{CoreType, Machine, assumed, core_types, own_table};
pub use perf_syntax::{perf_event, perf_group};
pub use sets::{Wanted, name_of_set, wanted};
pub use table::Table;
pub use uncore::{UncoreCounter, UncoreTraffic, uncore_counters};

use crate::error::{Error, ErrorKind, Result};
use crate::model::{EventKind, Unit};

/// The portable name of an event and the unit of one count; `None` if the event has no portable name.
#[must_use]
pub fn name_of(kind: &EventKind) -> Option<(String, Unit)> {
    names::name_of(kind)
}

/// The generic event of this name and the unit of one count: the reverse of [`name_of`].
#[must_use]
pub fn event_of(name: &str) -> Option<(EventKind, Unit)> {
    names::generic(name)
}

/// The kernel's descriptions of its performance monitoring units: text files below `/sys/bus/event_source/devices`,
/// addressed relative to it, e.g. `cpu/format/event`.
pub trait EventSources {
    /// The text of a file, without surrounding white space; `None` if it cannot be read.
    fn read(&self, path: &str) -> Option<String>;
    /// The names in a folder, in any order; empty if it cannot be read. The empty path is the top folder.
    fn list(&self, folder: &str) -> Vec<String>;
    /// The kernel's tracepoints as `category:name`, sorted.
    ///
    /// # Errors
    /// `Unsupported` without a mounted tracefs, `NotPermitted` when it may not be read.
    fn tracepoints(&self) -> Result<Vec<String>> {
        Err(Error::new(ErrorKind::Unsupported, "tracefs is not mounted"))
    }
    /// An event that is known by name although sysfs does not list it; see [`Known`].
    fn known(&self, _name: &str) -> Option<EventKind> {
        None
    }
    /// The names of those events.
    fn known_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The names of the core PMUs, one for each core type, sorted.
fn core_pmus(sources: &dyn EventSources) -> Vec<String> {
    let mut pmus = sources.list("");
    pmus.retain(|pmu| matches!(pmu.as_str(), "cpu" | "cpu_core" | "cpu_atom") || pmu.starts_with("armv8_"));
    pmus.sort();
    pmus
}

#[cfg(test)]
pub(crate) mod fake {
    //! Fake event sources for tests: two PMUs with real kernel file contents.

    use super::EventSources;
    use crate::error::{Error, ErrorKind, Result};

    /// Files by path.
    pub(crate) struct FakeSources(pub(crate) &'static [(&'static str, &'static str)]);

    /// An Intel core PMU and an uncore one.
    pub(crate) const INTEL: FakeSources = FakeSources(&[
        ("cpu/type", "4"),
        ("cpu/caps/max_precise", "3"),
        ("cpu/format/event", "config:0-7"),
        ("cpu/format/umask", "config:8-15"),
        ("cpu/format/edge", "config:18"),
        ("cpu/format/cmask", "config:24-31"),
        ("cpu/format/ldlat", "config1:0-15"),
        ("cpu/format/split", "config:0-7,32-35"),
        ("cpu/format/far", "config3:0-7"),
        ("cpu/events/cpu-cycles", "event=0x3c"),
        ("cpu/events/instructions", "event=0xc0"),
        ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
        ("cpu/events/mem-loads.scale", "2"),
        ("cpu/events/asks", "event=0x1,umask=?"),
        ("uncore_imc_0/type", "14"),
        ("uncore_imc_0/cpumask", "0"),
        ("uncore_imc_0/format/event", "config:0-7"),
        ("uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03"),
        ("uncore_imc_0/format/umask", "config:8-15"),
        ("broken/type", "what"),
        ("broken/format/event", "config:9-3"),
    ]);

    impl EventSources for FakeSources {
        fn read(&self, path: &str) -> Option<String> {
            self.0.iter().find(|(file, _)| *file == path).map(|(_, text)| text.to_string())
        }

        fn list(&self, folder: &str) -> Vec<String> {
            let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let below = self.0.iter().filter_map(|(file, _)| file.strip_prefix(&prefix));
            let mut names: Vec<_> = below.filter_map(|rest| rest.split('/').next()).map(String::from).collect();
            names.dedup();
            names
        }

        /// Those of the scheduler, and more system calls than one pattern may stand for.
        fn tracepoints(&self) -> Result<Vec<String>> {
            if self.0.is_empty() {
                return Err(Error::new(ErrorKind::Unsupported, "tracefs is not mounted").hint("Mount it."));
            }
            let mut names: Vec<_> = ["switch", "wakeup", "wakeup_new"].map(|name| format!("sched:sched_{name}")).into();
            names.extend((10..80).map(|number| format!("syscalls:sys_enter_{number}")));
            Ok(names)
        }
    }
}

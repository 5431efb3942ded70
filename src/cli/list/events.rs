//! Gathers events and metrics, and tries those events that a thread can count.

use super::entry::{Entry, tried};
use super::selection::{Kind, Selection, unmatched};
use super::{SCHEMA_VERSION, tracepoints};
use crate::cli::hardware;
use crate::error::Result;
use crate::pmu::{self, CoreType, EventClass, EventSources, Known, NamedEvent, planner};
use crate::sys::event_sources::EventSourceFiles;
use serde::Serialize;
use std::path::Path;

/// The list.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    schema_version: u32,
    pub(super) events: Vec<Entry>,
    /// What holds for more than one entry, or why entries are missing.
    pub(super) notes: Vec<String>,
}

/// The selected entries, of the machine below `root`. Events are opened on the machine that runs.
///
/// # Errors
/// As [`super::run`]; and if tracepoints are asked for and cannot be listed.
pub(super) fn list(root: &Path, selection: &Selection) -> Result<Listing> {
    let sources = EventSourceFiles::open(&root.join("sys"));
    let cores = hardware::cores(root, &hardware::machine(root), &hardware::table(None)?);
    let known = Known { sources: &sources, cores: &cores };
    let mut names: Vec<String> = Vec::new();
    let mut events = Vec::new();
    for event in pmu::catalog(&known) {
        if selection.has(kind(event.class), &event.names) {
            events.push(entry(&event, &known, root));
        }
        names.extend(event.names);
    }
    let mut notes = Vec::new();
    if selection.may_have(Kind::Tracepoint) {
        match sources.tracepoints() {
            Ok(all) => {
                let (own, note) = tracepoints::entries(&all, selection, root);
                events.extend(own);
                notes.extend(note);
                names.extend(all);
            }
            Err(error) if selection.names(Kind::Tracepoint) || of_category(selection) => {
                return Err(error.context("cannot list tracepoints"));
            }
            Err(error) => {
                notes.push(format!("tracepoints cannot be listed: {error}. {}", error.remedy().unwrap_or_default()))
            }
        }
    }
    let metrics = metrics(&cores)?;
    names.extend(metrics.iter().map(|metric| metric.name.clone()));
    events.extend(metrics.into_iter().filter(|metric| selection.has(metric.kind, std::slice::from_ref(&metric.name))));
    match unmatched(&selection.patterns, &names, "event or metric", "ironlaw list") {
        Some(error) => Err(error),
        None => Ok(Listing { schema_version: SCHEMA_VERSION, events, notes }),
    }
}

/// Whether a pattern can only mean tracepoints: only their names have colons.
fn of_category(selection: &Selection) -> bool {
    selection.patterns.iter().any(|pattern| pattern.contains(':'))
}

fn kind(class: EventClass) -> Kind {
    match class {
        EventClass::Hardware => Kind::Hardware,
        EventClass::Software => Kind::Software,
        EventClass::Cache => Kind::Cache,
        EventClass::Pmu => Kind::Pmu,
    }
}

fn entry(event: &NamedEvent, known: &Known<'_>, root: &Path) -> Entry {
    let (counted, why) = match event.whole_cpus {
        true => (None, Some("it counts whole CPUs".to_string())),
        false => tried(&event.names[0], known, root),
    };
    let mut names = event.names.iter().cloned();
    Entry { kind: kind(event.class), name: names.next().unwrap_or_default(), aliases: names.collect(), counted, why }
}

/// All metrics of hardware events. A metric counts if a core of one type has what it needs.
fn metrics(cores: &[CoreType]) -> Result<Vec<Entry>> {
    let wanted = pmu::wanted("all")?;
    let plans: Vec<_> = cores.iter().map(|core| planner::plan(&core.uarch, &core.capacity, &wanted)).collect();
    let of = |name: &str| {
        let whys: Vec<Option<String>> = plans
            .iter()
            .map(|plan| plan.absent.iter().find(|absent| absent.metric == name).map(|absent| absent.why.clone()))
            .collect();
        // The planner only reads tables: whether its events count is tried when they are opened.
        let why = if whys.iter().any(Option::is_none) { None } else { whys.into_iter().flatten().next() };
        Entry {
            kind: Kind::Metric,
            name: name.to_string(),
            aliases: Vec::new(),
            counted: why.is_some().then_some(false),
            why,
        }
    };
    Ok(wanted.metrics.iter().map(|metric| of(metric.name)).collect())
}

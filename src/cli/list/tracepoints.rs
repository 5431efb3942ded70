//! Tracepoints: thousands of the same kind, so one of them is tried for all.

use super::entry::{Entry, tried};
use super::selection::{Kind, Selection};
use crate::pmu::EventSources;
use crate::sys::caps::Privileges;
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::procfs::ProcFs;
use std::path::Path;

/// The tracepoint that is tried if the kernel has it.
const USUAL: &str = "sched:sched_switch";

/// The selected tracepoints, and how many there are and by which permission they count.
pub(super) fn entries(all: &[String], selection: &Selection, root: &Path) -> (Vec<Entry>, Option<String>) {
    let selected = all.iter().filter(|name| selection.has(Kind::Tracepoint, std::slice::from_ref(*name)));
    let entry = |name: &String| Entry {
        kind: Kind::Tracepoint,
        name: name.clone(),
        aliases: Vec::new(),
        counted: None,
        why: None,
    };
    let entries: Vec<Entry> = selected.map(entry).collect();
    let first = all.iter().find(|name| *name == USUAL).or(all.first()).filter(|_| !entries.is_empty());
    let note = first.map(|first| note(all, first, root));
    (entries, note)
}

fn note(all: &[String], first: &str, root: &Path) -> String {
    let mut categories: Vec<_> = all.iter().filter_map(|name| Some(name.split_once(':')?.0)).collect();
    categories.dedup();
    let sources: &dyn EventSources = &EventSourceFiles::open(&root.join("sys"));
    let verdict = match tried(first, sources, root) {
        (Some(true), why) => {
            format!("counts{}, {}", why.map(|why| format!(" {why}")).unwrap_or_default(), permission(root))
        }
        (_, why) => format!("does not count: {}", why.unwrap_or_default()),
    };
    let (count, of) = (all.len(), categories.len());
    let categories = if of == 1 { "category" } else { "categories" };
    format!("{count} tracepoints in {of} {categories}; {first}, tried for all, {verdict}")
}

fn permission(root: &Path) -> String {
    let proc = ProcFs::new(root.join("proc"));
    match Privileges::open(&proc).unwrap_or_default().may_profile_anything() {
        true => "permitted by CAP_PERFMON or root".to_string(),
        false => match proc.setting("kernel/perf_event_paranoid") {
            Some(level) => format!("permitted by kernel.perf_event_paranoid={level}"),
            None => "permitted".to_string(),
        },
    }
}

//! What this machine and its files offer.

use crate::cli::{guide, hardware};
use crate::collect::targets::{TargetLister, totals};
use crate::pmu::{self, EventSources, Known};
use crate::store;
use crate::sweep;
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::procfs::ProcFs;
use crate::sys::workload;
use crate::units::Nanos;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use std::ffi::OsStr;
use std::path::Path;

/// Of names, those that begin with the text.
pub(super) fn beginning_with<N: AsRef<str>>(
    text: &str,
    names: impl IntoIterator<Item = N>,
) -> Vec<CompletionCandidate> {
    let names = names.into_iter().filter(|name| name.as_ref().starts_with(text));
    names.map(|name| CompletionCandidate::new(name.as_ref())).collect()
}

/// Files, and folders to look into.
pub(super) fn files(text: &str) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(OsStr::new(text))
}

/// Recordings, sweeps and files of other profilers, by their names.
pub(super) fn recordings(text: &str) -> Vec<CompletionCandidate> {
    named(text, |path| is_recording(path) || sweep::Folder::is_one(path) || is_importable(path))
}

/// Baselines, and recordings to compare with.
pub(super) fn baselines(text: &str) -> Vec<CompletionCandidate> {
    named(text, |path| store::baseline::path(path) == path && path.is_file() || is_recording(path))
}

/// Whether a folder is named as recordings are.
pub(super) fn is_recording(path: &Path) -> bool {
    store::path(path) == path && path.is_dir()
}

fn is_importable(path: &Path) -> bool {
    let is_perf_data = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("perf.data"));
    (is_perf_data || path.extension().is_some_and(|ending| ending == "folded")) && path.is_file()
}

/// What is wanted, each complete: the slash that a folder ends in would lead into it.
fn named(text: &str, is_wanted: fn(&Path) -> bool) -> Vec<CompletionCandidate> {
    let whole = |candidate: CompletionCandidate| {
        let value = candidate.get_value().to_string_lossy().into_owned();
        match value.strip_suffix('/').filter(|path| is_wanted(Path::new(path))) {
            Some(path) => CompletionCandidate::new(path),
            None => candidate,
        }
    };
    PathCompleter::any().filter(is_wanted).complete(OsStr::new(text)).into_iter().map(whole).collect()
}

/// Events of this machine; tracepoints once their category is begun.
pub(super) fn events(text: &str) -> Vec<CompletionCandidate> {
    let sources = EventSourceFiles::open(Path::new("/sys"));
    let root = Path::new("/");
    let cores = hardware::table(None).map(|table| hardware::cores(root, &hardware::machine(root), &table));
    let known = Known { sources: &sources, cores: &cores.unwrap_or_default() };
    let mut names: Vec<String> = pmu::catalog(&known).into_iter().flat_map(|event| event.names).collect();
    if !text.is_empty() {
        names.extend(sources.tracepoints().unwrap_or_default());
    }
    beginning_with(text, names)
}

/// Hardware metrics and their sets.
pub(super) fn metrics(text: &str) -> Vec<CompletionCandidate> {
    let metrics = pmu::wanted("all").map(|wanted| wanted.metrics).unwrap_or_default();
    let sets = metrics.iter().filter_map(|metric| metric.set).map(|(set, _)| pmu::name_of_set(set));
    let mut names: Vec<&str> = ["default", "all", "none"].into_iter().chain(sets).collect();
    names.sort_unstable();
    names.dedup();
    names.extend(metrics.iter().map(|metric| metric.name));
    beginning_with(text, names)
}

/// Control groups, the busiest first, as paths or by their last part.
pub(super) fn cgroups(text: &str) -> Vec<CompletionCandidate> {
    let groups = CgroupFs::open(&ProcFs::new("/proc")).map(|fs| totals(&fs)).unwrap_or_default();
    let mut found = beginning_with(text, groups.iter().map(|group| group.path.as_str()));
    let units = groups.iter().filter_map(|group| group.path.rsplit('/').next()).filter(|unit| unit.contains('.'));
    found.extend(beginning_with(text, units));
    found
}

/// Processes by id, or by the start of their name.
pub(super) fn processes(text: &str) -> Vec<CompletionCandidate> {
    let processes = TargetLister::here().list(Nanos(0)).processes.unwrap_or_default();
    let fits = |pid: &str, comm: &str| pid.starts_with(text) || comm.starts_with(text);
    let all = processes.into_iter().map(|process| (process.pid.to_string(), process.comm));
    all.filter(|(pid, comm)| fits(pid, comm))
        .map(|(pid, comm)| CompletionCandidate::new(pid).help(Some(comm.into())))
        .collect()
}

/// Built-in programs.
pub(super) fn workloads(text: &str) -> Vec<CompletionCandidate> {
    beginning_with(text, workload::all().iter().map(|known| known.name))
}

/// Pages of the guide.
pub(super) fn subjects(text: &str) -> Vec<CompletionCandidate> {
    beginning_with(text, guide::subjects())
}

/// What `list` lists.
pub(super) fn listed(text: &str) -> Vec<CompletionCandidate> {
    let kinds = ["hw", "sw", "cache", "pmu", "tracepoint", "metric", "cgroups", "usdt"];
    let mut found = beginning_with(text, kinds);
    if !text.is_empty() {
        found.extend(events(text));
    }
    found
}

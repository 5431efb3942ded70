//! `ironlaw report`: prints a recording's findings as text or in a machine-readable format.

use super::args::{GlobalArgs, ReportArgs, ReportFormat, SelectionArgs, SortArg, SweepFormat, ThreadFilter};
use super::out::{self, Terminal};
use super::progress::ProgressLine;
use super::{colocate, pager, plan};
use crate::analysis::{GroupKey, Selection, SortBy};
use crate::colocate::Folder as Colocated;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::{csv, json, markdown, text};
use crate::model::profile::Profile;
use crate::model::{Baseline, FrameId, ReadCode};
use crate::session::{self, RecordedCode};
use crate::store;
use crate::sweep::{self, Folder};
use crate::view::report::{Report, ReportOptions};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Threads, processes and blocked paths listed in text.
const DETAIL: usize = 10;

/// Prints the report, or writes it to a file.
pub(super) fn run(args: &ReportArgs, global: &GlobalArgs) -> Result<()> {
    let path = recording(&args.selection)?;
    if Folder::is_one(&path) {
        if args.mix {
            return Err(Error::new(ErrorKind::Usage, "a sweep has no mix of instructions")
                .hint("Name one of the recordings in it."));
        }
        return sweep(&path, args, global);
    }
    if Colocated::is_one(&path) {
        return colocate::report(&path, args.format, args.output.as_deref(), global);
    }
    let by = keys(args);
    check_filters(args, &by)?;
    if args.mix && !matches!(args.format, ReportFormat::Text | ReportFormat::Json) {
        return Err(Error::new(ErrorKind::Usage, "--mix is shown as text and json only").hint("Choose one of them."));
    }
    let mut profile = open(&path, &args.selection, &Terminal::stderr(global))?;
    profile.meta.plan.slo = args.slo.or(profile.meta.plan.slo);
    let profile: &'static Profile = Box::leak(Box::new(profile));
    let options = ReportOptions {
        selection: selection(&args.selection, profile)?,
        by,
        sort: order(args),
        min_share: args.percent_limit.unwrap_or_default() / 100.0,
        modules: args.dso.iter().map(|name| own_name(name)).collect(),
        functions: args.symbol.clone(),
        call_paths: args.call_graph,
        limit: args.limit,
        // Programs need all rows, and so do users who request them.
        detail_limit: if args.limit == 0 || args.format == ReportFormat::Json { 0 } else { DETAIL },
        all_notes: args.notes,
    };
    let mut code = RecordedCode::of(&profile.meta, None);
    let instructions = code.sampled(profile, hottest_frames(profile));
    let read = ReadCode { instructions, locks: code.locks(profile) };
    let mut report = Report::build_with(profile, &options, Some(&read))?;
    if args.mix {
        report.add_mix(profile, &options, |frame| code.class(profile, frame));
    }
    if let Some(baseline) = baseline(args, &path)? {
        report.compare_with_baseline(profile, &baseline);
    }
    let bytes = match args.format {
        ReportFormat::Text => text::report(&report, out::style(global, args.output.is_some())),
        ReportFormat::Json => json::report(&report)?,
        ReportFormat::Csv => csv::report(&report),
        ReportFormat::Markdown => markdown::report(&report),
        ReportFormat::Html => {
            return Err(Error::new(ErrorKind::Usage, "cannot write a page of a recording: only a sweep has one")
                .hint("Choose text, json, csv or md; `ironlaw flamegraph` draws the recording."));
        }
    };
    pager::show(&bytes, args.output.as_deref())
}

/// What a row stands for: the keys of `--sort`, else of `--by`.
fn keys(args: &ReportArgs) -> Vec<GroupKey> {
    let sorted = args.sort.iter().filter_map(|word| match word {
        SortArg::Key(key) => Some(*key),
        SortArg::Order(_) => None,
    });
    let keys: Vec<GroupKey> = sorted.collect();
    if keys.is_empty() { args.by.clone() } else { keys }
}

/// Rows that stand for no code cannot be chosen by it.
fn check_filters(args: &ReportArgs, by: &[GroupKey]) -> Result<()> {
    let refused = |flag: &str, key: &str| {
        Err(Error::new(ErrorKind::Usage, format!("{flag} chooses among rows of {key}s")).hint(format!(
            "Add the key: --by {key}, or --sort comm,{key} for several; without --by, rows stand for functions."
        )))
    };
    let is_by = |key| by.contains(&key);
    if !args.symbol.is_empty() && !is_by(GroupKey::Function) {
        return refused("--symbol", "function");
    }
    if !args.dso.is_empty() && !is_by(GroupKey::Module) && !is_by(GroupKey::Function) {
        return refused("--dso", "module");
    }
    Ok(())
}

/// The kernel has another name in perf.
fn own_name(module: &str) -> String {
    if matches!(module, "[kernel.kallsyms]" | "[kernel.vmlinux]" | "[k]" | "kernel") { "[kernel]" } else { module }
        .to_string()
}

fn order(args: &ReportArgs) -> SortBy {
    let typed = args.sort.iter().find_map(|word| match word {
        SortArg::Order(order) => Some(*order),
        SortArg::Key(_) => None,
    });
    match (args.children, typed) {
        (true, _) => SortBy::TotalWeight,
        (false, Some(order)) => order,
        (false, None) => SortBy::SelfWeight,
    }
}

/// The baseline to compare the recording with: from the command line, else the one within the recording.
fn baseline(args: &ReportArgs, recording: &Path) -> Result<Option<Baseline>> {
    match &args.baseline {
        Some(path) => store::baseline::read(path).map(Some),
        None => store::baseline::read_within(recording),
    }
}

/// Reports a sweep, computed again from its recordings.
fn sweep(path: &Path, args: &ReportArgs, global: &GlobalArgs) -> Result<()> {
    let (meta, results) = sweep::load_with(path, &ProgressLine::start(&Terminal::stderr(global)).progress)?;
    let format = match args.format {
        ReportFormat::Text => SweepFormat::Text,
        ReportFormat::Json => SweepFormat::Json,
        ReportFormat::Csv => SweepFormat::Csv,
        ReportFormat::Markdown => SweepFormat::Markdown,
        ReportFormat::Html => SweepFormat::Html,
    };
    let report = super::sweep::report(&meta, &results);
    pager::show(&super::sweep::render(&report, format, global, args.output.is_some())?, args.output.as_deref())
}

/// The innermost frames of the stacks with the most samples: what rules judge by takes a share of these.
fn hottest_frames(profile: &Profile) -> Vec<FrameId> {
    const MOST: usize = 4096;
    let mut samples: FxHashMap<FrameId, u64> = FxHashMap::default();
    for sample in profile.samples.iter() {
        if let Some(frame) = profile.walk(sample.stack).next() {
            *samples.entry(frame).or_default() += 1;
        }
    }
    let mut frames: Vec<(FrameId, u64)> = samples.into_iter().collect();
    frames.sort_by_key(|(frame, samples)| (Reverse(*samples), *frame));
    frames.into_iter().take(MOST).map(|(frame, _)| frame).collect()
}

/// The report as `demo` prints it: the top functions only.
pub(super) fn brief(profile: &Profile, global: &GlobalArgs) -> Result<Vec<u8>> {
    let options = ReportOptions { limit: 10, detail_limit: 6, ..ReportOptions::default() };
    Ok(text::report(&Report::build(profile, &options)?, out::style(global, false)))
}

/// The given recording, or the newest one here.
pub(super) fn recording(args: &SelectionArgs) -> Result<PathBuf> {
    args.recording.clone().or_else(|| args.input.clone()).map_or_else(newest, Ok)
}

/// The newest recording in this directory.
pub(super) fn newest() -> Result<PathBuf> {
    let entries = std::fs::read_dir(".").context(|| "cannot list this directory")?;
    plan::newest_recording(entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().into(), entry.metadata().ok()?.modified().ok()?))
    }))
}

/// Loads the recording, with or without inlined calls. It stays until the process ends: freeing a large profile piece by
/// piece only costs time.
pub(super) fn load(path: &Path, args: &SelectionArgs, terminal: &Terminal) -> Result<&'static Profile> {
    Ok(Box::leak(Box::new(open(path, args, terminal)?)))
}

fn open(path: &Path, args: &SelectionArgs, terminal: &Terminal) -> Result<Profile> {
    let mut profile = session::open_with(path, &ProgressLine::start(terminal).progress)?;
    if args.no_inline {
        profile.drop_inlined();
    }
    Ok(profile)
}

/// The part of a recording that the flags select.
pub(super) fn selection(args: &SelectionArgs, profile: &Profile) -> Result<Selection> {
    let mut selection = Selection { time: args.time_range.unwrap_or_default(), ..Selection::default() };
    selection.axis = match &args.event {
        Some(name) => Selection::event(profile, name)?,
        None => Selection::first_sampled(profile),
    };
    for thread in &args.thread {
        match thread {
            ThreadFilter::Tid(tid) => selection.tids.push(*tid),
            ThreadFilter::Name(name) => selection.comms.push(name.clone()),
        }
    }
    selection.tids.extend(&args.tid);
    selection.comms.extend(args.comm.iter().cloned());
    selection.pids.clone_from(&args.pid);
    selection.cgroups.clone_from(&args.cgroup);
    selection.cpus = args.cpu.as_ref().map(|list| list.0.clone()).unwrap_or_default();
    Ok(selection)
}

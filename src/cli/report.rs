//! `ironlaw report`: what a recording shows, as text for people or in a form for programs.
//! It never captures.

use super::args::{ByArg, GlobalArgs, ReportArgs, ReportFormat, SortArg, ThreadFilter};
use super::{out, plan};
use crate::analysis::{Axis, GroupBy, Selection, SortBy, TimeRange};
use crate::error::{Context, Result};
use crate::export::{csv, json, markdown, text};
use crate::model::profile::Profile;
use crate::session;
use crate::view::report::{Report, ReportOptions};
use std::path::{Path, PathBuf};

/// Prints the report, or writes it to a file.
pub(super) fn run(args: &ReportArgs, global: &GlobalArgs) -> Result<()> {
    let profile = load(&recording(args.recording.as_deref())?, args.no_inline)?;
    let event = args.event.as_deref().map(|name| Selection::event(&profile, name)).transpose()?;
    let options = ReportOptions {
        selection: selection(&args.thread, args.time_range, event),
        by: match args.by {
            ByArg::Function => GroupBy::Function,
            ByArg::Module => GroupBy::Module,
            ByArg::Thread => GroupBy::Thread,
            ByArg::Process => GroupBy::Process,
        },
        sort: match args.sort {
            SortArg::SelfShare => SortBy::SelfWeight,
            SortArg::Total => SortBy::TotalWeight,
            SortArg::Samples => SortBy::Samples,
            SortArg::Name => SortBy::Name,
        },
        limit: args.limit,
        ..ReportOptions::default()
    };
    let report = Report::build(&profile, &options)?;
    let bytes = match args.format {
        ReportFormat::Text => text::report(&report, out::style(global, args.output.is_some())),
        ReportFormat::Json => json::report(&report)?,
        ReportFormat::Csv => csv::report(&report),
        ReportFormat::Markdown => markdown::report(&report),
    };
    out::deliver(&bytes, args.output.as_deref())
}

/// The report as `demo` prints it: the first functions only.
pub(super) fn brief(profile: &Profile, global: &GlobalArgs) -> Result<Vec<u8>> {
    let options = ReportOptions { limit: 10, detail_limit: 6, ..ReportOptions::default() };
    Ok(text::report(&Report::build(profile, &options)?, out::style(global, false)))
}

/// The recording, with or without the calls that were inlined.
pub(super) fn load(path: &Path, no_inline: bool) -> Result<Profile> {
    let mut profile = session::open(path)?;
    if no_inline {
        profile.drop_inlined();
    }
    Ok(profile)
}

/// The recording that was named, or the newest one here.
pub(super) fn recording(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_path_buf());
    }
    let entries = std::fs::read_dir(".").context(|| "cannot list this directory")?;
    plan::newest_recording(entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().into(), entry.metadata().ok()?.modified().ok()?))
    }))
}

/// The part of a recording the flags name.
pub(super) fn selection(threads: &[ThreadFilter], time: Option<TimeRange>, axis: Option<Axis>) -> Selection {
    let mut selection = Selection { time: time.unwrap_or_default(), ..Selection::default() };
    selection.axis = axis.unwrap_or(selection.axis);
    for thread in threads {
        match thread {
            ThreadFilter::Tid(tid) => selection.tids.push(*tid),
            ThreadFilter::Name(name) => selection.comms.push(name.clone()),
        }
    }
    selection
}

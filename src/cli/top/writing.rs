//! Writes files on request: a recording of the history, or an image of the flame graph. Keeps existing files.

use super::super::plan;
use super::attached_baseline::AttachedBaseline;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::{self, svg};
use crate::model::Baseline;
use crate::session::History;
use crate::store;
use crate::sys::clock;
use crate::tui::effect::ShownFlame;
use crate::view::baseline;
use crate::view::context::ViewContext;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::query::{Bounds, Query, ViewRequest};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Saves the history with its baseline. Returns the message for the user.
pub(super) fn recording(
    history: &History,
    path: Option<PathBuf>,
    against_baseline: Option<&AttachedBaseline>,
) -> Result<String> {
    let path = path.map_or_else(|| default_name(history), |path| store::path(&path));
    let bytes = history.save(&path, false)?;
    against_baseline
        .map_or(Ok(()), |against_baseline| store::baseline::write_within(&path, &against_baseline.baseline))?;
    Ok(saved_message(&path, bytes))
}

/// The message about a recording.
pub(super) fn saved_message(path: &Path, bytes: u64) -> String {
    format!("wrote {} ({:.1} kB); read it with: ironlaw view {0}", path.display(), bytes as f64 / 1e3)
}

/// The current flame graph.
#[derive(Debug)]
pub(super) struct FlameExport<'a> {
    pub bounds: Bounds,
    pub query: &'a Query,
    pub flame: &'a ShownFlame,
    /// The baseline of the session.
    pub baseline: Option<&'a Baseline>,
}

/// Renders the current flame graph to a file. Returns the message for the user.
pub(super) fn picture(history: &History, shown: &FlameExport<'_>, path: Option<PathBuf>) -> Result<String> {
    let path = path.unwrap_or_else(|| default_name(history).with_extension("svg"));
    let bytes = match (&shown.query.request, shown.baseline) {
        (ViewRequest::Flame { against_baseline: true, .. }, Some(baseline)) => difference(history, shown, baseline)?,
        _ => {
            let selection = shown.query.selection(shown.bounds);
            let ShownFlame { root, inverted, rate } = shown.flame;
            let options = FlameOptions { selection, title: None, rate: *rate };
            let mut flame = FlameGraph::build(history.profile(), &options)?;
            flame.keep_below(root);
            svg::render(&flame, &svg::SvgOptions { inverted: *inverted, ..svg::SvgOptions::default() })?
        }
    };
    let create = || format!("cannot write {}", path.display());
    let mut file = std::fs::File::create_new(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::new(ErrorKind::Usage, format!("{} exists", path.display())).hint("Give another name.")
        }
        _ => Error::from(error).context(create()),
    })?;
    file.write_all(&bytes).context(create)?;
    Ok(format!("wrote {} ({:.1} kB)", path.display(), bytes.len() as f64 / 1e3))
}

/// The whole difference, because a part of it would not add up to the costs in its header.
fn difference(history: &History, shown: &FlameExport<'_>, baseline: &Baseline) -> Result<Vec<u8>> {
    let scene = ViewContext::of(history.profile(), None, shown.bounds, shown.query);
    let drawn = baseline::difference(&scene, baseline)?
        .ok_or_else(|| Error::new(ErrorKind::NotFound, "no samples in this time: there is nothing to draw"))?;
    let title = format!("{} against its baseline", history.profile().meta.plan.target.label());
    Ok(export::diff_flamegraph::render(&drawn, &title))
}

/// A name in this directory, from target and time.
fn default_name(history: &History) -> PathBuf {
    plan::recording_name(&history.profile().meta.plan.target, clock::unix_ns() / 1_000_000_000)
}

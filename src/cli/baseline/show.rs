//! `ironlaw baseline show`: the contents of a baseline, and whether it applies to this machine.

use super::fit;
use crate::analysis::baseline::key_changes;
use crate::cli::args::{BaselineFormat, GlobalArgs, ShowArgs};
use crate::cli::{out, pager};
use crate::error::{Error, ErrorKind, Result};
use crate::export::baseline::{json, text};
use crate::model::Baseline;
use crate::store::{self, baseline};
use crate::sys::clock;
use crate::view::baseline::BaselineView;
use std::path::Path;

pub(super) fn run(args: &ShowArgs, global: &GlobalArgs) -> Result<()> {
    let found = find(&args.name)?;
    let now = key_changes(&found, &fit::here(&found.key), clock::unix_ns());
    let view = BaselineView::of(&found, &args.name.display().to_string(), now);
    let bytes = match args.format {
        BaselineFormat::Text => text(&view, out::style(global, args.output.is_some()), args.all),
        BaselineFormat::Json => json(&view)?,
    };
    pager::show(&bytes, args.output.as_deref())
}

/// A separate file, or the baseline within a recording.
fn find(name: &Path) -> Result<Baseline> {
    let recording = [name.to_path_buf(), store::path(name)].into_iter().find(|path| path.is_dir());
    match recording {
        Some(path) if !super::is_one(name) => baseline::read_within(&path)?.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("{} contains no baseline", path.display()))
                .hint("A recording contains one if it was made with `ironlaw record --baseline NAME.baseline`.")
        }),
        _ => baseline::read(name),
    }
}

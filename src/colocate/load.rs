//! Reads a colocation back from its folder and digests each run from its recording again.

use super::Folder;
use super::runner::{Workers, digest};
use crate::analysis::colocate::RunResult;
use crate::error::Result;
use crate::model::{ColocateMeta, Note, RunState};
use std::path::Path;

/// Reads a colocation. A run whose recording cannot be read does not count, and a note states the reason.
///
/// # Errors
/// It does not exist or cannot be read.
pub fn load(path: &Path) -> Result<(ColocateMeta, Vec<Option<RunResult>>)> {
    let (folder, mut meta) = Folder::open(path)?;
    let mut workers = Workers::default();
    let mut results = Vec::with_capacity(meta.runs.len());
    for run in &meta.runs {
        let done = matches!(run.state, RunState::Done { .. });
        let mut read = || digest(&folder.recording(&run.recording)?, run, meta.leave_out, &mut workers).map(Some);
        let read = if done { read() } else { Ok(None) };
        results.push(read.unwrap_or_else(|error| {
            meta.notes.push(Note {
                topic: "run-unreadable".to_string(),
                text: format!("{} does not count: {error}", run.recording),
                fix: None,
            });
            None
        }));
    }
    Ok((meta, results))
}

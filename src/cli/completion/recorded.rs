//! What the recording on the command line holds, else the newest one here. Only the tables with names are read, and of a
//! large one its start: an answer is wanted at once.

use super::candidates::{beginning_with, is_recording, recordings};
use crate::cli::report;
use crate::store::{self, Recording};
use clap_complete::engine::CompletionCandidate;
use std::path::{Path, PathBuf};

/// Bytes of a table that are read.
const MOST: u64 = 1 << 20;

/// Functions, and a recording in their place.
pub(super) fn functions_and_recordings(text: &str) -> Vec<CompletionCandidate> {
    let mut found = functions(text);
    found.extend(recordings(text));
    found
}

/// Functions.
pub(super) fn functions(text: &str) -> Vec<CompletionCandidate> {
    named(text, |recording| recording.functions(MOST).into_iter().collect())
}

/// Modules, by their file names.
pub(super) fn modules(text: &str) -> Vec<CompletionCandidate> {
    fn short(path: String) -> String {
        path.rsplit('/').next().unwrap_or_default().to_string()
    }
    named(text, |recording| recording.modules(MOST).into_iter().map(short).collect())
}

/// Threads.
pub(super) fn threads(text: &str) -> Vec<CompletionCandidate> {
    named(text, |recording| recording.threads(MOST).into_iter().collect())
}

/// Events.
pub(super) fn events(text: &str) -> Vec<CompletionCandidate> {
    named(text, |recording| recording.meta().events.iter().map(|event| event.name.clone()).collect())
}

fn named(text: &str, names: fn(&Recording) -> Vec<String>) -> Vec<CompletionCandidate> {
    let path = typed().or_else(|| report::newest().ok());
    let Some(recording) = path.and_then(|path| Recording::open(&path).ok()) else { return Vec::new() };
    let mut names = names(&recording);
    names.sort_unstable();
    names.dedup();
    beginning_with(text, names)
}

/// The recording that a word of the command line names.
fn typed() -> Option<PathBuf> {
    let words: Vec<String> = std::env::args().skip(2).flat_map(|line| super::bash::words(&line)).collect();
    let mut paths = words.iter().rev().map(|word| store::path(Path::new(word.trim_start_matches("--input="))));
    paths.find(|path| is_recording(path))
}

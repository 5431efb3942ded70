//! What a session is compared with, and the commands that change it while the session goes on.

use super::super::baseline;
use super::attached_baseline::AttachedBaseline;
use crate::analysis::baseline::{BaselineBuilder, Source, key_changes, key_of};
use crate::cli::baseline::MatchedBaseline;
use crate::cli::plan;
use crate::error::Result;
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::session::{History, LiveAssessor};
use crate::store;
use crate::sys::clock;
use crate::view::baseline::words;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a session is compared with.
#[derive(Debug, Clone, Default)]
pub(super) struct Reference {
    /// A recording.
    pub recording: Option<Arc<Profile>>,
    /// The baseline and the session's comparison with it.
    pub usual: Option<Arc<AttachedBaseline>>,
}

/// A session's reference, shared by the threads that show and change it.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedReference(Arc<Mutex<Reference>>);

impl SharedReference {
    pub fn new(reference: Reference) -> SharedReference {
        SharedReference(Arc::new(Mutex::new(reference)))
    }

    /// The current reference.
    pub fn now(&self) -> Reference {
        // It is replaced as a whole, so a panic cannot leave half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Compares with a recording from now on.
    pub fn set_recording(&self, recording: Profile) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recording = Some(Arc::new(recording));
    }

    fn set_usual(&self, usual: AttachedBaseline) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).usual = Some(Arc::new(usual));
    }

    /// Compares a session with a baseline: a recording as a whole, a capture window by window from now on. Returns the
    /// message for the user.
    ///
    /// # Errors
    /// Any error of reading the baseline.
    pub fn compare(&self, history: &mut History, path: &Path) -> Result<String> {
        let name = path.display();
        if !history.is_live() {
            self.set_usual(AttachedBaseline::of_profile(store::baseline::read(path)?, history.profile()));
            return Ok(format!("compared with {name}: screen Baseline"));
        }
        let meta = &history.profile().meta;
        let matched = match history.is_remote() {
            true => baseline::of_session(path, meta, true)?,
            false => baseline::fit(path, &meta.plan, true)?,
        };
        let stale = matched.notes.first().map_or_else(String::new, |note| format!("; {}", note.text));
        self.attach(history, matched);
        Ok(format!("compared with {name} from now on: screen Baseline{stale}"))
    }

    /// Learns a baseline from what is held, writes it, and compares what follows with it. Returns the message for the
    /// user.
    ///
    /// # Errors
    /// There is nothing to learn from; the file exists or cannot be written.
    pub fn learn(&self, history: &mut History, path: Option<PathBuf>) -> Result<String> {
        let target = &history.profile().meta.plan.target;
        let path =
            path.unwrap_or_else(|| plan::recording_name(target, clock::unix_ns() / 1_000_000_000).with_extension(""));
        let path = store::baseline::path(&path);
        store::baseline::check_free(&path, false)?;
        let learnt = learnt(history.profile(), &path)?;
        store::baseline::write(&path, &learnt, false)?;
        let text = format!("learnt {} from {}", path.display(), words::several(learnt.windows.len(), "window"));
        if !history.is_live() {
            return Ok(text);
        }
        let stale = key_changes(&learnt, &key_of(history.profile()), clock::unix_ns());
        self.attach(history, MatchedBaseline { baseline: learnt, stale, notes: Vec::new() });
        Ok(format!("{text}; what follows is compared with it: screen Baseline"))
    }

    fn attach(&self, history: &mut History, matched: MatchedBaseline) {
        let usual = AttachedBaseline::of_session(matched);
        let host = history.profile().meta.host.clone();
        history.assess_with(LiveAssessor::new(usual.baseline.clone(), host));
        self.set_usual(usual);
    }
}

fn learnt(profile: &Profile, path: &Path) -> Result<Baseline> {
    let mut builder = BaselineBuilder::default();
    builder.add(&Source { name: &path.display().to_string(), profile, time: Default::default() })?;
    builder.finish()
}

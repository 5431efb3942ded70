//! An open session: a capture or a recording, or the snapshots of a sweep or a comparison.

use super::references::SharedReference;
use super::writing;
use crate::cli::args::TargetArgs;
use crate::cli::snapshot_source::{Notifier, SnapshotSource};
use crate::cli::sweep::RunningSweep;
use crate::error::Result;
use crate::session::LiveSession;
use crate::sweep::Sweep;
use crate::tui::msg::Msg;
use crate::tui::screens::SessionKind;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

/// An open session.
#[derive(Debug)]
pub(in crate::cli) struct OpenedSession {
    pub(super) data: SessionData,
    /// Muted when nobody wants to hear of it any more.
    pub notifier: Notifier,
}

/// What a session shows.
#[derive(Debug)]
pub(super) enum SessionData {
    Profile(ProfileSession),
    Snapshots {
        source: SnapshotSource,
        /// The runs that are executed.
        sweep: Option<OwnSweep>,
    },
}

/// A capture or a recording.
#[derive(Debug)]
pub(super) struct ProfileSession {
    pub live_session: LiveSession,
    /// What it is compared with.
    pub reference: SharedReference,
    /// Whether it is a capture.
    pub live: bool,
    /// The target of a capture on this machine.
    pub target: Option<TargetArgs>,
    /// The path if the whole session is being recorded.
    pub recorded: Option<PathBuf>,
}

/// A sweep that this session started.
#[derive(Debug)]
pub(super) struct OwnSweep {
    pub running: RunningSweep,
    /// Takes the sweep at its end; without it, a message names its folder.
    pub taker: Option<Sender<Result<Sweep>>>,
}

impl OpenedSession {
    /// The message about it.
    pub fn message(&self) -> Msg {
        match &self.data {
            SessionData::Profile(profile) => Msg::Opened {
                kind: SessionKind::Profile,
                live: profile.live,
                baseline: profile.reference.now().recording.is_some(),
            },
            SessionData::Snapshots { source, .. } => {
                Msg::Opened { kind: source.kind, live: source.live, baseline: false }
            }
        }
    }

    /// The capture or the recording, if it is one.
    pub(super) fn profile(&self) -> Option<&ProfileSession> {
        match &self.data {
            SessionData::Profile(profile) => Some(profile),
            SessionData::Snapshots { .. } => None,
        }
    }

    /// Saves the history of a capture that is not on disk; `None` without one, or if the session's thread has failed,
    /// which its end reports.
    pub fn save(&self) -> Option<Result<String>> {
        let profile = self.profile().filter(|profile| profile.live && profile.recorded.is_none())?;
        let (sender, answer) = channel();
        let usual = profile.reference.now().usual;
        profile
            .live_session
            .submit(move |history| _ = sender.send(writing::recording(history, None, usual.as_deref())));
        answer.recv().ok()
    }

    /// Ends it. Returns the message about what lies on disk now.
    ///
    /// # Errors
    /// What it should have written is not complete; any error of the runs of a sweep.
    pub fn finish(self) -> Result<Option<String>> {
        match self.data {
            SessionData::Profile(profile) => match (profile.live_session.finish()?, profile.recorded) {
                (Some(outcome), Some(path)) => match outcome.write_failure {
                    Some(error) => {
                        Err(error.context(format!("{} holds only the first part of the session", path.display())))
                    }
                    None => Ok(Some(writing::saved_message(&path, outcome.bytes))),
                },
                _ => Ok(None),
            },
            SessionData::Snapshots { sweep: None, .. } => Ok(None),
            SessionData::Snapshots { sweep: Some(OwnSweep { running, taker: Some(taker) }), .. } => {
                // The taker waits for the session's end.
                let _ = taker.send(running.finish());
                Ok(None)
            }
            SessionData::Snapshots { sweep: Some(OwnSweep { running, taker: None }), .. } => {
                let sweep = running.finish()?;
                Ok(Some(format!("{0}; explore it with: ironlaw view {0}", sweep.folder().path().display())))
            }
        }
    }
}

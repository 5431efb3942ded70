//! Opens a target or recording, together with its baseline: from flags or a choice to a running session.
//! It runs on a separate thread, because opening 5,000 threads takes a second.

use super::super::args::{CaptureArgs, TargetArgs, TopArgs};
use super::super::{baseline, capture};
use super::attached_baseline::AttachedBaseline;
use crate::error::Result;
use crate::model::profile::Profile;
use crate::session::{self, Limit, LiveAssessor, LiveCapture, LiveSession, SessionEvent};
use crate::store::{self, Writer};
use crate::tui::msg::Msg;
use crate::view::picker::Choice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// The options for opening any choice.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Opening {
    pub target: TargetArgs,
    pub capture: CaptureArgs,
    pub baseline: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub force: bool,
    pub no_inline: bool,
}

/// An open session.
#[derive(Debug)]
pub(super) struct OpenedSession {
    pub live_session: LiveSession,
    pub baseline: Option<Arc<Profile>>,
    /// The baseline and the session's comparison with it, if there is one.
    pub usual: Option<Arc<AttachedBaseline>>,
    pub live: bool,
    /// The path if the whole session is being recorded.
    pub recorded: Option<PathBuf>,
    /// Set when nobody wants to hear of it any more.
    pub muted: Arc<AtomicBool>,
}

impl Opening {
    pub(in crate::cli) fn of(args: TopArgs) -> Opening {
        Opening {
            target: args.target,
            capture: CaptureArgs { off_cpu: !args.no_off_cpu, ..args.capture },
            baseline: args.baseline,
            output: args.output,
            force: args.force,
            no_inline: false,
        }
    }

    /// Opens the target of the command line, or the choice. Notifications go to `sender`.
    pub(super) fn open(&self, choice: Option<Choice>, limit: Limit, sender: Sender<Msg>) -> Result<OpenedSession> {
        // The path is either a recording or a baseline to compare with.
        let (usual, compared): (Option<&Path>, Option<&Path>) = match self.baseline.as_deref() {
            Some(path) if baseline::is_one(path) => (Some(path), None),
            other => (None, other),
        };
        let compared = compared.map(session::open).transpose()?.map(Arc::new);
        let muted = Arc::new(AtomicBool::new(false));
        let silent = muted.clone();
        let tell = move |news| {
            if !silent.load(Ordering::Relaxed) {
                // The session may be over, and the notification is not needed.
                let _ = sender.send(message(news));
            }
        };
        if let Some(Choice::Recording(path)) = choice {
            let mut profile = session::open(&path)?;
            if self.no_inline {
                profile.drop_inlined();
            }
            let usual = AttachedBaseline::of_recording(&path, usual, &profile)?.map(Arc::new);
            let live_session = LiveSession::replay(profile, tell)?;
            return Ok(OpenedSession { live_session, baseline: compared, usual, live: false, recorded: None, muted });
        }
        let target = choice.map_or_else(|| Ok(self.target.clone()), chosen)?;
        let (mut request, mut notes) = capture::plan(&target, &self.capture)?;
        // The screen shows the points in which the baseline is stale.
        let matched = usual.map(|path| baseline::fit(path, &request, true)).transpose()?;
        if let Some(matched) = &matched {
            request.neighbours = true;
            notes.extend_from_slice(&matched.notes);
        }
        let usual = matched.map(|matched| Arc::new(AttachedBaseline::of_session(matched)));
        let live = LiveCapture::open(request, notes, self.capture.debuginfod)?;
        let recorded = self.output.as_deref().map(store::path);
        let writer = recorded.as_deref().map(|path| Writer::create(path, live.meta(), self.force)).transpose()?;
        if let (Some(path), Some(usual)) = (&recorded, &usual) {
            store::baseline::write_within(path, &usual.baseline)?;
        }
        let assessor = usual.as_ref().map(|usual| LiveAssessor::new(usual.baseline.clone(), live.meta().host.clone()));
        let live_session = LiveSession::live(live, writer, limit, assessor, tell)?;
        Ok(OpenedSession { live_session, baseline: compared, usual, live: true, recorded, muted })
    }
}

/// A choice as the equivalent command-line flags.
fn chosen(choice: Choice) -> Result<TargetArgs> {
    let none = TargetArgs::default();
    Ok(match choice {
        Choice::Process(pid) => TargetArgs { pid: vec![pid], ..none },
        Choice::Cgroup(path) => TargetArgs { cgroup: Some(path), ..none },
        Choice::Machine | Choice::Recording(_) => TargetArgs { all_cpus: true, ..none },
        Choice::Command(line) => TargetArgs { command: super::choices::words(&line)?, ..none },
    })
}

fn message(news: SessionEvent) -> Msg {
    match news {
        SessionEvent::Fresh => Msg::Fresh,
        SessionEvent::Ended(ending) => Msg::Ended(ending),
        SessionEvent::Failed(error) => Msg::Failed(error),
    }
}

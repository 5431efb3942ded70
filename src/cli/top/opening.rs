//! Opens a target, a file or a sweep: from flags or a choice to a running session.
//! It runs on a separate thread, because opening 5,000 threads takes a second.

use super::super::args::{CaptureArgs, Cli, Command, TargetArgs, TopArgs};
use super::super::sweep::{self, RunningSweep};
use super::super::{baseline, capture};
use super::attached_baseline::AttachedBaseline;
use super::choices::words;
use super::opened::{OpenedSession, OwnSweep, ProfileSession, SessionData};
use super::references::{Reference, SharedReference};
use crate::cli::snapshot_source::{Notifier, SnapshotSource};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::session::{self, Limit, LiveAssessor, LiveCapture, LiveSession, RemoteCapture, SessionEvent};
use crate::store::{self, Writer};
use crate::sweep::{Folder, RunSettings, Sweep};
use crate::tui::msg::Msg;
use crate::view::picker::Choice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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

    /// Opens the choice; `before` is the target of the session that is open until then.
    pub(super) fn open(
        &self,
        choice: Choice,
        before: Option<TargetArgs>,
        limit: Limit,
        notifier: Notifier,
    ) -> Result<OpenedSession> {
        let none = TargetArgs::default();
        let target = match choice {
            Choice::File(path) => return self.file(&path, notifier),
            // The host knows the sweep.
            Choice::Run(_) => return Err(no_run()),
            Choice::Sweep(line) => {
                let (sweep, settings) = new_sweep(&line, before)?;
                return swept(sweep, settings, None, notifier);
            }
            Choice::Process(pid) => TargetArgs { pid: vec![pid], ..none },
            Choice::Cgroup(path) => TargetArgs { cgroup: Some(path), ..none },
            Choice::Machine => TargetArgs { all_cpus: true, ..none },
            Choice::Command(line) => TargetArgs { command: words(&line)?, ..none },
        };
        self.capture(target, limit, notifier)
    }

    /// Opens a target.
    pub(super) fn capture(&self, target: TargetArgs, limit: Limit, notifier: Notifier) -> Result<OpenedSession> {
        let (mut request, mut notes) = capture::plan(&target, &self.capture)?;
        capture::check_program(&request.target)?;
        // The screen shows the points in which the baseline is stale.
        let matched = self.learnt().map(|path| baseline::fit(path, &request, true)).transpose()?;
        notes.extend(matched.iter().flat_map(|matched| matched.notes.clone()));
        // A baseline may come later (:learn, :baseline); it then needs what others did before. Whole CPUs have no others.
        request.neighbours |= !matches!(request.target, Target::Cpus { .. });
        let usual = matched.map(|matched| Arc::new(AttachedBaseline::of_session(matched)));
        let recording = self.reference().map(session::open).transpose()?.map(Arc::new);
        let live = LiveCapture::open(request, notes, self.capture.debuginfod)?;
        let recorded = self.output.as_deref().map(store::path);
        let writer = recorded.as_deref().map(|path| Writer::create(path, live.meta(), self.force)).transpose()?;
        if let (Some(path), Some(usual)) = (&recorded, &usual) {
            store::baseline::write_within(path, &usual.baseline)?;
        }
        let assessor = usual.as_ref().map(|usual| LiveAssessor::new(usual.baseline.clone(), live.meta().host.clone()));
        let live_session = LiveSession::live(live, writer, limit, assessor, tell(&notifier))?;
        let reference = SharedReference::new(Reference { recording, usual });
        let profile = ProfileSession { live_session, reference, live: true, target: Some(target), recorded };
        Ok(OpenedSession { data: SessionData::Profile(profile), notifier })
    }

    /// Opens the capture of another machine.
    pub(super) fn remote(&self, remote: RemoteCapture, limit: Limit, notifier: Notifier) -> Result<OpenedSession> {
        let meta = remote.meta();
        let usual = self.learnt().map(|path| baseline::of_session(path, meta, true)).transpose()?;
        let usual = usual.map(|matched| Arc::new(AttachedBaseline::of_session(matched)));
        let recording = self.reference().map(session::open).transpose()?.map(Arc::new);
        let recorded = self.output.as_deref().map(store::path);
        let writer = recorded.as_deref().map(|path| Writer::create(path, meta, self.force)).transpose()?;
        if let (Some(path), Some(usual)) = (&recorded, &usual) {
            store::baseline::write_within(path, &usual.baseline)?;
        }
        let assessor = usual.as_ref().map(|usual| LiveAssessor::new(usual.baseline.clone(), meta.host.clone()));
        let live_session = LiveSession::remote(remote, writer, limit, assessor, tell(&notifier))?;
        let reference = SharedReference::new(Reference { recording, usual });
        let profile = ProfileSession { live_session, reference, live: true, target: None, recorded };
        Ok(OpenedSession { data: SessionData::Profile(profile), notifier })
    }

    /// Opens a recording or a sweep.
    pub(super) fn file(&self, path: &Path, notifier: Notifier) -> Result<OpenedSession> {
        let swept = [path.to_path_buf(), Folder::name(path)];
        if let Some(folder) = swept.iter().find(|path| Folder::is_one(path)) {
            return Ok(snapshots(sweep::read_back(folder)?, notifier));
        }
        if baseline::is_one(path) {
            let text = format!("{} is a baseline: it has nothing to show by itself", path.display());
            return Err(Error::new(ErrorKind::Usage, text)
                .hint("Open a target or a recording, then compare it: :baseline FILE"));
        }
        let mut profile = session::open(path)?;
        if self.no_inline {
            profile.drop_inlined();
        }
        let usual = AttachedBaseline::of_recording(path, self.learnt(), &profile)?.map(Arc::new);
        let recording = self.reference().map(session::open).transpose()?.map(Arc::new);
        let live_session = LiveSession::replay(profile, tell(&notifier))?;
        let reference = SharedReference::new(Reference { recording, usual });
        let profile = ProfileSession { live_session, reference, live: false, target: None, recorded: None };
        Ok(OpenedSession { data: SessionData::Profile(profile), notifier })
    }

    /// The learnt baseline of `--baseline`, which may name a recording instead.
    fn learnt(&self) -> Option<&Path> {
        self.baseline.as_deref().filter(|path| baseline::is_one(path))
    }

    /// The recording of `--baseline`.
    fn reference(&self) -> Option<&Path> {
        self.baseline.as_deref().filter(|path| !baseline::is_one(path))
    }
}

/// No recording of a run is there to open.
pub(super) fn no_run() -> Error {
    Error::new(ErrorKind::NotFound, "no finished run of a sweep is there to open")
        .hint("In a sweep, [ and ] choose the point and :run opens the recording of its first run.")
}

/// A session on snapshots.
pub(super) fn snapshots(source: SnapshotSource, notifier: Notifier) -> OpenedSession {
    OpenedSession { data: SessionData::Snapshots { source, sweep: None }, notifier }
}

/// Starts the runs of a sweep. `taker` gets the sweep at its end.
pub(super) fn swept(
    sweep: Sweep,
    settings: RunSettings,
    taker: Option<Sender<Result<Sweep>>>,
    notifier: Notifier,
) -> Result<OpenedSession> {
    let (source, running) = RunningSweep::start(sweep, settings, notifier.clone())?;
    let sweep = Some(OwnSweep { running, taker });
    Ok(OpenedSession { data: SessionData::Snapshots { source, sweep }, notifier })
}

/// Plans a sweep from the arguments of `ironlaw sweep` as typed. Without a target of its own it is the open session's: a
/// running one, or its command, started anew at each number of CPUs.
fn new_sweep(line: &str, before: Option<TargetArgs>) -> Result<(Sweep, RunSettings)> {
    let typed = if line.trim().is_empty() { Vec::new() } else { words(line)? };
    let mut all = ["ironlaw", "sweep"].map(String::from).to_vec();
    all.extend(typed);
    let usage = |wrong: String| Error::new(ErrorKind::Usage, first_line(&wrong)).hint(SWEEP_EXAMPLE);
    let parsed = Cli::from_words(&all).map_err(usage)?;
    let Some(Command::Sweep(mut args)) = parsed.command else { return Err(usage("no sweep".to_string())) };
    if args.restore {
        return Err(Error::new(ErrorKind::Usage, "--restore is a command of its own")
            .hint("Run it in a shell: ironlaw sweep --restore"));
    }
    let own = !args.command.is_empty() || !args.pid.is_empty() || args.cgroup.is_some();
    if let (false, Some(before)) = (own, before) {
        (args.pid, args.children, args.cgroup) = (before.pid, before.children, before.cgroup);
        args.command = before.command;
    }
    sweep::begin(&args)
}

const SWEEP_EXAMPLE: &str =
    ":sweep --cpus 1,2,4 sweeps what is open; :sweep -L threads 1,2,4 -- CMD --threads={threads} a command";

/// The message of an error of the command line, without its usage.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}

/// What a session's thread tells, as messages.
fn tell(notifier: &Notifier) -> impl FnMut(SessionEvent) + Send + use<> {
    let notifier = notifier.clone();
    move |news| {
        notifier.send(match news {
            SessionEvent::Fresh => Msg::Fresh,
            SessionEvent::Ended(ending) => Msg::Ended(ending),
            SessionEvent::Failed(error) => Msg::Failed(error),
        });
    }
}

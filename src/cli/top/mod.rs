//! Every terminal session: `ironlaw top`, `view`, bare `ironlaw`, and the interactive `sweep`, `diff` and `fleet`. Connects
//! the terminal to a capture, a recording, a sweep, a comparison or a data set, and to another one on request.

mod attached_baseline;
mod choices;
#[cfg(test)]
pub(in crate::cli) use choices::words;
mod host;
mod opened;
mod opening;
mod references;
mod without_terminal;
mod writing;

pub(super) use opening::Opening;

use super::args::{DiffArgs, GlobalArgs, SweepArgs, TargetArgs, TopArgs, ViewArgs};
use super::out::Terminal;
use super::report::newest;
use super::snapshot_source::{Notifier, SnapshotSource};
use super::{diff, remote, sweep, terminal_session};
use crate::error::Result;
use crate::session::Limit;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::screens::SessionKind;
use crate::view::fleet::{FleetTables, FleetView};
use crate::view::picker::Choice;
use crate::view::snapshot::snapshot_of_fleet;
use host::SessionHost;
use opened::OpenedSession;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use without_terminal::{recorded, refuse};

/// `ironlaw top`.
pub(super) fn run(args: &TopArgs, terminal: &Terminal) -> Result<()> {
    refuse(&format!("ironlaw record {} && ironlaw report", recorded(&args.target)))?;
    let first = match (&args.remote.host, args.target == TargetArgs::default()) {
        (Some(host), true) => return Err(remote::without_target(host)),
        (Some(host), false) => {
            terminal_session::check()?;
            let remote = remote::connect(host, &args.remote)?;
            let opening = Opening::of(args.clone());
            First::Prepared(Box::new(move |limit, notifier| opening.remote(remote, limit, notifier)))
        }
        (None, true) => First::Choose,
        (None, false) => First::Target,
    };
    session(Opening::of(args.clone()), first, terminal)
}

/// `ironlaw view`.
pub(super) fn view(args: &ViewArgs, terminal: &Terminal) -> Result<()> {
    let path = match &args.recording {
        Some(path) => path.clone(),
        None => newest()?,
    };
    refuse(&format!("ironlaw report {}", path.display()))?;
    let top = TopArgs { baseline: args.baseline.clone(), ..TopArgs::default() };
    let opening = Opening { no_inline: args.no_inline, ..Opening::of(top) };
    session(opening, First::Open(Choice::File(path)), terminal)
}

/// `ironlaw sweep`: the runs are shown while they are executed if there is a terminal. Prints the result and its path.
pub(super) fn sweep(args: &SweepArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<ExitCode> {
    if args.restore {
        return sweep::restore(terminal);
    }
    let (mut sweep, settings) = sweep::begin(args)?;
    if args.headless || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        sweep::headless(&mut sweep, &settings, terminal)?;
    } else {
        let (taker, ended) = channel();
        let open = move |_, notifier| opening::swept(sweep, settings, Some(taker), notifier);
        session(Opening::of(TopArgs::default()), First::Prepared(Box::new(open)), terminal)?;
        // The session has ended it, unless it could not be started, which the session has reported.
        sweep = match ended.recv() {
            Ok(ended) => ended?,
            Err(_) => return Ok(ExitCode::FAILURE),
        };
    }
    sweep::conclude(&sweep, args.format, global, terminal)
}

/// `ironlaw diff --tui`: shows the comparison, and fails if a gate is violated.
pub(super) fn diff(args: &DiffArgs, terminal: &Terminal) -> Result<()> {
    diff::check(args)?;
    let compared: Arc<OnceLock<_>> = Arc::default();
    let (args, shown) = (args.clone(), Arc::clone(&compared));
    let open = move |_, notifier| {
        let (source, view) = diff::open(args)?;
        // This is the only place that sets it.
        let _ = shown.set(view);
        Ok(opening::snapshots(source, notifier))
    };
    session(Opening::of(TopArgs::default()), First::Prepared(Box::new(open)), terminal)?;
    compared.get().map_or(Ok(()), |view| diff::gate(view))
}

/// `ironlaw fleet DIR --tui`: shows what a data set says.
pub(super) fn fleet(view: FleetView, terminal: &Terminal) -> Result<()> {
    let tables = Arc::new(FleetTables::of(view));
    let source = SnapshotSource {
        kind: SessionKind::Fleet,
        snapshot: Arc::new(move |query| snapshot_of_fleet(&tables, query)),
        recording: Arc::new(|_| None),
        live: false,
    };
    let open = move |_, notifier| Ok(opening::snapshots(source, notifier));
    session(Opening::of(TopArgs::default()), First::Prepared(Box::new(open)), terminal)
}

/// What a session opens first.
pub(super) enum First {
    /// The picker.
    Choose,
    /// The target of the command line.
    Target,
    /// This choice.
    Open(Choice),
    /// What this makes.
    Prepared(Box<dyn FnOnce(Limit, Notifier) -> Result<OpenedSession> + Send>),
}

/// Runs a session on this terminal.
///
/// # Errors
/// `Usage` without a terminal, errors of opening the target, and data lost at the end.
pub(super) fn session(opening: Opening, first: First, terminal: &Terminal) -> Result<()> {
    terminal_session::hold(terminal, |session| {
        let app = match first {
            First::Choose => App::new(&session.settings, session.size),
            _ => App::opening(&session.settings, session.size),
        };
        let mut host = SessionHost::new(session, opening);
        let mut effects = Vec::new();
        match first {
            First::Choose => effects.push(Effect::Choose),
            First::Target => host.open_target()?,
            First::Open(choice) => effects.push(Effect::Open(choice)),
            First::Prepared(open) => host.open_prepared(open)?,
        }
        Ok((app, host, effects))
    })
}

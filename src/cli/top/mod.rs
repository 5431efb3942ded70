//! `ironlaw top`, `ironlaw view` and bare `ironlaw`: connects the terminal session to a capture or a recording.

mod choices;
#[cfg(test)]
pub(in crate::cli) use choices::words;
mod attached_baseline;
mod host;
mod opening;
mod writing;

pub(super) use opening::Opening;

use super::args::{TargetArgs, TopArgs, ViewArgs};
use super::out::Terminal;
use super::report::newest;
use super::sweep;
use super::terminal_session;
use crate::error::Result;
use crate::sweep::Folder;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::view::picker::Choice;
use host::SessionHost;

/// `ironlaw top`.
pub(super) fn run(args: &TopArgs, terminal: &Terminal) -> Result<()> {
    let first = if args.target == TargetArgs::default() { StartScreen::Choose } else { StartScreen::Target };
    session(Opening::of(args.clone()), first, terminal)
}

/// `ironlaw view`.
pub(super) fn view(args: &ViewArgs, terminal: &Terminal) -> Result<()> {
    let path = match &args.recording {
        Some(path) => path.clone(),
        None => newest()?,
    };
    let swept = [path.clone(), Folder::name(&path)];
    if let Some(folder) = swept.iter().find(|path| Folder::is_one(path)) {
        return sweep::read_back(folder, terminal);
    }
    let top = TopArgs { baseline: args.baseline.clone(), ..TopArgs::default() };
    let opening = Opening { no_inline: args.no_inline, ..Opening::of(top) };
    session(opening, StartScreen::Open(Choice::Recording(path)), terminal)
}

/// The first screen of the session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StartScreen {
    /// The picker.
    Choose,
    /// The target of the command line.
    Target,
    /// This choice.
    Open(Choice),
}

/// Runs a session on this terminal.
///
/// # Errors
/// `Usage` without a terminal, errors of opening the target, and data lost at the end.
pub(super) fn session(opening: Opening, first: StartScreen, terminal: &Terminal) -> Result<()> {
    terminal_session::hold(terminal, |session| {
        let app = match first {
            StartScreen::Choose => App::new(&session.settings, session.size),
            _ => App::opening(&session.settings, session.size),
        };
        let mut host = SessionHost::new(session, opening);
        let effects = match first {
            StartScreen::Choose => vec![Effect::Choose],
            StartScreen::Target => {
                host.open(None);
                Vec::new()
            }
            StartScreen::Open(choice) => vec![Effect::Open(choice)],
        };
        Ok((app, host, effects))
    })
}

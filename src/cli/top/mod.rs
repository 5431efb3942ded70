//! `ironlaw top`, `ironlaw view` and bare `ironlaw`: connects the terminal session to a capture or a recording.

mod choices;
#[cfg(test)]
pub(in crate::cli) use choices::words;
mod host;
mod opening;
mod usual;
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
    let first = if args.target == TargetArgs::default() { First::Choose } else { First::Target };
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
    session(opening, First::Open(Choice::Recording(path)), terminal)
}

/// The first screen of the session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum First {
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
pub(super) fn session(opening: Opening, first: First, terminal: &Terminal) -> Result<()> {
    terminal_session::hold(terminal, |seat| {
        let app = match first {
            First::Choose => App::new(&seat.settings, seat.size),
            _ => App::opening(&seat.settings, seat.size),
        };
        let mut desk = SessionHost::new(seat, opening);
        let effects = match first {
            First::Choose => vec![Effect::Choose],
            First::Target => {
                desk.open(None);
                Vec::new()
            }
            First::Open(choice) => vec![Effect::Open(choice)],
        };
        Ok((app, desk, effects))
    })
}

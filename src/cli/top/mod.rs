//! `ironlaw top`, `ironlaw view` and bare `ironlaw`: the terminal session, wired to a capture or a recording.
//! It never draws and never builds a view itself: the one is the session's, the other the keeper's thread's.

mod choices;
mod desk;
mod opening;
mod writing;

pub(super) use opening::Opening;

use super::args::{TargetArgs, TopArgs, ViewArgs};
use super::config;
use super::out::Terminal;
use super::report::newest;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::session::Watchman;
use crate::sys::terminal as streams;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run;
use crate::tui::term::Term;
use crate::view::picker::Choice;
use desk::Desk;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};

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
    let top = TopArgs { baseline: args.baseline.clone(), ..TopArgs::default() };
    let opening = Opening { no_inline: args.no_inline, ..Opening::of(top) };
    session(opening, First::Open(Choice::Recording(path)), terminal)
}

/// What the session begins with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum First {
    /// The picker.
    Choose,
    /// The target of the command line.
    Target,
    /// This.
    Open(Choice),
}

/// Runs a session on this terminal.
///
/// # Errors
/// `Usage` where there is no terminal; what kept the target from being opened; what was lost at the end.
pub(super) fn session(opening: Opening, first: First, terminal: &Terminal) -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Error::new(ErrorKind::Usage, "the terminal session needs a terminal")
            .hint("Without one, use `ironlaw record -p PID -d 10` and `ironlaw report`."));
    }
    let config::Chosen { settings, limit, .. } = config::chosen()?;
    let (sender, inbox) = channel();
    let stopped = sender.clone();
    // Before any other thread, so that none of them is ended by a signal.
    let watchman = Watchman::start(move || _ = stopped.send(Msg::Stop))?;
    let output = opening.command_output()?;
    let aside = streams::put_aside(output.file())?;
    let term = Term::enter(aside.terminal()?, aside.terminal()?, &settings, std::env::var_os("TMUX").is_some())?;
    let size = term.size()?;
    listen(sender.clone())?;
    let mut app = if first == First::Choose { App::new(&settings, size) } else { App::opening(&settings, size) };
    let mut desk = Desk::new(term, opening, limit, watchman, sender);
    let effects = match first {
        First::Choose => vec![Effect::Choose],
        First::Target => {
            desk.open(None);
            Vec::new()
        }
        First::Open(choice) => vec![Effect::Open(choice)],
    };
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(&mut app, &inbox, &mut desk, effects)));
    // The terminal first, so that all that follows can be read; then what must not be lost.
    let report = desk.leave(app.was_forced() || !matches!(ran, Ok(Ok(()))));
    drop(aside);
    report.said.iter().for_each(|line| terminal.say(line));
    output.tell(terminal);
    match ran {
        Err(panic) => {
            terminal.say(&format!("this is a defect of ironlaw; what it said is in {}", output.path().display()));
            resume_unwind(panic)
        }
        // A terminal that is gone needs no error: what was held has been written.
        Ok(_) => app.take_refusal().or(report.failure).map_or(Ok(()), Err),
    }
}

/// Hands the terminal's input on, from a thread that ends with the process.
fn listen(sender: Sender<Msg>) -> Result<()> {
    let read = move || {
        while let Ok(event) = crate::tui::term::read_event() {
            if sender.send(Msg::Input(event)).is_err() {
                return;
            }
        }
        // Nobody is left to tell if this fails.
        let _ = sender.send(Msg::InputLost);
    };
    std::thread::Builder::new().name("input".into()).spawn(read).context(|| "cannot start a thread")?;
    Ok(())
}

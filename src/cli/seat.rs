//! A terminal taken for a session, whatever it is about: input and signals as messages, other output in a file, and the
//! terminal given back first whatever happens.
//! It never knows what is opened, and draws nothing.

use super::config;
use super::out::Terminal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::session::{Limit, Watchman};
use crate::sys::terminal as streams;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{self, Host};
use crate::tui::settings::Settings;
use crate::tui::term::Term;
use std::fs::File;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

/// What a session begins with.
#[derive(Debug)]
pub(super) struct Seat {
    pub term: Term<File>,
    pub settings: Settings,
    pub limit: Limit,
    pub size: (u16, u16),
    pub sender: Sender<Msg>,
}

/// What is to be said when the terminal is back.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub said: Vec<String>,
    pub failure: Option<Error>,
}

/// Who hosts a session to its end.
pub(super) trait Holder: Host {
    /// Gives the terminal back and lets go of what is open; `by_force` if nobody asked for the end.
    fn leave(self, by_force: bool) -> Leaving;
}

/// Runs a session on this terminal; `begin` gives its state, its host and what is to be done first. Threads that it
/// starts are not ended by a signal.
///
/// # Errors
/// `Usage` where there is no terminal; what kept the target from being opened; what was lost at the end.
pub(super) fn hold<H: Holder>(
    terminal: &Terminal,
    begin: impl FnOnce(Seat) -> Result<(App, H, Vec<Effect>)>,
) -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Error::new(ErrorKind::Usage, "the terminal session needs a terminal")
            .hint("Without one, use `ironlaw record -p PID -d 10` and `ironlaw report`."));
    }
    let config::Chosen { settings, limit, .. } = config::chosen()?;
    let (sender, inbox) = channel();
    let stopped = sender.clone();
    // Before any other thread, so that none of them is ended by a signal.
    let _watchman = Watchman::start(move || _ = stopped.send(Msg::Stop))?;
    let output = Output::create()?;
    let aside = streams::put_aside(&output.file)?;
    let term = Term::enter(aside.terminal()?, aside.terminal()?, &settings, std::env::var_os("TMUX").is_some())?;
    let size = term.size()?;
    listen(sender.clone())?;
    let (mut app, mut host, first) = begin(Seat { term, settings, limit, size, sender })?;
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(&mut app, &inbox, &mut host, first)));
    // The terminal first, so that all that follows can be read; then what must not be lost.
    let report = host.leave(app.was_forced() || !matches!(ran, Ok(Ok(()))));
    drop(aside);
    report.said.iter().for_each(|line| terminal.say(line));
    output.tell(terminal);
    match ran {
        Err(panic) => {
            terminal.say(&format!("this is a defect of ironlaw; what it said is in {}", output.path.display()));
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

/// A file for what others write while the terminal is taken; removed at the end if that was nothing.
#[derive(Debug)]
struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    fn create() -> Result<Output> {
        let path = std::env::temp_dir().join(format!("ironlaw-{}.out", std::process::id()));
        let file = File::options().append(true).create_new(true).open(&path);
        Ok(Output { file: file.context(|| format!("cannot create {}", path.display()))?, path })
    }

    /// Says where it is, if there is anything in it.
    fn tell(&self, terminal: &Terminal) {
        if self.file.metadata().is_ok_and(|file| file.len() > 0) {
            terminal.say(&format!("the command's output: {}", Path::display(&self.path)));
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|file| file.len() == 0) {
            // It is empty and lies among temporary files: no loss if it stays.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

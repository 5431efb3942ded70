//! Takes over the terminal for a session: delivers input and signals as messages, redirects other output to a file, and
//! restores the terminal first in any case, including a panic.

use super::config;
use super::out::Terminal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::session::{Limit, SignalThread};
use crate::sys::private_dir;
use crate::sys::terminal as streams;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{self, Host};
use crate::tui::settings::Settings;
use crate::tui::term::Term;
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

/// The resources that a session starts with.
#[derive(Debug)]
pub(super) struct TerminalSession {
    pub term: Term<File>,
    pub settings: Settings,
    pub limit: Limit,
    pub size: (u16, u16),
    pub sender: Sender<Msg>,
}

/// Messages to print once the terminal is restored.
#[derive(Debug, Default)]
pub(super) struct ExitReport {
    pub messages: Vec<String>,
    pub failure: Option<Error>,
}

/// A host that runs a session to its end.
pub(super) trait ShutdownGuard: Host {
    /// Restores the terminal and releases all resources. `by_force` if the user did not ask for the end.
    fn leave(self, by_force: bool) -> ExitReport;
}

/// Runs a session on this terminal. `begin` returns its state, its host and the first effects. Threads that it starts
/// are protected from signals.
///
/// # Errors
/// `Usage` without a terminal, errors of opening the target, and data lost at the end.
pub(super) fn hold<H: ShutdownGuard>(
    terminal: &Terminal,
    begin: impl FnOnce(TerminalSession) -> Result<(App, H, Vec<Effect>)>,
) -> Result<()> {
    check()?;
    let config::ResolvedConfig { settings, limit, .. } = config::chosen()?;
    let (sender, inbox) = channel();
    let stopped = sender.clone();
    // Before any other thread starts, so that no thread is killed by a signal.
    let _watchman = SignalThread::start(move || _ = stopped.send(Msg::Stop))?;
    let output = Output::create()?;
    let aside = streams::redirect_streams(&output.file)?;
    let term = Term::enter(aside.terminal()?, aside.terminal()?, &settings, std::env::var_os("TMUX").is_some())?;
    let size = term.size()?;
    listen(sender.clone())?;
    let (mut app, mut host, first) = begin(TerminalSession { term, settings, limit, size, sender })?;
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(&mut app, &inbox, &mut host, first)));
    // Restore the terminal first, so that the following output is readable; then save the data.
    let report = host.leave(app.was_forced() || !matches!(ran, Ok(Ok(()))));
    drop(aside);
    report.messages.iter().for_each(|line| terminal.say(line));
    output.tell(terminal);
    match ran {
        Err(panic) => {
            terminal.say(&format!("this is a defect of ironlaw; its output is in {}", output.path.display()));
            resume_unwind(panic)
        }
        // A lost terminal is not an error: the data has been written.
        Ok(_) => app.take_refusal().or(report.failure).map_or(Ok(()), Err),
    }
}

/// Whether there is a terminal.
///
/// # Errors
/// `Usage` without one.
pub(super) fn check() -> Result<()> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "the session needs a terminal as its input and output")
        .hint("Without one: ironlaw record -a -d 10 && ironlaw report."))
}

/// Forwards the terminal's input, from a thread that runs until the process ends.
fn listen(sender: Sender<Msg>) -> Result<()> {
    let read = move || {
        while let Ok(event) = crate::tui::term::read_event() {
            if sender.send(Msg::Input(event)).is_err() {
                return;
            }
        }
        // If this fails, there is nobody left to report to.
        let _ = sender.send(Msg::InputLost);
    };
    std::thread::Builder::new().name("input".into()).spawn(read).context(|| "cannot start a thread")?;
    Ok(())
}

/// A file for the output of others while the terminal is taken. Removed at the end if it is empty.
#[derive(Debug)]
struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    /// In this user's own directory, where nobody else can take the name.
    fn create() -> Result<Output> {
        let folder = private_dir::among_temporary(&std::env::temp_dir());
        let folder = folder.context(|| "cannot create a directory for the output of others")?;
        let path = folder.join(format!("{}.out", std::process::id()));
        // One of an earlier process with this id.
        let _ = std::fs::remove_file(&path);
        let file = File::options().append(true).create_new(true).mode(0o600).open(&path);
        Ok(Output { file: file.context(|| format!("cannot create {}", path.display()))?, path })
    }

    /// Prints its path if it is not empty.
    fn tell(&self, terminal: &Terminal) {
        if self.file.metadata().is_ok_and(|file| file.len() > 0) {
            terminal.say(&format!("output of other programs during the session: {}", Path::display(&self.path)));
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|file| file.len() == 0) {
            // It is empty and in the temporary directory, so it may stay.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

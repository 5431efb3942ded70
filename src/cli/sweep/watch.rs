//! A sweep in a session: live while its runs execute, or read back from its folder.

use super::carry_out;
use super::shared_sweep::SharedSweep;
use super::sweep_host::{Notifier, session};
use crate::cli::out::Terminal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sweep::{Recipe, Sweep, load};
use crate::tui::app::App;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Executes the runs while a session shows them. Leaving the session ends the sweep. Returns the sweep so far.
///
/// # Errors
/// `Usage` without a terminal; any error of the runs.
pub(super) fn made(sweep: Sweep, recipe: Recipe, terminal: &Terminal) -> Result<Sweep> {
    let board = SharedSweep::new(sweep.meta.clone(), sweep.results.clone(), false);
    let (asked, (sender, made)) = (Arc::new(AtomicBool::new(false)), channel());
    // Carries no messages: it closes when the sweep has ended.
    let (running, ended) = channel::<Infallible>();
    let stop = Arc::clone(&asked);
    let open = move |bell: &Notifier| {
        let (bell, shown) = (bell.clone(), board.clone());
        let work = move || {
            make(sweep, &recipe, &stop, &shown, &bell, &sender);
            drop(running);
        };
        std::thread::Builder::new().name("sweep".to_string()).spawn(work).context(|| "cannot start a thread")?;
        Ok(board.source())
    };
    let stop = move || {
        asked.store(true, Ordering::Relaxed);
        let _ = ended.recv();
    };
    session(App::sweep, open, stop, terminal)?;
    let lost = |_| Error::new(ErrorKind::Io, "the sweep ended without a word: this is a defect of ironlaw");
    made.recv().map_err(lost)?
}

fn make(
    mut sweep: Sweep,
    recipe: &Recipe,
    stop: &AtomicBool,
    board: &SharedSweep,
    bell: &Notifier,
    made: &Sender<Result<Sweep>>,
) {
    let mut tell = |sweep: &Sweep| {
        board.put(sweep.meta.clone(), sweep.results.clone(), false);
        bell.fresh();
    };
    let result = carry_out(&mut sweep, recipe, stop, &mut tell);
    board.put(sweep.meta.clone(), sweep.results.clone(), true);
    match &result {
        Ok(()) => bell.over("the sweep is over"),
        Err(_) => bell.end(),
    }
    let _ = made.send(result.map(|()| sweep));
}

/// Shows a sweep from disk.
///
/// # Errors
/// The sweep does not exist or cannot be read; `Usage` without a terminal.
pub(in crate::cli) fn read_back(path: &Path, terminal: &Terminal) -> Result<()> {
    let path = path.to_path_buf();
    let open = move |_: &Notifier| load(&path).map(|(meta, results)| SharedSweep::new(meta, results, true).source());
    session(App::sweep, open, || (), terminal)
}

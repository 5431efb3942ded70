//! A sweep seen in a session: made while it is watched, or read back from its folder.
//! It never prints the result.

use super::board::Board;
use super::carry_out;
use super::desk::{Bell, session};
use crate::cli::out::Terminal;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sweep::{Recipe, Sweep, load};
use crate::tui::app::App;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Makes the runs while a session shows them; leaving the session ends the sweep. Gives it as far as it has come.
///
/// # Errors
/// `Usage` where there is no terminal; those of the runs.
pub(super) fn made(sweep: Sweep, recipe: Recipe, terminal: &Terminal) -> Result<Sweep> {
    let board = Board::new(sweep.meta.clone(), sweep.results.clone(), false);
    let (asked, (sender, made)) = (Arc::new(AtomicBool::new(false)), channel());
    // Nothing is ever sent: it is closed when the sweep has ended.
    let (running, ended) = channel::<Infallible>();
    let stop = Arc::clone(&asked);
    let open = move |bell: &Bell| {
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
    board: &Board,
    bell: &Bell,
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

/// Shows a sweep that lies on disk.
///
/// # Errors
/// There is no sweep, or it cannot be read; `Usage` where there is no terminal.
pub(in crate::cli) fn read_back(path: &Path, terminal: &Terminal) -> Result<()> {
    let path = path.to_path_buf();
    let open = move |_: &Bell| load(&path).map(|(meta, results)| Board::new(meta, results, true).source());
    session(App::sweep, open, || (), terminal)
}

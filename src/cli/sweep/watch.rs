//! A sweep in a session: live while its runs execute, or read back from its folder.

use super::execute::carry_out;
use super::shared_sweep::SharedSweep;
use crate::cli::out::Terminal;
use crate::cli::snapshot_host::{Notifier, session};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sweep::{RunSettings, Sweep, load};
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
pub(super) fn run(sweep: Sweep, settings: RunSettings, terminal: &Terminal) -> Result<Sweep> {
    let shared = SharedSweep::new(sweep.meta.clone(), sweep.results.clone(), false);
    let (stop, (sender, finished)) = (Arc::new(AtomicBool::new(false)), channel());
    // Carries no messages: it closes when the sweep has ended.
    let (running, ended) = channel::<Infallible>();
    let stop_runs = Arc::clone(&stop);
    let open = move |notifier: &Notifier| {
        let (notifier, viewed) = (notifier.clone(), shared.clone());
        let work = move || {
            run_and_share(sweep, &settings, &stop_runs, &viewed, &notifier, &sender);
            drop(running);
        };
        std::thread::Builder::new().name("sweep".to_string()).spawn(work).context(|| "cannot start a thread")?;
        Ok(shared.source())
    };
    let stop_and_wait = move || {
        stop.store(true, Ordering::Relaxed);
        let _ = ended.recv();
    };
    session(App::sweep, open, stop_and_wait, terminal)?;
    let lost = |_| Error::new(ErrorKind::Io, "the sweep's thread ended without a result: this is a defect of ironlaw");
    finished.recv().map_err(lost)?
}

fn run_and_share(
    mut sweep: Sweep,
    settings: &RunSettings,
    stop: &AtomicBool,
    shared: &SharedSweep,
    notifier: &Notifier,
    finished: &Sender<Result<Sweep>>,
) {
    let mut on_change = |sweep: &Sweep| {
        shared.put(sweep.meta.clone(), sweep.results.clone(), false);
        notifier.fresh();
    };
    let result = carry_out(&mut sweep, settings, stop, &mut on_change);
    shared.put(sweep.meta.clone(), sweep.results.clone(), true);
    match &result {
        Ok(()) => notifier.over("the sweep is over"),
        Err(_) => notifier.end(),
    }
    let _ = finished.send(result.map(|()| sweep));
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

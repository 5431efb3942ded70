//! A sweep in a session: live while its runs execute, or read back from its folder.

use super::execute::carry_out;
use super::shared_sweep::SharedSweep;
use crate::cli::snapshot_source::{Notifier, SnapshotSource};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sweep::{Folder, RunSettings, Sweep, load};
use crate::tui::msg::Msg;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A sweep whose runs are executed by a thread of its own.
#[derive(Debug)]
pub(in crate::cli) struct RunningSweep {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Sweep>>,
}

impl RunningSweep {
    /// Starts the runs.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(sweep: Sweep, settings: RunSettings, notifier: Notifier) -> Result<(SnapshotSource, RunningSweep)> {
        let shared = SharedSweep::new(sweep.meta.clone(), sweep.results.clone(), false);
        let source = shared.source(sweep.folder().clone());
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let run = move || execute(sweep, &settings, &asked, &shared, &notifier);
        let thread = std::thread::Builder::new().name("sweep".to_string()).spawn(run);
        Ok((source, RunningSweep { stop, thread: thread.context(|| "cannot start a thread")? }))
    }

    /// Whether runs are still executed.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Ends it with the run that is executed. Returns the sweep so far.
    ///
    /// # Errors
    /// Any error of the runs.
    pub fn finish(self) -> Result<Sweep> {
        self.stop.store(true, Ordering::Relaxed);
        let lost = || "the sweep's thread ended without a result: this is a defect of ironlaw";
        self.thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, lost())))
    }
}

fn execute(
    mut sweep: Sweep,
    settings: &RunSettings,
    stop: &AtomicBool,
    shared: &SharedSweep,
    notifier: &Notifier,
) -> Result<Sweep> {
    let mut on_change = |sweep: &Sweep| {
        shared.put(sweep.meta.clone(), sweep.results.clone(), false);
        notifier.send(Msg::Fresh);
    };
    let result = carry_out(&mut sweep, settings, stop, &mut on_change);
    shared.put(sweep.meta.clone(), sweep.results.clone(), true);
    notifier.send(Msg::Ended(match &result {
        Ok(()) => "the sweep is over".to_string(),
        Err(error) => format!("the sweep failed: {error}"),
    }));
    result.map(|()| sweep)
}

/// A sweep on disk.
///
/// # Errors
/// The sweep does not exist or cannot be read.
pub(in crate::cli) fn read_back(path: &Path) -> Result<SnapshotSource> {
    let (folder, _) = Folder::open(path)?;
    load(path).map(|(meta, results)| SharedSweep::new(meta, results, true).source(folder))
}

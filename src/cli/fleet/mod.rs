//! `ironlaw fleet`: the data set of many machines.

mod check;
mod report;

use super::args::{DatasetArgs, FleetAddArgs, FleetArgs, FleetCommand, GlobalArgs, LabelArgs, SimulateArgs};
use super::dataset;
use super::out::Terminal;
use crate::analysis::dataset::WINDOW_S;
use crate::error::{Context, Result};
use crate::session::fleet::simulate::{Settings, simulate as write};
use crate::sys::clock::Clock;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(super) fn run(args: &FleetArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let Some(command) = &args.command else { return report::run(&args.report, global, terminal) };
    match command {
        FleetCommand::Sql(args) => report::sql(args),
        FleetCommand::Check(args) => check::run(args),
        FleetCommand::Add(FleetAddArgs { dir, recordings, labels }) => add(dir, recordings, labels, terminal),
        FleetCommand::Simulate(args) => simulate(args, terminal),
    }
}

/// Adds recordings to a data set, one in memory at a time.
pub(super) fn add(dir: &Path, recordings: &[PathBuf], labels: &LabelArgs, terminal: &Terminal) -> Result<()> {
    let args = DatasetArgs {
        dataset: Some(dir.to_path_buf()),
        labels: labels.clone(),
        dataset_keep: None,
        dataset_window: WINDOW_S,
    };
    recordings.iter().try_for_each(|recording| {
        let added = dataset::add_recording(dir, recording, &args, terminal);
        added.context(|| format!("cannot add {}", recording.display()))
    })
}

/// Writes a simulated fleet.
fn simulate(args: &SimulateArgs, terminal: &Terminal) -> Result<()> {
    let SimulateArgs { hosts, days, jobs, seed, .. } = *args;
    let clock = Clock::start();
    let written = write(&args.dir, Settings { hosts, days, jobs, seed })?;
    let seconds = clock.now().seconds();
    terminal.say(&format!(
        "{}: {} rows in {:.1} MB, {seconds:.1} s ({:.0} rows/s); truth.json names {} planted causes",
        args.dir.display(),
        written.rows,
        written.bytes as f64 / 1e6,
        written.rows as f64 / seconds.max(1e-9),
        written.causes
    ));
    Ok(())
}

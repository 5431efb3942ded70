//! Executes the runs, and restores the CPU affinities that a killed sweep of a running target left changed.

use crate::cli::out::Terminal;
use crate::error::Result;
use crate::model::Note;
use crate::sweep::{CpuConfinement, Journal, RunSettings, Sweep, journal_folder, restore_affinity, sweep_is_running};
use crate::sys::affinity;
use crate::sys::caps::Privileges;
use crate::sys::procfs::ProcFs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Executes the runs.
pub(super) fn carry_out(
    sweep: &mut Sweep,
    settings: &RunSettings,
    stop: &AtomicBool,
    on_change: &mut dyn FnMut(&Sweep),
) -> Result<()> {
    let Some(target) = sweep.meta.target.clone() else { return sweep.run(settings, stop, on_change) };
    let allowed = affinity::get(0)?;
    let mut confinement = CpuConfinement::begin(ProcFs::new("/proc"), target, &journals(), &allowed)?;
    if confinement.confined_before() > 0 {
        let count = confinement.confined_before();
        sweep.meta.notes.push(Note {
            topic: "confined-before".to_string(),
            text: format!(
                "{count} threads were already confined to some of the CPUs and stayed on those where possible"
            ),
            fix: None,
        });
    }
    sweep.run_live(&settings.plan, settings.fetch, &mut confinement, stop, on_change)
}

/// Restores the CPU affinity of threads that killed sweeps left confined.
pub(super) fn restore(terminal: &Terminal) -> Result<ExitCode> {
    let (proc, folder) = (ProcFs::new("/proc"), journals());
    let mut left = 0;
    let journals = Journal::all(&folder)?;
    if journals.is_empty() {
        terminal.say(&format!("nothing to restore: {} contains no journal", folder.display()));
    }
    for (journal, entries) in journals {
        let restored = entries.and_then(|entries| {
            if sweep_is_running(&proc, &entries) {
                terminal.say(&format!(
                    "{} belongs to a running sweep, process {}",
                    journal.path().display(),
                    entries.sweeper
                ));
                return Ok(None);
            }
            restore_affinity(&proc, &entries).map(|()| Some(entries.threads.len()))
        });
        match restored {
            Ok(Some(threads)) => {
                journal.close();
                terminal.say(&format!("restored the CPU affinity of {threads} threads ({})", journal.path().display()));
            }
            Ok(None) => {}
            Err(error) => {
                left += 1;
                terminal.error(&error);
            }
        }
    }
    Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder of the journals of this user.
fn journals() -> PathBuf {
    let runtime = std::env::var("XDG_RUNTIME_DIR").ok();
    let is_root = Privileges::open(&ProcFs::new("/proc")).is_ok_and(|privileges| privileges.uid == 0);
    journal_folder(is_root, runtime.as_deref(), &std::env::temp_dir())
}

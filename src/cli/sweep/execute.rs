//! Executes the runs, and restores the CPU affinities that a killed sweep of a running target left changed.

use crate::cli::out::Terminal;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Note;
use crate::sweep::{CpuConfinement, Journals, Leftover, RunSettings, Sweep, restore_killed};
use crate::sys::affinity;
use crate::sys::caps::Privileges;
use crate::sys::procfs::ProcFs;
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
    let (allowed, proc, journals) = (affinity::get(0)?, ProcFs::new("/proc"), journals()?);
    let restored = restore_first(&proc, &journals)?;
    if restored > 0 {
        sweep.meta.notes.push(Note {
            topic: "affinity-restored".to_string(),
            text: format!("a killed sweep had left {restored} threads confined; their CPU affinity was restored first"),
            fix: None,
        });
    }
    let mut confinement = CpuConfinement::begin(proc, target, &journals, &allowed)?;
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

/// Restores what killed sweeps left, which would be taken for the target's usual affinity; returns the number of threads.
pub(in crate::cli) fn restore_first(proc: &ProcFs, journals: &Journals) -> Result<usize> {
    let mut threads = 0;
    for (journal, done) in restore_killed(proc, journals)? {
        match done {
            Ok(Leftover::Restored(count)) => threads += count,
            Ok(Leftover::Running(_)) => {}
            Err(error) => {
                let text = format!("cannot restore what a killed sweep left: {error}");
                return Err(Error::new(ErrorKind::Io, text).hint(format!(
                    "Its threads may still be confined. Check them with taskset, then delete {}.",
                    journal.path().display()
                )));
            }
        }
    }
    Ok(threads)
}

/// Restores the CPU affinity of threads that killed sweeps left confined.
pub(in crate::cli) fn restore(terminal: &Terminal) -> Result<ExitCode> {
    let journals = journals()?;
    let all = restore_killed(&ProcFs::new("/proc"), &journals)?;
    if all.is_empty() {
        terminal.say(&format!("nothing to restore: {} contains no journal", journals.path().display()));
    }
    let mut left = 0;
    for (journal, done) in all {
        let path = journal.path().display();
        match done {
            Ok(Leftover::Restored(threads)) => {
                terminal.say(&format!("restored {threads} threads or control groups ({path})"));
            }
            Ok(Leftover::Running(sweeper)) => {
                terminal.say(&format!("{path} belongs to a running sweep, process {sweeper}"));
            }
            Err(error) => {
                left += 1;
                terminal.error(&error);
            }
        }
    }
    Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The journals of this user.
pub(in crate::cli) fn journals() -> Result<Journals> {
    let runtime = std::env::var("XDG_RUNTIME_DIR").ok();
    let is_root = Privileges::open(&ProcFs::new("/proc")).is_ok_and(|privileges| privileges.uid == 0);
    Journals::of_user(is_root, runtime.as_deref(), &std::env::temp_dir())
}

//! Checks before a capture whether a baseline applies to it, as far as can be known at that time.

use crate::analysis::baseline::{KeyChange, key_changes, key_of};
use crate::collect::program::{self, Program};
use crate::collect::{host, target};
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::ProfileBuilder;
use crate::model::{Baseline, BaselineKey, Meta, Note, Plan, Target};
use crate::store::baseline;
use crate::sys::clock;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use std::path::Path;

/// A baseline that applies to the planned capture.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedBaseline {
    pub baseline: Baseline,
    /// The points in which it may not, or does not, apply any more.
    pub stale: Vec<KeyChange>,
    /// The same as notes for the user.
    pub notes: Vec<Note>,
}

/// Reads a baseline and compares it with a plan. `stale_ok` accepts a stale baseline.
///
/// # Errors
/// Any error of reading it; `Unsupported` if it does not fit, with the mismatches.
pub fn fit(path: &Path, plan: &Plan, stale_ok: bool) -> Result<MatchedBaseline> {
    let baseline = baseline::read(path)?;
    let found = key_changes(&baseline, &key(&baseline.key, plan), clock::unix_ns());
    judge(baseline, &path.display().to_string(), found, stale_ok)
}

fn judge(baseline: Baseline, name: &str, found: Vec<KeyChange>, stale_ok: bool) -> Result<MatchedBaseline> {
    let incompatible: Vec<&str> =
        found.iter().filter(|stale| stale.incompatible).map(|stale| stale.text.as_str()).collect();
    if !incompatible.is_empty() && !stale_ok {
        let message = format!("{name} does not match this capture: {}", incompatible.join("; "));
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("Build one that does with `ironlaw baseline build`, or accept it with --stale-ok."));
    }
    let note = |stale: &KeyChange| {
        let weight = if stale.incompatible { "no longer applies" } else { "may no longer apply" };
        let text = format!("the baseline {name} {weight}: {}", stale.text);
        Note { topic: "baseline-stale".to_string(), text, fix: None }
    };
    Ok(MatchedBaseline { baseline, notes: found.iter().map(note).collect(), stale: found })
}

/// Reads a baseline for a session with this metadata, on whatever machine it runs.
///
/// # Errors
/// As [`fit`].
pub fn of_session(path: &Path, meta: &Meta, stale_ok: bool) -> Result<MatchedBaseline> {
    let baseline = baseline::read(path)?;
    let now = key_of(ProfileBuilder::new(meta.clone()).profile());
    let found = key_changes(&baseline, &now, clock::unix_ns());
    judge(baseline, &path.display().to_string(), found, stale_ok)
}

/// The baseline's own key as it would be on this machine.
pub(super) fn here(then: &BaselineKey) -> BaselineKey {
    let program = then.program.as_deref().and_then(|path| program::of_file(Path::new(path)));
    BaselineKey {
        host: host::facts(&ProcFs::new("/proc"), &SysFs::new("/sys")),
        program: None,
        build_id: program.and_then(|program| program.build_id),
        ..then.clone()
    }
}

/// The key of a session as far as it is known before the start.
fn key(then: &BaselineKey, plan: &Plan) -> BaselineKey {
    let proc = ProcFs::new("/proc");
    let running = running(&proc, then, &plan.target);
    let host = host::facts(&proc, &SysFs::new("/sys"));
    let facts = target::facts(&proc, &plan.target, &host);
    let alias = running.as_ref().and_then(|program| facts.aliases.iter().find(|alias| alias.file == program.path));
    BaselineKey {
        called: alias.map(|alias| alias.called.clone()),
        allowed: facts.allowed_cpus,
        host,
        target: plan.target.label(),
        build_id: running.as_ref().and_then(|program| program.build_id.clone()),
        program: running.map(|program| program.path),
        cpus: match &plan.target {
            Target::Cpus { cpus } => cpus.clone(),
            _ => vec![],
        },
        ops: plan.ops.clone(),
        latency: plan.latency.clone(),
    }
}

/// The target's program, if known before the capture. Among several processes, prefers the one that runs the baseline's
/// program. A command, or a process captured with its children, may only be a wrapper shell, so only a match counts.
fn running(proc: &ProcFs, then: &BaselineKey, target: &Target) -> Option<Program> {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let known = then.program.as_deref().map(file);
    let same = |program: &Program| Some(file(&program.path)) == known;
    match target {
        Target::Processes { pids, children } => {
            let all: Vec<Program> = pids.iter().filter_map(|pid| program::of_process(proc, *pid)).collect();
            let first = all.first().filter(|_| !children).cloned();
            all.into_iter().find(same).or(first)
        }
        Target::Command { argv } => {
            let search = std::env::var_os("PATH").unwrap_or_default();
            let path = program::found(argv.first()?, &search)?;
            program::of_file(&std::fs::canonicalize(path).ok()?).filter(same)
        }
        Target::Threads { .. } | Target::Cgroup { .. } | Target::Cpus { .. } => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::baseline::testing::baseline;

    fn own(file: &str) -> BaselineKey {
        BaselineKey { program: Some(format!("/elsewhere/{file}")), ..baseline(&[3]).key }
    }

    #[test]
    fn a_process_is_known_by_its_program_and_a_shell_around_it_is_not_taken_for_it() {
        let proc = ProcFs::new("/proc");
        let exe = std::env::current_exe().unwrap();
        let name = exe.file_name().unwrap().to_str().unwrap();
        let me = |children| Target::Processes { pids: vec![std::process::id()], children };
        let found = |key: &BaselineKey, target: &Target| running(&proc, key, target).map(|program| program.path);
        let path = Some(exe.to_str().unwrap().to_string());
        assert_eq!(found(&own(name), &me(true)), path);
        assert_eq!((found(&own("other"), &me(false)), found(&own("other"), &me(true))), (path.clone(), None));
        let command = |word: &str| Target::Command { argv: vec![word.to_string(), "x".to_string()] };
        assert_eq!(found(&own(name), &command(exe.to_str().unwrap())), path);
        assert_eq!(found(&own("other"), &command("sh")), None);
        assert_eq!(found(&own(name), &Target::Cpus { cpus: vec![] }), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name_unless_it_is_wanted() {
        let then = baseline(&[30]);
        let mut now = then.key.clone();
        (now.build_id, now.host.kernel) = (Some("ffee".into()), "7.0".into());
        let found = || key_changes(&then, &now, 0);
        let error = judge(then.clone(), "web", found(), false).unwrap_err();
        assert!(error.to_string().contains("build-id of the program: 0a0b then, ffee now"), "{error}");
        assert!(!error.to_string().contains("kernel") && error.remedy().unwrap().contains("--stale-ok"));
        let notes = judge(then.clone(), "web", found(), true).unwrap().notes;
        assert!(
            notes[0].text.contains("no longer applies") && notes[1].text.contains("may no longer apply"),
            "{notes:?}"
        );
    }
}

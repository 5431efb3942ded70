//! What `record` and `demo` share: from typed flags to a finished capture on disk, and the two lines that tell of it.
//! It never writes to the standard output, which belongs to the command it may have started.

use super::args::{CaptureArgs, TargetArgs};
use super::out::Terminal;
use super::plan::{self, Environment, TargetChoice};
use crate::collect::{host, resolve};
use crate::error::Result;
use crate::model::{LossKind, Note, Plan, StackEnd};
use crate::model::profile::Profile;
use crate::session::{Live, Outcome};
use crate::store::Writer;
use crate::sys::event_sources::Sysfs;
use std::path::Path;

/// The plan for what was typed, its target found, with what had to be changed.
pub(super) fn plan(target: &TargetArgs, capture: &CaptureArgs) -> Result<(Plan, Vec<Note>)> {
    let online: Vec<u32> = host::facts(Path::new("/proc"), Path::new("/sys")).cpus.iter().map(|cpu| cpu.cpu).collect();
    let environment = Environment {
        max_sample_rate: host::max_sample_rate(Path::new("/proc")),
        online_cpus: &online,
        event_sources: &Sysfs::default(),
    };
    let choice = plan::target(target, &online)?;
    let planned = plan::capture(capture, &environment)?;
    let target = match choice {
        TargetChoice::Ready(target) => resolve::check(target)?,
        TargetChoice::Cgroup(name) => resolve::cgroup(&name)?,
    };
    Ok((planned.on(target), planned.notes))
}

/// Captures into a recording at `path`; notes are told as soon as they are known.
pub(super) fn record(live: Live, path: &Path, force: bool, terminal: &Terminal) -> Result<Outcome> {
    let writer = Writer::create(path, live.meta(), force)?;
    let known = live.meta().notes.len();
    live.meta().notes.iter().for_each(|note| terminal.note(note));
    let outcome = live.run(Some(writer))?;
    outcome.profile.meta.notes.iter().skip(known).for_each(|note| terminal.note(note));
    terminal.say(&summary(&outcome, path));
    Ok(outcome)
}

/// What came of it: how long, how many, how whole, at what cost, where.
fn summary(outcome: &Outcome, path: &Path) -> String {
    let profile = &outcome.profile;
    let seconds = profile.duration().seconds();
    let samples = profile.samples.len();
    let lost: u64 = profile.lost.iter().filter(|lost| lost.kind == LossKind::Ring).map(|lost| lost.count).sum();
    format!(
        "recorded {seconds:.1} s of {}: {samples} samples, {lost} lost, {} of stacks whole\n{} ({:.1} kB)",
        profile.meta.plan.target.label(),
        whole(profile),
        path.display(),
        outcome.bytes as f64 / 1e3,
    )
}

fn whole(profile: &Profile) -> String {
    let taken = profile.samples.end.iter().filter(|end| **end != StackEnd::NotTaken).count();
    let whole = profile.samples.end.iter().filter(|end| **end == StackEnd::Whole).count();
    if taken == 0 { "none".to_string() } else { format!("{:.1}%", 100.0 * whole as f64 / taken as f64) }
}

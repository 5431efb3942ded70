//! Files in JSON and TOML: baselines, sweeps, the user's settings.

use super::recordings::fixture_profile;
use crate::analysis::TimeRange;
use crate::analysis::sweep::Run;
use crate::cli::parse_config;
use crate::export::{csv, html, json, markdown, text};
use crate::model::{RunState, SweepMeta};
use crate::session::run_folder;
use crate::store;
use crate::sweep;
use crate::tui::settings::Environment;
use crate::view::report::{Report, ReportOptions};
use crate::view::sweep::SweepReport;

/// A baseline, which a recording is compared with.
pub fn baseline(data: &[u8]) {
    let (Ok(baseline), Some(profile)) = (store::baseline::parse(data), fixture_profile()) else { return };
    let Ok(mut report) = Report::build(profile, &ReportOptions::default()) else { return };
    report.compare_with_baseline(profile, &baseline);
    drop((text::report(&report, text::Style::default()), json::report(&report)));
}

/// The description of a sweep, each of whose runs recorded the same, to a report.
pub fn sweep(data: &[u8]) {
    /// Each run is analysed.
    const MOST_RUNS: usize = 16;
    let (Ok(meta), Some(profile)) = (run_folder::parse::<SweepMeta>(&String::from_utf8_lossy(data)), fixture_profile())
    else {
        return;
    };
    if meta.runs.len() > MOST_RUNS {
        return;
    }
    let window = TimeRange { from: meta.leave_out, to: None }.window(&profile.ticks, profile.duration());
    let counts = |state: &RunState| matches!(state, RunState::Done { .. });
    let results: Vec<_> =
        meta.runs.iter().map(|run| counts(&run.state).then(|| Run::of(profile, run.n, window))).collect();
    let report = SweepReport::of(&meta, &sweep::analyse(&meta, &results));
    drop((text::sweep(&report, text::Style::default()), json::sweep(&report), csv::sweep(&report)));
    drop((markdown::sweep(&report), html::sweep(&report)));
}

/// The user's settings.
pub fn config(data: &[u8]) {
    let _ = parse_config(&String::from_utf8_lossy(data), &Environment::default());
}

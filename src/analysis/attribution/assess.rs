//! Assesses a finished recording against a baseline, window by window. Each window is assessed with what a live session
//! would have known at that point; only the final assessment covers the whole recording.

use super::assessor::Assessor;
use super::functions::function_shift;
use super::observe::{PreviousUse, observe_with};
use super::types::{Assessment, Settings, WindowResult};
use crate::analysis::baseline::Levels;
use crate::analysis::{Counters, Window};
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::units::Nanos;

/// A last window shorter than this fraction of the others is mostly the end of the program.
const LEAST_PART: f64 = 0.5;

/// Assesses a recording and reports every window, because the recording's length bounds memory. The explanation of the
/// last alarm is included even if the alarm is over.
#[must_use]
pub fn assess(profile: &Profile, baseline: &Baseline, settings: Settings) -> Assessment {
    let (assessor, timeline) = replayed(profile, baseline, settings, windows(profile));
    Assessment { timeline, ..assessor.final_assessment() }
}

/// The assessment of a session as it was at a moment, from the windows that are still held.
#[must_use]
pub fn assess_until(profile: &Profile, baseline: &Baseline, settings: Settings, end: Nanos) -> Assessment {
    let until = windows(profile).into_iter().filter(|window| window.to <= end).collect();
    replayed(profile, baseline, settings, until).0.assessment()
}

fn replayed(
    profile: &Profile,
    baseline: &Baseline,
    settings: Settings,
    windows: Vec<Window>,
) -> (Assessor, Vec<WindowResult>) {
    let (counters, previous) = (Counters::of(profile), PreviousUse::of(profile));
    let mut assessor = Assessor::new(Levels::of(baseline), profile.meta.host.clone(), settings);
    let mut timeline = Vec::new();
    for window in windows {
        timeline.push(assessor.take(observe_with(profile, &counters, &previous, window), &profile.neighbours));
        if let Some(from) = assessor.wants_function_shift() {
            assessor.set_function_shift(function_shift(profile, baseline, Window { from, to: window.to }));
        }
    }
    (assessor, timeline)
}

fn windows(profile: &Profile) -> Vec<Window> {
    let all = profile.ticks.iter().map(|tick| Window { from: tick.at - tick.span, to: tick.at });
    let mut windows: Vec<Window> = all.filter(|window| window.span().0 > 0).collect();
    let mut spans: Vec<u64> = windows.iter().map(|window| window.span().0).collect();
    spans.sort_unstable();
    let usual = spans.get(spans.len() / 2).copied().unwrap_or(0) as f64;
    windows.retain(|window| window.span().as_f64() >= LEAST_PART * usual);
    windows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::baseline::testing::baseline;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn every_window_of_a_recording_counts_however_long_it_is() {
        let settings = Settings::default();
        let windows = settings.correlation_windows as u64 + 100;
        let mut synthetic = Synthetic::new();
        for at in 1..=windows {
            synthetic.tick(at * 1000, 1000);
        }
        let assessment = assess(&synthetic.finish(), &baseline(&[30]), settings);
        let ends: Vec<f64> = assessment.timeline.iter().map(|result| result.window.to.seconds()).collect();
        assert_eq!(ends, (1..=windows).map(|at| at as f64).collect::<Vec<_>>());
    }

    #[test]
    fn a_moment_is_assessed_by_the_windows_up_to_it() {
        let mut synthetic = Synthetic::new();
        for at in 1..=40 {
            synthetic.tick(at * 1000, 1000);
        }
        let profile = synthetic.finish();
        for (end_ms, expected) in [(0, 0), (999, 0), (1000, 1), (12_500, 12), (90_000, 40)] {
            let found =
                assess_until(&profile, &baseline(&[30]), Settings::default(), crate::analysis::testing::ms(end_ms));
            assert_eq!(found.timeline.len(), expected, "{end_ms}");
        }
    }
}

//! The metrics window by window, for series and sparklines. Nothing is interpolated: a window without readings has
//! missing values.

use super::counters::Counters;
use super::metric::Metric;
use super::metrics::metrics;
use super::selection::Selection;
use super::tasks::Tasks;
use super::time::Window;
use crate::model::profile::Profile;

/// One window's metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowMetrics {
    /// The window.
    pub window: Window,
    /// Its metrics, in the order of [`metrics`].
    pub metrics: Vec<Metric>,
}

/// The metrics of every window that ended within the selection's time.
#[must_use]
pub fn timeline(profile: &Profile, tasks: &Tasks, counters: &Counters, selection: &Selection) -> Vec<WindowMetrics> {
    let who = selection.who(tasks);
    let windows = profile.ticks.iter().map(|tick| Window { from: tick.at - tick.span, to: tick.at });
    let chosen = windows.filter(|window| {
        window.span().0 > 0 && window.from >= selection.time.from && selection.time.to.is_none_or(|to| window.to <= to)
    });
    chosen.map(|window| WindowMetrics { window, metrics: metrics(counters, &who, window, None) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::time::TimeRange;
    use crate::analysis::value_of;
    use crate::model::MetricId;
    use crate::model::Scope;

    #[test]
    fn each_window_has_its_own_growth() {
        let mut synthetic = Synthetic::new();
        for (at, cpu) in [(1000, 400), (2000, 500), (3000, 500), (4000, 1500)] {
            synthetic.reading("task-clock", Scope::Target, at, ms(cpu).0).tick(at, 1000);
        }
        let profile = synthetic.finish();
        let time = TimeRange { from: ms(1000), to: None };
        let selection = Selection { time, ..Selection::default() };
        let series = timeline(&profile, &Tasks::of(&profile), &Counters::of(&profile), &selection);
        let busy: Vec<_> = series
            .iter()
            .filter_map(|window| value_of(&window.metrics, MetricId::CpuUtilisation).value().copied())
            .collect();
        assert_eq!(busy, [0.1, 0.0, 1.0]);
    }
}

//! The metrics of one time window, and the series of windows behind a curve.
//! A curve has a gap where nothing was read.

use crate::analysis::{Law, Metric, Summary, Totals, Window, metrics, operations, value_of};
use crate::model::{Measure, MetricId};
use crate::units::Nanos;
use crate::view::context::ViewContext;

/// Maximum number of points: more than a wide screen has columns. Beyond it, neighbouring windows are merged.
const MOST_POINTS: usize = 240;

/// The metrics of one window.
#[derive(Debug)]
pub(in crate::view) struct WindowMetrics {
    pub window: Window,
    pub metrics: Vec<Metric>,
    pub law: Law,
}

impl WindowMetrics {
    /// The metrics of a window in a view context.
    pub fn of(context: &ViewContext<'_>, window: Window, summary: Option<&Summary>) -> WindowMetrics {
        let who = context.selection.who(&context.tasks);
        let metrics = metrics(&context.counters, &who, window, summary);
        let ops = operations(context.profile, window);
        let law = Law::of(&Totals::of(&metrics, ops, window.span().seconds()));
        WindowMetrics { window, metrics, law }
    }

    /// The value of a metric.
    pub fn metric(&self, id: MetricId) -> Measure<f64> {
        value_of(&self.metrics, id)
    }
}

/// The metrics of the selected time's windows, oldest first.
pub(in crate::view) fn past(context: &ViewContext<'_>) -> Vec<WindowMetrics> {
    windows(context).into_iter().map(|window| WindowMetrics::of(context, window, None)).collect()
}

/// The windows of the selected time, oldest first; neighbours are merged if there are more than a wide screen shows.
pub(in crate::view) fn windows(context: &ViewContext<'_>) -> Vec<Window> {
    let within = |window: &Window| window.from >= context.window.from && window.to <= context.window.to;
    let ticks = context.profile.ticks.iter().filter(|tick| tick.span.0 > 0);
    let mut windows: Vec<_> =
        ticks.map(|tick| Window { from: tick.at - tick.span, to: tick.at }).filter(within).collect();
    join_stub(&mut windows);
    let together = windows.len().div_ceil(MOST_POINTS).max(1);
    windows.chunks(together).map(joined).collect()
}

/// Merges a short last window into the one before: a capture ends within a window, which would look like a drop.
fn join_stub(windows: &mut Vec<Window>) {
    if let [.., before, last] = windows.as_mut_slice()
        && last.span().0 < before.span().0 / 2
    {
        before.to = last.to;
        windows.pop();
    }
}

fn joined(run: &[Window]) -> Window {
    let from = run.first().map_or(Nanos(0), |window| window.from);
    Window { from, to: run.last().map_or(from, |window| window.to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::Scope;
    use crate::view::overview::tests::context;

    #[test]
    fn the_stub_at_the_end_of_a_capture_belongs_to_the_window_before() {
        let window = |from, to| Window { from: ms(from), to: ms(to) };
        for (last, expected) in [
            (window(2000, 2070), vec![window(0, 1000), window(1000, 2070)]),
            (window(2000, 2700), vec![window(0, 1000), window(1000, 2000), window(2000, 2700)]),
        ] {
            let mut windows = vec![window(0, 1000), window(1000, 2000), last];
            join_stub(&mut windows);
            assert_eq!(windows, expected);
        }
        let mut alone = vec![window(0, 70)];
        join_stub(&mut alone);
        assert_eq!(alone, [window(0, 70)]);
    }

    #[test]
    fn a_long_history_is_put_together_without_losing_its_ends() {
        for windows in [0, 1, 7, 240, 241, 1000] {
            let mut synthetic = Synthetic::new();
            for at in 1..=windows {
                synthetic.reading("task-clock", Scope::Target, at * 1000, ms(at * 500).0).tick(at * 1000, 1000);
            }
            synthetic.meta.duration_ns = Some(ms(windows * 1000).0);
            let profile = synthetic.finish();
            let past = past(&context(&profile));
            assert!(past.len() <= MOST_POINTS && (past.len() > MOST_POINTS / 2 || past.len() as u64 == windows));
            assert!(past.iter().all(|context| context.law.busy == Measure::exact(0.5)), "{windows}");
            let ends = (past.first().map(|context| context.window.from), past.last().map(|context| context.window.to));
            assert_eq!(ends, if windows == 0 { (None, None) } else { (Some(ms(0)), Some(ms(windows * 1000))) });
        }
    }
}

//! How much of the CPU time that the kernel counted was sampled; shares of samples need nearly all of it. A thread's
//! event loses its unfinished period at exit: short threads can leave no sample.

use super::counters::Counters;
use super::metric::{Metric, value_of};
use super::observe;
use super::selection::{Axis, Selection, ThreadSet};
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{EventSpec, Measure, MetricId, Rate, Unit, Why};
use serde::Serialize;

/// Below this share the user is warned.
const LOW: f64 = 0.95;
/// Below this share findings from samples are less certain.
const TOO_LOW: f64 = 0.9;
/// A share above this is impossible: two clocks disagree.
const HIGH: f64 = 1.05;

/// Sampled time over CPU time, in one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coverage {
    /// Weight of the samples over the counted CPU time; 1 is all of it.
    pub share: f64,
    /// Standard error of the share, from the number of samples.
    pub error: f64,
    /// The counter of the CPU time; empty where only the share was kept.
    #[serde(skip)]
    pub counter: &'static str,
}

impl Coverage {
    /// The same for a run that kept only its metrics and its number of samples.
    #[must_use]
    pub(super) fn of_run(metrics: &[Metric], samples: u64) -> Option<Coverage> {
        let share = *value_of(metrics, MetricId::SamplesCoverage).value()?;
        (samples > 0).then(|| Coverage {
            share,
            error: (samples as f64 + 1.0).sqrt() * share / samples as f64,
            counter: "",
        })
    }

    /// Whether so much was missed that the user must know.
    #[must_use]
    pub fn is_low(&self) -> bool {
        self.share + self.error < LOW
    }

    /// Whether so much was missed that findings from samples are less certain.
    #[must_use]
    pub fn is_too_low(&self) -> bool {
        self.share + self.error < TOO_LOW
    }

    /// Whether more was sampled than counted.
    #[must_use]
    pub fn is_high(&self) -> bool {
        self.share - self.error > HIGH
    }
}

/// The event whose weight is CPU time: the selected one if it is a clock, else the first clock.
#[must_use]
pub(super) fn clock(profile: &Profile, axis: Axis) -> Option<u16> {
    let events = &profile.meta.events;
    let is_clock = |index: u16| {
        events.get(usize::from(index)).is_some_and(|event| matches!(event.unit, Unit::Nanos | Unit::Cycles))
    };
    match axis {
        Axis::Event(index) if is_clock(index) => Some(index),
        _ => (0..events.len()).filter_map(|index| u16::try_from(index).ok()).find(|index| is_clock(*index)),
    }
}

/// Weight of the clock's samples over the CPU time that the kernel counted for the same threads and window.
#[must_use]
pub(super) fn coverage(
    profile: &Profile,
    counters: &Counters,
    who: &ThreadSet,
    axis: Axis,
    window: Window,
) -> Measure<Coverage> {
    let event = clock(profile, axis).and_then(|index| Some((index, profile.meta.events.get(usize::from(index))?)));
    let Some((index, event)) = event else { return Measure::Missing(Why::NotRecorded) };
    let Some(counter) = counter(counters, event) else { return Measure::Missing(Why::NotRecorded) };
    let counted = counters.of_tasks(counter, who, window);
    let range = window.range();
    let all = Selection { time: range, ..Selection::default() };
    let seen = observe::samples(profile, index, &all, who);
    let (samples, weight) = seen.fold((0_u64, 0_u64), |(n, sum), seen| (n + 1, sum.saturating_add(seen.weight)));
    let cpu_seconds = counters.of_tasks("task-clock", who, window).map(|ns| ns * 1e-9).value().copied();
    let each = |counted: f64| match (samples, profile.meta.plan.rate) {
        (1.., _) => weight as f64 / samples as f64,
        (0, Rate::Period(period)) => period as f64,
        // No samples at all: use the weight each would have had at this rate.
        (0, Rate::Frequency(hertz)) => cpu_seconds.map_or(counted, |cpu| counted / (cpu * hertz as f64).max(1.0)),
    };
    counted.ratio(Measure::exact(weight as f64), |counted, weight| {
        (counted > 0.0).then(|| Coverage {
            share: weight / counted,
            error: (samples as f64 + 1.0).sqrt() * each(counted) / counted,
            counter,
        })
    })
}

/// The counter of the same CPU time in the same modes; `None` if there is none.
fn counter(counters: &Counters, event: &EventSpec) -> Option<&'static str> {
    match (event.unit, event.exclude_user, event.exclude_kernel) {
        (Unit::Nanos, false, false) => Some("task-clock"),
        (Unit::Nanos, false, true) => Some("user-time"),
        (Unit::Nanos, true, false) => Some("system-time"),
        (Unit::Cycles, false, user_only) if counters.hardware().user_only() == user_only => Some("cycles"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::Scope;

    fn of(samples: u64, counter: &str, counted_ms: u64, who: &ThreadSet) -> Measure<Coverage> {
        let mut synthetic = Synthetic::new();
        synthetic.weight = 1_000_000;
        synthetic.alive(41, "main").samples(100, 41, "a!b", samples);
        synthetic.reading(counter, Scope::Target, 1000, ms(counted_ms).0);
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(20_000) };
        coverage(&profile, &Counters::of(&profile), who, Axis::Event(0), window)
    }

    #[test]
    fn what_was_sampled_is_held_against_what_was_counted() {
        // Samples of 1 ms, CPU time in ms; expected: low, too low, higher than possible.
        for (samples, counted, expected) in [
            (400, 400, (false, false, false)),
            (900, 1000, (true, false, false)),
            (800, 1000, (true, true, false)),
            (40, 1000, (true, true, false)),
            (0, 1000, (true, true, false)),
            (8, 10, (false, false, false)),
            (1000, 800, (false, false, true)),
        ] {
            let Measure::Known { value, .. } = of(samples, "task-clock", counted, &ThreadSet::All) else {
                panic!("{samples} of {counted} ms is no coverage")
            };
            assert_eq!(
                (value.is_low(), value.is_too_low(), value.is_high()),
                expected,
                "{samples} {counted}: {value:?}"
            );
        }
    }

    #[test]
    fn without_cpu_time_there_is_no_coverage() {
        let only = ThreadSet::Only([41].into_iter().collect());
        for (counter, counted, who, why) in [
            ("user-time", 100, &ThreadSet::All, Why::NotRecorded),
            ("task-clock", 0, &ThreadSet::All, Why::Idle),
            ("task-clock", 100, &only, Why::NotRecorded),
        ] {
            assert_eq!(of(5, counter, counted, who), Measure::Missing(why), "{counter} {counted}");
        }
    }
}

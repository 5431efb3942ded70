//! Functions by the hour: CPU time is shared out by samples.

use super::Span;
use crate::analysis::coverage::clock;
use crate::analysis::{
    Axis, Counters, GroupBy, Names, Selection, SortBy, StackCounts, Tasks, ThreadSet, Window, metrics, rank, value_of,
};
use crate::model::profile::Profile;
use crate::model::{FunctionRow, MetricId, Unit};

const HOUR_S: i64 = 3600;

/// Functions of an hour that are told apart.
const MOST_FUNCTIONS: usize = 100;

/// The functions of the spans' hours; none if no event that stands for CPU time was sampled.
pub(super) fn rows(
    profile: &Profile,
    tasks: &Tasks,
    counters: &Counters,
    spans: &[Span],
    version: Option<&String>,
) -> Vec<FunctionRow> {
    let Some(event) = clock(profile, Axis::Event(0)) else { return Vec::new() };
    let names = Names::of(profile);
    let hours = spans.chunk_by(|a, b| a.start_s.div_euclid(HOUR_S) == b.start_s.div_euclid(HOUR_S));
    let of_hour = |hour: &[Span]| {
        let window = Window { from: hour[0].window.from, to: hour[hour.len() - 1].window.to };
        let selection = Selection { time: window.range(), axis: Axis::Event(event), ..Selection::default() };
        let counts = StackCounts::of(profile, tasks, &selection);
        let ranking = rank(profile, &names, tasks, &counts, GroupBy::Function, SortBy::SelfWeight);
        let Some(cpu_s) = cpu_seconds(profile, counters, window, event, ranking.weight) else { return Vec::new() };
        let own = ranking.rows.iter().filter(|row| row.self_samples > 0).map(|row| FunctionRow {
            start_s: hour[0].start_s,
            length_s: window.span().seconds(),
            version: version.cloned(),
            function: row.name.clone(),
            module: row.module.clone(),
            cpu_s: cpu_s * ranking.share(row.self_weight),
            samples: row.self_samples as i64,
        });
        FunctionRow::most(own.collect(), MOST_FUNCTIONS)
    };
    hours.flat_map(of_hour).collect()
}

/// The counted CPU time, or that of the samples if they stand for time.
fn cpu_seconds(profile: &Profile, counters: &Counters, window: Window, event: u16, weight: u64) -> Option<f64> {
    let counted = value_of(&metrics(counters, &ThreadSet::All, window, None), MetricId::CpuTime).value().copied();
    let is_time = profile.meta.events.get(usize::from(event)).is_some_and(|event| event.unit == Unit::Nanos);
    counted.or_else(|| is_time.then_some(weight as f64 * 1e-9))
}

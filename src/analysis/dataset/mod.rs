//! A profile as rows of a data set: windows of whole minutes, functions by the hour, neighbours by the window.
//! What was not measured is missing.

mod functions;
mod neighbours;
mod spans;
mod windows;

#[cfg(test)]
mod tests;

pub use spans::{Span, spans};

use super::baseline::key_of;
use super::counters::Counters;
use super::selection::Selection;
use super::stack_counts::StackCounts;
use super::summary::summary;
use super::tasks::Tasks;
use super::time::Window;
use crate::model::DatasetRows;
use crate::model::profile::Profile;

/// The length of a window, seconds.
pub const WINDOW_S: u64 = 60;

/// Characters of a build-id that tell versions apart.
const BUILD_ID: usize = 12;

/// What rows say of a job beside its measurements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatasetLabels {
    /// The program's version; its build-id without it.
    pub version: Option<String>,
    /// The host's configuration.
    pub config: Option<String>,
}

/// The rows of these parts of a profile, which must follow each other.
#[must_use]
pub fn dataset_rows(profile: &Profile, spans: &[Span], labels: &DatasetLabels) -> DatasetRows {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return DatasetRows::default() };
    let whole = Window { from: first.window.from, to: last.window.to };
    let (tasks, counters) = (Tasks::of(profile), Counters::about(profile, whole));
    let counts = StackCounts::of(profile, &tasks, &Selection { time: whole.range(), ..Selection::default() });
    let seen = summary(profile, &counters, &counts, whole);
    let version = labels.version.clone().or_else(|| build_id(profile));
    let labels = DatasetLabels { version, config: labels.config.clone() };
    let neighbours = neighbours::rows(profile, spans);
    let windows = spans.iter().zip(&neighbours);
    let windows =
        windows.map(|(span, others)| windows::row(profile, &counters, &seen, span, others, &labels)).collect();
    DatasetRows {
        windows,
        functions: functions::rows(profile, &tasks, &counters, spans, labels.version.as_ref()),
        neighbours: neighbours.into_iter().flatten().flatten().collect(),
        alarms: Vec::new(),
    }
}

fn build_id(profile: &Profile) -> Option<String> {
    key_of(profile).build_id.map(|id| id.chars().take(BUILD_ID).collect())
}

/// The name of a job whose target has none of its own: the program that most samples were taken in.
#[must_use]
pub fn program_name(profile: &Profile) -> Option<String> {
    let key = key_of(profile);
    let path = key.called.or(key.program)?;
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(ToString::to_string)
}

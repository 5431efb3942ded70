//! One entry of the list, and the trial of an event.

use super::selection::Kind;
use crate::collect::sampler::{EventTrial, try_event};
use crate::pmu::{self, EventSources};
use serde::Serialize;
use std::path::Path;

/// An event or a metric.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// What `-e` or, for a metric, `-M` takes.
    pub(super) name: String,
    /// Other names of the same event.
    pub(super) aliases: Vec<String>,
    /// `null` if it was not tried.
    pub(super) counted: Option<bool>,
    /// Why it does not count or was not tried, or a limit.
    pub(super) why: Option<String>,
}

impl Entry {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}

/// Whether an event counts on this thread, and why not.
pub(super) fn tried(name: &str, sources: &dyn EventSources, root: &Path) -> (Option<bool>, Option<String>) {
    let trial = match pmu::parse(name, sources) {
        Ok(events) => events.first().map(|event| try_event(event, root)),
        // It needs a value, or has a format of its own.
        Err(error) => Some(EventTrial::Refused(error.to_string())),
    };
    match trial {
        Some(EventTrial::Counts) => (Some(true), None),
        Some(EventTrial::UserOnly) => (Some(true), Some("in user code only".to_string())),
        Some(EventTrial::Refused(why)) => (Some(false), Some(why)),
        None => (None, None),
    }
}

//! The result of one check.

use serde::{Deserialize, Serialize};

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It works.
    Works,
    /// It works in part, or something that would help is absent.
    Limited,
    /// It does not work.
    Fails,
    /// It could not be determined.
    Unknown,
}

/// One checked topic and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Short machine name, e.g. `perf-events`, `kernel-symbols`.
    pub topic: String,
    /// The result.
    pub status: Status,
    /// What was found, in a sentence fragment.
    pub text: String,
    /// The effect on profiling, or the cause; empty if there is nothing to explain.
    pub detail: String,
    /// The exact command or setting that fixes it, if there is one.
    pub fix: Option<String>,
}

impl Check {
    pub(super) fn new(topic: &str, status: Status, text: impl Into<String>) -> Check {
        Check { topic: topic.to_string(), status, text: text.into(), detail: String::new(), fix: None }
    }

    pub(super) fn works(topic: &str, text: impl Into<String>) -> Check {
        Check::new(topic, Status::Works, text)
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Check {
        self.detail = detail.into();
        self
    }

    pub(super) fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }
}

/// The topic that decides whether profiling works at all.
pub(super) const PERF_EVENTS: &str = "perf-events";

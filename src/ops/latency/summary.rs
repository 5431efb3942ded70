//! What a load generator prints of a whole run.

use super::bins::LatencyBins;
use crate::error::{Error, ErrorKind};

/// The latencies of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) bins: LatencyBins,
    /// What the numbers leave out, and what to do about it.
    pub(crate) lacks: Option<(&'static str, &'static str)>,
}

impl Summary {
    pub(super) fn of(bins: LatencyBins) -> Summary {
        Summary { bins, lacks: None }
    }
}

pub(super) fn none(what: &str, hint: &str) -> Error {
    Error::new(ErrorKind::NotFound, what.to_string()).hint(hint.to_string())
}

//! A measured value for programs: the number with its coverage, or the reason why it is missing, as a name and in
//! words.

use crate::model::{Measure, Why};
use serde::Serialize;

/// `{"value": 1.5, "coverage": 1.0}` or `{"missing": "not_supported", "reason": "..."}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measured {
    /// It was measured.
    Known {
        /// The value.
        value: f64,
        /// Share of the time in which its counters counted, 0 to 1.
        coverage: f64,
    },
    /// It was not measured.
    Missing {
        /// The reason.
        missing: Why,
        /// The reason in words.
        reason: &'static str,
    },
}

impl Measured {
    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.known().map(|(value, _)| value)
    }

    /// The value with its coverage, if there is one.
    pub(crate) fn known(&self) -> Option<(f64, f64)> {
        match self {
            Measured::Known { value, coverage } => Some((*value, *coverage)),
            Measured::Missing { .. } => None,
        }
    }
}

impl From<Measure<f64>> for Measured {
    fn from(measure: Measure<f64>) -> Self {
        match measure {
            Measure::Known { value, quality } => Measured::Known { value, coverage: quality.coverage },
            Measure::Missing(why) => Measured::Missing { missing: why, reason: why.text() },
        }
    }
}

//! What is known of some code: instructions per cycle, cache misses per instruction.

use crate::model::{Measure, Why};

/// With fewer samples or intervals there is no IPC: its standard error could be a fourth of it.
pub const FEWEST_SAMPLES: u64 = 20;

/// The rates of some code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Instructions per cycle.
    pub ipc: Measure<f64>,
    /// Standard error of `ipc`, if that is known.
    pub ipc_error: Option<f64>,
    /// Last-level cache misses per 1000 instructions.
    pub mpki: Measure<f64>,
    /// The samples or intervals that these are from.
    pub samples: u64,
}

impl Rates {
    /// Those of code without any sample.
    pub const NONE: Rates = {
        let none = Measure::Missing(Why::TooFewSamples);
        Rates { ipc: none, ipc_error: None, mpki: none, samples: 0 }
    };

    /// What a row is compared by, as more of it is worse: cycles per instruction, or misses per 1000.
    #[must_use]
    pub fn cost(&self, rate: CodeRate) -> Option<f64> {
        match rate {
            CodeRate::Cpi => self.ipc.value().map(|ipc| 1.0 / ipc),
            CodeRate::Mpki => self.mpki.value().copied(),
        }
    }
}

/// A rate that code is coloured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeRate {
    /// Cycles per instruction.
    Cpi,
    /// Last-level cache misses per 1000 instructions.
    Mpki,
}

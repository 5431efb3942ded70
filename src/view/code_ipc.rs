//! View model: instructions per cycle and cache misses of code.

use super::Measured;
use super::number::quantity;
use crate::analysis::{CodeIpc, CodeRate, FEWEST_SAMPLES, Rates};
use crate::model::Unit;
use serde::Serialize;

/// Rates of some code.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CodeRates {
    /// Instructions per cycle.
    pub ipc: Measured,
    /// Standard error of `ipc`, if that is known.
    pub ipc_error: Option<f64>,
    /// Last-level cache misses per 1000 instructions.
    pub mpki: Measured,
    /// The intervals between samples, or the samples of cycles, that they are from.
    pub samples: u64,
}

impl From<Rates> for CodeRates {
    fn from(Rates { ipc, ipc_error, mpki, samples }: Rates) -> CodeRates {
        CodeRates { ipc: ipc.into(), ipc_error, mpki: mpki.into(), samples }
    }
}

/// Rates of all selected code, and how they were measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CodeIpcView {
    /// Whether samples of one event carry the counts of the others, so that these belong to the time since the last one.
    pub grouped: bool,
    /// With fewer samples or intervals, code has no rates.
    pub fewest_samples: u64,
    /// All selected code.
    pub all: CodeRates,
    /// That of programs.
    pub user: CodeRates,
    /// That of the kernel.
    pub kernel: CodeRates,
}

impl CodeIpcView {
    /// The rates of a selection.
    #[must_use]
    pub fn of(found: &CodeIpc<'_>) -> CodeIpcView {
        let [user, kernel] = found.user_and_kernel().map(CodeRates::from);
        let (grouped, all) = (found.is_grouped(), found.whole().into());
        CodeIpcView { grouped, fewest_samples: FEWEST_SAMPLES, all, user, kernel }
    }

    /// What the columns mean, and the rates of all code.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = [("all code", self.all), ("user", self.user), ("kernel", self.kernel)];
        let rates: Vec<String> = parts.iter().map(|(name, rates)| format!("{name} {}", cell(rates.ipc))).collect();
        let from = if self.grouped { "counted between samples in it" } else { "by samples of each event" };
        format!("IPC of own code, {from}; {}", rates.join(", "))
    }
}

/// The ratio of a rate to that of all code as a step from -2 (much less) to 2 (much more): twice as much is much more, a
/// fifth is within what code differs by anyway.
#[must_use]
pub fn step(ratio: f64) -> i8 {
    match ratio {
        ratio if ratio >= 2.0 => 2,
        ratio if ratio >= 1.2 => 1,
        ratio if ratio <= 0.5 => -2,
        ratio if ratio <= 1.0 / 1.2 => -1,
        _ => 0,
    }
}

/// What colours by a rate mean.
#[must_use]
pub fn legend(rate: CodeRate) -> &'static str {
    match rate {
        CodeRate::Cpi => "cycles per instruction against all code",
        CodeRate::Mpki => "LLC misses per instruction against all code",
    }
}

/// A ratio for a column; `-` if it is missing.
#[must_use]
pub fn cell(value: Measured) -> String {
    value.value().map_or("-".to_string(), ratio)
}

fn ratio(value: f64) -> String {
    quantity(value, Unit::Ratio).joined()
}

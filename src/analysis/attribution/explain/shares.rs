//! A slowdown of the time per operation split into the law's factors, over the windows of a pool.
//! It never splits what grew too little to share out.

use super::super::pool::Pool;
use crate::analysis::compare::PRIMARY;
use crate::analysis::{Law, LawFactor, Slowdown, Totals};
use crate::model::{Measure, Why};

/// Shares of the slowdown, of which all are 1; one that made it smaller is below 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in super::super) struct Shares {
    /// The logarithm of the whole slowdown; `None` where it is none or cannot be known.
    pub total: Option<f64>,
    pub path: Option<f64>,
    pub cpi: Option<f64>,
    pub frequency: Option<f64>,
    /// In place of the three above.
    pub cpu: Option<f64>,
    pub waits: Option<f64>,
}

impl Shares {
    pub fn of(pool: &Pool) -> Shares {
        let Some(Slowdown { ratio, parts }) = slowdown(pool) else { return Shares::default() };
        let share = |factor| parts.iter().find(|part| part.factor == factor).and_then(|part| part.share);
        let total = Some(ratio.ln()).filter(|_| parts.iter().any(|part| part.share.is_some()));
        // Shares of what became faster are of no slowdown.
        if total.is_none_or(|total| total <= 0.0) {
            return Shares::default();
        }
        Shares {
            total,
            path: share(LawFactor::PathLength),
            cpi: share(LawFactor::Cpi),
            frequency: share(LawFactor::Frequency),
            cpu: share(LawFactor::CpuTime),
            waits: share(LawFactor::Utilisation),
        }
    }

    /// The same of a slowdown to which something adds that the law does not see, as a logarithm.
    pub fn beside(&self, added: f64) -> Shares {
        let Some(total) = self.total else { return *self };
        let of = |share: Option<f64>| share.map(|share| share * total / (total + added));
        Shares {
            total: Some(total + added),
            path: of(self.path),
            cpi: of(self.cpi),
            frequency: of(self.frequency),
            cpu: of(self.cpu),
            waits: of(self.waits),
        }
    }

    /// All that is CPU time.
    pub fn cpu_side(&self) -> f64 {
        self.cpu.unwrap_or_else(|| [self.path, self.cpi, self.frequency].into_iter().flatten().sum())
    }
}

/// The law of the pool against what was usual. Without operations the same instructions are an operation, and where these
/// are not known either, the same CPU time: then only waits are seen.
fn slowdown(pool: &Pool) -> Option<Slowdown> {
    law(pool, |moved| moved.now, |s| s.now)?.slowdown(&law(pool, |moved| moved.expected, |s| s.usual)?)
}

fn law(
    pool: &Pool,
    side: fn(&super::super::types::Moved) -> f64,
    waits: fn(&super::super::stretch::Stretch) -> f64,
) -> Option<Law> {
    let read = |name: &str| pool.get(name).map(side).filter(|value| *value > 0.0);
    let measure = |value: Option<f64>| value.map_or(Measure::Missing(Why::NotRecorded), Measure::exact);
    let (cpi, frequency) = (read("cpi"), read("frequency"));
    let counted = cpi.map(|cpi| cpi / frequency.unwrap_or(1.0));
    let (cpu, path) = match read(PRIMARY) {
        Some(nanos) => (nanos * 1e-9, read("path_length")),
        None => (counted.unwrap_or(1.0), counted.map(|_| 1.0)),
    };
    let stretch = pool.stretch.as_ref().map_or(1.0, waits);
    Some(Law::of(&Totals {
        wall: 1.0,
        ops: Measure::exact(1.0),
        cpu: Measure::exact(cpu),
        threads: Measure::exact(cpu * stretch),
        instructions: measure(path),
        cpi: measure(cpi),
        frequency: measure(frequency),
    }))
}

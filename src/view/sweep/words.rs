//! Describes the parts of a sweep in words that are the same on the screen and in every format.

use super::{Column, PointView, SweepView, Value};
use crate::analysis::sweep::{Coefficient, NoFit, Peak, RegionFit, SliceKind, Stack, Usl};
use crate::model::{Unit, Width};
use crate::view::number::{quantity, three_digits};

/// Why cores are lost, in a few words.
#[must_use]
pub fn slice(kind: SliceKind) -> String {
    match kind {
        SliceKind::MoreWork => "more instructions per op".to_string(),
        SliceKind::Smt => "siblings share a core".to_string(),
        SliceKind::Cpi => "slower instructions (CPI)".to_string(),
        SliceKind::Frequency => "lower frequency".to_string(),
        SliceKind::CpuTime => "more CPU time per op".to_string(),
        SliceKind::RunQueue => "waiting for a CPU".to_string(),
        SliceKind::Throttled => "throttled by the quota".to_string(),
        SliceKind::Blocked(cause) => format!("blocked: {}", cause.label()),
        SliceKind::Unseen => "blocked, cause not seen".to_string(),
    }
}

/// A stable name for programs: `cpi`, `blocked_lock`.
#[must_use]
pub fn slice_name(kind: SliceKind) -> String {
    let word = |value: serde_json::Value| value.as_str().map_or(String::new(), str::to_string);
    match kind {
        SliceKind::Blocked(cause) => format!("blocked_{}", serde_json::to_value(cause).map_or(String::new(), word)),
        other => serde_json::to_value(other).map_or(String::new(), word),
    }
}

/// The kinds of loss that matter in any of the stacks, in order of first appearance.
#[must_use]
pub fn kinds(stacks: &[&Stack]) -> Vec<SliceKind> {
    /// In cores: two decimals would print less than this as zero.
    const NOTHING: f64 = 0.005;
    let mut kinds = Vec::new();
    let slices = || stacks.iter().flat_map(|stack| &stack.slices);
    for slice in slices() {
        if !kinds.contains(&slice.kind) {
            kinds.push(slice.kind);
        }
    }
    kinds.retain(|kind| slices().any(|slice| slice.kind == *kind && slice.cores.abs() >= NOTHING));
    kinds
}

/// What a width counts.
#[must_use]
pub fn width(width: Width) -> &'static str {
    match width {
        Width::Threads => "threads",
        Width::Cpus => "CPUs",
    }
}

/// The fit to show: that of the widest region with a law, or else of the widest region.
#[must_use]
pub fn chosen(fits: &[RegionFit]) -> Option<&RegionFit> {
    fits.iter().rev().find(|fit| fit.law.is_ok()).or(fits.last())
}

/// `alpha 0.0500 [0.0328, 0.0672], beta 0.00600 [0.00342, 0.00858], peak at n = 12.6 [10.6, 16.7] with 6.23 M/s`,
/// or why there is none.
#[must_use]
pub fn law(fit: &RegionFit) -> String {
    match &fit.law {
        Ok(law) => format!("alpha {}, beta {}, {} ({})", bound(law.alpha), bound(law.beta), peak(law), fitted_on(fit)),
        Err(why) => format!("not fitted: {}", no_fit(*why)),
    }
}

/// `fitted on n = 1 to 8, cores`.
#[must_use]
pub fn fitted_on(fit: &RegionFit) -> String {
    match (fit.widths.first(), fit.widths.last()) {
        (Some(first), Some(last)) => format!("fitted on n = {first} to {last}, {}", fit.region.label()),
        _ => fit.region.label(),
    }
}

/// Why no law was fitted.
#[must_use]
pub fn no_fit(why: NoFit) -> &'static str {
    match why {
        NoFit::TooFewWidths => "needs five widths of one region",
        NoFit::NoOps => "nothing counts operations (give a source with --ops)",
        NoFit::NoMinimum => "least squares did not converge",
    }
}

/// Where throughput peaks according to the law.
#[must_use]
pub fn peak(law: &Usl) -> String {
    match law.peak {
        Peak::None => "no peak".to_string(),
        Peak::Undecided => "no peak shown: beta may be 0".to_string(),
        Peak::At { n, ops_per_s, low, high } => {
            let with = quantity(ops_per_s, Unit::PerSecond).joined();
            format!("peak at n = {} [{}, {}] with {with}", three_digits(n), three_digits(low), three_digits(high))
        }
        Peak::BeyondMeasured { .. } => "peak far beyond the measured widths".to_string(),
    }
}

/// The same in a few words: `peak at 12.6`.
#[must_use]
pub fn peak_at(law: &Usl) -> String {
    match law.peak {
        Peak::None => "no peak".to_string(),
        Peak::Undecided => "no peak shown".to_string(),
        Peak::At { n, .. } => format!("peak at {}", three_digits(n)),
        Peak::BeyondMeasured { .. } => "peak far out".to_string(),
    }
}

/// The peak's width and throughput, if it is credible.
#[must_use]
pub fn peak_point(law: &Usl) -> Option<(f64, f64)> {
    match law.peak {
        Peak::At { n, ops_per_s, .. } => Some((n, ops_per_s)),
        Peak::None | Peak::Undecided | Peak::BeyondMeasured { .. } => None,
    }
}

fn bound(bound: Coefficient) -> String {
    let shown = |value: f64| three_digits(value);
    match bound.half {
        Some(half) => {
            format!("{} [{}, {}]", shown(bound.value), shown(bound.value - half), shown(bound.value + half))
        }
        None => shown(bound.value),
    }
}

/// Throughput according to the law.
#[must_use]
pub fn by_law(law: &Usl, n: f64) -> f64 {
    law.gamma.value * n / (1.0 + law.alpha.value * (n - 1.0) + law.beta.value * n * (n - 1.0))
}

/// Half the 95% prediction interval around the law, operations per second; the law itself is taken as certain.
#[must_use]
pub fn scatter(law: &Usl) -> Option<f64> {
    // Half an interval over its standard error is Student's t.
    let t = |bound: Coefficient| {
        bound.half.zip(bound.error).filter(|(_, error)| *error > 0.0).map(|(half, error)| half / error)
    };
    let t = t(law.gamma).or(t(law.alpha)).or(t(law.beta))?;
    (t * law.residual).is_finite().then_some(t * law.residual)
}

/// Why a cell of the table is empty.
#[must_use]
pub fn missing(view: &SweepView, point: &PointView, column: &Column) -> Option<&'static str> {
    match point.values.get(column.name) {
        Some(Value::Known { .. }) => None,
        // At the base it would be zero divided by zero.
        _ if column.name == "karp_flatt" && view.base == Some(point.n) => Some("not defined at the base"),
        Some(Value::Missing { missing }) => Some(missing.text()),
        None => Some("not recorded"),
    }
}

/// What is missing from the table, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCells {
    /// Whether whole columns are missing, not single cells.
    pub columns: bool,
    /// The reason.
    pub reason: &'static str,
    /// Labels of the columns, with their n if single cells are missing.
    pub what: Vec<String>,
}

/// The columns to show to people, which have at least one value, and what is missing, grouped by reason.
#[must_use]
pub fn table(view: &SweepView) -> (Vec<&Column>, Vec<MissingCells>) {
    let columns = view.columns.iter().filter(|column| !column.for_programs);
    let empty = |column: &&Column| view.points.iter().all(|point| missing(view, point, column).is_some());
    let (absent, present): (Vec<_>, Vec<_>) = columns.partition(empty);
    let mut gaps: Vec<MissingCells> = Vec::new();
    let mut add = |columns: bool, reason: &'static str, what: String| match gaps
        .iter_mut()
        .find(|gap| (gap.columns, gap.reason) == (columns, reason))
    {
        Some(gap) => gap.what.push(what),
        None => gaps.push(MissingCells { columns, reason, what: vec![what] }),
    };
    for column in absent {
        if let Some(reason) = view.points.iter().find_map(|point| missing(view, point, column)) {
            add(true, reason, column.label.to_string());
        }
    }
    for column in &present {
        for point in &view.points {
            if let Some(reason) = missing(view, point, column) {
                add(false, reason, format!("{} at n = {}", column.label, point.n));
            }
        }
    }
    (present, gaps)
}

impl MissingCells {
    /// As a sentence: `not shown: CPI: not recorded`, `Karp-Flatt at n = 1: not defined at the base`.
    #[must_use]
    pub fn text(&self) -> String {
        let lead = if self.columns { "not shown: " } else { "" };
        format!("{lead}{}: {}", self.what.join(", "), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Cause;
    use crate::model::Region;

    #[test]
    fn a_law_says_its_intervals_and_what_it_was_fitted_on_or_why_there_is_none() {
        let bound = |value, half| Coefficient { value, error: None, half };
        let law = |beta, peak| Usl {
            gamma: bound(10.0, Some(1.0)),
            alpha: bound(0.05, Some(0.01)),
            beta,
            residual: 0.0,
            freedom: 2,
            peak,
        };
        let fit = |law| RegionFit { region: Region::Cores, widths: vec![1, 2, 4, 6, 8], law };
        for (fit, expected) in [
            (
                fit(Ok(law(bound(0.006, Some(0.002)), Peak::At { n: 12.58, ops_per_s: 6.2e6, low: 10.9, high: 15.4 }))),
                "alpha 0.0500 [0.0400, 0.0600], beta 0.00600 [0.00400, 0.00800], peak at n = 12.6 [10.9, 15.4] with \
                 6.20 M/s (fitted on n = 1 to 8, cores)",
            ),
            (
                fit(Ok(law(bound(0.006, Some(0.007)), Peak::Undecided))),
                "alpha 0.0500 [0.0400, 0.0600], beta 0.00600 [-0.00100, 0.0130], no peak shown: beta may be 0 \
                 (fitted on n = 1 to 8, cores)",
            ),
            (
                fit(Ok(law(bound(0.0, None), Peak::None))),
                "alpha 0.0500 [0.0400, 0.0600], beta 0, no peak (fitted on n = 1 to 8, cores)",
            ),
            (fit(Err(NoFit::TooFewWidths)), "not fitted: needs five widths of one region"),
        ] {
            assert_eq!(super::law(&fit), expected);
        }
    }

    #[test]
    fn names_for_programs_are_those_of_the_data() {
        let names = [SliceKind::MoreWork, SliceKind::Cpi, SliceKind::Blocked(Cause::BlockIo)].map(slice_name);
        assert_eq!(names, ["more_work", "cpi", "blocked_block_io"]);
    }
}

//! Pools several windows: each quantity over all of them compared with the usual value at each window's load, and how
//! probable the difference is by chance. Allows for autocorrelated windows and for run-to-run variation.

use super::alarm_criteria::{ALARM_CRITERIA, WorseDirection};
use super::reference::WaitRatio;
use super::types::{QuantityDeviation, Settings};
use super::window_verdict::{Deviation, WindowVerdict};
use crate::analysis::diff::{PRIMARY, Quantity};
use crate::analysis::stats::{benjamini_hochberg, normal_cdf};
use crate::model::{MetricId, Role};
use crate::units::Nanos;

/// Several windows pooled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PooledWindows {
    /// Every quantity, the primary first, then the other costs.
    pub quantities: Vec<QuantityDeviation>,
    /// Number of windows.
    pub windows: usize,
    /// The wait ratio over all of them.
    pub wait_ratio: Option<WaitRatio>,
    /// The length of the last of them.
    span: Nanos,
    /// For each quantity, how probable so large a deviation is by chance, not corrected for the other
    /// quantities.
    chances: Vec<(MetricId, f64)>,
}

/// A baseline's furthest window beyond this many deviations is an accident and must not hide what is near it.
const FURTHEST: f64 = 6.0;
/// Maximum number of independent windows that trouble counts for, however long it lasts: it has one reason.
const MOST_INDEPENDENT: f64 = 10.0;
/// Maximum deviation reported.
const MOST: f64 = 999.0;

#[derive(Debug, Clone, Copy)]
struct QuantitySum {
    quantity: Quantity,
    now: f64,
    usual: f64,
    spread: f64,
    within: f64,
    run: f64,
    weight: f64,
    /// This many consecutive windows count as one independent window.
    dependence: f64,
    /// The furthest windows seen on either side, in deviations, and the number of windows seen.
    furthest: (f64, f64),
    seen: usize,
    outside: u32,
    windows: u32,
}

impl PooledWindows {
    pub fn of<'a>(windows: impl Iterator<Item = &'a WindowVerdict>, settings: &Settings) -> PooledWindows {
        let mut sums: Vec<QuantitySum> = Vec::new();
        let mut wait_ratios: Vec<WaitRatio> = Vec::new();
        let (mut count, mut span) = (0, Nanos(0));
        for verdict in windows.filter(|verdict| verdict.is_judged()) {
            (count, span) = (count + 1, verdict.window.span());
            wait_ratios.extend(verdict.wait_ratio);
            verdict.deviations.iter().for_each(|deviation| add(&mut sums, deviation, settings));
        }
        let p: Vec<f64> = sums.iter().map(QuantitySum::p).collect();
        let q = benjamini_hochberg(&p);
        let chances = sums.iter().zip(&p).map(|(sum, p)| (sum.quantity.id, *p)).collect();
        let mut quantities: Vec<QuantityDeviation> =
            sums.iter().zip(&q).map(|(sum, q)| sum.deviation(*q, settings)).collect();
        quantities.sort_by_key(|moved| (moved.quantity.id != PRIMARY, moved.quantity.role != Role::Cost));
        PooledWindows { quantities, windows: count, wait_ratio: pooled_wait_ratio(&wait_ratios), span, chances }
    }

    pub fn get(&self, id: MetricId) -> Option<&QuantityDeviation> {
        self.quantities.iter().find(|moved| moved.quantity.id == id)
    }

    /// A quantity that moved upwards.
    pub fn grown(&self, id: MetricId) -> Option<&QuantityDeviation> {
        self.get(id).filter(|moved| moved.moved && moved.deviations > 0.0)
    }

    /// Whether a criterion's quantity is worse over all windows by an amount that matters, and less probable by chance than
    /// the allowed rate of false alarms.
    pub fn confirms(&self, criterion: usize, settings: &Settings) -> bool {
        self.worse(criterion, settings).is_some_and(|moved| {
            let chance = self.chances.iter().find(|(id, _)| *id == moved.quantity.id);
            chance.is_some_and(|(_, chance)| *chance <= settings.significance_level(self.span, ALARM_CRITERIA.len()))
        })
    }

    /// Whether it is worse by an amount that matters, and beyond half the distance from its usual value to the end of
    /// its band.
    pub fn leans(&self, criterion: usize, settings: &Settings) -> bool {
        let half = |moved: &QuantityDeviation| (moved.band.1 - moved.expected) / 2.0;
        self.worse(criterion, settings).is_some_and(|moved| (moved.now - moved.expected).abs() > half(moved))
    }

    /// Whether a criterion's quantity is worse by an amount that matters, by chance or not.
    pub fn is_worse(&self, criterion: usize, settings: &Settings) -> bool {
        self.worse(criterion, settings).is_some()
    }

    /// A criterion's quantity, if it is worse by an amount that matters.
    fn worse(&self, criterion: usize, settings: &Settings) -> Option<&QuantityDeviation> {
        let criterion = ALARM_CRITERIA.get(criterion)?;
        let moved = self.get(criterion.id)?;
        let longer = self.wait_ratio.is_none_or(|wait_ratio| wait_ratio.ratio() >= 1.0 + settings.least_wait);
        let worse = match criterion.worse {
            WorseDirection::Higher => moved.deviations > 0.0,
            WorseDirection::Lower => moved.deviations < 0.0,
        };
        (worse && criterion.is_large(moved.now, moved.expected, longer, settings)).then_some(moved)
    }
}

fn add(sums: &mut Vec<QuantitySum>, deviation: &Deviation, settings: &Settings) {
    let expected = &deviation.expected;
    let id = expected.quantity.id;
    let at = sums.iter().position(|sum| sum.quantity.id == id).unwrap_or_else(|| {
        let (zero, quantity) = (0.0, expected.quantity);
        sums.push(QuantitySum {
            quantity,
            now: zero,
            usual: zero,
            spread: zero,
            within: zero,
            run: zero,
            weight: zero,
            dependence: 1.0,
            furthest: (zero, zero),
            seen: usize::MAX,
            outside: 0,
            windows: 0,
        });
        sums.len() - 1
    });
    let Some(sum) = sums.get_mut(at) else { return };
    sum.now += deviation.value * deviation.weight;
    sum.usual += expected.centre * deviation.weight;
    sum.spread += expected.spread * deviation.weight;
    sum.within += expected.within * deviation.weight;
    sum.run += expected.run * deviation.weight;
    sum.dependence = sum.dependence.max(expected.dependence);
    sum.weight += deviation.weight;
    let (low, high) = expected.furthest;
    sum.furthest = (sum.furthest.0.max(low), sum.furthest.1.max(high));
    sum.seen = sum.seen.min(expected.windows);
    sum.windows += 1;
    sum.outside += u32::from(expected.beyond(deviation.value).abs() > settings.sigmas);
}

impl QuantitySum {
    fn deviations(&self) -> f64 {
        (self.now - self.usual) / self.spread.max(f64::MIN_POSITIVE)
    }

    /// Two-sided probability of the part beyond the run-to-run range. That range is drawn once per run, however long
    /// the run is watched, while each window varies anew. Tails are normal or, if the level has seen windows further
    /// out, exponential through the furthest of them.
    fn p(&self) -> f64 {
        let away = self.now - self.usual;
        let furthest = if away > 0.0 { self.furthest.1 } else { self.furthest.0 };
        let beyond = (away.abs() - self.run).max(0.0) / self.within.max(f64::MIN_POSITIVE);
        let one = tail(beyond, furthest.clamp(0.0, FURTHEST), self.seen);
        one.powf((f64::from(self.windows) / self.dependence).clamp(1.0, MOST_INDEPENDENT))
    }

    fn deviation(&self, q: f64, settings: &Settings) -> QuantityDeviation {
        let (now, usual) = (self.now / self.weight, self.usual / self.weight);
        let reach = (self.run + settings.sigmas * self.within) / self.weight;
        let least = if self.quantity.is_share() { 0.01 } else { settings.least_cost * usual.abs() };
        let low = usual - reach;
        let lasting = self.outside >= settings.k as u32 || self.outside * 2 > self.windows;
        QuantityDeviation {
            quantity: self.quantity,
            now,
            expected: usual,
            band: (if usual >= 0.0 { low.max(0.0) } else { low }, usual + reach),
            deviations: self.deviations().clamp(-MOST, MOST),
            q,
            windows_outside: self.outside,
            moved: q <= settings.false_discovery && lasting && (now - usual).abs() >= least,
        }
    }
}

fn tail(away: f64, furthest: f64, seen: usize) -> f64 {
    let normal = normal_cdf(-away);
    let heavy = if furthest > 0.0 && seen > 1 {
        let steepness = ((seen as f64 + 1.0) / 2.0).ln() / furthest;
        0.5 * (-steepness * away).exp()
    } else {
        0.0
    };
    (2.0 * normal.max(heavy)).min(1.0)
}

fn pooled_wait_ratio(all: &[WaitRatio]) -> Option<WaitRatio> {
    let running: f64 = all.iter().map(|wait_ratio| wait_ratio.running).sum();
    let mean = |of: fn(&WaitRatio) -> f64| all.iter().map(|s| of(s) * s.running).sum::<f64>() / running;
    (running > 0.0).then(|| WaitRatio {
        now: mean(|s| s.now),
        usual: mean(|s| s.usual),
        spread: mean(|s| s.spread),
        running: running / all.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_normal_unless_the_level_has_seen_further() {
        let normal = 2.0 * normal_cdf(-4.0);
        assert!((tail(4.0, 0.0, 100) / normal - 1.0).abs() < 1e-12, "nothing seen");
        assert!(tail(4.0, 2.5, 100) > normal && tail(4.0, 2.5, 100) < 0.002, "as far as a normal one goes");
        assert!(tail(4.0, FURTHEST, 100) > 0.05, "where windows lay six deviations out, four say nothing");
        assert!((tail(2.5, 2.5, 99) - 2.0 / 100.0).abs() < 1e-9, "the furthest of 99 on both sides");
        assert_eq!(tail(0.0, 2.0, 50), 1.0);
    }
}

//! Pools several windows: each quantity over all of them compared with the usual value at each window's load, and how
//! probable the difference is by chance. Allows for autocorrelated windows and for run-to-run variation.

use super::alarm_criteria::{Bad, TESTS};
use super::deviation::WindowVerdict;
use super::settings::Settings;
use super::types::Moved;
use super::wait_ratio::WaitRatio;
use crate::analysis::diff::{PRIMARY, Quantity};
use crate::analysis::stats::{benjamini_hochberg, normal_cdf};
use crate::model::{MetricId, Role};
use crate::units::Nanos;

/// Several windows pooled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PooledWindows {
    /// Every quantity, the primary first, then the other costs.
    pub moved: Vec<Moved>,
    /// Number of windows.
    pub windows: usize,
    /// The wait ratio over all of them.
    pub stretch: Option<WaitRatio>,
    /// The length of the last of them.
    span: Nanos,
    /// For each quantity by name, how probable so large a deviation is by chance, not corrected for the other
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
struct Sum {
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
        let mut sums: Vec<Sum> = Vec::new();
        let mut stretches: Vec<WaitRatio> = Vec::new();
        let (mut count, mut span) = (0, Nanos(0));
        for judged in windows.filter(|judged| judged.is_judged()) {
            (count, span) = (count + 1, judged.window.span());
            stretches.extend(judged.stretch);
            judged.held.iter().for_each(|held| add(&mut sums, held, settings));
        }
        let p: Vec<f64> = sums.iter().map(Sum::p).collect();
        let q = benjamini_hochberg(&p);
        let chances = sums.iter().zip(&p).map(|(sum, p)| (sum.quantity.id, *p)).collect();
        let mut moved: Vec<Moved> = sums.iter().zip(&q).map(|(sum, q)| sum.moved(*q, settings)).collect();
        moved.sort_by_key(|moved| (moved.quantity.id != PRIMARY, moved.quantity.role != Role::Cost));
        PooledWindows { moved, windows: count, stretch: together(&stretches), span, chances }
    }

    pub fn get(&self, id: MetricId) -> Option<&Moved> {
        self.moved.iter().find(|moved| moved.quantity.id == id)
    }

    /// Whether a test's quantity is worse over all windows by an amount that matters, and less probable by chance than
    /// the allowed rate of false alarms.
    pub fn confirms(&self, test: usize, settings: &Settings) -> bool {
        self.worse(test, settings).is_some_and(|moved| {
            let chance = self.chances.iter().find(|(name, _)| *name == moved.quantity.id);
            chance.is_some_and(|(_, chance)| *chance <= settings.chance_of_a_look(self.span, TESTS.len()))
        })
    }

    /// Whether it is worse by an amount that matters, and beyond half the distance from its usual value to the end of
    /// its band.
    pub fn leans(&self, test: usize, settings: &Settings) -> bool {
        let half = |moved: &Moved| (moved.band.1 - moved.expected) / 2.0;
        self.worse(test, settings).is_some_and(|moved| (moved.now - moved.expected).abs() > half(moved))
    }

    /// A test's quantity, if it is worse by an amount that matters.
    fn worse(&self, test: usize, settings: &Settings) -> Option<&Moved> {
        let test = TESTS.get(test)?;
        let moved = self.get(test.id)?;
        let longer = self.stretch.is_none_or(|stretch| stretch.ratio() >= 1.0 + settings.least_wait);
        let worse = match test.bad {
            Bad::More => moved.deviations > 0.0,
            Bad::Less => moved.deviations < 0.0,
        };
        (worse && test.size(moved.now, moved.expected, longer, settings)).then_some(moved)
    }
}

fn add(sums: &mut Vec<Sum>, held: &super::deviation::Deviation, settings: &Settings) {
    let expected = &held.expected;
    let name = expected.quantity.id;
    let at = sums.iter().position(|sum| sum.quantity.id == name).unwrap_or_else(|| {
        let (zero, quantity) = (0.0, expected.quantity);
        sums.push(Sum {
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
    sum.now += held.value * held.weight;
    sum.usual += expected.centre * held.weight;
    sum.spread += expected.spread * held.weight;
    sum.within += expected.within * held.weight;
    sum.run += expected.run * held.weight;
    sum.dependence = sum.dependence.max(expected.dependence);
    sum.weight += held.weight;
    let (low, high) = expected.furthest;
    sum.furthest = (sum.furthest.0.max(low), sum.furthest.1.max(high));
    sum.seen = sum.seen.min(expected.windows);
    sum.windows += 1;
    sum.outside += u32::from(expected.beyond(held.value).abs() > settings.sigmas);
}

impl Sum {
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

    fn moved(&self, q: f64, settings: &Settings) -> Moved {
        let (now, usual) = (self.now / self.weight, self.usual / self.weight);
        let reach = (self.run + settings.sigmas * self.within) / self.weight;
        let least = if self.quantity.is_share() { 0.01 } else { settings.least_cost * usual.abs() };
        let low = usual - reach;
        let lasting = self.outside >= settings.k as u32 || self.outside * 2 > self.windows;
        Moved {
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

fn together(all: &[WaitRatio]) -> Option<WaitRatio> {
    let running: f64 = all.iter().map(|stretch| stretch.running).sum();
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

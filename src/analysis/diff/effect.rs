//! Computes the change of one quantity between two sides, and how far chance, runs or windows could have caused it.
//! Windows of one run do not count as runs: without repeats only the difference between the two recordings is known.

use super::quantity::{Quantity, RatioCell};
use super::settings::Settings;
use crate::analysis::stats::combined;
use crate::analysis::stats::{Blocks, Moments, Random, block_length, student_quantile};
use serde::Serialize;

/// The scale of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A ratio; estimate and error are those of its logarithm.
    Relative,
    /// A difference: for shares, and if one side is zero.
    Absolute,
}

/// What the uncertainty is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Basis {
    /// Repeated runs of at least one side, whose scatter is then used for both.
    Runs {
        /// Runs of the base.
        base: usize,
        /// Runs of the other side.
        new: usize,
    },
    /// Windows of one run a side, in blocks; how far runs differ in addition is known only if the user stated it.
    Windows {
        /// Windows of the base.
        base: usize,
        /// Windows of the other side.
        new: usize,
    },
    /// Nothing: one run a side, and too few windows with a value.
    Nothing,
}

/// A standard error and its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uncertainty {
    /// Standard error on the effect's scale.
    pub error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

/// A change with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The base's value.
    pub base: f64,
    /// The other side's value.
    pub new: f64,
    /// The scale of the change.
    pub scale: Scale,
    /// The change on that scale.
    pub estimate: f64,
    /// The uncertainty of the change; `None` if it is unknown how far runs of one program differ.
    pub uncertainty: Option<Uncertainty>,
    /// The uncertainty of the change between these two recordings only; `None` if runs were repeated.
    pub within: Option<Uncertainty>,
    /// What the uncertainty is based on.
    pub basis: Basis,
}

/// One side of a quantity.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SideEstimate {
    /// Its value: of all runs together where they are one ratio, else their mean.
    pub value: f64,
    /// One value per run.
    pub runs: Vec<f64>,
    /// Whether runs are compared by the logarithms of their values, as quantiles are, and the value is their geometric mean.
    pub logarithms: bool,
    /// By windows: the variance of the value's logarithm (or of the value), its degrees of freedom, and the number of
    /// windows.
    pub windows: Option<(f64, f64, usize)>,
}

/// Minimum windows for a meaningful scatter.
pub(super) const FEWEST_WINDOWS: usize = 5;
const DRAWS: usize = 1000;
/// Smallest relative error of a measurement.
const FINEST: f64 = 1e-4;
/// The same for shares, which may be zero.
const FINEST_SHARE: f64 = 1e-3;

impl Uncertainty {
    /// Limits the error of a logarithm to that minimum.
    pub(super) fn at_best(self) -> Uncertainty {
        Uncertainty { error: self.error.max(FINEST), ..self }
    }

    fn of(parts: &[(f64, f64)], finest: f64) -> Option<Uncertainty> {
        // The error of runs that agree in all digits is zero, before the minimum applies.
        let exact = parts.iter().all(|part| part.0 == 0.0);
        let least = parts.iter().map(|part| part.1).fold(f64::INFINITY, f64::min);
        let found = if exact { Some((0.0, least)) } else { combined(parts) };
        found.map(|(error, freedom)| Uncertainty { error: error.max(finest), freedom })
    }
}

impl Effect {
    /// The change from one side to the other; `None` if a value is not a number. `common` is the variance, on a
    /// logarithm, of what both sides share (a curve), with its degrees of freedom.
    pub(super) fn of(
        quantity: &Quantity,
        base: &SideEstimate,
        new: &SideEstimate,
        common: Option<(f64, f64)>,
        settings: &Settings,
    ) -> Option<Effect> {
        let positive = base.value > 0.0 && new.value > 0.0;
        let scale = if positive && !quantity.is_share() { Scale::Relative } else { Scale::Absolute };
        let most = base.value.max(new.value);
        let (estimate, finest, size) = match scale {
            Scale::Relative => ((new.value / base.value).ln(), FINEST, 1.0),
            Scale::Absolute if quantity.is_share() => (new.value - base.value, FINEST_SHARE, most),
            Scale::Absolute => (new.value - base.value, FINEST * most, most),
        };
        let common = common.map(|(variance, freedom)| (variance * size * size, freedom));
        let known = |mut parts: Vec<(f64, f64)>| {
            parts.extend(common);
            Uncertainty::of(&parts, finest)
        };
        let (mut uncertainty, mut within, mut basis) = (None, None, Basis::Nothing);
        if let Some(parts) = by_runs(scale, base, new) {
            (uncertainty, basis) = (known(parts), Basis::Runs { base: base.runs.len(), new: new.runs.len() });
        } else if let Some((a, b)) = base.windows.zip(new.windows) {
            let windows = vec![(a.0, a.1), (b.0, b.1)];
            let noise = settings.noise.map(|noise| (2.0 * (noise * size).powi(2), f64::INFINITY));
            uncertainty = noise.and_then(|noise| known([&windows[..], &[noise]].concat()));
            (within, basis) = (known(windows), Basis::Windows { base: a.2, new: b.2 });
        }
        let sound = estimate.is_finite() && base.value.is_finite() && new.value.is_finite();
        sound.then_some(Effect { base: base.value, new: new.value, scale, estimate, uncertainty, within, basis })
    }

    /// The change between runs that were made in pairs, a base and another under the same circumstances: the mean of the
    /// logarithms of their ratios. `None` without a pair, or with a value that has no logarithm. Its basis is the number of
    /// pairs; a single pair has no uncertainty.
    #[must_use]
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Effect> {
        let logs: Vec<f64> = pairs.iter().map(|(base, new)| (new / base).ln()).collect();
        let Moments { count, mean: estimate, variance } = Moments::of(&logs)?;
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (base, new) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let uncertainty = variance
            .filter(|_| pairs.len() > 1)
            .map(|variance| Uncertainty { error: (variance / count).sqrt(), freedom: count - 1.0 }.at_best());
        let basis = Basis::Runs { base: pairs.len(), new: pairs.len() };
        let sound = estimate.is_finite() && base > 0.0 && new > 0.0;
        sound.then_some(Effect { base, new, scale: Scale::Relative, estimate, uncertainty, within: None, basis })
    }

    /// The interval of the change with this confidence, in the form of [`Effect::change`]; `None` if its uncertainty is
    /// not known.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        self.ends(self.uncertainty?, confidence)
    }

    /// The same for another uncertainty.
    pub(super) fn ends(&self, Uncertainty { error, freedom }: Uncertainty, confidence: f64) -> Option<(f64, f64)> {
        let half = student_quantile(1.0 - confidence, freedom)? * error;
        let ends = (self.change(self.estimate - half), self.change(self.estimate + half));
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    }

    /// The standard deviation between runs, as a fraction, up to which the change of single runs would be beyond
    /// chance; `None` if their windows alone do not show a change, or runs were repeated.
    #[must_use]
    pub fn noise_limit(&self, confidence: f64) -> Option<f64> {
        let within = self.within?;
        let reach = self.estimate / student_quantile(1.0 - confidence, within.freedom)?;
        let size = if self.scale == Scale::Relative { 1.0 } else { self.base.max(self.new) };
        let left = (reach * reach - within.error * within.error) / 2.0;
        (left > 0.0).then(|| left.sqrt() / size)
    }

    /// The same change with another estimate and the same uncertainty.
    pub(super) fn at(self, base: f64, new: f64) -> Option<Effect> {
        let estimate = match self.scale {
            Scale::Relative => (new / base).ln(),
            Scale::Absolute => new - base,
        };
        estimate.is_finite().then_some(Effect { base, new, estimate, ..self })
    }

    /// Converts a value on the effect's scale to a change: `0.05` for 5% more, or a difference.
    #[must_use]
    pub fn change(&self, on_scale: f64) -> f64 {
        match self.scale {
            Scale::Relative => on_scale.exp_m1(),
            Scale::Absolute => on_scale,
        }
    }

    /// The smallest change in an interval, as a logarithm: 0 if it includes zero.
    pub(super) fn nearest(&self, (low, high): (f64, f64)) -> f64 {
        if low <= 0.0 && high >= 0.0 {
            return 0.0;
        }
        let end = if low > 0.0 { low } else { high };
        match self.scale {
            Scale::Relative => end.ln_1p(),
            Scale::Absolute => f64::INFINITY.copysign(end),
        }
    }

    /// The change relative to the base: 0.05 is 5% more; `None` if the base is zero.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        (self.base > 0.0).then(|| self.new / self.base - 1.0)
    }
}

/// The variances of both sides by their runs, each with its degrees of freedom; `None` if no side was repeated.
fn by_runs(scale: Scale, base: &SideEstimate, new: &SideEstimate) -> Option<Vec<(f64, f64)>> {
    match [base, new].map(|side| runs(scale, side)) {
        [Some(a), Some(b)] => Some(vec![a.mean(base), b.mean(new)]),
        // The scatter of one side's runs is used for the other's.
        [Some(known), None] | [None, Some(known)] => {
            let count = |side: &SideEstimate| side.runs.len().max(1) as f64;
            let both = known.variance * (1.0 / count(base) + 1.0 / count(new));
            Some(vec![(both, known.freedom)])
        }
        [None, None] => None,
    }
}

/// The scatter of single runs.
struct Scatter {
    variance: f64,
    freedom: f64,
}

impl Scatter {
    fn mean(&self, side: &SideEstimate) -> (f64, f64) {
        (self.variance / side.runs.len() as f64, self.freedom)
    }
}

fn runs(scale: Scale, side: &SideEstimate) -> Option<Scatter> {
    if side.logarithms && scale == Scale::Relative {
        let logs: Vec<f64> = side.runs.iter().map(|value| value.ln()).collect();
        let Moments { count, variance, .. } = Moments::of(&logs)?;
        return Some(Scatter { variance: variance?, freedom: count - 1.0 });
    }
    let Moments { count, mean, variance } = Moments::of(&side.runs)?;
    let squared = if scale == Scale::Relative { mean * mean } else { 1.0 };
    Some(Scatter { variance: variance? / squared, freedom: count - 1.0 })
}

/// The variance of the ratio of the cells' sums (of its logarithm, if relative), its degrees of freedom, and the number
/// of windows; `None` with too few.
pub(super) fn by_windows(cells: &[RatioCell], relative: bool, seed: u64) -> Option<(f64, f64, usize)> {
    let ratio = |cells: &mut dyn Iterator<Item = &RatioCell>| {
        let (numerator, denominator) =
            cells.fold((0.0, 0.0), |(a, b), cell| (a + cell.numerator, b + cell.denominator));
        let ratio = numerator / denominator;
        if relative { ratio.ln() } else { ratio }
    };
    let values: Vec<f64> = cells.iter().filter_map(RatioCell::value).collect();
    if values.len() < FEWEST_WINDOWS {
        return None;
    }
    let blocks = Blocks { count: cells.len(), length: block_length(&values) };
    let (mut random, mut drawn) = (Random::new(seed), Vec::with_capacity(cells.len()));
    let mut one = || {
        blocks.draw(&mut random, &mut drawn);
        ratio(&mut drawn.iter().map(|at| &cells[*at]))
    };
    let draws: Vec<f64> = (0..DRAWS).map(|_| one()).filter(|value| value.is_finite()).collect();
    // A ratio that most draws do not yield is unknown.
    let variance = Moments::of(&draws).filter(|_| draws.len() * 2 > DRAWS)?.variance?;
    let worth = blocks.number();
    // A draw scatters less than the population that the sample was taken from.
    Some((variance * worth / (worth - 1.0), worth - 1.0, cells.len()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::welch;
    use crate::model::{MetricId, Unit};

    fn quantity(unit: Unit) -> Quantity {
        Quantity { unit, ..Quantity::of(MetricId::Cpi) }
    }

    fn runs(values: &[f64]) -> SideEstimate {
        let value = values.iter().sum::<f64>() / values.len() as f64;
        SideEstimate { value, runs: values.to_vec(), ..SideEstimate::default() }
    }

    #[test]
    fn repeats_give_welchs_t_and_freedom() {
        let (a, b) = ([10.1, 9.9, 10.0, 10.3, 9.8], [9.5, 9.7, 9.4, 9.9, 9.6, 9.5]);
        let settings = Settings::default();
        // Changes of shares are differences, so the numbers are exactly Welch's.
        let effect = Effect::of(&quantity(Unit::Share), &runs(&a), &runs(&b), None, &settings).unwrap();
        let (found, expected) = (effect.uncertainty.unwrap(), welch(&b, &a).unwrap());
        assert!((effect.estimate / found.error - expected.t).abs() < 1e-9);
        assert!((found.freedom - expected.freedom).abs() < 1e-9);
        let effect = Effect::of(&quantity(Unit::Ratio), &runs(&a), &runs(&b), None, &settings).unwrap();
        assert_eq!((effect.scale, effect.basis), (Scale::Relative, Basis::Runs { base: 5, new: 6 }));
        assert!((effect.estimate / effect.uncertainty.unwrap().error / expected.t - 1.0).abs() < 0.05);
    }

    #[test]
    fn the_scatter_of_one_sides_runs_stands_for_a_single_one() {
        let effect =
            Effect::of(&quantity(Unit::Share), &runs(&[1.0, 2.0, 3.0]), &runs(&[4.0]), None, &Settings::default());
        let Uncertainty { error, freedom } = effect.unwrap().uncertainty.unwrap();
        assert!((error - (1.0_f64 / 3.0 + 1.0).sqrt()).abs() < 1e-12);
        assert_eq!(freedom, 2.0);
    }

    #[test]
    fn one_run_a_side_has_its_windows_and_what_runs_are_said_to_differ_by() {
        let cells: Vec<RatioCell> =
            (0..40).map(|at| RatioCell { numerator: 100.0 + f64::from(at % 5), denominator: 1.0 }).collect();
        let windows = by_windows(&cells, true, 1);
        let side = SideEstimate { value: 102.0, runs: vec![102.0], windows, ..SideEstimate::default() };
        let noise = |noise| Settings { noise, ..Settings::default() };
        let of = |settings: &Settings| {
            let effect = Effect::of(&quantity(Unit::Ratio), &side, &side, None, settings).unwrap();
            assert_eq!(effect.basis, Basis::Windows { base: 40, new: 40 });
            (effect.uncertainty.map(|known| known.error), effect.within.unwrap().error)
        };
        let (alone, known) = (of(&noise(None)), of(&noise(Some(0.02))));
        assert!(alone.0.is_none() && alone.1 < 0.01, "windows say nothing of other runs: {alone:?}");
        assert!((known.0.unwrap().powi(2) - known.1.powi(2) - 2.0 * 0.02_f64.powi(2)).abs() < 1e-9, "{known:?}");
        let few = SideEstimate { windows: by_windows(&cells[..4], true, 1), ..side.clone() };
        let effect = Effect::of(&quantity(Unit::Ratio), &side, &few, None, &noise(None)).unwrap();
        assert_eq!((effect.within, effect.basis), (None, Basis::Nothing));
    }

    #[test]
    fn runs_that_agree_in_every_digit_are_not_infinitely_certain() {
        let effect = Effect::of(&quantity(Unit::Ratio), &runs(&[5.0; 3]), &runs(&[5.0; 3]), None, &Settings::default());
        assert_eq!(effect.unwrap().uncertainty, Some(Uncertainty { error: FINEST, freedom: 2.0 }));
    }

    #[test]
    fn pairs_that_drift_together_have_a_sure_ratio() {
        let effect = Effect::of_pairs(&[(1.0, 1.3), (2.0, 2.6), (4.0, 5.2)]).unwrap();
        let (low, high) = effect.interval(0.95).unwrap();
        assert!((effect.estimate - 1.3_f64.ln()).abs() < 1e-12 && low > 0.29 && high < 0.31, "{low} {high}");
        // Student's t with one degree of freedom is 12.7.
        let (low, high) = Effect::of_pairs(&[(1.0, 1.1), (1.0, 1.2)]).unwrap().interval(0.95).unwrap();
        let (mean, half) = ((1.1_f64.ln() + 1.2_f64.ln()) / 2.0, (1.2_f64 / 1.1).ln() / 2.0 * 12.706);
        assert!((low.ln_1p() - (mean - half)).abs() < 1e-3 && (high.ln_1p() - (mean + half)).abs() < 1e-3);
        let single = Effect::of_pairs(&[(1.0, 1.3)]).unwrap();
        assert_eq!((single.uncertainty, single.interval(0.95)), (None, None));
        assert!(
            [&[][..], &[(0.0, 1.0)], &[(1.0, 0.0)], &[(1.0, f64::NAN)]]
                .iter()
                .all(|none| Effect::of_pairs(none).is_none())
        );
    }

    #[test]
    fn nothing_on_one_side_is_a_difference_and_no_ratio() {
        let effect =
            Effect::of(&quantity(Unit::Ratio), &runs(&[0.0, 0.0]), &runs(&[3.0, 5.0]), None, &Settings::default());
        let effect = effect.unwrap();
        assert_eq!((effect.scale, effect.estimate, effect.relative()), (Scale::Absolute, 4.0, None));
        let nan = SideEstimate { value: f64::NAN, ..SideEstimate::default() };
        assert_eq!(Effect::of(&quantity(Unit::Ratio), &nan, &runs(&[1.0]), None, &Settings::default()), None);
    }
}

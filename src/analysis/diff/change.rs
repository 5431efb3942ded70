//! Turns changes into intervals and verdicts, corrected for many tests. The verdict "same" has a test of its own;
//! finding no difference is not enough.

use super::digest::{Digest, Side};
use super::effect::{Effect, SideEstimate, Uncertainty, by_windows};
use super::quantity::{INVERSE, PRIMARY, Quantity, RatioCell};
use super::settings::Settings;
use crate::analysis::stats::{
    benjamini_hochberg, detectable, equivalent, holm, least_p, mann_whitney, student_two_sided,
};
use crate::model::{Measure, Quality, Role, Why};
use serde::Serialize;

/// The verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It grew, beyond chance.
    More,
    /// It shrank, beyond chance.
    Less,
    /// The same within the margin, which was shown rather than assumed.
    Same,
    /// Neither a difference nor sameness is shown.
    Undecided,
}

/// One quantity compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The quantity.
    pub quantity: Quantity,
    /// The base's value; for repeats, their mean.
    pub base: Measure<f64>,
    /// The other side's value.
    pub new: Measure<f64>,
    /// The change; `None` if a value is missing.
    pub effect: Option<Effect>,
    /// Its interval, in the form of [`Effect::change`].
    pub interval: Option<(f64, f64)>,
    /// For single runs, the interval of the change between these two recordings, by their windows alone.
    pub within: Option<(f64, f64)>,
    /// For single runs, the standard deviation between runs up to which the change would be beyond chance.
    pub noise_limit: Option<f64>,
    /// Probability of so large a change if there is none.
    pub p: Option<f64>,
    /// The same, corrected for the number of quantities of its family.
    pub corrected: Option<f64>,
    /// Probability, from 0.5 to 1, that the change has this direction; SPEED calls it one-sided confidence.
    pub one_sided: Option<f64>,
    /// p of the Mann-Whitney test on repeats; `None` with too few for it to become small.
    pub rank_p: Option<f64>,
    /// The smallest change that four of five such comparisons would find, in the form of [`Effect::change`].
    pub detectable: Option<f64>,
    /// Whether it was shown to be within the margin, whatever the verdict.
    pub within_margin: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// The change of every quantity as it is, corrected and judged.
pub(super) fn changes(base: &Side, new: &Side, settings: &Settings) -> Vec<Change> {
    let Some(first) = base.runs.first() else { return vec![] };
    let quantities = first.whole.iter().map(|reading| reading.quantity);
    let mut all: Vec<Change> =
        quantities.enumerate().map(|(at, quantity)| raw(quantity, at, base, new, settings)).collect();
    judge(&mut all, settings);
    all
}

fn raw(quantity: Quantity, at: usize, base: &Side, new: &Side, settings: &Settings) -> Change {
    let (a, b) = (estimate(base, at, &quantity, settings.seed), estimate(new, at, &quantity, settings.seed ^ 0x9e37));
    let common = resolution(&quantity, base, new);
    let effect = a.as_ref().zip(b.as_ref()).and_then(|(a, b)| Effect::of(&quantity, a, b, common, settings));
    let of = |side: &Side, value: Option<&SideEstimate>| measure(side, at, value);
    Change::of(quantity, of(base, a.as_ref()), of(new, b.as_ref()), effect, settings)
}

/// What the bins of quantiles leave open, on a logarithm: runs share it, so repeats do not make it smaller.
fn resolution(quantity: &Quantity, base: &Side, new: &Side) -> Option<(f64, f64)> {
    quantity.quantile()?;
    let widest = |side: &Side| {
        let errors = side.runs.iter().filter_map(|run| run.quantile_errors.get(&quantity.id));
        errors.map(|error| error.resolution).fold(0.0, f64::max)
    };
    let variance = widest(base) + widest(new);
    (variance > 0.0).then_some((variance, f64::INFINITY))
}

fn measure(side: &Side, at: usize, value: Option<&SideEstimate>) -> Measure<f64> {
    let readings = || side.runs.iter().filter_map(|run| run.whole.get(at));
    if let Some(why) = readings().find_map(|reading| reading.value.why()) {
        return Measure::Missing(why);
    }
    let coverage = readings().filter_map(|reading| match reading.value {
        Measure::Known { quality, .. } => Some(quality.coverage),
        Measure::Missing(_) => None,
    });
    let quality = Quality { coverage: coverage.fold(1.0, f64::min) };
    value.map_or(Measure::Missing(Why::NotRecorded), |estimate| Measure::Known { value: estimate.value, quality })
}

/// The mean of the runs, and the scatter of the windows of a single one; `None` if a run lacks the quantity.
fn estimate(side: &Side, at: usize, quantity: &Quantity, seed: u64) -> Option<SideEstimate> {
    let runs: Option<Vec<f64>> = side.runs.iter().map(|run| run.whole.get(at)?.value.value().copied()).collect();
    let runs = runs.filter(|runs| !runs.is_empty())?;
    if quantity.quantile().is_some() {
        return Some(quantile(side, quantity, runs));
    }
    let value = runs.iter().sum::<f64>() / runs.len() as f64;
    let cells =
        |run: &Digest| -> Vec<RatioCell> { run.windows.iter().filter_map(|slot| *slot.cells.get(at)?).collect() };
    let windows = match &side.runs[..] {
        [run] => by_windows(&cells(run), value > 0.0 && !quantity.is_share(), seed),
        _ => None,
    };
    Some(SideEstimate { value, runs, logarithms: false, windows })
}

/// A side of a quantile: runs multiply rather than add, so their mean is geometric.
fn quantile(side: &Side, quantity: &Quantity, runs: Vec<f64>) -> SideEstimate {
    let value = (runs.iter().map(|value| value.ln()).sum::<f64>() / runs.len() as f64).exp();
    let windows = match &side.runs[..] {
        [run] => run
            .quantile_errors
            .get(&quantity.id)
            .and_then(|error| Some((error.by_windows?, error.freedom, error.windows))),
        _ => None,
    };
    SideEstimate { value, runs, logarithms: true, windows }
}

impl Change {
    /// A change before any correction.
    pub(super) fn of(
        quantity: Quantity,
        base: Measure<f64>,
        new: Measure<f64>,
        effect: Option<Effect>,
        settings: &Settings,
    ) -> Change {
        let known = effect.and_then(|effect| Some((effect, effect.uncertainty?)));
        let tails = 1.0 - settings.confidence;
        let p = known
            .and_then(|(effect, Uncertainty { error, freedom })| student_two_sided(effect.estimate / error, freedom));
        let ends = |of: fn(&Effect) -> Option<Uncertainty>| {
            let effect = effect?;
            effect.ends(of(&effect)?, settings.confidence)
        };
        let detectable = known.and_then(|(effect, Uncertainty { error, freedom })| {
            let least = effect.change(detectable(error, freedom, tails)?);
            least.is_finite().then_some(least)
        });
        let same = known.and_then(|(effect, Uncertainty { error, freedom })| {
            equivalent(effect.estimate, error, freedom, margin(&effect, settings))
        });
        Change {
            quantity,
            base,
            new,
            effect,
            interval: ends(|effect| effect.uncertainty),
            within: ends(|effect| effect.within),
            noise_limit: effect.and_then(|effect| effect.noise_limit(settings.confidence)),
            p,
            corrected: p,
            one_sided: p.map(|p| 1.0 - p / 2.0),
            rank_p: None,
            detectable,
            within_margin: same.is_some_and(|p| p < tails),
            verdict: Verdict::Undecided,
        }
    }

    /// The same with an interval that is wider by this much at both ends, on a logarithm.
    pub(super) fn widened(&self, by: f64) -> Change {
        let scale = self.effect.map(|effect| effect.scale);
        let wider = |(low, high): (f64, f64)| match scale {
            Some(super::effect::Scale::Relative) => ((low.ln_1p() - by).exp_m1(), (high.ln_1p() + by).exp_m1()),
            _ => (low, high),
        };
        Change { interval: self.interval.map(wider), ..self.clone() }
    }

    /// Sets the verdict by the corrected p.
    fn judge(&mut self, settings: &Settings) {
        let real = self.corrected.is_some_and(|p| p < 1.0 - settings.confidence);
        let estimate = self.effect.map_or(0.0, |effect| effect.estimate);
        self.verdict = match (real, self.within_margin) {
            (true, _) if estimate > 0.0 => Verdict::More,
            (true, _) => Verdict::Less,
            (false, true) => Verdict::Same,
            (false, false) => Verdict::Undecided,
        };
    }
}

/// The margin on the effect's scale.
pub(super) fn margin(effect: &Effect, settings: &Settings) -> f64 {
    match effect.scale {
        super::effect::Scale::Relative => settings.margin.ln_1p(),
        super::effect::Scale::Absolute => settings.margin * effect.base.max(effect.new).max(1e-300),
    }
}

/// Corrects for the number of tests: Holm for costs as one family and for latencies as another, Benjamini and Hochberg
/// for the rest as a list. The
/// primary quantity was chosen in advance, so it is corrected only for the number of comparisons.
pub(super) fn judge(changes: &mut [Change], settings: &Settings) {
    let alone = |change: &Change| change.quantity.id == PRIMARY || change.quantity.id == INVERSE;
    let family = |change: &Change| change.quantity.role == Role::Cost && !alone(change);
    let latency = |change: &Change| change.quantity.role == Role::Latency;
    let rest = |change: &Change| !matches!(change.quantity.role, Role::Cost | Role::Latency);
    let times = settings.comparisons.max(1) as f64;
    for (of, correct) in [
        (&family as &dyn Fn(&Change) -> bool, holm as fn(&[f64]) -> Vec<f64>),
        (&latency, holm),
        (&rest, benjamini_hochberg),
    ] {
        let chosen: Vec<usize> = (0..changes.len()).filter(|at| of(&changes[*at])).collect();
        let p: Vec<f64> = chosen.iter().map(|at| changes[*at].p.unwrap_or(f64::NAN)).collect();
        for (at, corrected) in chosen.into_iter().zip(correct(&p)) {
            changes[at].corrected = Some(corrected).filter(|p| !p.is_nan());
        }
    }
    for change in changes.iter_mut() {
        change.corrected = change.corrected.map(|p| (p * times).min(1.0));
        change.judge(settings);
    }
}

/// Adds the distribution-free test, if there are enough repeats for it to show anything.
pub(super) fn rank(changes: &mut [Change], base: &Side, new: &Side, settings: &Settings) {
    let counts = (base.runs.len(), new.runs.len());
    if least_p(counts.0, counts.1) >= 1.0 - settings.confidence {
        return;
    }
    for (at, change) in changes.iter_mut().enumerate() {
        let values = |side: &Side| -> Vec<f64> {
            side.runs.iter().filter_map(|run| run.whole.get(at)?.value.value().copied()).collect()
        };
        let (a, b) = (values(base), values(new));
        let complete = (a.len(), b.len()) == counts;
        change.rank_p = mann_whitney(&a, &b).filter(|_| complete).map(|found| found.p);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{digest, side};
    use super::*;
    use crate::model::MetricId;

    fn named(changes: &[Change], id: MetricId) -> &Change {
        changes.iter().find(|change| change.quantity.id == id).unwrap()
    }

    #[test]
    fn repeats_that_differ_by_more_than_they_scatter_are_different_and_those_that_do_not_are_not() {
        let base = side(&[5000.0, 5020.0, 4980.0, 5010.0, 4990.0]);
        for (costs, verdict) in [
            ([5500.0, 5520.0, 5480.0, 5510.0, 5490.0], Verdict::More),
            ([4500.0, 4520.0, 4480.0, 4510.0, 4490.0], Verdict::Less),
            ([5005.0, 5025.0, 4985.0, 5000.0, 4990.0], Verdict::Same),
            ([5500.0, 4000.0, 6000.0, 5200.0, 4900.0], Verdict::Undecided),
        ] {
            let all = changes(&base, &side(&costs), &Settings::default());
            let primary = named(&all, PRIMARY);
            assert_eq!(primary.verdict, verdict, "{primary:?}");
            let (low, high) = primary.interval.unwrap();
            let relative = primary.effect.unwrap().relative().unwrap();
            assert!(low < relative && relative < high && primary.detectable.unwrap() > 0.0);
        }
    }

    #[test]
    fn single_runs_prove_nothing_until_somebody_says_how_far_runs_differ() {
        let base = side(&[5000.0]);
        for (cost, noise, verdict) in [
            (5100.0, None, Verdict::Undecided),
            (6000.0, None, Verdict::Undecided),
            (5100.0, Some(0.02), Verdict::Undecided),
            (6000.0, Some(0.02), Verdict::More),
        ] {
            let settings = Settings { noise, ..Settings::default() };
            let all = changes(&base, &side(&[cost]), &settings);
            let primary = named(&all, PRIMARY);
            assert_eq!(primary.verdict, verdict, "{cost} {noise:?}");
            assert_eq!((primary.p.is_some(), primary.interval.is_some()), (noise.is_some(), noise.is_some()));
            let (low, high) = primary.within.unwrap();
            assert!(low < cost / 5000.0 - 1.0 && cost / 5000.0 - 1.0 < high && high - low < 0.01, "{primary:?}");
        }
    }

    #[test]
    fn the_noise_that_single_runs_bear_is_where_their_verdict_turns() {
        let (base, new) = (side(&[5000.0]), side(&[5500.0]));
        let limit = named(&changes(&base, &new, &Settings::default()), PRIMARY).noise_limit.unwrap();
        assert!((limit - 1.1_f64.ln() / 1.96 / 2.0_f64.sqrt()).abs() < 1e-3, "{limit}");
        for (noise, verdict) in [(limit * 0.98, Verdict::More), (limit * 1.02, Verdict::Undecided)] {
            let settings = Settings { noise: Some(noise), ..Settings::default() };
            assert_eq!(named(&changes(&base, &new, &settings), PRIMARY).verdict, verdict);
        }
        assert_eq!(named(&changes(&base, &base, &Settings::default()), PRIMARY).noise_limit, None);
    }

    #[test]
    fn with_several_comparisons_each_must_be_surer() {
        let alone = Settings { noise: Some(0.02), ..Settings::default() };
        let settings = Settings { comparisons: 1000, ..alone.clone() };
        let (base, new) = (side(&[5000.0]), side(&[5600.0]));
        assert_eq!(named(&changes(&base, &new, &alone), PRIMARY).verdict, Verdict::More);
        assert_eq!(named(&changes(&base, &new, &settings), PRIMARY).verdict, Verdict::Undecided);
    }

    #[test]
    fn ranks_say_something_from_four_runs_a_side_on() {
        for (count, says) in [(3, false), (4, true)] {
            let costs: Vec<f64> = (0..count).map(|at| 5000.0 + f64::from(at)).collect();
            let costlier: Vec<f64> = costs.iter().map(|cost| cost * 2.0).collect();
            let (base, new) = (side(&costs), side(&costlier));
            let mut all = changes(&base, &new, &Settings::default());
            rank(&mut all, &base, &new, &Settings::default());
            assert_eq!(named(&all, PRIMARY).rank_p.is_some_and(|p| p < 0.05), says);
        }
    }

    #[test]
    fn what_one_run_lacks_is_missing_with_its_reason() {
        let mut new = side(&[5000.0, 5100.0]);
        new.runs[1] = digest(None);
        let all = changes(&side(&[5000.0]), &new, &Settings::default());
        let primary = named(&all, PRIMARY);
        assert_eq!((primary.new, primary.effect), (Measure::Missing(Why::NoOpsSource), None));
        assert_eq!(primary.verdict, Verdict::Undecided);
    }
}

//! A Gaussian mixture of counted values: expectation and maximisation for each number of components, of which the lowest
//! Bayesian information criterion wins.

/// Components to try at most.
const MOST: usize = 10;
const STEPS: usize = 100;

/// Values of a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    /// Middle of the bin.
    pub value: f64,
    /// Its width.
    pub width: f64,
    /// Values in it.
    pub count: f64,
}

/// One component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Component {
    pub share: f64,
    pub mean: f64,
    pub sd: f64,
}

impl Component {
    /// The share of all values times the probability of a bin.
    fn probability(&self, bin: &Weighted) -> f64 {
        let z = (bin.value - self.mean) / self.sd;
        self.share * bin.width / self.sd * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }
}

/// The mixture with the lowest criterion; empty without values.
pub(super) fn mixture(bins: &[Weighted]) -> Vec<Component> {
    let count: f64 = bins.iter().map(|bin| bin.count).sum();
    let mut best = (f64::INFINITY, Vec::new());
    for components in 1..=MOST.min(bins.len()) {
        let (found, log) = fit(bins, count, components);
        let criterion = (3 * components - 1) as f64 * count.ln() - 2.0 * log;
        if criterion < best.0 {
            best = (criterion, found);
        }
    }
    best.1
}

/// The component that most likely made the values of a bin.
pub(super) fn likeliest(components: &[Component], bin: &Weighted) -> Option<usize> {
    let probability = |at: &usize| components[*at].probability(bin);
    (0..components.len()).max_by(|a, b| probability(a).total_cmp(&probability(b)))
}

/// The components and the logarithm of their likelihood.
fn fit(bins: &[Weighted], count: f64, components: usize) -> (Vec<Component>, f64) {
    let mut all = start(bins, count, components);
    let mut log = f64::NEG_INFINITY;
    for _ in 0..STEPS {
        let mut sums = vec![[0.0; 3]; components];
        let mut now = 0.0;
        for bin in bins {
            let parts: Vec<f64> = all.iter().map(|component| component.probability(bin)).collect();
            let whole: f64 = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            now += bin.count * whole.ln();
            for ((sums, part), component) in sums.iter_mut().zip(&parts).zip(&all) {
                let weight = bin.count * part / whole;
                // Values lie anywhere in their bin.
                let square = (bin.value - component.mean).powi(2) + bin.width * bin.width / 12.0;
                *sums = [sums[0] + weight, sums[1] + weight * bin.value, sums[2] + weight * square];
            }
        }
        if now - log < 1e-6 * count {
            return (all, now);
        }
        log = now;
        for (component, [weight, values, squares]) in all.iter_mut().zip(sums) {
            if weight > 1e-9 {
                let mean = values / weight;
                let moved = mean - component.mean;
                // Narrower than a bin the density would exceed what bins can tell.
                let floor = narrowest(bins, mean);
                let sd = (squares / weight - moved * moved).max(0.0).sqrt().max(floor);
                *component = Component { share: weight / count, mean, sd };
            }
        }
    }
    (all, log)
}

/// Half of the width of the bin nearest to a value.
fn narrowest(bins: &[Weighted], value: f64) -> f64 {
    let near = bins.iter().min_by(|a, b| (a.value - value).abs().total_cmp(&(b.value - value).abs()));
    near.map_or(f64::MIN_POSITIVE, |bin| bin.width / 2.0)
}

/// Equal parts of the values, in order.
fn start(bins: &[Weighted], count: f64, components: usize) -> Vec<Component> {
    let mut sums = vec![[0.0; 3]; components];
    let mut before = 0.0;
    for bin in bins {
        let middle = (before + bin.count / 2.0) / count;
        let at = ((middle * components as f64) as usize).min(components - 1);
        let [weight, values, squares] = sums[at];
        sums[at] = [weight + bin.count, values + bin.count * bin.value, squares + bin.count * bin.value * bin.value];
        before += bin.count;
    }
    let mean = bins.iter().map(|bin| bin.count * bin.value).sum::<f64>() / count;
    let one = |[weight, values, squares]: [f64; 3]| {
        if weight <= 0.0 {
            return Component { share: 1.0 / count, mean, sd: narrowest(bins, mean) };
        }
        let mean = values / weight;
        let sd = (squares / weight - mean * mean).max(0.0).sqrt().max(narrowest(bins, mean));
        Component { share: weight / count, mean, sd }
    };
    sums.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stats::Random;
    use std::collections::BTreeMap;

    fn bins(parts: &[(usize, f64, f64)]) -> Vec<Weighted> {
        let mut random = Random::new(7);
        let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
        for (count, mean, sd) in parts {
            for _ in 0..*count {
                *counts.entry((20.0 * (mean + sd * random.normal()).ln()).floor() as i64).or_default() += 1.0;
            }
        }
        let edge = |bin: i64| (bin as f64 / 20.0).exp();
        let bin = |(bin, count)| {
            let (low, high) = (edge(bin), edge(bin + 1));
            Weighted { value: f64::midpoint(low, high), width: high - low, count }
        };
        counts.into_iter().map(bin).collect()
    }

    #[test]
    fn one_peak_is_one_component_and_two_are_two() {
        let one = mixture(&bins(&[(2000, 2.0, 0.3)]));
        assert!(one.len() == 1 && (one[0].mean - 2.0).abs() < 0.03 && (one[0].sd - 0.3).abs() < 0.03, "{one:?}");
        let two = mixture(&bins(&[(1500, 2.0, 0.2), (500, 6.0, 0.5)]));
        assert!(two.len() == 2 && (two[0].mean - 2.0).abs() < 0.05 && (two[1].mean - 6.0).abs() < 0.1, "{two:?}");
        assert!((two[0].share - 0.75).abs() < 0.02);
    }

    #[test]
    fn a_single_bin_is_one_component_and_no_bin_none() {
        let bin = Weighted { value: 2.0, width: 0.1, count: 50.0 };
        assert_eq!(mixture(&[bin]).len(), 1);
        assert!(mixture(&[]).is_empty());
        assert_eq!(likeliest(&[], &bin), None);
    }
}

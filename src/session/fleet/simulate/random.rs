//! Random numbers that are the same for a seed everywhere, and noise with the long right tail that CPI has in fleets.

/// A stream of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of a seed and a number, e.g. a host's: independent of the streams of others.
    pub fn of(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1, without 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// From 0 to `end`, without it.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.share() * end as f64) as usize).min(end.saturating_sub(1))
    }

    /// Nearly normal, with mean 0 and deviation 1: the sum of four uniform numbers, never beyond 3.5.
    pub fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
        (sum as f64 / 65_536.0 - 2.0) * 1.732
    }
}

/// Steps of the table of quantiles, and the normal numbers it covers on both sides.
const STEPS: usize = 1024;
const REACH: f64 = 4.0;

/// Noise of mean 0 and deviation 1 with the distribution of extreme values, as quantiles by normal numbers.
#[derive(Debug)]
pub(super) struct SkewedNoise(Vec<f64>);

impl SkewedNoise {
    /// `shape` above 0 makes the right tail longer.
    pub fn new(shape: f64) -> SkewedNoise {
        let at = |step: usize| -REACH + 2.0 * REACH * step as f64 / (STEPS - 1) as f64;
        let quantile = |z: f64| ((-normal_below(z).ln()).powf(-shape) - 1.0) / shape;
        let raw: Vec<f64> = (0..STEPS).map(|step| quantile(at(step))).collect();
        let weights: Vec<f64> = (0..STEPS).map(|step| (-0.5 * at(step) * at(step)).exp()).collect();
        let all: f64 = weights.iter().sum();
        let mean_of =
            |values: &[f64]| values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / all;
        let mean = mean_of(&raw);
        let squares: Vec<f64> = raw.iter().map(|value| (value - mean) * (value - mean)).collect();
        let deviation = mean_of(&squares).sqrt();
        SkewedNoise(raw.into_iter().map(|value| (value - mean) / deviation).collect())
    }

    /// The noise at a normal number.
    pub fn at(&self, normal: f64) -> f64 {
        let place = (normal + REACH) / (2.0 * REACH) * (STEPS - 1) as f64;
        self.0[(place.max(0.0) as usize).min(STEPS - 1)]
    }
}

/// The share of a normal distribution below `z` (Abramowitz and Stegun, 26.2.17; exact to 1e-7).
fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let sum = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let polynomial = sum.iter().fold(0.0, |all, part| (all + part) * t);
    let above = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial;
    (if z >= 0.0 { 1.0 - above } else { above }).clamp(1e-12, 1.0 - 1e-12)
}

/// Normal noise whose value in a minute is like that of the minute before.
#[derive(Debug, Clone)]
pub(super) struct SteadyNoise {
    now: f64,
    kept: f64,
    fresh: f64,
}

impl SteadyNoise {
    /// `correlation` of a minute with the next.
    pub fn new(correlation: f64, random: &mut Random) -> SteadyNoise {
        SteadyNoise { now: random.normal(), kept: correlation, fresh: (1.0 - correlation * correlation).sqrt() }
    }

    pub fn next(&mut self, random: &mut Random) -> f64 {
        self.now = self.kept * self.now + self.fresh * random.normal();
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_its_mean_deviation_tail_and_correlation() {
        let (mut random, noise) = (Random::of(1, 2), SkewedNoise::new(0.15));
        let mut steady = SteadyNoise::new(0.7, &mut random);
        let values: Vec<f64> = (0..200_000).map(|_| noise.at(steady.next(&mut random))).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let centre = mean(&values);
        let moment = |power| mean(&values.iter().map(|value| (value - centre).powi(power)).collect::<Vec<_>>());
        assert!(
            centre.abs() < 0.03 && (moment(2) - 1.0).abs() < 0.1 && moment(3) > 0.8,
            "{centre} {} {}",
            moment(2),
            moment(3)
        );
        let pairs: Vec<f64> = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).collect();
        assert!((mean(&pairs) / moment(2) - 0.7).abs() < 0.1, "{}", mean(&pairs));
        assert_eq!(Random::of(7, 8).next(), Random::of(7, 8).next());
        assert_ne!(Random::of(7, 8).next(), Random::of(7, 9).next());
    }
}

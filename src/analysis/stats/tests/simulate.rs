//! Simulates runs of a program with known behaviour, and counts what statistics report over many of them. The same seed
//! yields the same runs. Programs differ from run to run, windows are autocorrelated, and load varies within runs,
//! between them, or both.

#![allow(dead_code, reason = "what one simulation leaves unused another needs")]

use super::bootstrap::Random;
use super::special::normal_quantile;

/// A program and how it is loaded.
#[derive(Debug, Clone, Copy)]
pub(in crate::analysis) struct SimulatedProgram {
    /// CPU time of an operation, nanoseconds.
    pub cost_ns: f64,
    /// Fixed CPU seconds per second: they make an operation expensive if there are few.
    pub fixed: f64,
    /// Standard deviation of a run's cost, as a fraction.
    pub run_sd: f64,
    /// Standard deviation of a window's cost within its run, as a fraction.
    pub window_sd: f64,
    /// Correlation of a window's cost with that of the window before.
    pub autocorrelation: f64,
    /// Operations per second, the mean of all runs.
    pub rate: f64,
    /// Standard deviation of a run's mean rate, as a fraction.
    pub rate_between: f64,
    /// Standard deviation of a window's rate around its run's, as a fraction; rates change slowly.
    pub rate_within: f64,
    /// Windows of a run.
    pub windows: usize,
}

/// One second of a run.
#[derive(Debug, Clone, Copy)]
pub(in crate::analysis) struct SimulatedWindow {
    /// Operations per second.
    pub rate: f64,
    /// CPU time per operation, nanoseconds, including its part of the fixed cost.
    pub cost_ns: f64,
}

/// 2% between runs, 3% between windows with an autocorrelation of 0.5, 40 windows of one load.
pub(in crate::analysis) const STEADY: SimulatedProgram = SimulatedProgram {
    cost_ns: 5000.0,
    fixed: 0.2,
    run_sd: 0.02,
    window_sd: 0.03,
    autocorrelation: 0.5,
    rate: 1e5,
    rate_between: 0.0,
    rate_within: 0.0,
    windows: 40,
};

impl Random {
    /// A normal number: mean 0, standard deviation 1.
    pub(in crate::analysis) fn normal(&mut self) -> f64 {
        const STEPS: usize = 1 << 30;
        let mut uniform = || (self.below(STEPS) as f64 + 0.5) / STEPS as f64;
        // Box-Muller.
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }

    /// A count with this mean; a normal number in place of a large one.
    pub(in crate::analysis) fn poisson(&mut self, mean: f64) -> u64 {
        const STEPS: usize = 1 << 30;
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        // Knuth: as many as uniform numbers multiply to no less than e^-mean.
        let (mut count, mut product, least) = (0, 1.0, (-mean).exp());
        loop {
            product *= (self.below(STEPS) as f64 + 0.5) / STEPS as f64;
            if product <= least {
                return count;
            }
            count += 1;
        }
    }
}

impl SimulatedProgram {
    /// One run.
    pub fn run(&self, random: &mut Random) -> Vec<SimulatedWindow> {
        // Around a mean of one: varying runs do not make a program more expensive on average.
        let around_one = |sd: f64, normal: f64| (sd * normal - sd * sd / 2.0).exp();
        let factor = around_one(self.run_sd, random.normal());
        let mean = self.rate * around_one(self.rate_between, random.normal());
        let mut noise = Autoregression::new(self.autocorrelation, random);
        let mut load = Autoregression::new(0.9, random);
        let window = |_| {
            let rate = mean * around_one(self.rate_within, load.next(random));
            let cost = (self.cost_ns + self.fixed * 1e9 / rate) * factor;
            SimulatedWindow { rate, cost_ns: cost * around_one(self.window_sd, noise.next(random)) }
        };
        (0..self.windows).map(window).collect()
    }

    /// The same program with all of its costs increased by a fraction.
    pub fn costlier(&self, by: f64) -> SimulatedProgram {
        SimulatedProgram { cost_ns: self.cost_ns * (1.0 + by), fixed: self.fixed * (1.0 + by), ..*self }
    }
}

/// A first-order autoregression of variance 1.
pub(in crate::analysis) struct Autoregression {
    value: f64,
    autocorrelation: f64,
}

impl Autoregression {
    pub(in crate::analysis) fn new(autocorrelation: f64, random: &mut Random) -> Autoregression {
        Autoregression { value: random.normal(), autocorrelation }
    }

    pub(in crate::analysis) fn next(&mut self, random: &mut Random) -> f64 {
        self.value = self.autocorrelation * self.value
            + (1.0 - self.autocorrelation * self.autocorrelation).sqrt() * random.normal();
        self.value
    }
}

/// The number of trials for `just calibrate`.
pub(in crate::analysis) fn trials() -> u32 {
    std::env::var("CALIBRATE_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

/// How often something happened in a number of trials.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::analysis) struct Frequency {
    pub hits: u32,
    pub trials: u32,
}

impl Frequency {
    pub fn count(&mut self, hit: bool) {
        self.trials += 1;
        self.hits += u32::from(hit);
    }

    pub fn part(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.trials.max(1))
    }

    /// Wilson's interval, which contains the true fraction in all but `tails` of such experiments.
    pub fn interval(&self, tails: f64) -> (f64, f64) {
        let (n, z) = (f64::from(self.trials.max(1)), -normal_quantile(tails / 2.0));
        let (p, spread) = (self.part(), z * z / n);
        let middle = (p + spread / 2.0) / (1.0 + spread);
        let half = z * (p * (1.0 - p) / n + spread / n / 4.0).sqrt() / (1.0 + spread);
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }

    #[expect(clippy::print_stdout, reason = "what an ignored test is run for")]
    /// Prints one line for `just calibrate`: the claim, and the result with its 95% interval.
    pub fn report(&self, name: &str, claimed: &str) {
        let ((low, high), percent) = (self.interval(0.05), |part: f64| format!("{:.2}%", part * 100.0));
        let (part, n) = (percent(self.part()), self.trials);
        println!("calibration: {name} claimed {claimed} measured {part} ({}..{}) n={n}", percent(low), percent(high));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::series::{Moments, autocorrelation};
    use super::*;

    #[test]
    fn runs_scatter_and_remember_as_the_program_says() {
        let mut random = Random::new(1);
        let program = SimulatedProgram { windows: 4000, fixed: 0.0, ..STEADY };
        let one: Vec<f64> = program.run(&mut random).iter().map(|window| window.cost_ns.ln()).collect();
        assert!((Moments::of(&one).unwrap().variance.unwrap().sqrt() / program.window_sd - 1.0).abs() < 0.1);
        assert!((autocorrelation(&one) - program.autocorrelation).abs() < 0.05);
        let short = SimulatedProgram { windows: 1, window_sd: 0.0, rate_between: 0.3, ..program };
        let all: Vec<SimulatedWindow> = (0..2000).flat_map(|_| short.run(&mut random)).collect();
        let sd = |of: fn(&SimulatedWindow) -> f64| {
            Moments::of(&all.iter().map(|window| of(window).ln()).collect::<Vec<_>>()).unwrap().variance.unwrap().sqrt()
        };
        assert!((sd(|window| window.cost_ns) / 0.02 - 1.0).abs() < 0.1);
        assert!((sd(|window| window.rate) / 0.3 - 1.0).abs() < 0.1);
    }

    #[test]
    fn the_interval_of_a_frequency_is_wilsons() {
        let (low, high) = Frequency { hits: 8, trials: 100 }.interval(0.05);
        assert!((low - 0.0411).abs() < 5e-4 && (high - 0.1500).abs() < 5e-4, "{low} {high}");
        assert!(Frequency { hits: 0, trials: 30 }.interval(0.05).0.abs() < 1e-12);
    }
}

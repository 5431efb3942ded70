//! Resamples a series in blocks: neighbouring windows resemble each other, and single ones drawn at random would look
//! more certain than they are. The seed is an argument, so every machine draws the same.

use super::series::autocorrelation;

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator; the same seed yields the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 for a limit of 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // The remainder favours the first numbers by less than 2^-40 for any realistic series.
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }
}

/// How many neighbours to keep together: the third root of `n`, scaled up by autocorrelation.
#[must_use]
pub fn block_length(values: &[f64]) -> usize {
    let n = values.len() as f64;
    let rho = autocorrelation(values).clamp(0.0, 0.9);
    // Carlstein's rule for a first-order autoregression: (2 rho / (1 - rho^2))^(2/3) n^(1/3).
    let length = (2.0 * rho / (1.0 - rho * rho)).powf(2.0 / 3.0) * n.cbrt();
    (length.round() as usize).clamp(1, (values.len() / 4).max(1))
}

/// Indices of a series, drawn in blocks around the circle of its values.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// Values in the series.
    pub count: usize,
    /// Values in a block.
    pub length: usize,
}

impl Blocks {
    /// One draw of as many indices as there are values.
    pub fn draw(self, random: &mut Random, into: &mut Vec<usize>) {
        into.clear();
        self.draw_ranges(random, |start, length| into.extend((start..start + length).map(|at| at % self.count)));
    }

    /// The same draw, as the start and the length of each block; a block that reaches the last value goes on with the first.
    pub fn draw_ranges(self, random: &mut Random, mut take: impl FnMut(usize, usize)) {
        let mut room = self.count;
        while room > 0 {
            let (start, length) = (random.below(self.count), self.length.max(1).min(room));
            take(start, length);
            room -= length;
        }
    }

    /// How many blocks a draw holds, i.e. how many independent values the series counts for.
    #[must_use]
    pub fn number(self) -> f64 {
        self.count as f64 / self.length.max(1) as f64
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::series::Moments;
    use super::*;

    fn errors(values: &[f64], length: usize) -> f64 {
        let (mut random, mut drawn) = (Random::new(7), Vec::new());
        let blocks = Blocks { count: values.len(), length };
        let means: Vec<f64> = (0..2000)
            .map(|_| {
                blocks.draw(&mut random, &mut drawn);
                drawn.iter().map(|at| values[*at]).sum::<f64>() / drawn.len() as f64
            })
            .collect();
        Moments::of(&means).unwrap().variance.unwrap().sqrt()
    }

    /// Noise with an autocorrelation of `rho`.
    fn series(rho: f64) -> Vec<f64> {
        let mut random = Random::new(3);
        let mut value = 0.0;
        let noise = |random: &mut Random| random.below(2001) as f64 / 1000.0 - 1.0;
        let next = |_| {
            value = rho * value + noise(&mut random);
            value
        };
        (0..400).map(next).collect()
    }

    #[test]
    fn the_generator_gives_the_published_sequence() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn single_draws_give_the_standard_error_of_values_that_are_independent() {
        let values = series(0.0);
        let expected = (Moments::of(&values).unwrap().variance.unwrap() / 400.0).sqrt();
        assert!((errors(&values, 1) / expected - 1.0).abs() < 0.1);
        assert!(block_length(&values) <= 2);
    }

    #[test]
    fn blocks_see_what_single_draws_miss_where_neighbours_resemble_each_other() {
        let values = series(0.8);
        let length = block_length(&values);
        assert!((8..=40).contains(&length), "{length}");
        // True error over that of independent values: sqrt((1 + rho) / (1 - rho)) = 3.
        let seen = errors(&values, length) / errors(&values, 1);
        assert!((1.8..4.0).contains(&seen), "{seen}");
    }

    #[test]
    fn no_series_is_too_short_to_draw_from() {
        let mut drawn = vec![9];
        Blocks { count: 0, length: 3 }.draw(&mut Random::new(1), &mut drawn);
        assert!(drawn.is_empty());
        Blocks { count: 2, length: 0 }.draw(&mut Random::new(1), &mut drawn);
        assert_eq!(drawn.len(), 2);
        assert_eq!((block_length(&[]), block_length(&[1.0])), (1, 1));
    }
}

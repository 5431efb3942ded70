//! The order of runs: repeats are interleaved and the widths of each repeat shuffled, so that drift of the machine
//! affects all widths alike. The same seed results in the same order.

use crate::analysis::stats::Random;

/// Widths with their repeat (from 1), in running order.
#[must_use]
pub fn run_order(widths: &[u32], repeats: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut random = Random::new(seed);
    let mut runs = Vec::with_capacity(widths.len() * repeats as usize);
    for repeat in 1..=repeats {
        let mut block = widths.to_vec();
        for last in (1..block.len()).rev() {
            let other = random.below(last + 1);
            block.swap(last, other);
        }
        runs.extend(block.into_iter().map(|width| (width, repeat)));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_run_once_per_repeat_before_any_is_run_again() {
        let widths = [1, 2, 4, 8, 16];
        let runs = run_order(&widths, 3, 7);
        assert_eq!(runs.len(), 15);
        for (at, block) in runs.chunks(5).enumerate() {
            let mut seen: Vec<_> = block.iter().map(|run| run.0).collect();
            seen.sort_unstable();
            assert_eq!(seen, widths);
            assert!(block.iter().all(|run| run.1 as usize == at + 1));
        }
    }

    #[test]
    fn a_seed_decides_the_order() {
        let widths: Vec<u32> = (1..=32).collect();
        assert_eq!(run_order(&widths, 2, 1), run_order(&widths, 2, 1));
        assert_ne!(run_order(&widths, 1, 1), run_order(&widths, 1, 2));
        assert_ne!(run_order(&widths, 1, 1).iter().map(|run| run.0).collect::<Vec<_>>(), widths);
    }
}

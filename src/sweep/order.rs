//! The order of runs: repeats interleaved, widths of each repeat in random order, so that drift of the machine falls on
//! all widths alike. The same seed gives the same order.

/// Widths with their repeat (from 1), in the order to be run.
#[must_use]
pub fn order(widths: &[u32], repeats: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut state = seed;
    let mut runs = Vec::with_capacity(widths.len() * repeats as usize);
    for repeat in 1..=repeats {
        let mut block = widths.to_vec();
        for last in (1..block.len()).rev() {
            let other = (next(&mut state) % (last as u64 + 1)) as usize;
            block.swap(last, other);
        }
        runs.extend(block.into_iter().map(|width| (width, repeat)));
    }
    runs
}

/// SplitMix64 (Steele, Lea, Flood 2014): passes the usual tests, and is the same on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_run_once_per_repeat_before_any_is_run_again() {
        let widths = [1, 2, 4, 8, 16];
        let runs = order(&widths, 3, 7);
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
        assert_eq!(order(&widths, 2, 1), order(&widths, 2, 1));
        assert_ne!(order(&widths, 1, 1), order(&widths, 1, 2));
        assert_ne!(order(&widths, 1, 1).iter().map(|run| run.0).collect::<Vec<_>>(), widths);
    }

    #[test]
    fn the_generator_gives_the_published_sequence() {
        let mut state = 1_234_567;
        assert_eq!([next(&mut state), next(&mut state)], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}

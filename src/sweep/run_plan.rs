//! The runs of a sweep: their order, and the command of each. Repeats are interleaved and the widths of each repeat
//! shuffled, so that drift of the machine affects all widths alike. The same seed results in the same order.

use crate::analysis::stats::Random;
use crate::error::{Error, ErrorKind, Result};

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

/// Placeholder for the number of threads of a run.
pub const THREADS: &str = "{threads}";
/// Placeholder for the CPUs of a run, as a list like `0-3,8`.
pub const CPUS: &str = "{cpus}";

/// Fills in the placeholders of a text. No shell is involved.
#[must_use]
pub fn fill(text: &str, width: u32, cpus: &str) -> String {
    text.replace(THREADS, &width.to_string()).replace(CPUS, cpus)
}

/// Whether a command or its environment differs from width to width.
#[must_use]
pub fn varies(command: &[String], environment: &[String]) -> bool {
    command.iter().chain(environment).any(|word| word.contains(THREADS) || word.contains(CPUS))
}

/// Rejects a command that is the same at every width.
///
/// # Errors
/// `Usage` with a hint on what to write.
pub fn check_command(command: &[String], environment: &[String]) -> Result<()> {
    if varies(command, environment) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "the command is the same at every width: it has no {threads} or {cpus}").hint(
        "Put {threads} where the number belongs, e.g. -- ./app --threads={threads}, or --env OMP_NUM_THREADS={threads}. \
         To give it fewer CPUs instead, sweep -L cpus.",
    ))
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

    #[test]
    fn both_placeholders_are_filled_everywhere() {
        assert_eq!(fill("--n={threads} -c {cpus} {other}", 4, "0-3"), "--n=4 -c 0-3 {other}");
    }

    #[test]
    fn a_command_without_placeholders_is_refused() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(check_command(&words(&["app"]), &[]).is_err());
        assert!(check_command(&words(&["app", "-j{threads}"]), &[]).is_ok());
        assert!(check_command(&words(&["app"]), &words(&["OMP_NUM_THREADS={threads}"])).is_ok());
    }
}

//! Fills in `{threads}` and `{cpus}` in a command for one run. No shell is involved.

use crate::error::{Error, ErrorKind, Result};

/// Placeholder for the number of threads of a run.
pub const THREADS: &str = "{threads}";
/// Placeholder for the CPUs of a run, as a list like `0-3,8`.
pub const CPUS: &str = "{cpus}";

/// Fills in the placeholders of a text.
#[must_use]
pub fn fill(text: &str, width: u32, cpus: &str) -> String {
    text.replace(THREADS, &width.to_string()).replace(CPUS, cpus)
}

/// Rejects a command that is the same at every width.
///
/// # Errors
/// `Usage` with a hint on what to write.
pub fn check(command: &[String], environment: &[String]) -> Result<()> {
    let varies = command.iter().chain(environment).any(|word| word.contains(THREADS) || word.contains(CPUS));
    if varies {
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
    fn both_placeholders_are_filled_everywhere() {
        assert_eq!(fill("--n={threads} -c {cpus} {other}", 4, "0-3"), "--n=4 -c 0-3 {other}");
    }

    #[test]
    fn a_command_without_placeholders_is_refused() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(check(&words(&["app"]), &[]).is_err());
        assert!(check(&words(&["app", "-j{threads}"]), &[]).is_ok());
        assert!(check(&words(&["app"]), &words(&["OMP_NUM_THREADS={threads}"])).is_ok());
    }
}

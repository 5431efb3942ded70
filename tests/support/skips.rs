//! A test that cannot run here says why: on the terminal and, since cargo hides what a passing test prints, in the file that
//! `IRONLAW_SKIPS` names.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Says why a test, or a part of it, does not run for lack of `what`.
///
/// # Panics
/// If `what` is required.
#[track_caller]
#[expect(clippy::print_stderr, reason = "says why a test is skipped")]
pub fn skip(what: &str, why: impl Display) {
    assert!(!is_required(what), "{what} is required: {why}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("IRONLAW_SKIPS") else { return };
    let line = format!("{what}\t{test}\t{why}\n");
    let written =
        OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot append to {}: {error}", path.display()));
}

/// Whether `IRONLAW_REQUIRE`, a list of what this machine has, separated by commas, contains `what`.
pub fn is_required(what: &str) -> bool {
    std::env::var("IRONLAW_REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == what))
}

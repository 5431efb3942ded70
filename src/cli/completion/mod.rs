//! Shell completion: the shell asks this program what may follow on its command line, so that recordings, functions, events,
//! processes and control groups complete too. On any failure there is nothing to choose, and no message.

mod bash;
mod candidates;
mod recorded;
mod values;

use super::args::Cli;
use clap::CommandFactory;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use std::ffi::OsString;
use std::io::Write;

/// The variable by which a shell asks, with its name.
const ASKS: &str = "IRONLAW_COMPLETE";

/// The script that lets a shell ask.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    if shell == Shell::Bash {
        return bash::script().into_bytes();
    }
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        // Memory takes every byte.
        let _ = completer.write_registration(ASKS, "ironlaw", "ironlaw", "ironlaw", &mut script);
    }
    script
}

/// Answers a shell, if one asks.
pub(super) fn answer() -> bool {
    let Some(shell) = std::env::var_os(ASKS).filter(|shell| !shell.is_empty()) else { return false };
    if shell != "bash" {
        let here = std::env::current_dir().ok();
        let _ = CompleteEnv::with_factory(command).var(ASKS).try_complete(std::env::args_os(), here.as_deref());
        return true;
    }
    if let Some(line) = std::env::args().nth(2) {
        let replaced = std::env::var("IRONLAW_COMPLETE_WORD").unwrap_or_default();
        // A shell that no longer listens needs no answer.
        let _ = std::io::stdout().write_all(bash::answer(&line, &replaced).as_bytes());
    }
    true
}

/// The command line, with what completes its values.
fn command() -> clap::Command {
    values::attached(Cli::command())
}

/// What may stand at the end of these words.
fn complete(words: &[String]) -> Vec<String> {
    let (words, here): (Vec<OsString>, _) = (words.iter().map(OsString::from).collect(), std::env::current_dir().ok());
    let last = words.len().saturating_sub(1);
    let found = clap_complete::engine::complete(&mut command(), words, last, here.as_deref()).unwrap_or_default();
    found.iter().filter_map(|candidate| candidate.get_value().to_str().map(String::from)).collect()
}

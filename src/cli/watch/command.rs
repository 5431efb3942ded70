//! Runs the user's command for alarms: its input and environment, and messages about its result.
//! One command runs at a time, for at most a minute.

use super::Msg;
use super::worker::Worker;
use crate::error::{Context, Error, Result};
use crate::sys::shell_command::{self, StopToken};
use crate::sys::terminal;
use crate::units::Nanos;
use crate::view::watch::{CommandResult, Message, WatchEvent};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// Maximum run time of a command.
const TIMEOUT: Nanos = Nanos(60_000_000_000);

/// The input of a command.
#[derive(Debug)]
pub(super) struct CommandRun {
    /// The alarm as JSON.
    pub alarm_json: Vec<u8>,
    pub target: String,
    pub cause: &'static str,
    pub suspect: String,
}

/// Runs the commands.
#[derive(Debug)]
pub(super) struct AlarmCommands {
    worker: Worker<CommandRun>,
    stop: StopToken,
}

impl AlarmCommands {
    pub(super) fn start(line: String, sender: Sender<Msg>) -> Result<AlarmCommands> {
        let stop = StopToken::new()?;
        let token = stop.clone();
        let worker = Worker::start("command", move |input: CommandRun| {
            // If the watch is over, there is nobody left to report to.
            let write = |event| _ = sender.send(Msg::Write(event));
            let failed = |error: Error, what: &str| write(WatchEvent::Error(Message::of(&error.context(what))));
            let file = AlarmFile::write(&std::env::temp_dir(), &input.alarm_json);
            let file = file.map_err(|error| failed(error, "the alarm command runs without the alarm's file")).ok();
            match run(&line, &input, file.as_ref(), &token) {
                Ok(result) => write(WatchEvent::Command(result)),
                Err(error) => failed(error, "the alarm command did not run"),
            }
        })?;
        Ok(AlarmCommands { worker, stop })
    }

    /// Starts the command, unless it still runs.
    pub(super) fn run(&self, input: CommandRun) {
        self.worker.submit(input);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }

    /// Asks a running command to end.
    pub(super) fn stop(&self) {
        self.stop.stop();
    }

    /// Waits for a running command.
    pub(super) fn finish(self) {
        self.worker.finish();
    }
}

fn run(line: &str, input: &CommandRun, file: Option<&AlarmFile>, stop: &StopToken) -> Result<CommandResult> {
    let variables = [
        ("IRONLAW_ALARM_JSON", file.map(|file| file.0.display().to_string()).unwrap_or_default()),
        ("IRONLAW_TARGET", input.target.clone()),
        ("IRONLAW_CAUSE", input.cause.to_string()),
        ("IRONLAW_SUSPECT", input.suspect.clone()),
    ];
    let ended = shell_command::run(line, &variables, terminal::error_output()?, TIMEOUT, stop)?;
    Ok(CommandResult { status: ended.status, seconds: ended.took.seconds(), timed_out: ended.cut_short })
}

/// A file that only its owner can read, removed after the command.
struct AlarmFile(PathBuf);

impl AlarmFile {
    fn write(dir: &Path, bytes: &[u8]) -> Result<AlarmFile> {
        // The name is unpredictable, so nobody can create it first: a hash of nothing with random keys from the system.
        let any = RandomState::new().build_hasher().finish();
        AlarmFile::write_at(dir.join(format!("ironlaw-alarm-{}-{any:016x}.json", std::process::id())), bytes)
    }

    fn write_at(path: PathBuf, bytes: &[u8]) -> Result<AlarmFile> {
        let context = || format!("cannot write {}", path.display());
        // Do not write into an existing file or through a link that somebody else created.
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path).context(context)?;
        let written = file.write_all(bytes).context(context);
        // Dropped, and with it the partial file, if not everything was written.
        let alarm_file = AlarmFile(path);
        written.map(|()| alarm_file)
    }
}

impl Drop for AlarmFile {
    fn drop(&mut self) {
        // The command may already have removed it.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_alarm_lies_in_a_file_of_our_own_as_long_as_it_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let file = AlarmFile::write(dir.path(), b"{}").unwrap();
        let path = file.0.clone();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        drop(file);
        assert!(!path.exists());
        let victim = dir.path().join("victim");
        symlink(&victim, &path).unwrap();
        assert!(AlarmFile::write_at(path.clone(), b"{}").is_err());
        assert!(!victim.exists() && path.is_symlink(), "a link that lies there is neither followed nor removed");
        assert!(AlarmFile::write(dir.path(), b"{}").is_ok(), "what is left behind does not keep the next one out");
    }

    #[test]
    fn a_command_runs_with_and_without_the_alarms_file() {
        let dir = tempfile::tempdir().unwrap();
        let input =
            CommandRun { alarm_json: b"{}".to_vec(), target: "redis".into(), cause: "steal", suspect: String::new() };
        let stop = StopToken::new().unwrap();
        let status = |line: &str, file: Option<&AlarmFile>| run(line, &input, file, &stop).unwrap().status;
        assert!(AlarmFile::write(&dir.path().join("nowhere"), b"{}").is_err());
        assert_eq!(status(r#"test -z "$IRONLAW_ALARM_JSON" && test "$IRONLAW_TARGET" = redis"#, None), 0);
        let file = AlarmFile::write(dir.path(), b"{}").unwrap();
        assert_eq!(status(r#"test "$(cat "$IRONLAW_ALARM_JSON")" = "{}""#, Some(&file)), 0);
    }
}

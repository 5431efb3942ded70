//! Runs the user's command for alarms: its input and environment, and messages about its result.
//! One command runs at a time, for at most a minute.

use super::Msg;
use super::worker::Worker;
use crate::error::{Context, Error, Result};
use crate::sys::shell_command::{self, StopToken};
use crate::sys::terminal;
use crate::units::Nanos;
use crate::view::watch::{Ran, Said, What};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// Maximum run time of a command.
const PATIENCE: Nanos = Nanos(60_000_000_000);

/// The input of a command.
#[derive(Debug)]
pub(super) struct Order {
    /// The alarm as JSON.
    pub alarm: Vec<u8>,
    pub target: String,
    pub cause: &'static str,
    pub suspect: String,
}

/// Runs the commands.
#[derive(Debug)]
pub(super) struct Commands {
    worker: Worker<Order>,
    stop: StopToken,
}

impl Commands {
    pub(super) fn start(line: String, tell: Sender<Msg>) -> Result<Commands> {
        let stop = StopToken::new()?;
        let asked = stop.clone();
        let worker = Worker::start("command", move |order: Order| {
            // If the watch is over, there is nobody left to report to.
            let tell = |what| _ = tell.send(Msg::Tell(what));
            let failed = |error: Error, what: &str| tell(What::Error(Said::of(&error.context(what))));
            let file = AlarmFile::write(&std::env::temp_dir(), &order.alarm);
            let file = file.map_err(|error| failed(error, "the command for alarms runs without the alarm's file")).ok();
            match run(&line, &order, file.as_ref(), &asked) {
                Ok(ran) => tell(What::Command(ran)),
                Err(error) => failed(error, "the command for alarms did not run"),
            }
        })?;
        Ok(Commands { worker, stop })
    }

    /// Starts the command; false while it still runs for an earlier alarm.
    pub(super) fn run(&self, order: Order) -> bool {
        self.worker.give(order)
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

fn run(line: &str, order: &Order, file: Option<&AlarmFile>, stop: &StopToken) -> Result<Ran> {
    let variables = [
        ("IRONLAW_ALARM_JSON", file.map(|file| file.0.display().to_string()).unwrap_or_default()),
        ("IRONLAW_TARGET", order.target.clone()),
        ("IRONLAW_CAUSE", order.cause.to_string()),
        ("IRONLAW_SUSPECT", order.suspect.clone()),
    ];
    let ended = shell_command::run(line, &variables, terminal::error_output()?, PATIENCE, stop)?;
    Ok(Ran { status: ended.status, seconds: ended.took.seconds(), cut_short: ended.cut_short })
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
        let told = AlarmFile(path);
        written.map(|()| told)
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
        let told = AlarmFile::write(dir.path(), b"{}").unwrap();
        let path = told.0.clone();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        drop(told);
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
        let order = Order { alarm: b"{}".to_vec(), target: "redis".into(), cause: "steal", suspect: String::new() };
        let stop = StopToken::new().unwrap();
        let status = |line: &str, file: Option<&AlarmFile>| run(line, &order, file, &stop).unwrap().status;
        assert!(AlarmFile::write(&dir.path().join("nowhere"), b"{}").is_err());
        assert_eq!(status(r#"test -z "$IRONLAW_ALARM_JSON" && test "$IRONLAW_TARGET" = redis"#, None), 0);
        let told = AlarmFile::write(dir.path(), b"{}").unwrap();
        assert_eq!(status(r#"test "$(cat "$IRONLAW_ALARM_JSON")" = "{}""#, Some(&told)), 0);
    }
}

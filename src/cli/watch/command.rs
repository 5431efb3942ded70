//! The user's command for alarms: what it is told, and what is told of it.
//! It never runs twice at once, nor for longer than a minute.

use super::Msg;
use super::worker::Worker;
use crate::error::{Context, Error, Result};
use crate::sys::hook::{self, StopToken};
use crate::sys::terminal;
use crate::units::Nanos;
use crate::view::watch::{Ran, Said, What};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// A command may run so long.
const PATIENCE: Nanos = Nanos(60_000_000_000);

/// What a command is told.
#[derive(Debug)]
pub(super) struct Order {
    /// The alarm as JSON.
    pub alarm: Vec<u8>,
    pub target: String,
    pub cause: &'static str,
    pub suspect: String,
}

/// Who runs it.
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
            // When the watch is over nobody is left to tell.
            let tell = |what| _ = tell.send(Msg::Tell(what));
            let failed = |error: Error, what: &str| tell(What::Error(Said::of(&error.context(what))));
            let file = Told::write(&std::env::temp_dir(), &order.alarm);
            let file = file.map_err(|error| failed(error, "the command for alarms runs without the alarm's file")).ok();
            match run(&line, &order, file.as_ref(), &asked) {
                Ok(ran) => tell(What::Command(ran)),
                Err(error) => failed(error, "the command for alarms did not run"),
            }
        })?;
        Ok(Commands { worker, stop })
    }

    /// Runs it; false while it still runs for an earlier alarm.
    pub(super) fn run(&self, order: Order) -> bool {
        self.worker.give(order)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }

    /// Asks one that runs to end now.
    pub(super) fn stop(&self) {
        self.stop.stop();
    }

    /// Waits for one that runs.
    pub(super) fn finish(self) {
        self.worker.finish();
    }
}

fn run(line: &str, order: &Order, file: Option<&Told>, stop: &StopToken) -> Result<Ran> {
    let variables = [
        ("IRONLAW_ALARM_JSON", file.map(|file| file.0.display().to_string()).unwrap_or_default()),
        ("IRONLAW_TARGET", order.target.clone()),
        ("IRONLAW_CAUSE", order.cause.to_string()),
        ("IRONLAW_SUSPECT", order.suspect.clone()),
    ];
    let ended = hook::run(line, &variables, terminal::error_output()?, PATIENCE, stop)?;
    Ok(Ran { status: ended.status, seconds: ended.took.seconds(), cut_short: ended.cut_short })
}

/// A file that only its owner may read, gone with the command.
struct Told(PathBuf);

impl Told {
    fn write(dir: &Path, bytes: &[u8]) -> Result<Told> {
        // Nobody can take the name beforehand: the hash of nothing, with keys from the system, is not to be foreseen.
        let any = RandomState::new().build_hasher().finish();
        Told::write_at(dir.join(format!("ironlaw-alarm-{}-{any:016x}.json", std::process::id())), bytes)
    }

    fn write_at(path: PathBuf, bytes: &[u8]) -> Result<Told> {
        let context = || format!("cannot write {}", path.display());
        // Never into a file, or through a link, that somebody else put there.
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path).context(context)?;
        let written = file.write_all(bytes).context(context);
        // Dropped with what was written of it where that is not all.
        let told = Told(path);
        written.map(|()| told)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        // The command may have taken it.
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
        let told = Told::write(dir.path(), b"{}").unwrap();
        let path = told.0.clone();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        drop(told);
        assert!(!path.exists());
        let victim = dir.path().join("victim");
        symlink(&victim, &path).unwrap();
        assert!(Told::write_at(path.clone(), b"{}").is_err());
        assert!(!victim.exists() && path.is_symlink(), "a link that lies there is neither followed nor removed");
        assert!(Told::write(dir.path(), b"{}").is_ok(), "what is left behind does not keep the next one out");
    }

    #[test]
    fn a_command_runs_with_and_without_the_alarms_file() {
        let dir = tempfile::tempdir().unwrap();
        let order = Order { alarm: b"{}".to_vec(), target: "redis".into(), cause: "steal", suspect: String::new() };
        let stop = StopToken::new().unwrap();
        let status = |line: &str, file: Option<&Told>| run(line, &order, file, &stop).unwrap().status;
        assert!(Told::write(&dir.path().join("nowhere"), b"{}").is_err());
        assert_eq!(status(r#"test -z "$IRONLAW_ALARM_JSON" && test "$IRONLAW_TARGET" = redis"#, None), 0);
        let told = Told::write(dir.path(), b"{}").unwrap();
        assert_eq!(status(r#"test "$(cat "$IRONLAW_ALARM_JSON")" = "{}""#, Some(&told)), 0);
    }
}

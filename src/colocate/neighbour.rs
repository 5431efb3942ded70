//! A neighbour: started before the victim and held to its load, started again when it ends early, and ended with its
//! whole process group.

use super::hold::Hold;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Imposed;
use crate::sweep::CpuConfinement;
use crate::sys::clock::monotonic_ns;
use crate::sys::process_group::ProcessGroup;
use crate::sys::spawn::{self, Started};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The polling interval.
const STEP: Duration = Duration::from_millis(5);
/// The period of a duty cycle, nanoseconds.
const PERIOD_NS: u64 = 100_000_000;
/// A command that ends sooner than this waits for as long before it is started again.
const SHORTEST_NS: u64 = 50_000_000;
/// The shell's exit code for a command that does not exist.
const NOT_FOUND: i32 = 127;

/// A neighbour that runs until it is ended.
#[derive(Debug)]
pub(super) struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Ended>>,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// How often it was started again.
    pub restarts: u32,
    /// Why it did not run to the end.
    pub failure: Option<String>,
}

impl Neighbour {
    /// Starts it, held as `hold` says from its first instruction on. What it prints goes to a file.
    ///
    /// # Errors
    /// It cannot be started or held.
    pub fn start(argv: &[String], output: &Path, hold: Hold) -> Result<Neighbour> {
        let command = Command { argv: in_file(argv, output), hold };
        let first = command.start()?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let watch = move || command.watch(first, &asked);
        let thread = std::thread::Builder::new().name("neighbour".to_string()).spawn(watch)?;
        Ok(Neighbour { stop, thread: Some(thread) })
    }

    /// Whether it has failed already.
    pub fn has_failed(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it with everything that it started, and lifts what held it.
    pub fn end(mut self) -> Ended {
        self.join()
    }

    fn join(&mut self) -> Ended {
        self.stop.store(true, Ordering::Relaxed);
        let lost = || Ended { restarts: 0, failure: Some("its thread ended: this is a defect of ironlaw".to_string()) };
        self.thread.take().map_or_else(Ended::default, |thread| thread.join().unwrap_or_else(|_| lost()))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.join();
    }
}

/// The shell replaces itself by the command, so no process is added.
fn in_file(argv: &[String], output: &Path) -> Vec<String> {
    let script = "out=$1; shift; exec \"$@\" </dev/null >>\"$out\" 2>&1";
    let start = ["sh", "-c", script, "sh"].map(String::from);
    let output = output.to_string_lossy().into_owned();
    start.into_iter().chain([output]).chain(argv.iter().cloned()).collect()
}

struct Command {
    argv: Vec<String>,
    hold: Hold,
}

/// One start of the command.
struct Process {
    started: Started,
    group: ProcessGroup,
    /// Restores nothing but its own journal: the threads end with the process.
    _confined: Option<CpuConfinement>,
    since: u64,
}

impl Command {
    /// Everything is set while the command is held before its first instruction.
    fn start(&self) -> Result<Process> {
        let mut started = spawn::start(&self.argv)?;
        let group = ProcessGroup::lead(started.pid())?;
        let confined = self.hold.apply(started.pid())?;
        started.release()?;
        Ok(Process { started, group, _confined: confined, since: monotonic_ns() })
    }

    fn watch(mut self, first: Process, stop: &AtomicBool) -> Ended {
        let mut ended = Ended::default();
        let mut process = first;
        let mut paused = false;
        while !stop.load(Ordering::Relaxed) {
            if process.started.has_ended() {
                match self.again(&mut process) {
                    Ok(again) => process = again,
                    Err(error) => {
                        ended.failure = Some(error.to_string());
                        break;
                    }
                }
                (ended.restarts, paused) = (ended.restarts.saturating_add(1), false);
            }
            if let Some(Imposed::DutyCycle { share }) = self.hold.imposed {
                let at = monotonic_ns().saturating_sub(process.since) % PERIOD_NS;
                let rests = at as f64 >= share * PERIOD_NS as f64;
                if rests != std::mem::replace(&mut paused, rests) {
                    process.group.pause(rests);
                }
            }
            std::thread::sleep(STEP);
        }
        process.group.end(&mut process.started);
        drop(process);
        if let Err(error) = self.hold.lift() {
            ended.failure.get_or_insert(error.to_string());
        }
        ended
    }

    /// Starts it again. One that failed would fail again.
    fn again(&self, process: &mut Process) -> Result<Process> {
        let ran = monotonic_ns().saturating_sub(process.since);
        process.group.end(&mut process.started);
        let seconds = ran as f64 * 1e-9;
        match process.started.wait() {
            Some(0) => {}
            Some(NOT_FOUND) => {
                return Err(Error::new(ErrorKind::NotFound, "its command was not found"));
            }
            code => {
                let code = code.map_or_else(|| "no exit code".to_string(), |code| format!("exit code {code}"));
                return Err(Error::new(ErrorKind::Io, format!("it ended with {code} after {seconds:.1} s")));
            }
        }
        if ran < SHORTEST_NS {
            std::thread::sleep(Duration::from_nanos(SHORTEST_NS));
        }
        self.start()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn start(script: &str, output: &Path, hold: Hold) -> Neighbour {
        Neighbour::start(&["sh", "-c", script].map(String::from), output, hold).unwrap()
    }

    /// Waits for a count of lines in its output.
    fn lines(output: &Path, count: usize) -> Vec<String> {
        let begun = std::time::Instant::now();
        loop {
            let text = std::fs::read_to_string(output).unwrap_or_default();
            if text.lines().count() >= count || begun.elapsed().as_secs() > 30 {
                return text.lines().map(String::from).collect();
            }
            std::thread::sleep(STEP);
        }
    }

    #[test]
    fn one_that_ends_early_is_started_again_and_one_that_fails_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        let neighbour = start("echo ran", &output, Hold::default());
        assert_eq!(lines(&output, 3)[..3], ["ran", "ran", "ran"]);
        let ended = neighbour.end();
        assert!(ended.restarts >= 2 && ended.failure.is_none(), "{ended:?}");
        for (script, says) in [("exit 3", "exit code 3"), ("exec /no/such/command", "not found")] {
            let neighbour = start(script, &output, Hold::default());
            while !neighbour.has_failed() {
                std::thread::sleep(STEP);
            }
            let ended = neighbour.end();
            assert!(ended.failure.is_some_and(|text| text.contains(says)), "{script}");
        }
    }

    #[test]
    fn all_that_it_started_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        let neighbour = start("sleep 1000 & echo $!; wait", &output, Hold::default());
        let pid = lines(&output, 1)[0].clone();
        neighbour.end();
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let begun = std::time::Instant::now();
        while !state().is_empty() && !state().contains(") Z ") && begun.elapsed().as_secs() < 30 {
            std::thread::sleep(STEP);
        }
        assert!(state().is_empty() || state().contains(") Z "), "{}", state());
    }

    #[test]
    fn a_duty_cycle_stops_it_for_the_rest_of_each_period() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        let hold = Hold::duty_cycle(0.3);
        let neighbour = start("echo $$; while :; do :; done", &output, hold);
        let pid = lines(&output, 1)[0].clone();
        let mut seen = std::collections::BTreeSet::new();
        let begun = std::time::Instant::now();
        while !(seen.contains(&'T') && seen.contains(&'R')) && begun.elapsed().as_secs() < 30 {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            seen.extend(stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()));
        }
        assert!(seen.contains(&'T') && seen.contains(&'R'), "{seen:?}");
        neighbour.end();
    }
}

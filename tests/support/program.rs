//! Runs the built program as a user does: in a directory of its own, with what it printed and how it ended to look at.
//! It never looks inside the program.

use crate::turn::Turn;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The program under test: the one that cargo built for the tests, or the one that `IRONLAW_PROGRAM` named when they were
/// compiled, e.g. a release build.
pub const IRONLAW: &str = match option_env!("IRONLAW_PROGRAM") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_ironlaw"),
};

/// What runs `ironlaw workload NAME ...`: a small program, since reading the names of a debug build takes a second. A
/// program that was named is profiled itself.
pub const WORKLOADS: &str = match (option_env!("IRONLAW_PROGRAM"), option_env!("IRONLAW_WORKLOADS")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => IRONLAW,
};

/// A directory that goes away with the test, whose turn lasts as long.
pub struct Dir {
    folder: tempfile::TempDir,
    _turn: Rc<Turn>,
}

impl Dir {
    pub fn new() -> Dir {
        Dir { folder: tempfile::tempdir().expect("a temporary directory can be made"), _turn: Turn::take() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Any program, run here with nothing of the caller's that changes what is printed.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).env_remove("NO_COLOR").env("TERM", "xterm").stdin(Stdio::null());
        command
    }

    /// The program under test, run here to its end.
    pub fn ironlaw(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(IRONLAW, args))
    }

    /// The program under test with a command line as one text without quotes.
    pub fn line(&self, line: &str) -> Ran {
        self.ironlaw(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// The program under test or, for `workload`, the workloads alone, running here until it is dropped.
    pub fn start(&self, args: &[&str]) -> Running {
        let program = if args.first() == Some(&"workload") { WORKLOADS } else { IRONLAW };
        Running::of(&mut self.command(program, args))
    }

    /// Records a built-in workload, which must succeed.
    pub fn record(&self, name: &str, flags: &str, workload: &str) {
        let own = format!("-q record -o {name} {flags} -- {WORKLOADS} workload {workload}");
        self.line(&own).succeeds();
    }

    /// The whole report of a recording, inlined functions counted for the functions that were written.
    pub fn report(&self, name: &str, flags: &str) -> Value {
        let ran = self.line(&format!("report {name} --format json --limit 0 --no-inline {flags}")).succeeds();
        serde_json::from_str(&ran.out).expect("the report is JSON")
    }
}

/// What a program left.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(command: &mut Command) -> Ran {
        let Output { status, stdout, stderr } = command.output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("what it prints is UTF-8");
        Ran { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    #[track_caller]
    pub fn succeeds(self) -> Ran {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }
}

/// A program that is killed when the test ends, however it ends.
pub struct Running(pub Child);

impl Running {
    pub fn of(command: &mut Command) -> Running {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end, for half a minute at most. What it prints must fit into a pipe.
    #[track_caller]
    pub fn ends(&mut self) -> Ran {
        let mut ended = None;
        until("the program ends", || {
            ended = self.0.try_wait().expect("it is our child");
            ended.is_some()
        });
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().map(|mut pipe| pipe.read_to_string(&mut out));
        self.0.stderr.take().map(|mut pipe| pipe.read_to_string(&mut err));
        Ran { code: ended.and_then(|status| status.code()), out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for something to come true, for half a minute at most.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! ironlaw-fleet: the SQL engine of ironlaw, a process of its own. It reads tables (Parquet) and questions (SQL) from its
//! standard input, and prints an answer to each, a line of JSON. `ironlaw query` and `ironlaw fleet` start it; it depends on
//! nothing of ironlaw. The only place that names polars' engine.

mod answers;
mod dialect;
mod job_batches;
mod kinds;
mod protocol;
mod scan;
mod values;

use std::io::{BufRead, IsTerminal, Write, stdin, stdout};
use std::os::unix::process::parent_id;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Plans of long queries are deep.
const STACK_BYTES: usize = 64 << 20;

/// How often the engine looks whether the program that asks is still there.
const LOOK: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 || stdin().is_terminal() {
        let about = "the SQL engine of ironlaw.\nIt has no arguments: `ironlaw query` and `ironlaw fleet` start it.";
        // Nobody may be listening.
        let _ = writeln!(stdout(), "ironlaw-fleet {}: {about}", env!("CARGO_PKG_VERSION"));
        return ExitCode::from(2);
    }
    // A panic of the planner becomes an error of the question; its text helps nobody.
    std::panic::set_hook(Box::new(|_| {}));
    let parent = parent_id();
    let (sender, ended) = channel();
    let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut line = String::new();
        let asked = protocol::greet(stdout()).and_then(|()| stdin().lock().read_line(&mut line));
        let done = asked.and_then(|_| protocol::serve(&line, stdout()));
        let _ = sender.send(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    });
    // The end of the process ends the other threads, whatever they are at.
    while started.is_ok() {
        match ended.recv_timeout(LOOK) {
            Ok(code) => return code,
            Err(RecvTimeoutError::Timeout) if parent_id() == parent => {}
            Err(_) => break,
        }
    }
    ExitCode::FAILURE
}

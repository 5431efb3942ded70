//! Both sides of a session whose capture runs on another machine: `--host` starts ssh, and ssh starts `ironlaw stream` there,
//! with the same words as typed here.

use super::args::{CaptureArgs, Command, RemoteArgs, StreamArgs, TargetArgs, typed_elsewhere};
use super::capture;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::session::{LiveCapture, RemoteCapture, RemoteCommand, StreamSender};
use crate::sys::terminal as streams;
use crate::view::escape::visible;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

/// Names the program in place of ssh.
const SSH: &str = "IRONLAW_SSH";

/// Starts the capture of this process's command line on the host.
///
/// # Errors
/// As [`RemoteCapture::open`].
pub(super) fn connect(host: &str, args: &RemoteArgs) -> Result<RemoteCapture> {
    let shell = std::env::var_os(SSH).filter(|program| !program.is_empty()).unwrap_or_else(|| "ssh".into());
    let arguments = ["stream", "--"].map(OsString::from).into_iter().chain(std::env::args_os().skip(1)).collect();
    let command = RemoteCommand { shell, host: host.to_string(), program: args.remote_path.clone(), arguments };
    RemoteCapture::open(&command, show)
}

/// Writes what ssh and the host's side say to the standard error, which is a file while a session is drawn.
fn show(bytes: &[u8]) {
    let mut stderr = std::io::stderr();
    // If it is closed, there is nowhere to report that.
    let _ = if stderr.is_terminal() {
        let text = String::from_utf8_lossy(bytes);
        text.split_inclusive('\n').try_for_each(|line| {
            let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
            write!(stderr, "{}{end}", visible(words.trim_end_matches('\r')))
        })
    } else {
        stderr.write_all(bytes)
    };
}

/// The error of a session that names a host only.
pub(super) fn without_target(host: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("no target on {host}"))
        .hint("Name one: -p PID, -G CGROUP, -a, or -- CMD; `ssh HOST ironlaw list cgroups` lists control groups.")
}

/// `ironlaw stream`: the host's side.
pub(super) fn serve(args: &StreamArgs) -> Result<()> {
    if std::io::stdin().is_terminal() {
        return Err(Error::new(ErrorKind::Usage, "`ironlaw stream` is started by `ironlaw top --host`"));
    }
    let (input, output) = streams::take_streams()?;
    let sender = StreamSender::start(input, output)?;
    match open(args) {
        Ok(live) => sender.run(live),
        Err(error) => {
            // The terminal's side shows it.
            sender.fail(&error);
            Ok(())
        }
    }
}

/// Opens what the command line of the terminal's side asks for.
fn open(args: &StreamArgs) -> Result<LiveCapture> {
    let usage = |text: String| Error::new(ErrorKind::Usage, text);
    let typed = typed_elsewhere(&args.words).map_err(usage)?;
    let (target, own, with_baseline): (TargetArgs, CaptureArgs, bool) = match typed.command {
        Some(Command::Top(top)) => (top.target, CaptureArgs { off_cpu: !top.no_off_cpu, ..top.capture }, true),
        Some(Command::Record(record)) => (record.target, record.capture, record.baseline.is_some()),
        _ => return Err(usage("only `top` and `record` capture on another machine".to_string())),
    };
    let (mut plan, notes) = capture::plan(&target, &own)?;
    // A baseline needs what others do. Whole CPUs have no others.
    plan.neighbours |= with_baseline && !matches!(plan.target, Target::Cpus { .. });
    LiveCapture::open(plan, notes, own.debuginfod)
}

//! Connects to a host: starts ssh and the host's side, checks that both speak alike, and waits until the capture there is
//! open. The terminal is untouched until then, so ssh can ask for a password.

use super::checked::check_begin;
use super::stream::{Link, RemoteStream};
use super::wire::{self, Begin, Greeting, Message, malformed};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::Meta;
use crate::session::flow::{CaptureStep, EventStream};
use crate::session::recorder::{Outcome, Recorder};
use crate::store::Writer;
use crate::sys::clock::{self, Clock};
use crate::sys::remote_shell::{RemotePipes, RemoteShell};
use crate::sys::signals::{Signal, Signals};
use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{ChildStdout, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Signals are looked for this often while ssh connects.
const LOOK: Duration = Duration::from_millis(50);

/// Time for ssh to end once its output has.
const ENDING: Duration = Duration::from_secs(2);

/// Time for what ssh says at its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What runs on the host.
#[derive(Debug, Clone)]
pub struct RemoteCommand {
    /// The program that connects: `ssh`, or what stands for it.
    pub shell: OsString,
    /// The destination as ssh takes it.
    pub host: String,
    /// The program there, for the shell there.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl RemoteCommand {
    /// The arguments of ssh. No terminal, no forwarding; a dead link ends it after 15 seconds.
    fn ssh_arguments(&self) -> Result<Vec<OsString>> {
        if self.host.is_empty() || self.host.starts_with('-') {
            return Err(Error::new(ErrorKind::Usage, format!("invalid host '{}'", self.host))
                .hint("Give HOST, USER@HOST or ssh://USER@HOST:PORT."));
        }
        let options =
            ["-T", "-a", "-x", "-oClearAllForwardings=yes", "-oServerAliveInterval=5", "-oServerAliveCountMax=3", "--"];
        let mut line = OsString::from(&self.program);
        for argument in &self.arguments {
            line.push(" ");
            line.push(quoted(argument));
        }
        Ok(options.iter().map(OsString::from).chain([OsString::from(&self.host), line]).collect())
    }
}

/// A word for the shell of the host, which takes it as it is.
fn quoted(word: &OsStr) -> OsString {
    let mut bytes = vec![b'\''];
    for byte in word.as_bytes() {
        if *byte == b'\'' { bytes.extend_from_slice(b"'\\''") } else { bytes.push(*byte) }
    }
    bytes.push(b'\'');
    OsString::from_vec(bytes)
}

/// A capture on another machine that is open and sends.
#[derive(Debug)]
pub struct RemoteCapture {
    link: Link,
    output: BufReader<ChildStdout>,
    begun: Box<Begin>,
    clock: Clock,
    host: String,
    signals: Signals,
}

impl RemoteCapture {
    /// Connects and waits until the capture is open. `tell` gets what ssh and the host's side write to their standard error,
    /// on a thread of its own, until the end of the session.
    ///
    /// # Errors
    /// ssh fails, the host has no ironlaw or another version, or the capture cannot be opened there.
    pub fn open(command: &RemoteCommand, mut tell: impl FnMut(&[u8]) + Send + 'static) -> Result<RemoteCapture> {
        let arguments = command.ssh_arguments()?;
        // Before the first thread, so that no thread is killed by a signal.
        let mut signals = Signals::block()?;
        let (shell, RemotePipes { input, output, mut errors }) = RemoteShell::start(&command.shell, &arguments)?;
        let mut link = Link::start(shell, input)?;
        let (silent, errors_end) = channel::<()>();
        let forward = move || {
            // Dropped at the end.
            let _silent = silent;
            let mut bytes = vec![0; 64 << 10];
            while let Ok(length @ 1..) = errors.read(&mut bytes) {
                tell(&bytes[..length]);
            }
        };
        std::thread::Builder::new().name("ssh".into()).spawn(forward).context(|| "cannot start a thread")?;
        let (sender, answer) = channel();
        let connect = move || {
            let mut output = BufReader::new(output);
            let begun = begin(&mut output);
            // After a signal, nobody waits.
            let _ = sender.send((begun, output));
        };
        std::thread::Builder::new().name("connect".into()).spawn(connect).context(|| "cannot start a thread")?;
        let (begun, output) = wait(&answer, &mut signals, &command.host)?;
        let host = command.host.clone();
        let begun = begun.and_then(|begun| match begun {
            First::Begun(begun) => Ok(begun),
            First::Other { version } => Err(other_version(&host, &version)),
            First::Missing => Err(missing(command, link.shell.ended(ENDING))),
            First::Failed(error) => Err(error.context(host.clone())),
        });
        let begun = begun.inspect_err(|_| {
            // ssh's own words come before ours. A master connection of ssh may keep the pipe open.
            let _ = errors_end.recv_timeout(LAST_WORDS);
        })?;
        let clock = Clock::starting_at(clock::monotonic_ns().saturating_sub(begun.now.0));
        Ok(RemoteCapture { link, output, begun, clock, host, signals })
    }

    /// The session's metadata before it runs.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.begun.meta
    }

    /// Runs it for a reader that keeps the profile. The caller handles signals.
    pub(in crate::session) fn start(self) -> Result<(RemoteStream, Meta, Clock)> {
        let RemoteCapture { link, output, begun, clock, host, .. } = self;
        Ok((RemoteStream::start(link, output, &begun, clock, host)?, begun.meta, clock))
    }

    /// Records into `output` until the target ends, the planned time is over or a signal arrives. Returns also why it ended
    /// too early, if it did.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn run(self, output: Writer) -> Result<(Outcome, Option<Error>)> {
        let RemoteCapture { link, output: from, begun, clock, host, mut signals } = self;
        let mut stream = RemoteStream::start(link, from, &begun, clock, host)?;
        let mut recorder = Recorder::new(begun.meta, output, clock);
        loop {
            match stream.next() {
                CaptureStep::Events(events) => recorder.keep(&events),
                CaptureStep::Quiet => {}
                CaptureStep::Over => break,
            }
            let mut stop = !recorder.flush_when_due();
            while let Some(signal) = signals.take() {
                stop |= signal != Signal::Child;
            }
            if stop {
                stream.stop(true);
            }
        }
        let failure = stream.failure();
        Ok((recorder.finish(&stream.finish()?), failure))
    }
}

/// How a stream begins.
enum First {
    Begun(Box<Begin>),
    Other { version: String },
    Missing,
    Failed(Error),
}

fn begin(from: &mut BufReader<ChildStdout>) -> Result<First> {
    match wire::hear_greeting(from)? {
        Greeting::Same => {}
        Greeting::Other { version } => return Ok(First::Other { version }),
        Greeting::Missing { .. } => return Ok(First::Missing),
    }
    match wire::receive(from)? {
        Some((Message::Begin(begin), _)) => check_begin(&begin).map(|()| First::Begun(begin)),
        Some((Message::Failed(failure), _)) => Ok(First::Failed(failure.into_error())),
        Some(_) => Err(malformed("a message out of place")),
        None => Ok(First::Failed(Error::new(ErrorKind::Io, "the host's side ended before its capture was open"))),
    }
}

type Answer = (Result<First>, BufReader<ChildStdout>);

/// Waits for the beginning, or for a signal that ends the wait.
fn wait(answer: &Receiver<Answer>, signals: &mut Signals, host: &str) -> Result<Answer> {
    loop {
        match answer.recv_timeout(LOOK) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(malformed("its reader failed")),
        }
        while let Some(signal) = signals.take() {
            if signal != Signal::Child {
                return Err(Error::new(ErrorKind::Io, format!("interrupted while connecting to {host}")));
            }
        }
    }
}

fn other_version(host: &str, version: &str) -> Error {
    let (theirs, ours) = (if version.is_empty() { "another version" } else { version }, env!("CARGO_PKG_VERSION"));
    let same = if theirs == ours { ", of another build" } else { "" };
    Error::new(ErrorKind::Unsupported, format!("{host} has ironlaw {theirs}{same}, and this is {ours}"))
        .hint("Install the same version there, or name one with --remote-path.")
}

/// ssh ended before the stream began. What it said has been shown.
fn missing(command: &RemoteCommand, status: Option<ExitStatus>) -> Error {
    let RemoteCommand { shell, host, program, .. } = command;
    let shell = shell.to_string_lossy();
    match status.and_then(|status| status.code()) {
        Some(127) => Error::new(ErrorKind::NotFound, format!("{host} has no program '{program}'"))
            .hint("Install ironlaw there, or give its path with --remote-path."),
        Some(255) => Error::new(ErrorKind::Io, format!("{shell} could not connect to {host}")),
        Some(2) => Error::new(ErrorKind::Unsupported, format!("'{program}' on {host} does not know remote sessions"))
            .hint("Install the same version there, or name one with --remote-path."),
        status => {
            let status = status.map_or_else(String::new, |code| format!(" (status {code})"));
            Error::new(ErrorKind::Io, format!("'{program}' on {host} ended before its capture began{status}"))
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn command(host: &str) -> RemoteCommand {
        let arguments = ["stream", "top", "--", "sh", "-c", "echo 'a b'; $HOME"].map(OsString::from).to_vec();
        RemoteCommand { shell: "ssh".into(), host: host.into(), program: "sudo -n ironlaw".into(), arguments }
    }

    #[test]
    fn arguments_reach_the_program_on_the_host_as_typed() {
        let arguments = command("me@web1").ssh_arguments().unwrap();
        let [.., end, host, line] = &arguments[..] else { panic!("too few") };
        assert_eq!((end.to_str(), host.to_str()), (Some("--"), Some("me@web1")));
        let expected = r"sudo -n ironlaw 'stream' 'top' '--' 'sh' '-c' 'echo '\''a b'\''; $HOME'";
        assert_eq!(line.to_str(), Some(expected));
    }

    #[test]
    fn a_host_is_no_option_of_ssh() {
        for host in ["", "-oProxyCommand=touch x", "-"] {
            assert_eq!(command(host).ssh_arguments().unwrap_err().kind(), ErrorKind::Usage, "{host}");
        }
    }

    #[test]
    fn an_end_before_the_beginning_says_what_is_missing() {
        for (code, words) in [
            (127, "web1 has no program 'sudo -n ironlaw'"),
            (255, "ssh could not connect to web1"),
            (2, "does not know remote sessions"),
            (1, "ended before its capture began (status 1)"),
        ] {
            let error = missing(&command("web1"), Some(ExitStatus::from_raw(code << 8)));
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(other_version("web1", "0.0.1").to_string().starts_with("web1 has ironlaw 0.0.1, and this is "));
    }
}

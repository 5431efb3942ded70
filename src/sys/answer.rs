//! What another program answers, in bounded time and memory.

use super::clock::Clock;
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Time that a program has for its answer: a download.
const MOST: Nanos = Nanos(90_000_000_000);
/// Bytes of an answer.
const BYTES: usize = 1 << 16;
/// How often the reason to give up is looked for.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Returns what a program prints, without its stderr; `None` if it is not installed, fails, or has not ended in time or
/// before `give_up` says so. Then it is killed with what it started.
pub fn answer(program: &str, arguments: &[&str], give_up: impl Fn() -> bool) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut started = command.spawn().ok()?;
    let clock = Clock::start();
    let text = read(&mut started, || clock.now() > MOST || give_up());
    if text.is_none() {
        // Fails only if all of it has ended.
        let _ = kill_process_group(Pid::from_child(&started), Signal::KILL);
    }
    let succeeds = started.wait().is_ok_and(|status| status.success());
    text.filter(|_| succeeds).map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// Reads to the end of the output and waits for that of the program.
fn read(started: &mut Child, give_up: impl Fn() -> bool) -> Option<Vec<u8>> {
    let mut out = started.stdout.take()?;
    let (mut text, mut part) = (Vec::new(), [0; 4096]);
    let mut is_open = true;
    loop {
        if give_up() || text.len() > BYTES {
            return None;
        }
        if is_open && poll(&mut [PollFd::new(&out, PollFlags::IN)], Some(&LOOK)).is_ok_and(|ready| ready > 0) {
            let count = out.read(&mut part).unwrap_or(0);
            is_open = count > 0;
            text.extend_from_slice(&part[..count]);
        } else if started.try_wait().is_ok_and(|status| status.is_some()) {
            return Some(text);
        } else if !is_open {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_answers_or_is_killed_with_what_it_started() {
        let ask = |script: &str, most_ms: u64| {
            let clock = Clock::start();
            answer("sh", &["-c", script], || clock.now() > Nanos(most_ms * 1_000_000))
        };
        assert_eq!(ask("echo it; sleep 0.1; echo is", 20_000).as_deref(), Some("it\nis\n"));
        assert_eq!(ask("exec >&-; sleep 0.1", 20_000).as_deref(), Some(""));
        for script in ["echo it; exit 3", "yes"] {
            assert_eq!(ask(script, 20_000), None, "{script}");
        }
        for script in ["sleep 60", "exec >&-; sleep 60 & wait", "trap '' TERM; while :; do echo no; sleep 0.01; done"] {
            assert_eq!(ask(script, 100), None, "{script}");
        }
        assert_eq!(answer("no-such-program", &[], || false), None);
    }
}

//! Runs a program in a pseudo-terminal of its own, presses its keys and looks at its screen, as a person does.
//! It never looks inside the program; what it waits for, it waits for generously.

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vt100::{MouseProtocolMode, Parser};

/// A busy machine may take this long for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(i32),
}

/// A program and the terminal it runs in.
pub struct Pty {
    child: Child,
    /// `None` once the terminal was hung up.
    master: Option<File>,
    /// Held open, so that the terminal's settings can be read after the program's end.
    slave: File,
    before: String,
    screen: Parser,
}

impl Pty {
    /// Starts a program in a terminal of that size, as the leader of a session of its own.
    pub fn start(command: &mut Command, (width, height): (u16, u16)) -> Pty {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY)
            .open(OsStr::from_bytes(name.as_bytes()))
            .unwrap();
        tcsetwinsize(&master, size(width, height)).unwrap();
        let before = settings(&slave);
        let stream = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(stream()).stdout(stream()).stderr(stream());
        for name in ["NO_COLOR", "COLORTERM", "COLORFGBG", "TMUX", "IRONLAW_CONFIG", "LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("XDG_CONFIG_HOME", "/nonexistent");
        take_terminal(command);
        let child = command.spawn().unwrap();
        let screen = Parser::new(height, width, 0);
        Pty { child, master: Some(File::from(master)), slave, before, screen }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What is on the screen, a line per row.
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Presses keys, named and apart by blanks: characters, `Enter`, `Esc`, `Tab`, `Down`, `Ctrl-c` ...
    /// `Esc` must be the last: what follows it at once makes it another key, as on any terminal.
    pub fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            let control = key.strip_prefix("Ctrl-").map(|letter| (letter.as_bytes()[0] & 0x1f) as char);
            let bytes = match key {
                "Enter" => "\r".to_string(),
                "Esc" => "\x1b".to_string(),
                "Tab" => "\t".to_string(),
                "Space" => " ".to_string(),
                "Up" => "\x1b[A".to_string(),
                "Down" => "\x1b[B".to_string(),
                "Right" => "\x1b[C".to_string(),
                "Left" => "\x1b[D".to_string(),
                key => control.map_or(key.to_string(), String::from),
            };
            self.write(&bytes);
        }
    }

    /// Types a text as it is.
    pub fn write(&mut self, text: &str) {
        let mut master = self.master.as_ref().expect("the terminal was not hung up");
        master.write_all(text.as_bytes()).unwrap();
    }

    /// Changes the terminal's size, which tells the program in the foreground.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.screen.screen_mut().set_size(height, width);
        tcsetwinsize(self.master.as_ref().unwrap(), size(width, height)).unwrap();
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).unwrap();
    }

    /// Closes the terminal under the program's feet, as a lost connection does.
    pub fn hang_up(&mut self) {
        self.master = None;
    }

    /// Waits until the screen shows a text; gives the screen.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        self.wait_until(&format!("the screen shows {text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the screen does not show a text any more; gives the screen.
    #[track_caller]
    pub fn wait_gone(&mut self, text: &str) -> String {
        self.wait_until(&format!("the screen shows no {text:?}"), |screen| !screen.contains(text))
    }

    /// Waits until the screen is as it should be; gives the screen.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            self.read(Duration::from_millis(50));
            let text = self.text();
            if holds(&text) {
                return text;
            }
            let ended = self.poll_end();
            assert!(ended.is_none(), "the program ended ({ended:?}) before {what}:\n{text}");
            assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}:\n{text}");
        }
    }

    /// Waits for the program's end, reading what it still prints.
    #[track_caller]
    pub fn ends(&mut self) -> End {
        let begun = Instant::now();
        loop {
            self.read(Duration::from_millis(50));
            if let Some(end) = self.poll_end() {
                // The last words may still be on their way through the terminal.
                while self.read(Duration::from_millis(50)) {}
                return end;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
        }
    }

    /// Asserts that the terminal is as the program found it.
    #[track_caller]
    pub fn assert_restored(&self) {
        let screen = self.screen.screen();
        let text = self.text();
        assert!(!screen.alternate_screen(), "the alternate screen was not left:\n{text}");
        assert!(!screen.hide_cursor(), "the cursor stays hidden:\n{text}");
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None, "the mouse is still reported");
        assert!(!screen.bracketed_paste(), "pasted text is still bracketed");
        assert_eq!(settings(&self.slave), self.before, "the terminal's settings have changed");
    }

    /// Asserts that the program has the whole screen.
    #[track_caller]
    pub fn assert_taken(&self) {
        assert!(self.screen.screen().alternate_screen(), "{}", self.text());
        assert_ne!(settings(&self.slave), self.before, "keys still wait for the end of the line");
    }

    fn id(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap()
    }

    fn poll_end(&mut self) -> Option<End> {
        let status = self.child.try_wait().unwrap()?;
        status.code().map(End::Code).or_else(|| status.signal().map(End::Signal))
    }

    /// Takes what the program has printed, waiting for it this long at most; whether there was anything.
    fn read(&mut self, patience: Duration) -> bool {
        let Some(mut master) = self.master.as_ref() else {
            std::thread::sleep(patience);
            return false;
        };
        let mut fds = [rustix::event::PollFd::new(&master, rustix::event::PollFlags::IN)];
        let timeout = rustix::event::Timespec::try_from(patience).unwrap();
        if rustix::event::poll(&mut fds, Some(&timeout)).unwrap() == 0 {
            return false;
        }
        let mut bytes = [0; 1 << 16];
        let count = master.read(&mut bytes).unwrap();
        self.screen.process(&bytes[..count]);
        // A question where the cursor stands, which terminals answer.
        if bytes[..count].windows(4).any(|part| part == b"\x1b[6n") {
            let (row, column) = self.screen.screen().cursor_position();
            self.write(&format!("\x1b[{};{}R", row + 1, column + 1));
        }
        true
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes the program the leader of a session whose terminal is its standard input.
#[expect(unsafe_code, reason = "what runs between fork and exec cannot be checked")]
fn take_terminal(command: &mut Command) {
    let take = || {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        Ok(())
    };
    // SAFETY: both are plain system calls: they take no lock and no memory, which another thread may have held.
    unsafe { command.pre_exec(take) };
}

fn size(width: u16, height: u16) -> Winsize {
    Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Every setting that a program may change.
fn settings(terminal: &File) -> String {
    let Termios { input_modes, output_modes, control_modes, local_modes, special_codes, .. } =
        tcgetattr(terminal).unwrap();
    format!("{input_modes:?} {output_modes:?} {control_modes:?} {local_modes:?} {special_codes:?}")
}

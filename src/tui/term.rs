//! The session's terminal: [`Term::enter`] takes it over; dropping it or a panic restores it.
//! Nothing is written to the terminal after that.

use super::settings::Settings;
use crate::error::{Context, Error, ErrorKind, Result};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute, queue, terminal};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum length of a copied text; terminals do not accept longer ones.
const LONGEST_COPY: usize = 64 << 10;

/// A frame is sent to the terminal in one write, so that no half-drawn frame is visible.
const FRAME_BYTES: usize = 256 << 10;

/// A terminal that the session has taken over.
pub struct Term<W: Write> {
    terminal: Terminal<CrosstermBackend<WriteGate<BufWriter<W>>>>,
    /// Restores the terminal on a panic.
    panic_restore: PanicRestore,
    mouse: bool,
    tmux: bool,
}

impl<W: Write> std::fmt::Debug for Term<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Term").field("mouse", &self.mouse).finish_non_exhaustive()
    }
}

/// Whether the terminal is taken over; clearing the flag ensures that it is restored only once.
#[derive(Debug, Clone, Default)]
struct PanicRestore(Arc<AtomicBool>);

impl<W: Write> Term<W> {
    /// Takes over the terminal behind `out`; a panic restores it through `spare`. Set `tmux` inside tmux.
    ///
    /// # Errors
    /// `out` is not a terminal, or the terminal is gone.
    pub fn enter(out: W, spare: impl Write + Send + 'static, settings: &Settings, tmux: bool) -> Result<Term<W>> {
        let mut term = Term::on(out, Viewport::Fullscreen, !settings.no_mouse, tmux)?;
        term.panic_restore.arm(spare);
        term.take()?;
        Ok(term)
    }

    fn on(out: W, viewport: Viewport, mouse: bool, tmux: bool) -> Result<Term<W>> {
        let panic_restore = PanicRestore::default();
        let out = BufWriter::with_capacity(FRAME_BYTES, out);
        let backend = CrosstermBackend::new(WriteGate { out, taken: Arc::clone(&panic_restore.0) });
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport });
        Ok(Term { terminal: terminal.context(|| "cannot use the terminal")?, panic_restore, mouse, tmux })
    }

    fn take(&mut self) -> Result<()> {
        self.panic_restore.0.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode().and_then(|()| enter(self.terminal.backend_mut(), self.mouse));
        taken.context(|| "cannot take the terminal")
    }

    /// Restores the terminal; a second call does nothing.
    pub fn leave(&mut self) {
        if self.panic_restore.0.load(Ordering::SeqCst) {
            give_back(self.terminal.backend_mut());
            self.panic_restore.0.store(false, Ordering::SeqCst);
        }
    }

    /// Columns and rows.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn size(&self) -> Result<(u16, u16)> {
        terminal::size().context(|| "cannot ask the terminal's size")
    }

    /// Draws a frame; only changes are sent to the terminal.
    ///
    /// # Errors
    /// The terminal is gone, or was restored.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        if !self.panic_restore.0.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Io, "the terminal was given back"));
        }
        self.terminal.draw(draw).context(|| "cannot draw on the terminal")?;
        Ok(())
    }

    /// Forgets the terminal's contents, so that the next frame draws everything.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn clear(&mut self) -> Result<()> {
        // Not `Terminal::clear`: it queries the cursor position, and the thread that reads events would get the answer.
        self.terminal.swap_buffers();
        ratatui::backend::Backend::clear(self.terminal.backend_mut()).context(|| "cannot clear the terminal")
    }

    /// Restores the terminal while `stopped` runs, then takes it over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn suspend(&mut self, stopped: impl FnOnce()) -> Result<()> {
        self.leave();
        stopped();
        self.take()?;
        self.clear()
    }

    /// Copies a text to the terminal's clipboard (OSC 52); terminals without support ignore it.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy(&mut self, text: &str) -> Result<()> {
        let out = self.terminal.backend_mut();
        let write = out.write_all(clipboard(text, self.tmux).as_bytes()).and_then(|()| out.flush());
        write.context(|| "cannot write to the terminal")
    }
}

impl<W: Write> Drop for Term<W> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Passes writes on while the terminal is taken over and drops later ones: a late frame, and the cursor that ratatui
/// shows when dropped. Ratatui reports a failure of that to standard error, which may be gone as well.
struct WriteGate<W> {
    out: W,
    taken: Arc<AtomicBool>,
}

impl<W: Write> Write for WriteGate<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.taken.load(Ordering::SeqCst) { self.out.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.taken.load(Ordering::SeqCst) { self.out.flush() } else { Ok(()) }
    }
}

fn enter(out: &mut impl Write, mouse: bool) -> io::Result<()> {
    queue!(out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    if mouse {
        queue!(out, EnableMouseCapture)?;
    }
    out.flush()
}

/// Reverts everything that [`Term::enter`] changes. Errors are ignored: a terminal that is gone needs no restoring.
fn give_back(out: &mut impl Write) {
    let _ = execute!(out, DisableMouseCapture, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

impl PanicRestore {
    /// If this thread, which draws, panics, the hook restores the terminal before the message is printed. Panics of
    /// other threads are caught where those threads start, and the session continues.
    fn arm(&self, spare: impl Write + Send + 'static) {
        let taken = Arc::clone(&self.0);
        let drawing = std::thread::current().id();
        let spare = std::sync::Mutex::new(spare);
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == drawing
                && taken.swap(false, Ordering::SeqCst)
                && let Ok(mut spare) = spare.lock()
            {
                give_back(&mut *spare);
            }
            usual(panic);
        }));
    }
}

/// Waits for the next event of the terminal.
///
/// # Errors
/// The terminal is gone.
pub fn read_event() -> Result<Event> {
    event::read().context(|| "cannot read from the terminal")
}

/// The escape sequence that copies a text; tmux forwards it only in a wrapper.
fn clipboard(text: &str, tmux: bool) -> String {
    let mut end = text.len().min(LONGEST_COPY);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sequence = format!("\x1b]52;c;{}\x07", base64(&text.as_bytes()[..end]));
    if tmux { format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")) } else { sequence }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (word >> (18 - 6 * digit)) & 63;
            out.push(if digit <= chunk.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use ratatui::layout::Rect;
    use std::sync::Mutex;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("ÿþ", "w7/Dvg==")]
        {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn a_copy_is_wrapped_for_tmux_and_bounded() {
        assert_eq!(clipboard("foo", false), "\x1b]52;c;Zm9v\x07");
        assert_eq!(clipboard("foo", true), "\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\");
        assert!(clipboard(&"ü".repeat(LONGEST_COPY), false).len() < LONGEST_COPY * 4 / 3 + 16);
    }

    /// A fake connection to a terminal that collects the bytes sent until it breaks.
    #[derive(Clone, Default)]
    struct Line {
        sent: Arc<Mutex<Vec<u8>>>,
        broken: Arc<AtomicBool>,
    }

    impl Line {
        fn term(&self) -> Term<Line> {
            let term = Term::on(self.clone(), Viewport::Fixed(Rect::new(0, 0, 20, 2)), true, false).unwrap();
            // Does what `take` does, without raw mode, which needs a real terminal.
            term.panic_restore.0.store(true, Ordering::SeqCst);
            term
        }

        fn text(&self) -> String {
            String::from_utf8(self.sent.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Line {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.broken.load(Ordering::SeqCst) {
                return Err(io::Error::from_raw_os_error(5));
            }
            self.sent.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.write(&[]).map(|_| ())
        }
    }

    #[test]
    fn all_that_is_taken_is_given_back_once_and_nothing_is_written_after() {
        let mut taken = Vec::new();
        enter(&mut taken, true).unwrap();
        let taken = String::from_utf8(taken).unwrap();
        let line = Line::default();
        let mut term = line.term();
        term.draw(|frame| frame.render_widget("hello", frame.area())).unwrap();
        term.leave();
        let text = line.text();
        for mode in ["1049", "25", "2004", "1000", "1002", "1003", "1006"] {
            let (on, off) = if mode == "25" { ("l", "h") } else { ("h", "l") };
            assert!(taken.contains(&format!("\x1b[?{mode}{on}")), "{mode} in {taken:?}");
            assert!(text.contains(&format!("\x1b[?{mode}{off}")), "{mode} in {text:?}");
        }
        assert!(text.contains("hello"));
        assert!(term.draw(|_| {}).is_err(), "a late frame is refused");
        drop(term);
        assert_eq!(line.text(), text);
    }

    #[test]
    fn a_line_that_breaks_is_an_error_and_no_panic() {
        let line = Line::default();
        let mut term = line.term();
        term.draw(|frame| frame.render_widget("hello", frame.area())).unwrap();
        line.broken.store(true, Ordering::SeqCst);
        assert!(term.draw(|frame| frame.render_widget("other", frame.area())).is_err());
        assert!(term.copy("name").is_err());
        drop(term);
    }

    #[test]
    fn a_panic_of_the_thread_that_draws_gives_the_terminal_back_first() {
        let (line, spare) = (Line::default(), Line::default());
        let term = line.term();
        let usual = std::panic::take_hook();
        term.panic_restore.arm(spare.clone());
        std::thread::spawn(|| panic!("on purpose")).join().unwrap_err();
        assert_eq!(spare.text(), "", "others are caught by those who started them");
        std::panic::catch_unwind(|| panic!("on purpose")).unwrap_err();
        std::panic::set_hook(usual);
        assert!(spare.text().contains("\x1b[?1049l"), "{:?}", spare.text());
        drop(term);
        assert_eq!(line.text(), "", "and nobody gives it back twice");
    }
}

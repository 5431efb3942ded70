//! Text from an untrusted source, which stops where a reader stops reading.

use super::limits::READABLE_NAME;
use std::fmt::{self, Write};

/// A text that refuses what goes beyond the limit, so that whoever writes it stops.
#[derive(Debug, Default)]
pub struct ShortText {
    text: String,
    full: bool,
}

impl ShortText {
    /// What `write` writes, cut; `None` if it fails for another reason.
    pub fn of(write: impl FnOnce(&mut ShortText) -> fmt::Result) -> Option<String> {
        let mut out = ShortText::default();
        let written = write(&mut out);
        if out.full {
            out.text.push('…');
        }
        (written.is_ok() || out.full).then_some(out.text)
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = if self.full { 0 } else { READABLE_NAME - self.text.len() };
        self.full |= text.len() > room;
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        if self.full { Err(fmt::Error) } else { Ok(()) }
    }
}

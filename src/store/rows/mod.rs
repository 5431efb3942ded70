//! How each kind of event lies in its table: one file per family, one `Rows` per table.
//! Nothing here touches a file, and nothing here knows which part of a table it is in.

mod definitions;
mod neighbours;
mod samples;
mod timeline;

pub(super) use definitions::NamesDef;
pub(super) use timeline::{OpsTotal, Window};

use crate::error::Result;
use crate::tables::Table;

/// One kind of event and its table.
pub(super) trait Rows: Sized {
    /// The table's name, as in its parts' file names and in the column dictionary.
    const TABLE: &'static str;

    /// How many rows this event takes; one, for all but names.
    fn height(&self) -> usize {
        1
    }

    /// The events as columns.
    fn encode(events: &[Self]) -> Result<Table>;

    /// The columns as events. Returns how many rows were left out because this version has no word for them.
    ///
    /// # Errors
    /// A required column is missing or of another type; then nothing has been emitted.
    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64>;
}

/// Longer text is cut: no comm, path or label needs more, and no demangled name can be read at that length.
const MAX_TEXT: usize = 4096;

/// The text, cut to [`MAX_TEXT`] bytes at a character's end and marked with an ellipsis.
fn bounded(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    let ellipsis = '…';
    let mut end = MAX_TEXT - ellipsis.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ellipsis}", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters_and_marked() {
        for (text, length) in [("é".repeat(3000), 4095), ("x".repeat(4097), 4096), ("x".repeat(4096), 4096)] {
            let cut = bounded(&text);
            assert_eq!(cut.len(), length);
            assert_eq!(cut.ends_with('…'), text.len() > MAX_TEXT);
        }
    }
}

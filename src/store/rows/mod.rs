//! The table layout of each kind of event: one file per family, one `Rows` per table.
//! Rows are independent of files, and of the part of the table they are in.

mod accesses;
mod definitions;
mod latencies;
mod memberships;
mod neighbours;
mod operations;
mod pages;
mod samples;
mod timeline;

pub(super) use definitions::NamesDef;
pub(super) use timeline::{OpsTotal, Window};

use crate::error::Result;
use crate::model::limits::TEXT_BYTES;
use crate::model::{Definition, Event, TaskChange};
use crate::tables::Table;

/// One kind of event and its table.
pub(super) trait Rows: Sized {
    /// The table's name, as in its parts' file names and in the column dictionary.
    const TABLE: &'static str;

    /// Number of rows of this event: one, for all but names.
    fn height(&self) -> usize {
        1
    }

    /// Encodes the events as columns.
    fn encode(events: &[Self]) -> Result<Table>;

    /// Decodes the columns. Returns the number of rows left out because this version does not know a word in them.
    ///
    /// # Errors
    /// A required column is missing or of another type; no event has been emitted then.
    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64>;
}

/// The text, cut to [`TEXT_BYTES`] bytes at a character boundary and marked with an ellipsis.
fn bounded(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= TEXT_BYTES {
        return text.into();
    }
    let ellipsis = '…';
    let mut end = TEXT_BYTES - ellipsis.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ellipsis}", &text[..end]).into()
}

/// Cuts the texts of an import's event to what a recording keeps of them.
pub(crate) fn bound(event: &mut Event) {
    let cut = |text: &mut String| {
        if text.len() > TEXT_BYTES {
            *text = bounded(text).into_owned();
        }
    };
    match event {
        Event::Define(Definition::Module(def)) => cut(&mut def.path),
        Event::Define(Definition::Counter(def)) => cut(&mut def.name),
        Event::Define(Definition::Names { symbols, .. }) => {
            for symbol in symbols {
                cut(&mut symbol.function);
                symbol.file.iter_mut().for_each(cut);
            }
        }
        Event::Task(task) => match &mut task.change {
            TaskChange::Alive { comm } | TaskChange::Born { comm, .. } | TaskChange::Renamed { comm, .. } => cut(comm),
            TaskChange::Ended => {}
        },
        Event::Membership(membership) if membership.cgroup.len() > TEXT_BYTES => {
            membership.cgroup = bounded(&membership.cgroup).into();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters_and_marked() {
        for (text, length) in [("é".repeat(3000), 4095), ("x".repeat(4097), 4096), ("x".repeat(4096), 4096)] {
            let cut = bounded(&text);
            assert_eq!(cut.len(), length);
            assert_eq!(cut.ends_with('…'), text.len() > TEXT_BYTES);
        }
    }
}

//! The recording on disk: format, writer, reader. Events of live captures and imports are treated alike.
//!
//! A recording is a directory with `meta.json` and seventeen tables of Parquet part files; `assets/recording.md`
//! documents the columns. Three invariants hold at every moment, even after a kill or on a full disk:
//!
//! - every file is complete, because it is renamed only after it was written and synced;
//! - a part refers only to equal or earlier parts of other tables, because definitions are written first;
//! - no row counts twice, because a merged part names the range of parts it replaces.

pub mod baseline;
mod budget;
mod buffer;
mod counted;
mod damage;
pub(crate) mod dataset;
mod folder;
#[cfg(any(test, fuzzing))]
mod layouts;
mod meta_file;
mod part;
pub(crate) mod perfdata;
mod reader;
mod repair;
mod rows;
mod words;
mod writer;

pub use damage::Damage;
pub use folder::{path, remove_if_without_rows};
#[cfg(any(test, fuzzing))]
pub(crate) use layouts::layouts;
pub(crate) use part::TABLES;
pub use reader::Recording;
pub(crate) use rows::bound;
pub use writer::Writer;

/// The format version written. Readers refuse a higher major number; a higher minor number only adds.
pub const FORMAT: (u16, u16) = (1, 4);

/// The first format whose names say what is called, so that stacks have functions that ended in a jump.
pub const WITH_TAIL_CALLS: (u16, u16) = (1, 4);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;

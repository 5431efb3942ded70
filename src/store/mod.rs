//! The recording on disk: format, writer, reader. It never knows whether its events came from a live capture.
//!
//! A recording is a directory with `meta.json` and fourteen tables of Parquet part files; `assets/recording.md` is its
//! dictionary. Three things hold at every moment, also after a kill or on a full disk:
//!
//! - every file is whole, because it got its name only after it was written and synced;
//! - what a part refers to lies in an earlier or equal part of another table, because definitions are placed first;
//! - no row counts twice, because a merged part names the range of parts it stands for.

mod about;
pub mod baseline;
mod buffer;
mod damage;
mod folder;
mod name;
mod part;
pub mod perfdata;
mod reader;
mod repair;
mod rows;
mod words;
mod writer;

pub use damage::Damage;
pub use name::path;
pub use reader::Recording;
pub use writer::Writer;

/// The format this version writes: a higher major number is refused when read, a higher minor one only adds.
pub const FORMAT: (u16, u16) = (1, 1);

/// No file of a recording grows this large; a larger one is not read into memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;

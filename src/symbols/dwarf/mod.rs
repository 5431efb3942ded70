//! Functions, inlined calls and lines at an address, from the compilation unit that covers it: addr2line, which finds
//! them, would read the abbreviations of all units first, 20 MB and 10 ms for libc.

mod bounds;
mod debug;
mod inflated;
mod lookup;
mod nesting;
mod sections;
mod split;
mod unit_index;

pub(super) use debug::Debug;
pub(super) use sections::{Cached, cached, open};
pub(super) use split::{SplitFiles, SplitSource, is_split};

/// A part of a debug section.
type Reader<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// A unit and its file's sections.
type UnitRef<'u, 'a> = gimli::UnitRef<'u, Reader<'a>>;

#[cfg(test)]
mod tests;

//! Functions, inlined calls and lines at an address, from the compilation units that cover it. The other units of a
//! file, which are most of its debug information, stay unread but for their first entry.

mod bounds;
mod functions;
mod lines;
mod lookup;
mod unit_index;

pub(super) use lookup::Lookup;

/// A part of a debug section.
pub(super) type Reader<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// A unit and its file's sections.
type UnitRef<'u, 'a> = gimli::UnitRef<'u, Reader<'a>>;

#[cfg(test)]
mod tests;

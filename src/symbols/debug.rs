//! Function, file and line at an address from DWARF debug information, including inlined calls.
//! Sections may be compressed, and parts may be in a supplementary file.

use super::dwarf::{Lookup, Reader};
use crate::error::{Context, Result};
use crate::model::{Bytes, Symbol};
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::io;
use std::ops::Range;

/// The sections that lines and inlined calls are read from. The others are large, and inflating them takes long.
const NEEDED: [&str; 12] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_cu_index",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_tu_index",
];

/// The location of a section's bytes.
enum Data {
    /// Uncompressed, a range of the file.
    At(Range<usize>),
    /// Decompressed from the file.
    Inflated(Vec<u8>),
}

impl Data {
    fn inflated(&self) -> usize {
        if let Data::Inflated(bytes) = self { bytes.len() } else { 0 }
    }
}

/// The debug sections of one file.
pub(super) struct Sections {
    bytes: Bytes,
    found: FxHashMap<String, Data>,
}

impl Sections {
    pub(super) fn read(bytes: &Bytes) -> Option<Sections> {
        let file = open(bytes).ok()?;
        let mut found = FxHashMap::default();
        for section in file.sections() {
            let Some(name) = section.name().ok().filter(|name| NEEDED.contains(name)) else { continue };
            let range = section.compressed_file_range().ok()?;
            let data = if range.format == CompressionFormat::None {
                let start = usize::try_from(range.offset).ok()?;
                Data::At(start..start.checked_add(usize::try_from(range.compressed_size).ok()?)?)
            } else {
                Data::Inflated(section.uncompressed_data().ok()?.into_owned())
            };
            found.insert(name.to_string(), data);
        }
        Some(Sections { bytes: bytes.clone(), found })
    }

    fn get(&self, id: SectionId) -> Reader<'_> {
        let bytes = match self.found.get(id.name()) {
            Some(Data::At(range)) => (*self.bytes).as_ref().get(range.clone()).unwrap_or(&[]),
            Some(Data::Inflated(bytes)) => bytes,
            None => &[],
        };
        EndianSlice::new(bytes, LittleEndian)
    }

    pub(super) fn dwarf(&self) -> Option<Dwarf<Reader<'_>>> {
        Dwarf::load(|id| Ok::<_, gimli::Error>(self.get(id))).ok()
    }
}

self_cell::self_cell!(
    struct Cell {
        owner: (Sections, Option<Sections>),
        #[not_covariant]
        dependent: Lookup,
    }
);

/// Debug information, parsed only as far as the requested addresses need it.
pub(super) struct Debug(Cell);

impl Debug {
    /// Finds the compilation units; `None` if there is no usable debug information.
    pub(super) fn parse(bytes: &Bytes, supplement: Option<&Bytes>) -> Option<Debug> {
        let sections = Sections::read(bytes).filter(|sections| sections.found.contains_key(".debug_info"))?;
        let owner = (sections, supplement.and_then(Sections::read));
        Cell::try_new(owner, |(main, supplement)| {
            let mut dwarf = main.dwarf().ok_or(())?;
            if let Some(extra) = supplement.as_ref().and_then(Sections::dwarf) {
                dwarf.set_sup(extra);
            }
            Lookup::new(dwarf).map_err(drop)
        })
        .ok()
        .map(Debug)
    }

    /// Memory of what was read, bytes.
    pub(super) fn bytes(&self) -> usize {
        let inflated = |sections: &Sections| sections.found.values().map(Data::inflated).sum::<usize>();
        self.0.with_dependent(|(main, supplement), lookup| {
            inflated(main) + supplement.as_ref().map_or(0, inflated) + lookup.bytes()
        })
    }

    /// The names at an address, innermost first. A name may be empty if only the line is known.
    pub(super) fn names(&self, address: u64) -> Vec<Symbol> {
        self.0.with_dependent(|_, lookup| lookup.names(address).unwrap_or_default())
    }
}

/// Parses the image's headers again, which is cheaper than storing a borrow of the bytes next to the bytes.
pub(super) fn open(bytes: &Bytes) -> Result<object::File<'_>> {
    object::File::parse((**bytes).as_ref())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        .context(|| "cannot read the ELF headers")
}

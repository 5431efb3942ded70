//! The debug sections of a file, some of which may be compressed.

use super::Reader;
use super::inflated::inflated;
use crate::error::{Context, Result};
use crate::model::Bytes;
use crate::symbols::files::Files;
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
    /// Decompressed: the first bytes, so many.
    Inflated(Bytes, usize),
}

/// The debug sections of one file.
pub(super) struct Sections {
    bytes: Bytes,
    found: FxHashMap<String, Data>,
}

impl Sections {
    pub(super) fn read(bytes: &Bytes, files: &dyn Files) -> Option<Sections> {
        let file = open(bytes).ok()?;
        let mut found = FxHashMap::default();
        for section in file.sections() {
            let Some(name) = section.name().ok().filter(|name| NEEDED.contains(name)) else { continue };
            let range = section.compressed_file_range().ok()?;
            let data = if range.format == CompressionFormat::None {
                let start = usize::try_from(range.offset).ok()?;
                Data::At(start..start.checked_add(usize::try_from(range.compressed_size).ok()?)?)
            } else {
                inflated(name, section.compressed_data().ok()?, files)
                    .map(|(bytes, size)| Data::Inflated(bytes, size))?
            };
            found.insert(name.to_string(), data);
        }
        Some(Sections { bytes: bytes.clone(), found })
    }

    fn get(&self, id: SectionId) -> Reader<'_> {
        let bytes = match self.found.get(id.name()) {
            Some(Data::At(range)) => (*self.bytes).as_ref().get(range.clone()).unwrap_or(&[]),
            Some(Data::Inflated(bytes, size)) => (**bytes).as_ref().get(..*size).unwrap_or(&[]),
            None => &[],
        };
        EndianSlice::new(bytes, LittleEndian)
    }

    /// Memory of all units once they are read, bytes: about that of what describes them.
    pub(super) fn bytes(&self) -> usize {
        self.get(SectionId::DebugInfo).len()
    }

    pub(super) fn has_units(&self) -> bool {
        self.found.contains_key(".debug_info")
    }

    pub(super) fn dwarf(&self) -> gimli::Result<Dwarf<Reader<'_>>> {
        Dwarf::load(|id| Ok(self.get(id)))
    }
}

/// Parses the image's headers again, which is cheaper than storing a borrow of the bytes next to the bytes.
pub(in crate::symbols) fn open(bytes: &Bytes) -> Result<object::File<'_>> {
    object::File::parse((**bytes).as_ref())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        .context(|| "cannot read the ELF headers")
}

//! The debug sections of a file, some of which may be compressed.

use super::Reader;
use super::inflated::{inflated, is_refused};
use crate::error::{Context, Result};
use crate::model::limits::OBJECT_SECTIONS;
use crate::model::{Bytes, ObjectFile, ObjectParts};
use crate::symbols::files::Files;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection, ReadRef};
use rustc_hash::FxHashMap;
use std::io;

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

/// Sections of which a package of units has parts for each unit, and which nothing is read from: zeros of their length stand
/// for them, of which no page is ever touched.
const PASSED_OVER: [&str; 5] =
    [".debug_loc.dwo", ".debug_loclists.dwo", ".debug_macinfo.dwo", ".debug_macro.dwo", ".debug_types.dwo"];

/// Ends the names of sections in the files that debug information is split into.
const SPLIT: &str = ".dwo";

/// The location of a section's bytes.
enum Data {
    /// Uncompressed, at an offset of the file, so many bytes.
    At(u64, u64),
    /// Decompressed: the first bytes, so many.
    Inflated(Bytes, usize),
}

/// The debug sections of one file.
pub(super) struct Sections {
    cache: Cached,
    found: FxHashMap<String, Data>,
    /// Whether a section is larger than a limit: then none is read.
    refused: bool,
}

impl Sections {
    pub(super) fn read(of: &ObjectFile, files: &dyn Files) -> Option<Sections> {
        // What is compressed need not stay in memory.
        let headers = cached(of);
        let cache = cached(of);
        let file = open(&headers).ok()?;
        let (mut found, mut inflated_bytes) = (FxHashMap::default(), 0);
        let is_package = file.section_by_name(".debug_cu_index").is_some();
        for section in file.sections() {
            if let Some(name) = section.name().ok().filter(|name| is_package && PASSED_OVER.contains(name)) {
                let range = section.compressed_file_range().ok()?;
                let is_plain = range.format == CompressionFormat::None && range.uncompressed_size <= of.length();
                if is_plain || !is_refused(&range, inflated_bytes) {
                    found.insert(name.to_string(), zeros(range.uncompressed_size));
                }
                continue;
            }
            let is_needed = |name: &&str| NEEDED.contains(&name.strip_suffix(SPLIT).unwrap_or(name));
            let Some(name) = section.name().ok().filter(is_needed) else { continue };
            let range = section.compressed_file_range().ok()?;
            let data = if range.format == CompressionFormat::None {
                Data::At(range.offset, range.compressed_size)
            } else {
                if is_refused(&range, inflated_bytes) {
                    return Some(Sections { cache, found: FxHashMap::default(), refused: true });
                }
                inflated_bytes += range.uncompressed_size;
                inflated(stored_name(name, range.offset, of), section.compressed_data().ok()?, files)
                    .map(|(bytes, size)| Data::Inflated(bytes, size))?
            };
            found.insert(name.to_string(), data);
        }
        Some(Sections { cache, found, refused: false })
    }

    /// Sections of these contents.
    #[cfg(test)]
    pub(super) fn of(parts: &[(&str, &[u8])]) -> Sections {
        let contents = |part: &[u8]| Data::Inflated(std::sync::Arc::new(part.to_vec()), part.len());
        let found = parts.iter().map(|(name, part)| (name.to_string(), contents(part))).collect();
        Sections { cache: cached(&ObjectFile::new(b"")), found, refused: false }
    }

    fn get(&self, id: SectionId) -> Reader<'_> {
        self.named(id.name())
    }

    /// A section of a file that debug information is split into.
    pub(super) fn get_split(&self, id: SectionId) -> Reader<'_> {
        self.named(id.dwo_name().unwrap_or_default())
    }

    fn named(&self, name: &str) -> Reader<'_> {
        let bytes = match self.found.get(name) {
            Some(Data::At(offset, size)) => (&self.cache).read_bytes_at(*offset, *size).unwrap_or(&[]),
            Some(Data::Inflated(bytes, size)) => (**bytes).as_ref().get(..*size).unwrap_or(&[]),
            None => &[],
        };
        EndianSlice::new(bytes, LittleEndian)
    }

    /// Memory of all units once they are read, bytes: about that of what describes them.
    pub(super) fn bytes(&self) -> usize {
        self.get(SectionId::DebugInfo).len() + self.get_split(SectionId::DebugInfo).len()
    }

    pub(super) fn has_units(&self) -> bool {
        self.refused || self.found.contains_key(".debug_info")
    }

    /// Whether nothing is read of it because of a limit.
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    pub(super) fn dwarf(&self) -> gimli::Result<Dwarf<Reader<'_>>> {
        Dwarf::load(|id| Ok(self.get(id)))
    }
}

/// As many as a section has that is not read.
fn zeros(size: u64) -> Data {
    let size = usize::try_from(size).unwrap_or(0);
    Data::Inflated(std::sync::Arc::new(vec![0; size]), size)
}

/// The name under which a section is stored: of exactly this file. What the section holds may be another user's choice.
fn stored_name(section: &str, offset: u64, of: &ObjectFile) -> Option<String> {
    Some(format!("{}-{offset:x}-{}", section.trim_start_matches('.'), of.stamp()?))
}

/// A file, and the parts of it that were read.
pub(in crate::symbols) type Cached = ObjectParts;

/// A file of which nothing was read yet.
pub(in crate::symbols) fn cached(file: &ObjectFile) -> Cached {
    file.parts(OBJECT_SECTIONS)
}

/// Parses a file's headers.
pub(in crate::symbols) fn open(cache: &Cached) -> Result<object::File<'_, &Cached>> {
    object::File::parse(cache)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        .context(|| "cannot read the ELF headers")
}

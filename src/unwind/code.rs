//! The unwind tables of one ELF image, located once and shared by every process that maps it.
//! It never scans them: `.eh_frame_hdr`'s sorted table is searched when an address asks for it.

use crate::error::{Context, Result};
use crate::model::Bytes;
use framehop::ExplicitModuleSectionInfo;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection};
use std::fmt;
use std::ops::{Deref, Range};

/// Part of a file's bytes; keeps the whole alive.
#[derive(Clone)]
pub(super) struct Slice {
    bytes: Bytes,
    range: Range<usize>,
}

impl Deref for Slice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.bytes).as_ref().get(self.range.clone()).unwrap_or(&[])
    }
}

/// A section: its address in the file's own terms, and its bytes.
type Section = (Range<u64>, Slice);

/// The unwind tables of one ELF image.
pub struct Code {
    /// `(file offset, address, size)` of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
    text: Option<Section>,
    eh_frame: Option<Section>,
    eh_frame_hdr: Option<Section>,
    debug_frame: Option<Slice>,
    got: Option<Range<u64>>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("segments", &self.segments).finish_non_exhaustive()
    }
}

impl Code {
    /// Finds the tables in a 64-bit ELF image. Costs a look at the headers, whatever the file's size.
    ///
    /// # Errors
    /// `Corrupt` if it is no ELF file of this kind. An image without tables is fine: frame pointers are tried there.
    pub fn parse(bytes: &Bytes) -> Result<Code> {
        let data: &[u8] = (**bytes).as_ref();
        let file = ElfFile64::<Endianness>::parse(data)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
            .context(|| "cannot read the ELF headers")?;
        let endian = file.endian();
        let segments = file
            .elf_header()
            .program_headers(endian, data)
            .unwrap_or(&[])
            .iter()
            .filter(|header| header.p_type(endian) == object::elf::PT_LOAD)
            .map(|header| (header.p_offset(endian), header.p_vaddr(endian), header.p_filesz(endian)))
            .collect();
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            // A compressed section cannot be used in place; only `.debug_frame` ever is, and the others come first.
            let (start, size) = section
                .compressed_file_range()
                .ok()
                .filter(|r| r.format == object::CompressionFormat::None)
                .map(|r| (r.offset, r.compressed_size))?;
            let range = usize::try_from(start).ok()?..usize::try_from(start.checked_add(size)?).ok()?;
            (size > 0 && range.end <= data.len()).then(|| {
                (section.address()..section.address().saturating_add(size), Slice { bytes: bytes.clone(), range })
            })
        };
        Ok(Code {
            segments,
            text: section(".text"),
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            debug_frame: section(".debug_frame").map(|(_, bytes)| bytes),
            got: section(".got").map(|(range, _)| range),
        })
    }

    /// The address, in the file's own terms, of a byte of the file; `None` outside every loaded segment.
    ///
    /// A segment is mapped in whole pages, so the offset may lie a little before the segment's own.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        const PAGE: u64 = 64 * 1024;
        self.segments
            .iter()
            .find(|(start, _, size)| {
                offset + PAGE > *start && offset < start.saturating_add(*size) && offset >= start & !(PAGE - 1)
            })
            .map(|(start, address, _)| address.wrapping_add(offset).wrapping_sub(*start))
    }

    /// What the unwinder asks for.
    pub(super) fn sections(&self) -> ExplicitModuleSectionInfo<Slice> {
        let split =
            |section: &Option<Section>| (section.as_ref().map(|s| s.0.clone()), section.as_ref().map(|s| s.1.clone()));
        let (text_svma, text) = split(&self.text);
        let (eh_frame_svma, eh_frame) = split(&self.eh_frame);
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(&self.eh_frame_hdr);
        ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma,
            text,
            got_svma: self.got.clone(),
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            // Without a sorted table framehop would index the whole section; with one, `.debug_frame` is not needed.
            debug_frame: if self.eh_frame_hdr.is_some() { None } else { self.debug_frame.clone() },
            stubs_svma: None,
            stub_helper_svma: None,
            unwind_info: None,
            text_segment_svma: None,
            text_segment: None,
        }
    }
}

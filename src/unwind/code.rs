//! The unwind tables of one ELF image, located once and shared by every process that maps it.
//! Each lookup searches the sorted table in `.eh_frame_hdr`, so nothing is scanned up front.

use super::cost::{self, Cost, Costs};
use super::section::SectionBytes;
use crate::error::{Context, Result};
use crate::model::ObjectFile;
use crate::model::limits::{OBJECT_HEADERS, UNSORTED_UNWIND_TABLE};
use framehop::{ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder as _, UnwinderNative};
use gimli::{BaseAddresses, DebugFrame, EhFrame, EhFrameHdr, LittleEndian, UnwindSection};
use object::Endianness;
use object::elf::{DT_NEEDED, ELFCOMPRESS_ZLIB, ET_EXEC, FileHeader64, PT_INTERP, SHF_COMPRESSED};
use object::read::elf::{CompressionHeader, Dyn, FileHeader, ProgramHeader, SectionHeader};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Unwinds in the code of one image, at the addresses that its file states.
pub(super) type Unwinder = UnwinderNative<SectionBytes, MayAllocateDuringUnwind>;

/// A section: its address as the file states it, and its bytes.
type Section = (Range<u64>, SectionBytes);

/// Bytes of the code at which a program starts, and a dynamic loader calls what prepares the libraries.
const START_CODE: u64 = 64;

/// The unwind tables of one ELF image.
pub struct UnwindTables {
    /// `(file offset, address, size)` of each executable segment.
    segments: Vec<(u64, u64, u64)>,
    eh_frame: Option<Section>,
    eh_frame_hdr: Option<Section>,
    debug_frame: Option<SectionBytes>,
    /// Where a program starts, as the file states it; `None` for libraries, and Go, whose tables have it.
    entry: Option<u64>,
    /// Every function that calls another one keeps a frame pointer, and leads over switches of stacks by it.
    is_go: bool,
    got: Option<Range<u64>>,
    /// Tells it from every other image of this program's life.
    number: u64,
    unwinder: OnceLock<Unwinder>,
    /// The same for the innermost functions of Go's code.
    innermost: OnceLock<Unwinder>,
    /// For tables that are not sorted.
    costs: OnceLock<Costs>,
}

impl fmt::Debug for UnwindTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("segments", &self.segments).finish_non_exhaustive()
    }
}

/// Tells an image from every other.
fn next_number() -> u64 {
    static IMAGES: AtomicU64 = AtomicU64::new(0);
    IMAGES.fetch_add(1, Ordering::Relaxed)
}

impl UnwindTables {
    /// Finds the tables in a 64-bit ELF image. Reads only the headers, so the cost does not depend on the file's size.
    ///
    /// # Errors
    /// `Corrupt` if it is not a 64-bit ELF file. An image without tables is accepted: the unwinder falls back to frame
    /// pointers.
    pub fn parse(image: &ObjectFile) -> Result<UnwindTables> {
        let parts = &image.parts(OBJECT_HEADERS);
        let corrupt = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
        let headers = || -> object::Result<_> {
            let header = FileHeader64::<Endianness>::parse(parts)?;
            let endian = header.endian()?;
            Ok((header, endian, header.program_headers(endian, parts)?, header.sections(endian, parts)?))
        };
        let (header, endian, segments, sections) =
            headers().map_err(corrupt).context(|| "cannot read the ELF headers")?;
        // Linkers state an entry for libraries, too: any, at which nothing starts.
        let needs_library = || {
            let dynamic = segments.iter().find_map(|segment| segment.dynamic(endian, parts).ok()?);
            dynamic.is_some_and(|entries| entries.iter().any(|entry| entry.d_tag(endian) == DT_NEEDED))
        };
        let has_interpreter = || segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP);
        let starts = header.e_type(endian) == ET_EXEC || has_interpreter() || !needs_library();
        let is_go = sections.section_by_name(endian, b".gopclntab").is_some();
        let entry = (starts && !is_go).then(|| header.e_entry(endian));
        let segments = segments
            .iter()
            // Only executable mappings are unwound: a code segment often begins in another segment's last page.
            .filter(|header| {
                header.p_type(endian) == object::elf::PT_LOAD && header.p_flags(endian).contains(object::elf::PF_X)
            })
            .map(|header| (header.p_offset(endian), header.p_vaddr(endian), header.p_filesz(endian)))
            .collect();
        let section = |name: &str| {
            let (_, section) = sections.section_by_name(endian, name.as_bytes())?;
            // A compressed section cannot be used in place. Only `.debug_frame` is ever compressed, and the other
            // tables take precedence.
            let plain = !section.sh_flags(endian).contains(SHF_COMPRESSED);
            let (start, size) = section.file_range(endian).filter(|_| plain)?;
            let address = section.sh_addr(endian);
            let addresses = address..address.saturating_add(size);
            let within = start.checked_add(size).is_some_and(|end| end <= image.length());
            (size > 0 && within).then(|| (addresses, SectionBytes::new(image.clone(), start, size)))
        };
        let deflated = |name: &str| {
            let (_, section) = sections.section_by_name(endian, name.as_bytes())?;
            let (header, start, size) = section.compression(endian, parts).ok()??;
            let plain: u64 = header.ch_size(endian);
            let within = start.checked_add(size).is_some_and(|end| end <= image.length());
            (header.ch_type(endian) == ELFCOMPRESS_ZLIB && within && plain > 0)
                .then(|| SectionBytes::deflated(image.clone(), start, size, plain))
        };
        let eh_frame_hdr = section(".eh_frame_hdr");
        // Without a sorted table, the whole section has to be searched for functions once.
        let is_small = |bytes: &SectionBytes| bytes.length() <= UNSORTED_UNWIND_TABLE;
        let eh_frame = section(".eh_frame").filter(|section| eh_frame_hdr.is_some() || is_small(&section.1));
        // Framehop would search it for nothing where there is a better one.
        let debug_frame =
            || section(".debug_frame").map(|(_, bytes)| bytes).or_else(|| deflated(".debug_frame")).filter(is_small);
        let debug_frame = if eh_frame.is_some() { None } else { debug_frame() };
        Ok(UnwindTables {
            segments,
            eh_frame,
            eh_frame_hdr,
            debug_frame,
            entry,
            is_go,
            got: section(".got").map(|(range, _)| range),
            number: next_number(),
            unwinder: OnceLock::new(),
            innermost: OnceLock::new(),
            costs: OnceLock::new(),
        })
    }

    /// The tables of one function of just-in-time code, in the form of `.eh_frame`. As perf defines it, its addresses are
    /// right where it follows the code on the next multiple of eight bytes.
    #[must_use]
    pub fn of_function(code: Range<u64>, eh_frame: Vec<u8>) -> UnwindTables {
        let (size, length) = (code.end.saturating_sub(code.start), eh_frame.len() as u64);
        let start = code.start.saturating_add(size.checked_next_multiple_of(8).unwrap_or(size));
        let bytes = SectionBytes::new(ObjectFile::new(eh_frame), 0, length);
        UnwindTables {
            segments: vec![(0, code.start, size)],
            eh_frame: Some((start..start.saturating_add(length), bytes)),
            eh_frame_hdr: None,
            debug_frame: None,
            entry: None,
            is_go: false,
            got: None,
            number: next_number(),
            unwinder: OnceLock::new(),
            innermost: OnceLock::new(),
            costs: OnceLock::new(),
        }
    }

    /// A number that no other image has, nor the innermost functions of this one.
    pub(super) fn number(&self, innermost: bool) -> u64 {
        2 * self.number + u64::from(innermost)
    }

    /// Whether the tables of Go's code are left for frame pointers: the tables end at the runtime's switches of stacks.
    /// Only innermost functions may lack a frame.
    fn by_frame_pointers(&self, innermost: bool) -> bool {
        self.is_go && self.eh_frame.is_none() && !innermost
    }

    /// What unwinds in this image.
    pub(super) fn unwinder(&self, innermost: bool) -> &Unwinder {
        let unwinder = if innermost && self.is_go { &self.innermost } else { &self.unwinder };
        unwinder.get_or_init(|| {
            let mut unwinder = Unwinder::new();
            let first = self.segments.iter().map(|(_, address, _)| *address).min().unwrap_or_default();
            let end = self.segments.iter().map(|(_, address, size)| address.saturating_add(*size)).max();
            let range = first..end.unwrap_or_default();
            if range.start < range.end {
                unwinder.add_module(Module::new(
                    String::new(),
                    range,
                    first,
                    self.sections(first, self.by_frame_pointers(innermost)),
                ));
            }
            unwinder
        })
    }

    /// What is evaluated at most to unwind from an address that the file states; `None` if the unwind instructions are too
    /// many, or may never end.
    pub(super) fn cost(&self, address: u64, innermost: bool) -> Option<Cost> {
        if self.by_frame_pointers(innermost) {
            return Some(Cost::default());
        }
        let start = |section: &Option<Section>| section.as_ref().map_or(0, |section| section.0.start);
        let bases = BaseAddresses::default()
            .set_eh_frame(start(&self.eh_frame))
            .set_eh_frame_hdr(start(&self.eh_frame_hdr))
            .set_got(self.got.as_ref().map_or(0, |range| range.start));
        match (&self.eh_frame, &self.eh_frame_hdr, &self.debug_frame) {
            (Some((_, frames)), Some((_, index)), _) => {
                let frames = EhFrame::new(frames, LittleEndian);
                let place = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok().and_then(|index| {
                    let table = index.table()?;
                    table.pointer_to_offset(table.lookup(address, &bases).ok()?).ok()
                });
                place.map_or(Some(Cost::default()), |place| cost::at(&frames, &bases, place))
            }
            (Some((_, frames)), None, _) => {
                let costs = || Costs::of(&EhFrame::new(frames, LittleEndian), &bases);
                self.costs.get_or_init(costs).at(address)
            }
            (None, _, Some(frames)) => {
                let costs = || Costs::of(&DebugFrame::new(frames, LittleEndian), &bases);
                self.costs.get_or_init(costs).at(address)
            }
            (None, _, None) => Some(Cost::default()),
        }
    }

    /// The first address of the function at an address, as the file states both; `None` without a sorted table.
    pub(super) fn function(&self, address: u64) -> Option<u64> {
        let ((eh_frame, frames), (eh_frame_hdr, index)) = (self.eh_frame.as_ref()?, self.eh_frame_hdr.as_ref()?);
        let bases = BaseAddresses::default()
            .set_eh_frame(eh_frame.start)
            .set_eh_frame_hdr(eh_frame_hdr.start)
            .set_got(self.got.as_ref().map_or(0, |range| range.start));
        let index = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok()?;
        let table = index.table()?;
        let place = table.pointer_to_offset(table.lookup(address, &bases).ok()?).ok()?;
        let frames = EhFrame::new(frames, LittleEndian);
        let found = frames.fde_from_offset(&bases, place, EhFrame::cie_from_offset).ok()?;
        found.contains(address).then(|| found.initial_address())
    }

    /// Whether a program starts in the code at an address. It has no caller, and where it is written by hand, as in dynamic
    /// loaders, no table says so.
    pub(super) fn starts_program(&self, address: u64) -> bool {
        let is_near = |entry: u64| (entry..entry.saturating_add(START_CODE)).contains(&address);
        self.entry.is_some_and(is_near) && self.function(address).is_none()
    }

    /// The address of a file offset, as the file states it; `None` outside every executable segment.
    ///
    /// A segment is mapped in whole pages, so the offset may lie a little before the segment's own start.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        const PAGE: u64 = 64 * 1024;
        self.segments
            .iter()
            .find(|(start, _, size)| {
                offset.saturating_add(PAGE) > *start
                    && offset < start.saturating_add(*size)
                    && offset >= start & !(PAGE - 1)
            })
            .map(|(start, address, _)| address.wrapping_add(offset).wrapping_sub(*start))
    }

    /// The sections in the form framehop expects, `without` those that only debuggers read.
    fn sections(&self, base: u64, without: bool) -> ExplicitModuleSectionInfo<SectionBytes> {
        let split =
            |section: &Option<Section>| (section.as_ref().map(|s| s.0.clone()), section.as_ref().map(|s| s.1.clone()));
        let (eh_frame_svma, eh_frame) = split(&self.eh_frame);
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(&self.eh_frame_hdr);
        ExplicitModuleSectionInfo {
            base_svma: base,
            // Tables of ELF images describe every instruction; framehop needs the code itself only for others.
            text_svma: None,
            text: None,
            got_svma: self.got.clone(),
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            debug_frame: self.debug_frame.clone().filter(|_| !without),
            stubs_svma: None,
            stub_helper_svma: None,
            unwind_info: None,
            text_segment_svma: None,
            text_segment: None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;

    fn own() -> UnwindTables {
        UnwindTables::parse(&ObjectFile::new(std::fs::read(std::env::current_exe().unwrap()).unwrap())).unwrap()
    }

    /// Linkers let code begin in the middle of a page whose first part belongs to the preceding read-only segment.
    #[test]
    fn a_mapping_is_placed_by_the_code_that_begins_in_its_page() {
        let code = UnwindTables { segments: vec![(0x723c40, 0x724c40, 0x10_0000)], ..own() };
        assert_eq!(code.address_of(0x723000), Some(0x724000));
        assert_eq!(code.address_of(0x723c40), Some(0x724c40));
        assert_eq!(code.address_of(0x400000), None);
        assert_eq!(code.address_of(0x900000), None);
    }

    #[test]
    fn this_program_has_code_and_a_sorted_table() {
        let code = own();
        assert!(!code.segments.is_empty() && code.eh_frame_hdr.is_some() && code.eh_frame.is_some());
        assert!(code.sections(0, false).eh_frame.is_some_and(|bytes| !bytes.is_empty()));
    }

    /// Its addresses would say that it is small: the last of them is that of the address space.
    #[test]
    fn a_large_table_without_order_is_left_wherever_it_says_to_lie() {
        let (fits, large) = ([0; 1000].as_slice(), vec![0; UNSORTED_UNWIND_TABLE as usize]);
        for (instructions, taken) in [(fits, true), (&large, false)] {
            let mut image = crate::unwind::tests::image(instructions, false);
            let headers = u64::from_le_bytes(image[40..48].try_into().unwrap()) as usize;
            // Of the second section, behind its name, kind and flags.
            image[headers + 64 + 16..][..8].copy_from_slice(&(u64::MAX - 4).to_le_bytes());
            let code = UnwindTables::parse(&ObjectFile::new(image)).unwrap();
            assert_eq!(code.eh_frame.is_some(), taken, "{} bytes", instructions.len());
        }
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        for bytes in [vec![], b"#!/bin/sh\n".to_vec(), b"\x7fELF\x02\x01\x01".to_vec()] {
            assert!(UnwindTables::parse(&ObjectFile::new(bytes)).is_err());
        }
    }
}

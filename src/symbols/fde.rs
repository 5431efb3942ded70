//! Function bounds from the unwind table, for programs whose symbol table was stripped. Samples in a function without a
//! name still belong to one function; a profile by single addresses would be useless.
//! The caller names such a function by its module and offset.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, LittleEndian, ParsedEhFrameHdr, Pointer, UnwindSection};
use std::ops::Range;

/// A section: its load address and contents.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// Its address as the file states it.
    pub address: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The address ranges of all functions in an unwind table, sorted: for programs without `.eh_frame_hdr`, as static ones are. What
/// follows damage is left out.
#[must_use]
pub fn all(frames: Section<'_>) -> Vec<Range<u64>> {
    let bases = BaseAddresses::default().set_eh_frame(frames.address);
    let eh_frame = EhFrame::new(frames.bytes, LittleEndian);
    let (mut entries, mut all) = (eh_frame.entries(&bases), Vec::new());
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let (start, length) = (fde.initial_address(), fde.len());
        all.extend(start.checked_add(length).filter(|_| length > 0).map(|end| start..end));
    }
    all.sort_unstable_by_key(|range| range.start);
    all
}

/// The address range of the function that contains `address`, from the sorted table in `.eh_frame_hdr`; `None` if the
/// table is missing or damaged or has no function there.
#[must_use]
pub fn enclosing(hdr: Section<'_>, frames: Section<'_>, address: u64) -> Option<Range<u64>> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(hdr.address).set_eh_frame(frames.address);
    let eh_frame = EhFrame::new(frames.bytes, LittleEndian);
    let header: ParsedEhFrameHdr<_> = EhFrameHdr::new(hdr.bytes, LittleEndian).parse(&bases, 8).ok()?;
    let table = header.table()?;
    // More rows than bytes: the search would multiply beyond all numbers.
    if table.iter(&bases).size_hint().0 > hdr.bytes.len() {
        return None;
    }
    // The table returns the last function that starts at or below the address. That function may end before it.
    let Pointer::Direct(entry) = table.lookup(address, &bases).ok()? else { return None };
    let Pointer::Direct(first) = header.eh_frame_ptr() else { return None };
    if entry < first {
        return None;
    }
    let offset = table.pointer_to_offset(Pointer::Direct(entry)).ok()?;
    let fde = eh_frame.fde_from_offset(&bases, offset, EhFrame::cie_from_offset).ok()?;
    let start = fde.initial_address();
    let range = start..start.checked_add(fde.len())?;
    range.contains(&address).then_some(range)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;
    use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

    /// This test program has both a symbol table and an unwind table, and they must agree.
    #[test]
    fn the_unwind_table_finds_the_functions_the_symbol_table_names() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let section = |name| {
            let section = file.section_by_name(name).unwrap();
            (section.address(), section.data().unwrap())
        };
        let ((hdr, hdr_bytes), (frame, frame_bytes)) = (section(".eh_frame_hdr"), section(".eh_frame"));
        let find = |address| {
            enclosing(
                Section { address: hdr, bytes: hdr_bytes },
                Section { address: frame, bytes: frame_bytes },
                address,
            )
        };
        let functions: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 8 && symbol.is_definition())
            .take(2000)
            .collect();
        let agree = functions
            .iter()
            .filter(|f| find(f.address() + f.size() / 2).is_some_and(|range| range.start == f.address()))
            .count();
        assert!(functions.len() > 500 && agree * 100 > functions.len() * 97, "{agree} of {}", functions.len());
        assert_eq!(find(0), None);
        assert_eq!(find(u64::MAX), None);
        let ranges = all(Section { address: frame, bytes: frame_bytes });
        assert!(ranges.is_sorted_by_key(|range| range.start));
        let listed =
            |address| ranges.partition_point(|range| range.start <= address).checked_sub(1).map(|at| &ranges[at]);
        for function in &functions {
            let known = find(function.address());
            assert!(known.is_none_or(|range| listed(range.start) == Some(&range)), "{function:?}");
        }
    }

    #[test]
    fn rubbish_is_no_table() {
        let empty = Section { address: 0, bytes: &[] };
        let noise =
            Section { address: 4096, bytes: &[1, 0x1b, 3, 0x3b, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0] };
        // A count of eight bytes.
        let endless =
            Section { address: 4096, bytes: &[1, 0x1b, 4, 0x3b, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255] };
        assert_eq!((all(empty), all(noise)), (vec![], vec![]));
        assert_eq!(enclosing(empty, empty, 7), None);
        assert_eq!(enclosing(endless, endless, 4096), None);
        assert_eq!(enclosing(noise, noise, 4096), None);
    }
}

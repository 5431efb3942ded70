//! The compilation units of a file by the addresses that they cover, as `.debug_aranges` or their first entries state them.

use super::bounds::Bounds;
use super::{Reader, UnitRef};
use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, DebugInfoOffset, Dwarf, LittleEndian, Range, Reader as _,
    Section as _, Unit, UnitHeader, UnitType,
};
use std::sync::Arc;

/// Units by address.
#[derive(Debug, Default)]
pub(super) struct UnitIndex {
    /// Sorted by end.
    ranges: Vec<Covered>,
    /// Whether units that are not in the index may have code.
    incomplete: bool,
    /// Units that may have code at any address.
    anywhere: Vec<DebugInfoOffset>,
}

#[derive(Debug)]
struct Covered {
    range: Range,
    /// The least start of this range and all behind it.
    least: u64,
    unit: DebugInfoOffset,
}

impl UnitIndex {
    /// Reads `.debug_aranges`, which may leave out units, and up to where it is damaged.
    pub(super) fn listed(dwarf: &Dwarf<Reader<'_>>) -> UnitIndex {
        let mut index = UnitIndex { incomplete: true, ..UnitIndex::default() };
        let mut headers = dwarf.debug_aranges.headers();
        while let Ok(Some(header)) = headers.next() {
            let (unit, mut entries) = (header.debug_info_offset(), header.entries());
            while let Some(entry) = entries.next().transpose() {
                // An entry whose end overflows is one of no code.
                entry.iter().for_each(|entry| index.add(unit, entry.range()));
            }
        }
        index.sorted()
    }

    /// Reads the header and first entry of each unit. Errors: the section of units is damaged.
    pub(super) fn read(dwarf: &Dwarf<Reader<'_>>) -> gimli::Result<UnitIndex> {
        let mut index = UnitIndex::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let Some(unit) = header.debug_info_offset() else { continue };
            // Partial units and those of types have no code.
            if matches!(header.type_(), UnitType::Compilation | UnitType::Skeleton(_) | UnitType::SplitCompilation(_)) {
                // A damaged unit has no names; the others keep theirs.
                match covered(dwarf, header, |range| index.add(unit, range)) {
                    Ok(false) => {}
                    other => {
                        index.incomplete |= other.is_ok();
                        index.anywhere.push(unit);
                    }
                }
            }
        }
        Ok(index.sorted())
    }

    fn add(&mut self, unit: DebugInfoOffset, range: Range) {
        self.ranges.push(Covered { range, least: 0, unit });
    }

    fn sorted(mut self) -> UnitIndex {
        self.ranges.shrink_to_fit();
        self.ranges.sort_unstable_by_key(|covered| (covered.range.end, covered.unit.0));
        let mut least = u64::MAX;
        for covered in self.ranges.iter_mut().rev() {
            least = least.min(covered.range.begin);
            covered.least = least;
        }
        self
    }

    /// Memory of the index, bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.ranges)
    }

    /// The units that may cover an address. There may be several: some state ranges with holes as one.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = DebugInfoOffset> + '_ {
        let first = self.ranges.partition_point(|covered| covered.range.end <= address);
        let behind = self.ranges.get(first..).unwrap_or(&[]).iter();
        behind
            .take_while(move |covered| covered.least <= address)
            .filter(move |covered| covered.range.begin <= address)
            .map(|covered| covered.unit)
    }

    /// The units that may have code at any address.
    pub(super) fn anywhere(&self) -> &[DebugInfoOffset] {
        &self.anywhere
    }

    /// Whether an address that is not in the index is in no unit.
    pub(super) fn is_complete(&self) -> bool {
        !self.incomplete
    }
}

/// Passes on the addresses of a unit as its first entry states them. Returns whether it can have others.
fn covered(dwarf: &Dwarf<Reader<'_>>, header: UnitHeader<Reader<'_>>, to: impl FnMut(Range)) -> gimli::Result<bool> {
    let bare = Unit::new_with_abbreviations(dwarf, header, Arc::new(first_abbreviation(dwarf, &header)?))?;
    let unit = UnitRef::new(dwarf, &bare);
    let mut entries = unit.entries_raw(None)?;
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(false) };
    let mut bounds = Bounds::default();
    for attribute in abbreviation.attributes() {
        bounds.read(unit, &entries.read_attribute(*attribute)?)?;
    }
    Ok(!bounds.each(unit, to)? && has_lines(&dwarf.unit(header)?)?)
}

fn has_lines(unit: &Unit<Reader<'_>>) -> gimli::Result<bool> {
    let Some(program) = unit.line_program.clone() else { return Ok(false) };
    Ok(program.rows().next_row()?.is_some())
}

/// The abbreviation of a unit's first entry. A unit has a hundred others, which only its own names need. The line
/// program gets the name of an attribute that nobody reads, so that its header stays unread too.
fn first_abbreviation(dwarf: &Dwarf<Reader<'_>>, header: &UnitHeader<Reader<'_>>) -> gimli::Result<Abbreviations> {
    let code = header.range_from(header.root_offset()..)?.read_uleb128()?;
    let mut input = *dwarf.debug_abbrev.reader();
    input.skip(header.debug_abbrev_offset().0)?;
    loop {
        let mut entry = Vec::new();
        let found = copy_number(&mut input, &mut entry)?;
        if found == 0 {
            return Err(gimli::Error::InvalidAbbreviationCode(code));
        }
        copy_number(&mut input, &mut entry)?;
        entry.push(input.read_u8()?);
        loop {
            let at = entry.len();
            let attribute = [copy_number(&mut input, &mut entry)?, copy_number(&mut input, &mut entry)?];
            if attribute == [0, 0] {
                break;
            }
            if attribute[1] == u64::from(gimli::DW_FORM_implicit_const.0) {
                copy_number(&mut input, &mut entry)?;
            }
            if attribute[0] == u64::from(gimli::DW_AT_stmt_list.0)
                && let Some(name) = entry.get_mut(at)
            {
                *name = gimli::DW_AT_sibling.0 as u8;
            }
        }
        if found == code {
            entry.push(0);
            return DebugAbbrev::new(&entry, LittleEndian).abbreviations(DebugAbbrevOffset(0));
        }
    }
}

/// Copies a number of any length. Returns its lowest 64 bits.
fn copy_number(input: &mut Reader<'_>, to: &mut Vec<u8>) -> gimli::Result<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = input.read_u8()?;
        to.push(byte);
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
}

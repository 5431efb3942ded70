//! The compilation units of a file by the addresses that they cover.

use super::bounds::Bounds;
use super::lines::Lines;
use super::{Reader, UnitRef};
use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, DebugArangesOffset, DebugInfoOffset, Dwarf, LittleEndian, Range,
    Reader as _, Section as _, Unit, UnitHeader, UnitType,
};
use std::sync::Arc;

/// Units by address and by place.
#[derive(Debug, Default)]
pub(super) struct UnitIndex {
    /// Sorted by end.
    ranges: Vec<Covered>,
    /// The places of all units, sorted.
    places: Vec<usize>,
}

#[derive(Debug)]
struct Covered {
    range: Range,
    /// The least start of this range and all behind it.
    least: u64,
    unit: DebugInfoOffset,
}

impl UnitIndex {
    /// Reads the header and first entry of each unit. Errors: the section of units is damaged.
    pub(super) fn read(dwarf: &Dwarf<Reader<'_>>) -> gimli::Result<UnitIndex> {
        let listed = listed(dwarf)?;
        let mut index = UnitIndex::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let Some(unit) = header.debug_info_offset() else { continue };
            index.places.push(unit.0);
            // Partial units and those of types have no code.
            if matches!(header.type_(), UnitType::Compilation | UnitType::Skeleton(_) | UnitType::SplitCompilation(_)) {
                // A damaged unit has no names; the others keep theirs.
                let _ = covered(dwarf, header, &listed, |range| {
                    index.ranges.push(Covered { range, least: 0, unit });
                });
            }
        }
        index.ranges.shrink_to_fit();
        index.ranges.sort_unstable_by_key(|covered| (covered.range.end, covered.unit.0));
        let mut least = u64::MAX;
        for covered in index.ranges.iter_mut().rev() {
            least = least.min(covered.range.begin);
            covered.least = least;
        }
        Ok(index)
    }

    /// The places of all units of a file, without their addresses.
    pub(super) fn places(dwarf: &Dwarf<Reader<'_>>) -> gimli::Result<UnitIndex> {
        let mut index = UnitIndex::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            index.places.extend(header.debug_info_offset().map(|unit| unit.0));
        }
        Ok(index)
    }

    /// Memory of the index, bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.ranges) + size_of_val(&*self.places)
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

    /// The unit that holds the entry at a place.
    pub(super) fn holding(&self, entry: DebugInfoOffset) -> Option<DebugInfoOffset> {
        let before = self.places.partition_point(|place| *place < entry.0).checked_sub(1)?;
        self.places.get(before).copied().map(DebugInfoOffset)
    }
}

/// The units that `.debug_aranges` lists, with the places of their lists, sorted.
type Listed = Vec<(DebugInfoOffset, DebugArangesOffset)>;

fn listed(dwarf: &Dwarf<Reader<'_>>) -> gimli::Result<Listed> {
    let mut listed = Vec::new();
    let mut headers = dwarf.debug_aranges.headers();
    while let Some(header) = headers.next()? {
        listed.push((header.debug_info_offset(), header.offset()));
    }
    listed.sort_unstable_by_key(|unit| unit.0);
    Ok(listed)
}

/// The addresses of a unit: as its first entry lists them, else as `.debug_aranges` does, else the entry's bounds, else
/// those that have lines. Linkers and compilers leave out any of these.
fn covered(
    dwarf: &Dwarf<Reader<'_>>,
    header: UnitHeader<Reader<'_>>,
    listed: &Listed,
    mut to: impl FnMut(Range),
) -> gimli::Result<()> {
    let bare = Unit::new_with_abbreviations(dwarf, header, Arc::new(first_abbreviation(dwarf, &header)?))?;
    let unit = UnitRef::new(dwarf, &bare);
    let mut entries = unit.entries_raw(None)?;
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(()) };
    let mut bounds = Bounds::default();
    for attribute in abbreviation.attributes() {
        bounds.read(unit, &entries.read_attribute(*attribute)?)?;
    }
    let own = header.debug_info_offset().filter(|_| bounds.list.is_none());
    if own.is_some_and(|unit| as_listed(dwarf, unit, listed, &mut to).unwrap_or(false)) || bounds.each(unit, &mut to)? {
        return Ok(());
    }
    let whole = dwarf.unit(header)?;
    Lines::read(UnitRef::new(dwarf, &whole))?.ranges().for_each(to);
    Ok(())
}

/// Passes on the ranges that `.debug_aranges` has for a unit. Returns whether there is one.
fn as_listed(
    dwarf: &Dwarf<Reader<'_>>,
    unit: DebugInfoOffset,
    listed: &Listed,
    to: &mut impl FnMut(Range),
) -> gimli::Result<bool> {
    let mut any = false;
    let first = listed.partition_point(|(other, _)| *other < unit);
    for (_, place) in listed.iter().skip(first).take_while(|(other, _)| *other == unit) {
        let mut entries = dwarf.debug_aranges.header(*place)?.entries();
        while let Some(entry) = entries.next().transpose() {
            // An entry whose end overflows is one of no code.
            if let Some(entry) = entry.ok().filter(|entry| entry.length() != 0) {
                any = true;
                to(entry.range());
            }
        }
    }
    Ok(any)
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

//! Names and lines at an address, from the unit that covers it alone where that unit refers to no other.

use super::nesting::is_too_deep;
use super::sections::Sections;
use super::split::{SplitSections, SplitSource, SplitUnits};
use super::unit_index::UnitIndex;
use super::{Reader, UnitRef};
use crate::model::Symbol;
use crate::model::limits::UNITS_AT_ADDRESS;
use crate::symbols::demangle::demangle;
use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::{
    AbbreviationsCacheStrategy, DebugAranges, DebugInfo, DebugInfoOffset, Dwarf, LittleEndian, Reader as _,
    Section as _, UnitHeader,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// Units kept with what was read of them. All are dropped beyond it: addresses come module by module, not unit by unit.
const MOST: usize = 64;

/// Memory of a unit, about: its abbreviations, lines and functions.
const UNIT: usize = 64 << 10;

/// The debug information of a file.
pub(super) struct Lookup<'a> {
    sections: &'a Sections,
    supplement: Option<&'a Sections>,
    split: SplitUnits<'a>,
    listed: UnitIndex,
    /// Read for addresses that are not listed: it takes a look at every unit.
    stated: OnceCell<UnitIndex>,
    /// By their place; `None` if a unit refers to others, is damaged or nested too deeply.
    units: RefCell<FxHashMap<usize, Option<Rc<Context<Reader<'a>>>>>>,
    all: OnceCell<Option<Context<Reader<'a>>>>,
    /// Whether units may be read among the others, by their place: their inlined calls are not nested too deeply.
    sound: RefCell<FxHashMap<usize, bool>>,
    /// Whether an address has no names because of a limit.
    limited: Cell<bool>,
}

impl<'a> Lookup<'a> {
    /// Finds the units that are listed. Errors: the sections are damaged.
    pub(super) fn new(
        sections: &'a Sections,
        supplement: Option<&'a Sections>,
        split: &'a SplitSections,
    ) -> gimli::Result<Lookup<'a>> {
        let listed = UnitIndex::listed(&sections.dwarf()?);
        let (stated, units, all) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        let (sound, limited) = (RefCell::default(), Cell::new(false));
        let split = SplitUnits::new(split);
        Ok(Lookup { sections, supplement, split, listed, stated, units, all, sound, limited })
    }

    /// Memory of what was read, bytes, about.
    pub(super) fn bytes(&self) -> usize {
        let all = self.all.get().map_or(0, |_| self.sections.bytes() + self.supplement.map_or(0, Sections::bytes));
        let indexes = self.listed.bytes() + self.stated.get().map_or(0, UnitIndex::bytes);
        all + indexes + self.units.borrow().len() * UNIT
    }

    /// The names at an address, innermost first. A name is empty if only its line is known.
    pub(super) fn names(&self, address: u64, from: SplitSource<'_>) -> Vec<Symbol> {
        let among = |index| self.among(index, address, from);
        among(&self.listed).or_else(|| among(self.stated())).unwrap_or_else(|| self.among_all(address, from))
    }

    /// `None` if another index may know more.
    fn among(&self, index: &UnitIndex, address: u64, from: SplitSource<'_>) -> Option<Vec<Symbol>> {
        let mut units = index.at(address);
        for place in units.by_ref().take(UNITS_AT_ADDRESS) {
            let Some(unit) = self.unit(place) else { return Some(self.among_all(address, from)) };
            let names = self.frames(&unit, address, from);
            if !names.is_empty() {
                return Some(names);
            }
        }
        self.limited.set(self.limited.get() || units.next().is_some());
        index.is_complete().then(Vec::new)
    }

    fn stated(&self) -> &UnitIndex {
        let read = || UnitIndex::read(&self.sections.dwarf()?);
        // What is damaged has no names.
        self.stated.get_or_init(|| read().unwrap_or_default())
    }

    /// The same, from all units.
    pub(super) fn among_all(&self, address: u64, from: SplitSource<'_>) -> Vec<Symbol> {
        if !self.may_ask_all(address) {
            self.limited.set(true);
            return Vec::new();
        }
        let all = self.all.get_or_init(|| self.read_all().ok());
        all.as_ref().map(|all| self.frames(all, address, from)).unwrap_or_default()
    }

    /// Whether an address has no names because of a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.limited.get() || self.split.is_limited()
    }

    /// Whether an address has no inlined calls because the file that they are in is not here.
    pub(super) fn is_missing(&self) -> bool {
        self.split.is_missing()
    }

    /// Whether the units that addr2line searches for an address are few and none of them is nested too deeply.
    fn may_ask_all(&self, address: u64) -> bool {
        let stated = self.stated();
        let mut claiming: Vec<usize> = self.listed.at(address).chain(stated.at(address)).map(|unit| unit.0).collect();
        claiming.sort_unstable();
        claiming.dedup();
        let is_sound = |unit: usize| {
            let check = || self.is_sound(DebugInfoOffset(unit)).unwrap_or(false);
            *self.sound.borrow_mut().entry(unit).or_insert_with(check)
        };
        claiming.len() <= UNITS_AT_ADDRESS
            && claiming.into_iter().chain(stated.anywhere().iter().map(|unit| unit.0)).all(is_sound)
    }

    fn is_sound(&self, unit: DebugInfoOffset) -> gimli::Result<bool> {
        let dwarf = self.sections.dwarf()?;
        // addr2line leaves out a unit whose head is damaged.
        let Ok(unit) = dwarf.debug_info.header_from_offset(unit).and_then(|header| dwarf.unit(header)) else {
            return Ok(true);
        };
        Ok(!is_too_deep(UnitRef::new(&dwarf, &unit))?)
    }

    fn read_all(&self) -> gimli::Result<Context<Reader<'a>>> {
        let mut dwarf = self.sections.dwarf()?;
        if let Some(supplement) = self.supplement {
            dwarf.set_sup(supplement.dwarf()?);
        }
        Context::from_dwarf(dwarf)
    }

    fn unit(&self, place: DebugInfoOffset) -> Option<Rc<Context<Reader<'a>>>> {
        let mut units = self.units.borrow_mut();
        if units.len() > MOST {
            units.clear();
        }
        units.entry(place.0).or_insert_with(|| self.alone(place).ok().flatten().map(Rc::new)).clone()
    }

    /// A unit without the others; `None` if it refers to them, or is nested too deeply.
    fn alone(&self, place: DebugInfoOffset) -> gimli::Result<Option<Context<Reader<'a>>>> {
        let mut dwarf = self.sections.dwarf()?;
        let header = dwarf.debug_info.header_from_offset(place)?;
        // Those of a supplement would be read for each unit again.
        if self.supplement.is_some() || refers_to_others(&dwarf, &header)? {
            return Ok(None);
        }
        let unit = place.0..place.0.saturating_add(header.length_including_self());
        let bytes = dwarf.debug_info.reader().slice().get(unit).unwrap_or(&[]);
        dwarf.debug_info = DebugInfo::new(bytes, LittleEndian);
        // These ranges name units by their place.
        dwarf.debug_aranges = DebugAranges::new(&[], LittleEndian);
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
        let unit = dwarf.unit(dwarf.debug_info.header_from_offset(DebugInfoOffset(0))?)?;
        let is_sound = !is_too_deep(UnitRef::new(&dwarf, &unit))?;
        is_sound.then(|| Context::from_dwarf(dwarf)).transpose()
    }

    /// The names at an address in a unit, or in one of several.
    fn frames(&self, context: &Context<Reader<'a>>, address: u64, from: SplitSource<'_>) -> Vec<Symbol> {
        let mut found = context.find_frames(address);
        let frames = loop {
            found = match found {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => continuation.resume(self.split.load(&load, from)),
            };
        };
        let Ok(mut frames) = frames else { return Vec::new() };
        let mut symbols = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let location = frame.location.as_ref();
            symbols.push(Symbol {
                function: function.map(|name| demangle(&name)).unwrap_or_default(),
                file: location.and_then(|at| at.file).map(str::to_string),
                line: location.and_then(|at| at.line),
                inlined: true,
                calls: None,
            });
        }
        // Every frame but the outermost was inlined into the next.
        if let Some(outermost) = symbols.last_mut() {
            outermost.inlined = false;
        }
        symbols
    }
}

/// Whether an abbreviation of the unit has the form of a reference into other units.
fn refers_to_others(dwarf: &Dwarf<Reader<'_>>, header: &UnitHeader<Reader<'_>>) -> gimli::Result<bool> {
    let mut input = *dwarf.debug_abbrev.reader();
    input.skip(header.debug_abbrev_offset().0)?;
    while input.read_uleb128()? != 0 {
        input.skip_leb128()?;
        input.read_u8()?;
        loop {
            let (name, form) = (input.read_uleb128()?, input.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_ref_addr.0) {
                return Ok(true);
            }
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                input.skip_leb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    Ok(false)
}

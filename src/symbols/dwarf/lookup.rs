//! Names and lines at an address. What was read of a unit is kept for its next address, within a bound.

use super::functions::{self, Covered, Inlined};
use super::lines::{self, Lines};
use super::unit_index::UnitIndex;
use super::{Reader, UnitRef};
use crate::model::Symbol;
use crate::symbols::demangle::demangle;
use gimli::{AttributeValue, DebugInfoOffset, Dwarf, Unit, UnitOffset};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// Bytes of the units kept. All are dropped beyond it: addresses come module by module, not unit by unit.
const MOST: usize = 8 << 20;

/// Memory of a unit's abbreviations and files, about.
const UNIT: usize = 16 << 10;

/// Entries that refer to another for their name, one after the other.
const MOST_REFERENCES: usize = 16;

/// Whose units: the file's, or those of the file that dwz moved common parts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Whose {
    Own,
    Supplement,
}

/// The debug information of a file.
pub(in crate::symbols) struct Lookup<'a> {
    dwarf: Dwarf<Reader<'a>>,
    index: UnitIndex,
    supplement: OnceCell<UnitIndex>,
    units: RefCell<FxHashMap<(Whose, usize), Rc<LoadedUnit<'a>>>>,
    /// Bytes of `units`, about.
    bytes: Cell<usize>,
}

/// A unit, and what was read of it.
struct LoadedUnit<'a> {
    unit: Unit<Reader<'a>>,
    functions: OnceCell<Vec<Covered>>,
    inlined: RefCell<FxHashMap<UnitOffset, Rc<[Inlined]>>>,
    lines: OnceCell<Lines>,
}

/// Number of a file in the unit's table, and a line; either may be unknown.
type Place = (Option<u64>, Option<u32>);

impl<'a> Lookup<'a> {
    /// Finds the units. Errors: the section of units is damaged.
    pub(in crate::symbols) fn new(dwarf: Dwarf<Reader<'a>>) -> gimli::Result<Lookup<'a>> {
        let index = UnitIndex::read(&dwarf)?;
        let (supplement, units, bytes) = (OnceCell::new(), RefCell::default(), Cell::new(0));
        Ok(Lookup { dwarf, index, supplement, units, bytes })
    }

    /// Memory of what was read, bytes.
    pub(in crate::symbols) fn bytes(&self) -> usize {
        self.index.bytes() + self.supplement.get().map_or(0, UnitIndex::bytes) + self.bytes.get()
    }

    /// The names at an address, innermost first. A name is empty if only its line is known.
    pub(in crate::symbols) fn names(&self, address: u64) -> gimli::Result<Vec<Symbol>> {
        if self.bytes.get() > MOST {
            self.bytes.set(0);
            self.units.borrow_mut().clear();
        }
        for place in self.index.at(address) {
            let loaded = self.unit(Whose::Own, place)?;
            let unit = UnitRef::new(&self.dwarf, &loaded.unit);
            let function = functions::find(self.functions(&loaded, unit)?, address);
            let line = self.lines(&loaded, unit)?.at(address).map(|(file, line)| (Some(file), line));
            match (function, line) {
                (Some(function), line) => return self.calls(&loaded, function.entry, address, line),
                (None, Some(line)) => return Ok(vec![symbol(unit, String::new(), Some(line), false)]),
                (None, None) => {}
            }
        }
        Ok(Vec::new())
    }

    /// The calls inlined at an address of a function, and the function itself.
    fn calls(
        &self,
        loaded: &LoadedUnit<'a>,
        function: UnitOffset,
        address: u64,
        mut place: Option<Place>,
    ) -> gimli::Result<Vec<Symbol>> {
        let unit = UnitRef::new(&self.dwarf, &loaded.unit);
        let mut symbols = Vec::new();
        for call in functions::chain(&self.inlined(loaded, unit, function)?, address).into_iter().rev() {
            symbols.push(symbol(unit, self.name(unit, call)?, place, true));
            place = Some(call_site(unit, call)?);
        }
        symbols.push(symbol(unit, self.name(unit, function)?, place, false));
        Ok(symbols)
    }

    fn name(&self, unit: UnitRef<'_, 'a>, entry: UnitOffset) -> gimli::Result<String> {
        let name = self.name_at(Whose::Own, unit, entry, MOST_REFERENCES)?;
        Ok(name.map(|name| demangle(&name.to_string_lossy())).unwrap_or_default())
    }

    /// The linker's name of an entry, else its plain name, else that of the entry it refers to.
    fn name_at(
        &self,
        whose: Whose,
        unit: UnitRef<'_, 'a>,
        entry: UnitOffset,
        most: usize,
    ) -> gimli::Result<Option<Reader<'a>>> {
        let mut entries = unit.entries_raw(Some(entry))?;
        let abbreviation = entries.read_abbreviation()?.ok_or(gimli::Error::NoEntryAtGivenOffset(entry.0 as u64))?;
        let (mut name, mut origin) = (None, None);
        for attribute in abbreviation.attributes() {
            let attribute = entries.read_attribute(*attribute)?;
            match attribute.name() {
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    if let Ok(name) = unit.attr_string(attribute.value()) {
                        return Ok(Some(name));
                    }
                }
                gimli::DW_AT_name => name = unit.attr_string(attribute.value()).ok(),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                _ => {}
            }
        }
        match (name, origin) {
            (None, Some(origin)) if most > 0 => self.name_of_origin(whose, unit, origin, most - 1),
            (name, _) => Ok(name),
        }
    }

    fn name_of_origin(
        &self,
        whose: Whose,
        unit: UnitRef<'_, 'a>,
        origin: AttributeValue<Reader<'a>>,
        most: usize,
    ) -> gimli::Result<Option<Reader<'a>>> {
        let (whose, entry, dwarf) = match (origin, &unit.dwarf.sup) {
            (AttributeValue::UnitRef(entry), _) => return self.name_at(whose, unit, entry, most),
            (AttributeValue::DebugInfoRef(entry), _) => (whose, entry, unit.dwarf),
            (AttributeValue::DebugInfoRefSup(entry), Some(dwarf)) => (Whose::Supplement, entry, &**dwarf),
            _ => return Ok(None),
        };
        let index = match whose {
            Whose::Own => &self.index,
            Whose::Supplement => self.supplement.get_or_init(|| UnitIndex::places(dwarf).unwrap_or_default()),
        };
        let missing = gimli::Error::NoEntryAtGivenOffset(entry.0 as u64);
        let loaded = self.unit(whose, index.holding(entry).ok_or(missing)?)?;
        let entry = entry.to_unit_offset(&loaded.unit.header).ok_or(missing)?;
        self.name_at(whose, UnitRef::new(dwarf, &loaded.unit), entry, most)
    }

    fn unit(&self, whose: Whose, place: DebugInfoOffset) -> gimli::Result<Rc<LoadedUnit<'a>>> {
        if let Some(loaded) = self.units.borrow().get(&(whose, place.0)) {
            return Ok(loaded.clone());
        }
        let dwarf = match (whose, &self.dwarf.sup) {
            (Whose::Supplement, Some(supplement)) => supplement,
            _ => &self.dwarf,
        };
        let unit = dwarf.unit(dwarf.debug_info.header_from_offset(place)?)?;
        let (functions, inlined, lines) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        let loaded = Rc::new(LoadedUnit { unit, functions, inlined, lines });
        self.units.borrow_mut().insert((whose, place.0), loaded.clone());
        self.grow(UNIT);
        Ok(loaded)
    }

    fn functions<'u>(&self, loaded: &'u LoadedUnit<'a>, unit: UnitRef<'_, 'a>) -> gimli::Result<&'u [Covered]> {
        if let Some(functions) = loaded.functions.get() {
            return Ok(functions);
        }
        let functions = functions::functions(unit)?;
        self.grow(size_of_val(&*functions));
        Ok(loaded.functions.get_or_init(|| functions))
    }

    fn lines<'u>(&self, loaded: &'u LoadedUnit<'a>, unit: UnitRef<'_, 'a>) -> gimli::Result<&'u Lines> {
        if let Some(lines) = loaded.lines.get() {
            return Ok(lines);
        }
        let lines = Lines::read(unit)?;
        self.grow(lines.bytes());
        Ok(loaded.lines.get_or_init(|| lines))
    }

    fn inlined(
        &self,
        loaded: &LoadedUnit<'a>,
        unit: UnitRef<'_, 'a>,
        function: UnitOffset,
    ) -> gimli::Result<Rc<[Inlined]>> {
        if let Some(calls) = loaded.inlined.borrow().get(&function) {
            return Ok(calls.clone());
        }
        let calls: Rc<[Inlined]> = functions::inlined(unit, function)?.into();
        self.grow(size_of_val(&*calls) + size_of::<(UnitOffset, Rc<[Inlined]>)>());
        loaded.inlined.borrow_mut().insert(function, calls.clone());
        Ok(calls)
    }

    fn grow(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }
}

fn symbol(unit: UnitRef<'_, '_>, function: String, place: Option<Place>, inlined: bool) -> Symbol {
    let (file, line) = place.unwrap_or_default();
    Symbol { function, file: file.and_then(|file| lines::file(unit, file)), line, inlined }
}

/// Where an inlined call stands.
fn call_site(unit: UnitRef<'_, '_>, call: UnitOffset) -> gimli::Result<Place> {
    let (mut file, mut line) = (None, None);
    let mut entries = unit.entries_raw(Some(call))?;
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok((file, line)) };
    for attribute in abbreviation.attributes() {
        let attribute = entries.read_attribute(*attribute)?;
        match (attribute.name(), attribute.value()) {
            // Up to version 4, 0 is no file.
            (gimli::DW_AT_call_file, AttributeValue::FileIndex(index)) => {
                file = Some(index).filter(|index| *index > 0 || unit.header.version() >= 5);
            }
            (gimli::DW_AT_call_line, _) => line = attribute.udata_value().map(|line| line as u32),
            _ => {}
        }
    }
    Ok((file, line.filter(|line| *line != 0)))
}

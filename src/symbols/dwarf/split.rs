//! Debug information outside the program's file: of each unit in a `.dwo` file, or of all in one package, `.dwp`. Both
//! hold the inlined calls; what is left in the program are the units' addresses and lines.

use super::Reader;
use super::UnitRef;
use super::nesting::is_too_deep;
use super::sections::Sections;
use crate::model::ObjectFile;
use crate::model::limits::SPLIT_UNITS;
use crate::symbols::files::Files;
use addr2line::SplitDwarfLoad;
use gimli::{Dwarf, DwarfPackage, EndianSlice, LittleEndian, UnitType};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// Sections of files that were opened for some addresses. A file that is read stays, so a list that only grows does.
#[derive(Default)]
pub(super) struct SplitSections {
    first: OnceCell<Box<Node>>,
    count: Cell<usize>,
}

struct Node {
    sections: Sections,
    next: OnceCell<Box<Node>>,
}

impl SplitSections {
    fn add(&self, sections: Sections) -> &Sections {
        let mut slot = &self.first;
        while let Some(node) = slot.get() {
            slot = &node.next;
        }
        self.count.set(self.count.get() + 1);
        &slot.get_or_init(|| Box::new(Node { sections, next: OnceCell::new() })).sections
    }

    /// Memory of what was read, bytes, about.
    pub(super) fn bytes(&self) -> usize {
        let nodes = std::iter::successors(self.first.get(), |node| node.next.get());
        nodes.map(|node| node.sections.bytes()).sum()
    }
}

/// Finds the files of a program.
pub(in crate::symbols) trait SplitFiles {
    /// The package of all units.
    fn package(&self, files: &dyn Files) -> Option<ObjectFile>;

    /// The file of a unit, by the directory it was compiled in and its name there.
    fn unit(&self, dir: &str, name: &str, files: &dyn Files) -> Option<ObjectFile>;
}

/// Opens the files.
#[derive(Clone, Copy)]
pub(in crate::symbols) struct SplitSource<'f> {
    pub(in crate::symbols) place: Option<&'f dyn SplitFiles>,
    pub(in crate::symbols) files: &'f dyn Files,
}

type Unit<'a> = Arc<Dwarf<Reader<'a>>>;

/// The units of a file whose debug information is elsewhere.
pub(super) struct SplitUnits<'a> {
    sections: &'a SplitSections,
    package: OnceCell<Option<&'a Sections>>,
    /// By their id; `None` if their file is not here.
    units: RefCell<FxHashMap<u64, Option<Unit<'a>>>>,
    missing: Cell<bool>,
    limited: Cell<bool>,
}

impl<'a> SplitUnits<'a> {
    pub(super) fn new(sections: &'a SplitSections) -> SplitUnits<'a> {
        let (package, units) = (OnceCell::new(), RefCell::default());
        SplitUnits { sections, package, units, missing: Cell::new(false), limited: Cell::new(false) }
    }

    /// Whether the file of a unit is not here, or is one of another build.
    pub(super) fn is_missing(&self) -> bool {
        self.missing.get()
    }

    /// Whether a unit is not read because of a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.limited.get()
    }

    /// The unit that addr2line asks for.
    pub(super) fn load(&self, load: &SplitDwarfLoad<Reader<'a>>, from: SplitSource<'_>) -> Option<Unit<'a>> {
        let id = load.dwo_id.0;
        if let Some(known) = self.units.borrow().get(&id) {
            return known.clone();
        }
        let unit = if self.sections.count.get() < SPLIT_UNITS {
            let packed = self.packed(load, from);
            packed.or_else(|| self.alone(load, from)).map_or_else(
                || {
                    self.missing.set(true);
                    None
                },
                |unit| self.sound(unit),
            )
        } else {
            self.limited.set(true);
            None
        };
        self.units.borrow_mut().insert(id, unit.clone());
        unit
    }

    /// The unit in the package beside the program.
    fn packed(&self, load: &SplitDwarfLoad<Reader<'a>>, from: SplitSource<'_>) -> Option<Dwarf<Reader<'a>>> {
        let read = || Some(self.sections.add(Sections::read(&from.place?.package(from.files)?, from.files)?));
        let sections = (*self.package.get_or_init(read))?;
        let empty = EndianSlice::new(&[], LittleEndian);
        let package = DwarfPackage::load(|id| gimli::Result::Ok(sections.get_split(id)), empty).ok()?;
        package.find_cu(load.dwo_id, &load.parent).ok().flatten()
    }

    /// The unit in a file of its own.
    fn alone(&self, load: &SplitDwarfLoad<Reader<'a>>, from: SplitSource<'_>) -> Option<Dwarf<Reader<'a>>> {
        let text = |text: Option<&Reader<'a>>| text.map(|text| text.to_string_lossy()).unwrap_or_default();
        let file = from.place?.unit(&text(load.comp_dir.as_ref()), &text(load.path.as_ref()), from.files)?;
        let sections = self.sections.add(Sections::read(&file, from.files)?);
        let mut dwarf = Dwarf::load(|id| gimli::Result::Ok(sections.get_split(id))).ok()?;
        dwarf.make_dwo(&load.parent);
        let header = dwarf.units().next().ok()??;
        // The file may be that of another build.
        let is_same = dwarf.unit(header).ok()?.dwo_id == Some(load.dwo_id);
        is_same.then_some(dwarf)
    }

    /// The unit, unless its inlined calls are nested too deeply.
    fn sound(&self, dwarf: Dwarf<Reader<'a>>) -> Option<Unit<'a>> {
        let is_deep = || -> gimli::Result<bool> {
            let Some(header) = dwarf.units().next()? else { return Ok(false) };
            is_too_deep(UnitRef::new(&dwarf, &dwarf.unit(header)?))
        };
        match is_deep() {
            Ok(false) => Some(Arc::new(dwarf)),
            Ok(true) => {
                self.limited.set(true);
                None
            }
            Err(_) => None,
        }
    }
}

/// Whether the file leaves debug information to others. Before DWARF 5 only such a file has a list of addresses.
pub(in crate::symbols) fn is_split(file: &ObjectFile, files: &dyn Files) -> bool {
    let has_addresses = || {
        super::open(&super::cached(file))
            .ok()
            .map(|file| object::Object::section_by_name(&file, ".debug_addr").is_some())
    };
    if has_addresses() != Some(true) {
        return false;
    }
    let Some(sections) = Sections::read(file, files) else { return false };
    let Ok(dwarf) = sections.dwarf() else { return false };
    let mut units = dwarf.units();
    while let Ok(Some(unit)) = units.next() {
        if unit.version() < 5 || matches!(unit.type_(), UnitType::Skeleton(_)) {
            return true;
        }
    }
    false
}

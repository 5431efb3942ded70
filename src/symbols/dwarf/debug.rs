//! Debug information and the sections that it is read from, in one value.

use super::lookup::Lookup;
use super::sections::Sections;
use crate::model::{ObjectFile, Symbol};
use crate::symbols::files::Files;

self_cell::self_cell!(
    struct Cell {
        owner: (Sections, Option<Sections>),
        #[not_covariant]
        dependent: Lookup,
    }
);

/// Debug information of a file, parsed only as far as the requested addresses need it.
pub(in crate::symbols) struct Debug(Cell);

impl Debug {
    /// Finds the compilation units; `None` if there is no usable debug information. It may refer to a
    /// supplementary file.
    pub(in crate::symbols) fn parse(
        file: &ObjectFile,
        supplement: Option<&ObjectFile>,
        files: &dyn Files,
    ) -> Option<Debug> {
        let sections = Sections::read(file, files).filter(Sections::has_units)?;
        let owner = (sections, supplement.and_then(|file| Sections::read(file, files)));
        Cell::try_new(owner, |(main, supplement)| Lookup::new(main, supplement.as_ref())).ok().map(Debug)
    }

    /// Memory of what was read, bytes, about.
    pub(in crate::symbols) fn bytes(&self) -> usize {
        self.0.with_dependent(|_, lookup| lookup.bytes())
    }

    /// Whether names are missing because of a limit.
    pub(in crate::symbols) fn is_limited(&self) -> bool {
        let refused = |(main, supplement): &(Sections, Option<Sections>)| {
            main.is_refused() || supplement.as_ref().is_some_and(Sections::is_refused)
        };
        refused(self.0.borrow_owner()) || self.0.with_dependent(|_, lookup| lookup.is_limited())
    }

    /// The names at an address, innermost first. A name may be empty if only the line is known.
    pub(in crate::symbols) fn names(&self, address: u64) -> Vec<Symbol> {
        self.0.with_dependent(|_, lookup| lookup.names(address))
    }
}

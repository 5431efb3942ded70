//! Debug information and the sections that it is read from, in one value.

use super::lookup::Lookup;
use super::sections::Sections;
use super::split::{SplitSections, SplitSource};
use crate::model::{ObjectFile, Symbol};
use crate::symbols::files::Files;

/// The sections that names are read from.
struct Owner {
    main: Sections,
    supplement: Option<Sections>,
    split: SplitSections,
}

self_cell::self_cell!(
    struct Cell {
        owner: Owner,
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
        let main = Sections::read(file, files).filter(Sections::has_units)?;
        let supplement = supplement.and_then(|file| Sections::read(file, files));
        let owner = Owner { main, supplement, split: SplitSections::default() };
        Cell::try_new(owner, |all| Lookup::new(&all.main, all.supplement.as_ref(), &all.split)).ok().map(Debug)
    }

    /// Memory of what was read, bytes, about.
    pub(in crate::symbols) fn bytes(&self) -> usize {
        self.0.with_dependent(|all, lookup| all.split.bytes() + lookup.bytes())
    }

    /// Whether names are missing because of a limit.
    pub(in crate::symbols) fn is_limited(&self) -> bool {
        let Owner { main, supplement, .. } = self.0.borrow_owner();
        let refused = main.is_refused() || supplement.as_ref().is_some_and(Sections::is_refused);
        refused || self.0.with_dependent(|_, lookup| lookup.is_limited())
    }

    /// Whether inlined calls are missing because the file that they are in is not here.
    pub(in crate::symbols) fn is_missing(&self) -> bool {
        self.0.with_dependent(|_, lookup| lookup.is_missing())
    }

    /// The names at an address, innermost first. A name may be empty if only the line is known.
    pub(in crate::symbols) fn names(&self, address: u64, from: SplitSource<'_>) -> Vec<Symbol> {
        self.0.with_dependent(|_, lookup| lookup.names(address, from))
    }
}

//! The view with its tables, made once for a session that draws them often.

use super::section::{Section, SectionId};
use super::sections::whole;
use super::types::FleetView;

/// The view and all of its tables, empty ones included.
#[derive(Debug, PartialEq)]
pub struct FleetTables {
    /// The view.
    pub view: FleetView,
    sections: Vec<Section>,
}

impl FleetTables {
    /// Makes the tables, with all rows.
    #[must_use]
    pub fn of(view: FleetView) -> FleetTables {
        FleetTables { sections: whole(&view), view }
    }

    /// A table; the rows of the jobs are in the order of the view's.
    #[must_use]
    pub fn section(&self, id: SectionId) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }
}

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

    /// What a table without rows means: that nothing was found, or that nothing could be.
    #[must_use]
    pub fn nothing(&self, id: SectionId) -> &'static str {
        let jobs = &self.view.jobs;
        match id {
            SectionId::Hosts if jobs.iter().all(|job| job.why_no_comparison().is_some()) => {
                "unknown: no job's hosts could be compared"
            }
            SectionId::ExpensiveHosts if self.view.hosts.compared == 0 => {
                "unknown: fewer than 12 hosts ran jobs that had 4 hosts of a platform"
            }
            SectionId::Suspects if jobs.iter().all(|job| job.why_no_suspects().is_some()) => {
                "unknown: no neighbour could be tested against a job's cost"
            }
            SectionId::Contention if jobs.iter().all(|job| job.cpi.value().is_none()) => "unknown: no job has a CPI",
            id => id.nothing(),
        }
    }

    /// A table; the rows of the jobs are in the order of the view's.
    #[must_use]
    pub fn section(&self, id: SectionId) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }
}

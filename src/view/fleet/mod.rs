//! What a data set says of many machines, for people and programs. [`FleetView`] is the data; [`sections`] are its tables
//! in words, the same on a terminal, in the session and on a page.

mod build;
mod check;
#[cfg(test)]
pub(crate) mod fixture;
mod job;
mod section;
mod sections;
mod tables;
mod types;
mod words;

pub use check::{KindResult, check};
pub use job::{job_sections, job_summary};
pub use section::{Section, SectionId};
pub use sections::{covered, headline, sections};
pub use tables::FleetTables;
pub use types::{FleetFacts, FleetJob, FleetSettings, FleetView};

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;

//! The report for tickets and reviews: GitHub Markdown.
//! Names are in code spans, so they cannot act as markup.

mod baseline;
mod colocate;
mod memory;
mod report;
mod spans;
mod sweep;

pub use colocate::colocate;
pub use report::report;
pub(super) use spans::{code, plain};
pub use sweep::sweep;

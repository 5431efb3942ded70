//! A sweep or a comparison as one HTML file to share: charts, tables and flame graphs that need no network.
//! Names from a target are escaped, so they cannot act as markup.

mod chart;
mod diff;
mod findings;
mod flames;
mod page;
mod stack;
mod sweep;
mod tables;

pub use diff::diff;
pub use sweep::sweep;

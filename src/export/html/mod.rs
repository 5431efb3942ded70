//! A sweep or a comparison as one HTML file to share: charts, tables and flame graphs that need no network.
//! Names from a target are escaped, so they cannot act as markup.

mod chart;
mod colocate;
mod diff;
mod findings;
mod flames;
mod fleet;
mod page;
mod stack;
mod sweep;
mod tables;

pub use colocate::colocate;
pub use diff::diff;
pub use fleet::fleet;
pub use sweep::sweep;

//! View model: the call tree ready for layout as a flame graph, with each cell's weight on both sides of a comparison.
//! Cells are ordered by name, not by weight, so that a live flame graph does not jump.

mod build;
mod difference;
mod layout;
mod rates;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
mod tree;

pub use layout::{Cell, Layout, Place, lay_out};
pub use tree::{Change, FlameTree};

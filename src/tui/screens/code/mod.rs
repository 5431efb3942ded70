//! The screen Functions of a comparison: the code that changed, by how much, with error bars.
//! Changes that chance may explain come last and are marked.

mod draw;
mod panel;
mod rows;
mod state;
#[cfg(test)]
mod tests;

pub use state::State;

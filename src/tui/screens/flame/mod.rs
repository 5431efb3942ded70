//! The screen Flame: the call tree as a flame graph.

mod draw;
mod moves;
mod panel;
mod state;
#[cfg(test)]
mod tests;
mod words;

pub use state::State;

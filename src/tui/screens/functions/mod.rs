//! The screen Functions: the functions that use the time, their callers and callees, their lines.

mod areas;
mod draw;
mod input;
mod pane;
mod panel;
mod rows;
mod sections;
mod state;
mod status;
#[cfg(test)]
mod tests;
mod words;

pub use state::State;

//! The whole state of the terminal session: open screen, shown time, thread filter, overlay.
//! All changes go through [`App::update`], which turns a message into effects; [`App::draw`] only fills a buffer.

mod actions;
mod draw;
mod input;
mod state;
#[cfg(test)]
mod tests;
mod update;

pub use state::App;

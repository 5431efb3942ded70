//! The interactive terminal session: state, messages, keys, screens. The only module that names ratatui.
//! It draws views and has no access to a profile, a process or the kernel, so every screen works on a recording.

pub mod app;
mod chrome;
pub mod effect;
mod finding;
pub mod keys;
mod layout;
mod line;
pub mod list;
pub mod msg;
mod overlay;
pub mod panel;
pub mod picker;
pub mod run;
pub mod screens;
pub mod settings;
pub mod term;
pub mod theme;
pub mod time;
pub mod widgets;

#[cfg(test)]
mod gallery;
#[cfg(test)]
pub(crate) mod testing;

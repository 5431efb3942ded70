//! The interactive terminal session: state, messages, keys, screens. The only module that names ratatui.
//! It draws views and has no access to a profile, a process or the kernel, so every screen works on a recording.

pub mod app;
mod chrome;
pub(crate) mod command;
pub(crate) mod effect;
mod finding;
pub(crate) mod keys;
mod layout;
mod line;
pub(crate) mod list;
pub mod msg;
mod overlay;
pub mod panel;
pub(crate) mod picker;
pub(crate) mod run;
pub mod screens;
mod search;
pub mod settings;
pub(crate) mod term;
pub(crate) mod theme;
pub(crate) mod time;
pub(crate) mod widgets;

#[cfg(test)]
#[path = "tests/gallery.rs"]
mod gallery;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;

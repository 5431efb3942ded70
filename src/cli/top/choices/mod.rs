//! The choices offered if no target was given, and the parsing of a typed command.
//! A part that cannot be listed is left out, with the reason.

mod cgroups;
mod chooser;
mod lister;
mod processes;
mod recordings;
mod words;

pub(super) use chooser::Chooser;
pub(in crate::cli) use words::split as words;

//! The choices offered if no target was given, and the parsing of a typed command.
//! A part that cannot be listed is left out, with the reason.

mod chooser;
mod recordings;

pub(in crate::cli) use crate::cli::command_words::split as words;
pub(super) use chooser::Chooser;

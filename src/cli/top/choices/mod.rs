//! The choices offered if no target was given, and the parsing of a typed command.
//! A part that cannot be listed is left out, with the reason.

mod chooser;
mod command_line;
mod recordings;

pub(super) use chooser::Chooser;
pub(in crate::cli) use command_line::split as words;

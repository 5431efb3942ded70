//! What there is to choose from when no target was named, and what a typed command means.
//! It never opens a target, and a part that cannot be listed is left out with the reason given.

mod cgroups;
mod chooser;
mod lister;
mod processes;
mod recordings;
mod words;

pub(super) use chooser::Chooser;
pub(super) use words::split as words;

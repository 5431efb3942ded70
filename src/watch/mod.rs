//! Decides what a watch does: which windows and alarms it reports, when it records, runs the alarm command and ends.
//! Pure: the command line feeds it events and executes its actions.

mod actions;
mod decide;
#[cfg(test)]
mod interleaving_tests;
#[cfg(test)]
mod tests;

pub use actions::{Action, EndReason, Event, Pending};
pub use decide::{Policy, State, decide};

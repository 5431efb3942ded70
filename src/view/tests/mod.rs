//! Profiles at the edges of what a recording can hold, and what every view and format makes of them: no panic, no zero
//! for an unknown value, no number that is none.

mod edges;
mod notes;
mod numbers;
pub(crate) mod odd;
mod report;
mod stacks;
mod threads;

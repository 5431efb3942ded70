//! The screens, one module each: state, keys, drawing. Screens do not depend on each other.

mod baseline;
mod code;
mod conditions;
mod counters;
mod diff;
mod findings;
mod flame;
mod fleet;
mod functions;
mod kind;
mod latency;
mod numa;
mod overview;
mod panels;
mod sweep;
mod threads;

pub use kind::SessionKind;
pub use panels::{Panels, screen_of};

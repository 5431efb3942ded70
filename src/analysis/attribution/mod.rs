//! Compares a session with its baseline, window by window: what is unusual, whether that is an alarm, which part of the
//! iron law it is in, and which neighbours moved with it. Neighbours are reported as correlated, not as causes.

mod alarm_criteria;
mod assess;
mod assessor;
mod cpu_placement;
mod deviation;
mod explain;
mod finding;
mod functions;
mod observe;
mod pooled;
mod reference;
mod score;
mod series;
mod settings;
mod suspects;
mod types;
mod wait_ratio;
mod words;

pub use assess::assess;
pub use assessor::Assessor;
pub use functions::shift;
pub use observe::observe;
pub use settings::Settings;
pub use types::{Alarm, Assessment, Cause, Confidence, Evidence, Moved, State, Step, Suspect, Where};
pub use words::{amount, change};

#[cfg(test)]
mod tests;

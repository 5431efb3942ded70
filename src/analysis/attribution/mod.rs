//! A session held against its baseline, window by window: what is unusual, whether that is an alarm, which part of the iron
//! law it lies in, and who beside the target moved with it. It never reads anything and never calls a correlation a cause.

mod assess;
mod assessor;
mod beside;
mod explain;
mod finding;
mod functions;
mod held;
mod observe;
mod pool;
mod reference;
mod score;
mod series;
mod settings;
mod stretch;
mod suspects;
mod tests_of;
mod types;
mod words;

pub use assess::assess;
pub use assessor::Assessor;
pub use functions::{Shift, shift};
pub use observe::observe;
pub use score::correlation;
pub use settings::Settings;
pub use types::{
    Alarm, Assessment, Cause, Confidence, Evidence, Moved, NeighbourWindow, Observed, State, Step, Suspect, Where,
};
pub use words::{amount, change};

#[cfg(test)]
mod tests;

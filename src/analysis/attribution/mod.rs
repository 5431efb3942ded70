//! A session held against its baseline, window by window: what is unusual, whether that is an alarm, which part of the iron
//! law it lies in, and who beside the target moved with it. It never reads anything and never calls a correlation a cause.

mod types;

pub use types::{
    Alarm, Assessment, Cause, Confidence, Evidence, Moved, NeighbourWindow, Observed, State, Step, Suspect, Where,
};

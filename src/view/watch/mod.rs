//! The output of a watch: one line per event, and gauges of its current state.

mod gauges;
mod lines;
mod moment;

pub use crate::analysis::attribution::{QuantityDeviation, Suspect, WindowState};
pub use crate::analysis::baseline::LoadAxis;
pub use crate::analysis::diff::PRIMARY;
pub use crate::model::NeighbourKind;
pub use gauges::Gauges;
pub use lines::{
    AlarmCleared, AlarmRaised, BaselineFacts, CommandResult, End, Line, Message, Recorded, RecordedPeriod,
    SCHEMA_VERSION, Start, WatchEvent, WindowLine, first_suspect,
};
pub use moment::{Moment, WallClock};

//! Wires a source of events to its readers: the recording, the profile, the names. The only place that knows live and replay.
//! It never formats and never prints.

mod counting;
mod flow;
pub mod import;
mod keeper;
mod live;
mod naming;
mod operations;
mod recorder;
mod replay;
mod tally;
mod watchman;

pub use crate::collect::sampler::EndReason;
pub use keeper::{Holding, Judging, Keeper, Limit, News};
pub use live::{Live, Outcome};
pub use replay::open;
pub use tally::Tally;
pub use watchman::{Watchman, suspend};

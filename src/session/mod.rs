//! Wires a source of events to its readers: the recording, the profile, the names. The only place that knows live and replay.
//! It never formats and never prints.

mod counting;
mod keeper;
mod live;
mod naming;
mod recorder;
mod replay;
mod tally;

pub use keeper::{Holding, Keeper, Limit, News, Watchman, suspend};
pub use live::{Live, Outcome};
pub use replay::open;
pub use tally::Tally;

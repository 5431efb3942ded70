//! One small profile in the formats of other tools, each read back by other means than it was written with.

mod firefox;
mod formats;
pub mod pprof;
mod profile;

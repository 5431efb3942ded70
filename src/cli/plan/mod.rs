//! Validates the command line into a plan: one target, sensible times, events that this kernel knows.
//! Pure: takes the machine as an [`Environment`], so every combination of flags is one row of a test.

mod capture;
mod output;
mod stat;
mod target;

pub use capture::{DEFAULT_OVERHEAD, Environment, capture};
pub use output::{
    Destination, RECORDING_EXTENSION, flame_output, newest_recording, recording_name, recording_path, target_name,
    use_color,
};
pub use stat::{stat, stat_capture};
pub use target::{TargetChoice, clock, target};

use crate::error::{Error, ErrorKind};

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests;

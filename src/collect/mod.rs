//! Live capture: opens events on a target, drains them by readiness, reassembles the event stream and reads the host's
//! counters. A slow reader of the stream does not delay the capture. Addresses are symbolized later.

pub mod catalog;
pub mod doctor;
mod due;
pub mod health;
pub mod host;
mod kernel_config;
pub mod neighbours;
pub mod probe;
pub mod program;
pub mod readings;
pub mod resolve;
pub mod sampler;
pub mod target;

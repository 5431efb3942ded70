//! Live capture: opens events on a target, drains them by readiness, reassembles the event stream and reads the host's
//! counters. A slow reader of the stream does not delay the capture. Addresses are symbolized later.

pub(crate) mod accesses;
pub(crate) mod canaries;
pub(crate) mod catalog;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod host;
mod kernel_config;
pub(crate) mod memory_places;
pub(crate) mod neighbours;
pub(crate) mod pipes;
mod process_conditions;
pub(crate) mod program;
mod reading_schedule;
pub(crate) mod readings;
pub(crate) mod resolve;
pub mod sampler;
pub(crate) mod target;
pub(crate) mod targets;

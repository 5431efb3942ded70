//! A baseline in every output format.

mod json;
mod text;

pub use json::{BASELINE_SCHEMA, json};
pub use text::text;

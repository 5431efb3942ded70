//! A baseline in every form it is printed in.
//! It never writes a file.

mod json;
mod text;

pub use json::{BASELINE_SCHEMA, json};
pub use text::text;

//! A baseline in every output format.

mod json;
mod text;

pub use json::json;
pub use text::text;

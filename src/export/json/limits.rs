//! The limits of what is read from others: JSON as `assets/schema/limits.schema.json` describes it.

use super::indented;
use crate::error::Result;
use crate::model::limits::{ALL, Limit};
use serde::Serialize;

/// Increased when a field changes its meaning; new fields do not increase it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    limits: &'static [Limit],
}

/// All limits, as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn limits() -> Result<Vec<u8>> {
    indented(&Document { schema_version: SCHEMA_VERSION, limits: ALL }, "limits")
}

//! A colocation for programs.

use super::indented;
use crate::error::Result;
use crate::view::colocate::ColocateView;

/// The schema of [`colocate`], draft 2020-12.
pub const COLOCATE_SCHEMA: &str = include_str!("../../../assets/schema/colocate.schema.json");

/// The result as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn colocate(view: &ColocateView) -> Result<Vec<u8>> {
    indented(view, "colocation")
}

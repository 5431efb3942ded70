//! The report for programs: JSON as `assets/schema/report.schema.json` describes it.
//! Numbers are not rounded, and names read back exactly as the target has them.

mod colocate;
mod fleet;
mod health;
mod limits;
mod point;
mod sweep;

pub use colocate::{COLOCATE_SCHEMA, colocate};
pub use fleet::{FLEET_SCHEMA, fleet};
pub use health::{HEALTH_SCHEMA, health};
pub use limits::limits;
pub use sweep::{SWEEP_SCHEMA, SWEEP_SCHEMA_VERSION, sweep};

use super::quote::inert;
use crate::error::{Error, ErrorKind, Result};
use crate::view::annotate::{AnnotationView, MixView};
use crate::view::report::Report;
use serde::Serialize;

/// The schema of [`report`], draft 2020-12.
pub const SCHEMA: &str = include_str!("../../../assets/schema/report.schema.json");

/// The report as indented JSON with a newline at its end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn report(report: &Report) -> Result<Vec<u8>> {
    indented(report, "report")
}

/// A function by its instructions.
///
/// # Errors
/// As for [`report`].
pub fn annotation(view: &AnnotationView) -> Result<Vec<u8>> {
    indented(view, "annotation")
}

/// The classes of sampled instructions.
///
/// # Errors
/// As for [`report`].
pub fn mix(view: &MixView) -> Result<Vec<u8>> {
    indented(view, "mix")
}

/// A document as indented JSON with a newline at its end; `name` appears in the error.
pub(super) fn indented(document: &impl Serialize, name: &str) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot write the {name} as JSON: {error}")))?;
    // A string never contains a line break, so each line is escaped on its own.
    let mut out = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        out.push_str(&inert(line));
        out.push('\n');
    }
    Ok(out.into_bytes())
}

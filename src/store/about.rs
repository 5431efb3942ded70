//! `meta.json`: what a recording says about itself, and how many rows it should hold. Pure: bytes in, bytes out.
//! A reader of this format never guesses at a newer one.

use super::FORMAT;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Meta;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(flatten)]
    pub meta: Meta,
    /// Rows of each table; `None` until the recording is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<BTreeMap<String, u64>>,
}

/// The part of it that every version has.
#[derive(Deserialize)]
struct Version {
    format: (u16, u16),
}

/// As readable JSON.
pub(super) fn to_json(about: &About) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(about)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot describe the recording: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// # Errors
/// [`ErrorKind::Unsupported`] for a newer major version, [`ErrorKind::Corrupt`] for anything else that does not read.
pub(super) fn parse(bytes: &[u8]) -> Result<About> {
    let corrupt = |error: serde_json::Error| {
        Error::new(ErrorKind::Corrupt, format!("meta.json is not that of a recording: {error}"))
    };
    let Version { format: (major, minor) } = serde_json::from_slice(bytes).map_err(corrupt)?;
    if major > FORMAT.0 {
        let (known, _) = FORMAT;
        let message = format!("the recording has format {major}.{minor}; this version reads up to {known}.x");
        return Err(Error::new(ErrorKind::Unsupported, message).hint("Open it with a newer ironlaw."));
    }
    serde_json::from_slice(bytes).map_err(corrupt)
}

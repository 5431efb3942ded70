//! `meta.json`: the metadata of a recording and its expected number of rows. Pure: bytes in, bytes out.
//! A newer major version of the format is refused.

use super::FORMAT;
use super::counted::Counted;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Meta;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MetaFile {
    #[serde(flatten)]
    pub meta: Meta,
    /// The counted hardware events; in older recordings they are among the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counted: Option<Counted>,
    /// Rows of each table; `None` until the recording is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<BTreeMap<String, u64>>,
}

impl MetaFile {
    pub fn new(meta: Meta, rows: Option<BTreeMap<String, u64>>) -> MetaFile {
        MetaFile { meta, counted: None, rows }
    }
}

/// The part that every version has.
#[derive(Deserialize)]
struct Version {
    format: (u16, u16),
}

/// Formats it as JSON without indentation, which would be half of it: more than a minute's samples.
pub(super) fn to_json(mut meta_file: MetaFile) -> Result<Vec<u8>> {
    meta_file.counted = Counted::take(&mut meta_file.meta.hardware);
    let mut bytes = serde_json::to_vec(&meta_file)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot describe the recording: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// # Errors
/// [`ErrorKind::Unsupported`] for a newer major version, [`ErrorKind::Corrupt`] for other parse errors.
pub(super) fn parse(bytes: &[u8]) -> Result<MetaFile> {
    let corrupt = |error: serde_json::Error| {
        Error::new(ErrorKind::Corrupt, format!("meta.json is not that of a recording: {error}"))
    };
    let Version { format: (major, minor) } = serde_json::from_slice(bytes).map_err(corrupt)?;
    if major > FORMAT.0 {
        let (known, _) = FORMAT;
        let message = format!("the recording has format {major}.{minor}; this version reads up to {known}.x");
        return Err(Error::new(ErrorKind::Unsupported, message).hint("Open it with a newer ironlaw."));
    }
    let mut meta_file: MetaFile = serde_json::from_slice(bytes).map_err(corrupt)?;
    if let Some(counted) = meta_file.counted.take() {
        counted.restore(&mut meta_file.meta.hardware);
    }
    Ok(meta_file)
}

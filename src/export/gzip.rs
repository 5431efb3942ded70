//! Gzip compression of a stream, as every tool that reads profiles expects it.

use super::quote::failed;
use crate::error::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Compresses everything that `write` writes, and passes it on to `out`.
///
/// # Errors
/// Those of `write` and of the writer.
pub fn gzip<W: Write + Send>(out: W, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    let mut packed = GzEncoder::new(out, Compression::default());
    write(&mut packed)?;
    packed.finish().and_then(|mut out| out.flush()).context(failed)
}

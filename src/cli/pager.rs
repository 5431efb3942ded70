//! Long results on a terminal go to the user's pager, as git does it.

use super::out;
use crate::error::Result;
use crate::sys::terminal;
use std::io::IsTerminal;
use std::path::Path;

/// Writes a result to a file or to standard output; on a terminal that it does not fit, through `IRONLAW_PAGER`, else
/// `PAGER`, else less. Where that cannot be started, it is written as it is.
pub(super) fn show(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    let rows = terminal::rows(std::io::stdout()).unwrap_or(usize::MAX);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let pager = ["IRONLAW_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let pager = pager.unwrap_or_else(|| "less".to_string());
    if file.is_some() || !std::io::stdout().is_terminal() || lines < rows || matches!(pager.trim(), "" | "cat") {
        return out::deliver(bytes, file);
    }
    if terminal::page(&pager, bytes)? { Ok(()) } else { out::deliver(bytes, None) }
}

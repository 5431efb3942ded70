//! placeholder
use super::super::args::DiffArgs;
use super::super::out::Terminal;
use crate::error::Result;
use crate::view::compare::DiffView;
pub(super) fn session(_args: &DiffArgs, _terminal: &Terminal) -> Result<Option<DiffView>> {
    Ok(None)
}

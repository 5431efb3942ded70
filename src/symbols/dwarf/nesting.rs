//! Whether inlined calls are nested so deeply that addr2line, which follows them by recursion, would leave its stack.

use super::UnitRef;
use crate::model::limits::INLINED_DEPTH;

/// Whether a unit is nested deeper than the limit. Errors: its entries are damaged.
pub(super) fn is_too_deep(unit: UnitRef<'_, '_>) -> gimli::Result<bool> {
    let mut entries = unit.entries_raw(None)?;
    // The depths of the inlined calls around the next entry.
    let mut around: Vec<isize> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        while around.last().is_some_and(|outer| *outer >= depth) {
            around.pop();
        }
        if abbreviation.tag() == gimli::DW_TAG_inlined_subroutine {
            around.push(depth);
            if around.len() > INLINED_DEPTH {
                return Ok(true);
            }
        }
        entries.skip_attributes(abbreviation.attributes())?;
    }
    Ok(false)
}

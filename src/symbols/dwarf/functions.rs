//! The functions of a unit by address, and the calls inlined into one of them.

use super::bounds::Bounds;
use super::{Reader, UnitRef};
use gimli::{Abbreviation, EntriesRaw, Range, UnitOffset};

/// A range of addresses and the entry of the function that covers it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Covered {
    range: Range,
    pub(super) entry: UnitOffset,
}

/// A range of addresses of an inlined call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inlined {
    range: Range,
    /// Number of calls inlined around it.
    depth: u32,
    pub(super) entry: UnitOffset,
}

/// All functions of a unit that have code, by address.
pub(super) fn functions(unit: UnitRef<'_, '_>) -> gimli::Result<Vec<Covered>> {
    let mut functions = Vec::new();
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let entry = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.tag() == gimli::DW_TAG_subprogram {
            bounds(&mut entries, unit, abbreviation)?.each(unit, |range| functions.push(Covered { range, entry }))?;
        } else {
            entries.skip_attributes(abbreviation.attributes())?;
        }
    }
    functions.shrink_to_fit();
    functions.sort_unstable_by_key(|function| (function.range.begin, function.entry.0));
    Ok(functions)
}

/// The function among those of [`functions`].
pub(super) fn find(functions: &[Covered], address: u64) -> Option<Covered> {
    let after = functions.partition_point(|function| function.range.begin <= address);
    functions.get(after.checked_sub(1)?).filter(|function| address < function.range.end).copied()
}

/// All calls inlined into the function at `entry`, those inlined into others behind them.
pub(super) fn inlined(unit: UnitRef<'_, '_>, entry: UnitOffset) -> gimli::Result<Vec<Inlined>> {
    let mut calls = Vec::new();
    let mut entries = unit.entries_raw(Some(entry))?;
    let own = entries.next_depth();
    if let Some(abbreviation) = entries.read_abbreviation()? {
        entries.skip_attributes(abbreviation.attributes())?;
    }
    // Depths of the entries of the inlined calls around.
    let mut around = Vec::new();
    while !entries.is_empty() && entries.next_depth() > own {
        let (entry, level) = (entries.next_offset(), entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        while around.pop_if(|outer| *outer >= level).is_some() {}
        match abbreviation.tag() {
            gimli::DW_TAG_inlined_subroutine => {
                let depth = around.len() as u32;
                bounds(&mut entries, unit, abbreviation)?
                    .each(unit, |range| calls.push(Inlined { range, depth, entry }))?;
                around.push(level);
            }
            // A function within this one is another one.
            gimli::DW_TAG_subprogram => skip(&mut entries, abbreviation, level)?,
            _ => entries.skip_attributes(abbreviation.attributes())?,
        }
    }
    calls.shrink_to_fit();
    calls.sort_by_key(|call| call.depth);
    Ok(calls)
}

/// The entries of the calls inlined at an address, outermost first.
pub(super) fn chain(calls: &[Inlined], address: u64) -> Vec<UnitOffset> {
    let mut chain = Vec::new();
    let covers = |call: &&Inlined| (call.range.begin..call.range.end).contains(&address);
    for call in calls.iter().filter(covers) {
        if call.depth as usize == chain.len() {
            chain.push(call.entry);
        }
    }
    chain
}

fn bounds<'a>(
    entries: &mut EntriesRaw<'_, Reader<'a>>,
    unit: UnitRef<'_, 'a>,
    abbreviation: &Abbreviation,
) -> gimli::Result<Bounds> {
    let mut bounds = Bounds::default();
    for attribute in abbreviation.attributes() {
        bounds.read(unit, &entries.read_attribute(*attribute)?)?;
    }
    Ok(bounds)
}

fn skip(entries: &mut EntriesRaw<'_, Reader<'_>>, abbreviation: &Abbreviation, level: isize) -> gimli::Result<()> {
    entries.skip_attributes(abbreviation.attributes())?;
    while !entries.is_empty() && entries.next_depth() > level {
        if let Some(abbreviation) = entries.read_abbreviation()? {
            entries.skip_attributes(abbreviation.attributes())?;
        }
    }
    Ok(())
}

//! One process's code as the unwinder sees it: which image lies where.

use super::code::UnwindTables;
use super::returns::MeasuredCalls;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The executable mappings of one process. Cloned when the process forks.
#[derive(Clone, Default)]
pub struct AddressSpace {
    /// By first address, without overlap.
    mapped: BTreeMap<u64, Mapping>,
    /// Its calls of measured functions.
    pub measured: MeasuredCalls,
}

/// An executable mapping of an image.
#[derive(Clone)]
pub(super) struct Mapping {
    end: u64,
    file_offset: u64,
    /// An address here minus this (wrapping) is the address that the file states.
    pub base: u64,
    pub code: Arc<UnwindTables>,
}

impl fmt::Debug for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressSpace").field("mappings", &self.mapped.len()).finish()
    }
}

impl AddressSpace {
    /// Creates an address space without code.
    #[must_use]
    pub fn new() -> Self {
        AddressSpace::default()
    }

    /// Maps a file's bytes from `file_offset` on. Replaces any mapping in the range.
    pub fn map(&mut self, start: u64, end: u64, file_offset: u64, code: &Arc<UnwindTables>) {
        self.unmap(start, end);
        self.add(start, end, file_offset, code.clone());
    }

    /// Whether there are tables for the code at an address.
    #[must_use]
    pub fn has_tables(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// Removes the mappings in the range. A mapping that lies only partly in it keeps the rest.
    pub fn unmap(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let overlaps = |(first, mapping): (&u64, &Mapping)| (mapping.end > start).then_some(*first);
        while let Some(first) = self.mapped.range(..end).next_back().and_then(overlaps) {
            let Some(Mapping { end: old_end, file_offset, code, .. }) = self.mapped.remove(&first) else { return };
            if first < start {
                self.add(first, start, file_offset, code.clone());
            }
            if old_end > end {
                self.add(end, old_end, file_offset.saturating_add(end - first), code);
            }
        }
    }

    fn add(&mut self, start: u64, end: u64, file_offset: u64, code: Arc<UnwindTables>) {
        let Some(address) = code.address_of(file_offset).filter(|_| start < end) else { return };
        self.mapped.insert(start, Mapping { end, file_offset, base: start.wrapping_sub(address), code });
    }

    /// The mapping that an address lies in.
    pub(super) fn find(&self, address: u64) -> Option<&Mapping> {
        self.mapped.range(..=address).next_back().map(|(_, mapping)| mapping).filter(|mapping| address < mapping.end)
    }

    /// The first address of the function at an address, if its tables tell.
    pub(super) fn function(&self, address: u64) -> Option<u64> {
        let mapping = self.find(address)?;
        mapping.code.function(address.wrapping_sub(mapping.base)).map(|first| first.wrapping_add(mapping.base))
    }

    /// The end of the last mapping.
    #[cfg(target_arch = "aarch64")]
    pub(super) fn end(&self) -> u64 {
        self.mapped.last_key_value().map_or(0, |(_, mapping)| mapping.end)
    }
}

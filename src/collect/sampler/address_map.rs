//! One process's executable mappings: which module an address lies in, and how to unwind from it. The kernel does not
//! report unmapping, so a later mapping replaces what it covers.

use super::modules::Placed;
use crate::model::ModuleId;
use crate::unwind::{AddressSpace, UnwindTables};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The mappings, without overlap.
#[derive(Debug, Clone, Default)]
pub struct AddressMap {
    /// By first address: a program may map any number, each below the others.
    ranges: BTreeMap<u64, Range>,
    /// The same mappings for the unwinder.
    pub unwind: AddressSpace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    end: u64,
    module: ModuleId,
    base: u64,
}

impl AddressMap {
    /// Adds a mapping and cuts away what it covers.
    pub fn map(&mut self, start: u64, end: u64, placed: &Placed) {
        self.cut(start, end);
        self.ranges.insert(start, Range { end, module: placed.module, base: placed.base });
        self.unwind.unmap(start, end);
        if let Some((code, offset)) = &placed.code {
            self.unwind.map(start, end, *offset, code);
        }
    }

    /// Whether a module is mapped.
    pub fn has(&self, module: ModuleId) -> bool {
        self.ranges.values().any(|range| range.module == module)
    }

    /// Adds the unwind information of a module that is mapped.
    pub fn set_code(&mut self, module: ModuleId, code: &Arc<UnwindTables>) {
        for (start, range) in self.ranges.iter().filter(|(_, range)| range.module == module) {
            self.unwind.unmap(*start, range.end);
            self.unwind.map(*start, range.end, start.wrapping_sub(range.base), code);
        }
    }

    /// Number of mappings, those included that may have gone unreported.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The module that contains an address, and the address in that module's own address space.
    pub fn find(&self, address: u64) -> Option<(ModuleId, u64)> {
        let (_, range) = self.ranges.range(..=address).next_back()?;
        (address < range.end).then(|| (range.module, address.wrapping_sub(range.base)))
    }

    fn cut(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let overlaps = |(first, range): (&u64, &Range)| (range.end > start).then_some((*first, *range));
        while let Some((first, range)) = self.ranges.range(..end).next_back().and_then(overlaps) {
            self.ranges.remove(&first);
            if first < start {
                self.ranges.insert(first, Range { end: start, ..range });
            }
            if range.end > end {
                self.ranges.insert(end, range);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mappings as (start, end, module), and the expected (module, offset) of addresses.
    type Row = (&'static [(u64, u64, u32)], &'static [(u64, Option<(u32, u64)>)]);

    fn space(mappings: &[(u64, u64, u32)]) -> AddressMap {
        let mut space = AddressMap::default();
        for (start, end, module) in mappings {
            space.map(*start, *end, &Placed { module: ModuleId(*module), base: *start, code: None });
        }
        space
    }

    #[test]
    fn a_later_mapping_replaces_what_it_covers_and_no_more() {
        let table: [Row; 4] = [
            (&[(10, 20, 1)], &[(9, None), (10, Some((1, 0))), (19, Some((1, 9))), (20, None)]),
            (&[(10, 40, 1), (20, 30, 2)], &[(19, Some((1, 9))), (25, Some((2, 5))), (30, Some((1, 20)))]),
            (&[(10, 20, 1), (20, 30, 2), (15, 25, 3)], &[(14, Some((1, 4))), (15, Some((3, 0))), (25, Some((2, 5)))]),
            (&[(10, 20, 1), (30, 40, 2), (5, 50, 3)], &[(15, Some((3, 10))), (35, Some((3, 30))), (4, None)]),
        ];
        for (mappings, lookups) in table {
            let space = space(mappings);
            for (address, expected) in lookups {
                let found = space.find(*address).map(|(module, offset)| (module.0, offset));
                assert_eq!(found, *expected, "{mappings:?} at {address}");
            }
        }
    }
}

//! The addresses that an entry covers, as its attributes state them.

use super::{Reader, UnitRef};
use gimli::{Attribute, AttributeValue, Range, RangeListsOffset};

/// What the attributes read so far state.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    low: Option<u64>,
    high: Option<u64>,
    length: Option<u64>,
    /// Place of a list of ranges.
    pub(super) list: Option<RangeListsOffset>,
}

impl Bounds {
    /// Takes note of an attribute if it states a bound.
    pub(super) fn read<'a>(&mut self, unit: UnitRef<'_, 'a>, attribute: &Attribute<Reader<'a>>) -> gimli::Result<()> {
        let value = attribute.value();
        match attribute.name() {
            gimli::DW_AT_low_pc => self.low = address(unit, &value)?.or(self.low),
            gimli::DW_AT_high_pc => match value {
                AttributeValue::Udata(length) => self.length = Some(length),
                _ => self.high = address(unit, &value)?.or(self.high),
            },
            gimli::DW_AT_ranges => self.list = unit.attr_ranges_offset(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Passes on each range that is not empty. Returns whether there was one.
    pub(super) fn each(&self, unit: UnitRef<'_, '_>, mut to: impl FnMut(Range)) -> gimli::Result<bool> {
        let mut any = false;
        let mut add = |range: Range| {
            if range.begin < range.end {
                any = true;
                to(range);
            }
        };
        match (self.list, self.low, self.high, self.length) {
            (Some(list), ..) => {
                let mut ranges = unit.ranges(list)?;
                while let Some(range) = ranges.next()? {
                    add(range);
                }
            }
            (None, Some(begin), Some(end), _) => add(Range { begin, end }),
            // Code that the linker left out begins at the last address: its end wraps, and the range is empty.
            (None, Some(begin), None, Some(length)) => add(Range { begin, end: begin.wrapping_add(length) }),
            _ => {}
        }
        Ok(any)
    }
}

fn address(unit: UnitRef<'_, '_>, value: &AttributeValue<Reader<'_>>) -> gimli::Result<Option<u64>> {
    Ok(match value {
        AttributeValue::Addr(address) => Some(*address),
        AttributeValue::DebugAddrIndex(index) => Some(unit.address(*index)?),
        _ => None,
    })
}

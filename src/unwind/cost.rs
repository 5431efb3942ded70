//! What unwinding from an address costs, known before it is done: a program may bring unwind instructions of any length,
//! and expressions in them that jump back without end.

use crate::model::limits::UNWIND_FUNCTION;
use gimli::{
    BaseAddresses, CallFrameInstruction, CallFrameInstructionIter, CieOrFde, Encoding, EndianSlice,
    FrameDescriptionEntry, LittleEndian, Operation, UnwindExpression, UnwindSection,
};

pub(super) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// What is known of a function before it is unwound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Bytes of its unwind instructions.
    pub bytes: u32,
    /// Whether the kernel made its frame, to run a signal's handler on.
    pub signal: bool,
    /// Whether a program starts there.
    pub starts: bool,
}

/// A function's cost; `None` if its unwind instructions are too many, or may never end.
fn cost<'a>(
    fde: &FrameDescriptionEntry<Slice<'a>>,
    section: &impl UnwindSection<Slice<'a>>,
    bases: &BaseAddresses,
) -> Option<Cost> {
    let cie = fde.cie();
    let bytes = fde.entry_len().checked_add(cie.entry_len()).filter(|bytes| *bytes <= UNWIND_FUNCTION)?;
    let encoding = cie.encoding();
    let all = [cie.instructions(section, bases), fde.instructions(section, bases)];
    let end = all.into_iter().all(|instructions| ends(instructions, section, encoding));
    let bytes = u32::try_from(bytes).ok().filter(|_| end)?;
    Some(Cost { bytes, signal: cie.is_signal_trampoline(), starts: false })
}

/// Whether no expression among the instructions branches. None that a compiler or an assembler makes does.
fn ends<'a>(
    mut instructions: CallFrameInstructionIter<'_, Slice<'a>>,
    section: &impl UnwindSection<Slice<'a>>,
    encoding: Encoding,
) -> bool {
    let straight = |expression: UnwindExpression<usize>| {
        let Ok(expression) = expression.get(section) else { return true };
        let mut operations = expression.operations(encoding);
        // Whoever evaluates it stops at the same damage.
        while let Ok(Some(operation)) = operations.next() {
            if matches!(operation, Operation::Bra { .. } | Operation::Skip { .. }) {
                return false;
            }
        }
        true
    };
    while let Ok(Some(instruction)) = instructions.next() {
        let is_straight = match instruction {
            CallFrameInstruction::DefCfaExpression { expression }
            | CallFrameInstruction::Expression { expression, .. }
            | CallFrameInstruction::ValExpression { expression, .. } => straight(expression),
            _ => true,
        };
        if !is_straight {
            return false;
        }
    }
    true
}

/// The cost in the function that a section describes at this place. A place that describes none costs nothing.
pub(super) fn at<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    place: S::Offset,
) -> Option<Cost> {
    let none = Some(Cost::default());
    section.fde_from_offset(bases, place, S::cie_from_offset).map_or(none, |fde| cost(&fde, section, bases))
}

/// Costs by the functions' first addresses.
#[derive(Debug, Default)]
pub(super) struct Costs(Vec<(u64, Option<Cost>)>);

impl Costs {
    /// Of a section that no sorted table belongs to.
    pub(super) fn of<'a, S: UnwindSection<Slice<'a>>>(section: &S, bases: &BaseAddresses) -> Costs {
        let mut costs = Vec::new();
        let mut entries = section.entries(bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(S::cie_from_offset) else { break };
            costs.push((fde.initial_address(), cost(&fde, section, bases)));
        }
        costs.sort_by_key(|(address, _)| *address);
        Costs(costs)
    }

    /// The cost at an address.
    pub(super) fn at(&self, address: u64) -> Option<Cost> {
        let after = self.0.partition_point(|(first, _)| *first <= address);
        after.checked_sub(1).and_then(|at| self.0.get(at)).map_or(Some(Cost::default()), |(_, cost)| *cost)
    }
}

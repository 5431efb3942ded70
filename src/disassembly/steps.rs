//! Instructions reduced to what makes a lock, the same for all architectures.

/// An instruction, reduced to what makes a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub address: u64,
    pub length: u32,
    pub kind: StepKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// An atomic change of memory, and whether a branch depends on what was there.
    Atomic {
        change: Change,
        operand: Operand,
        decides: bool,
    },
    /// A plain store of zero.
    Clear {
        operand: Operand,
    },
    /// Another plain store to an address that the instruction has.
    Store {
        operand: Operand,
    },
    /// A hint that a loop waits.
    Pause,
    /// A jump; `None` if its target is not known.
    Jump {
        target: Option<u64>,
        conditional: bool,
    },
    /// A call, and whether its argument is the number of the futex system call.
    Call {
        target: Option<u64>,
        futex: bool,
    },
    /// A system call, and whether it is a futex's.
    Kernel {
        futex: bool,
    },
    /// The path ends.
    Return,
    Other,
}

/// What an atomic change does to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It writes a value that does not depend on the old one, as one who takes a lock does.
    Take,
    /// It writes zero.
    Release,
    /// It computes the new value from the old one.
    Update,
}

/// Where an instruction writes. Base registers are not compared: a pointer moves between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    /// Whether the offset is an address.
    pub absolute: bool,
    pub offset: u64,
}

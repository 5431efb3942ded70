//! Unwinds sampled registers and copied stack bytes to return addresses with the programs' own unwind tables.
//! Whole stacks need no frame pointers. The module works on bytes only: callers supply the code and the sampled stack.

mod code;
mod cost;
mod epilogue;
mod returns;
mod section;
mod space;
mod walk;

pub use code::UnwindTables;
pub use epilogue::{EPILOGUE, tables_of_epilogue};
pub use returns::Lack;
pub use space::AddressSpace;
pub use walk::{Cache, REGISTERS, Regs, WalkEnd};

#[cfg(test)]
mod tests;

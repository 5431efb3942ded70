//! Registers and copied stack bytes to return addresses, by the programs' own unwind tables: whole stacks without frame pointers.
//! It never reads memory or files: code comes as bytes, the stack as the bytes sampled.

mod code;
mod space;

pub use code::Code;
pub use space::{AddressSpace, Cache, Regs};

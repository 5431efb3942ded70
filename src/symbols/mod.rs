//! Resolves addresses to names: from debug information first, then symbol tables, then unwind tables.
//! All file access goes through [`Files`].

mod call_site;
mod debug_data;
mod demangle;
mod dwarf;
mod elf;
mod fde;
mod files;
mod functions;
mod go_table;
mod jit;
mod jitdump;
mod kallsyms;
mod kernel;
mod kernel_code;
mod known;
mod locate;
mod symbolizer;

pub use crate::abi::jitdump::is_jitdump;
pub use debug_data::debug_data;
pub use elf::{CodeReader, function_code};
pub use files::{FileTail, Files, ModuleSource, Options};
pub use symbolizer::Symbolizer;

#[cfg(test)]
mod tests;

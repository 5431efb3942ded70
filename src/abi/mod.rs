//! Formats in which the kernel hands out data: perf's records, where sampled data was, the mappings of a process and their pages by node, lists of CPUs. A live capture
//! and the import of a file use the same readers. They work on bytes that may be cut off or hostile, and never panic.

mod cpu_list;
mod cursor;
pub(crate) mod data_source;
pub(crate) mod jitdump;
mod maps;
mod numa_maps;
pub(crate) mod perf;

pub use cpu_list::{format_cpu_list, parse_cpu_list};
pub use cursor::{Cursor, Words};
pub use maps::{Mapping, is_anonymous, mappings};
pub use numa_maps::{MappingKind, numa_maps};

#[cfg(test)]
mod tests;

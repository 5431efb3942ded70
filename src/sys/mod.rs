//! The only `unsafe` code and the only system calls: thin, safe RAII wrappers without policy.
//! Readers of text files come in pairs: `parse(text)` is pure, `open(root, ...)` finds the file.
#![allow(unsafe_code, reason = "the one layer that talks to the kernel; every block says why it is sound")]

pub mod affinity;
pub(crate) mod answer;
pub(crate) mod bpf;
pub(crate) mod btf;
pub(crate) mod caps;
pub(crate) mod cgroupfs;
pub mod clock;
pub(crate) mod event_sources;
pub(crate) mod files;
mod foreign_files;
pub(crate) mod heap;
pub(crate) mod helper;
pub(crate) mod http_server;
pub(crate) mod limits;
pub(crate) mod liveness;
mod mapped_file;
pub(crate) mod memory_file;
pub(crate) mod memory_walks;
pub(crate) mod perf;
pub(crate) mod perf_probe;
pub(crate) mod private_dir;
pub(crate) mod proc_reader;
pub(crate) mod process_group;
pub(crate) mod process_memory;
pub(crate) mod procfs;
pub(crate) mod remote_shell;
pub(crate) mod resctrl;
pub(crate) mod shell_command;
pub mod signals;
pub(crate) mod spawn;
pub(crate) mod syscalls;
pub(crate) mod sysfs;
pub(crate) mod tee;
pub(crate) mod terminal;
pub(crate) mod workload;

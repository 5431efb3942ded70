//! The only `unsafe` code and the only system calls: thin, safe RAII wrappers without policy.
//! Readers of text files come in pairs: `parse(text)` is pure, `open(root, ...)` finds the file.
#![allow(unsafe_code, reason = "the one layer that talks to the kernel; every block says why it is sound")]

pub mod affinity;
pub mod bpf;
pub mod btf;
pub mod caps;
pub mod cgroupfs;
pub mod clock;
pub mod event_sources;
pub mod files;
pub mod http_server;
pub mod limits;
pub mod perf;
pub mod perf_probe;
pub mod probes;
pub mod process_memory;
pub mod procfs;
pub mod resctrl;
pub mod shell_command;
pub mod signals;
pub mod spawn;
pub mod syscalls;
pub mod sysfs;
pub mod tee;
pub mod terminal;
pub mod workload;

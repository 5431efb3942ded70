//! The only `unsafe` and the only system calls. Thin, safe, RAII: it decides nothing.
//! Readers of text files come in pairs: `parse(text)` is pure, `open(root, ...)` finds the file.
#![allow(unsafe_code, reason = "the one layer that talks to the kernel; every block says why it is sound")]

pub mod affinity;
pub mod answering;
pub mod bpf;
pub mod btf;
pub mod caps;
pub mod cgroupfs;
pub mod clock;
pub mod event_sources;
pub mod files;
pub mod hook;
pub mod limits;
pub mod passing;
pub mod perf;
pub mod perf_probe;
pub mod probes;
pub mod process_memory;
pub mod procfs;
pub mod resctrl;
pub mod signals;
pub mod spawn;
pub mod syscalls;
pub mod sysfs;
pub mod terminal;
pub mod workload;

//! Reads /proc: processes, threads and the machine, with pure parsers and one thin opener per file.
//! The layers above interpret the values and decide whether to trust them.

mod machine;
mod proc_fs;
mod process;
mod status;
mod task;
mod task_files;

pub use machine::{
    CpuTimes, KernelSymbols, Pressure, cpu_model, cpu_times, hypervisor_flag, kernel_functions, kernel_symbols, limit,
    memory_available, memory_total, pressure,
};
pub use proc_fs::ProcFs;
pub use process::{scheduling, soft_limits};
pub use status::{Status, resident_kinds, status};
pub use task::{
    SchedStat, TaskStat, children, last_ran, sched_details, sched_stat, storage_bytes, switches, task_stat,
};
pub use task_files::{Scratch, TaskDir, TaskFile};

use crate::units::Nanos;

/// The length of the clock tick that `stat` files count in.
#[must_use]
pub fn clock_tick() -> Nanos {
    Nanos(1_000_000_000 / rustix::param::clock_ticks_per_second().max(1))
}

/// Resident memory in bytes from `statm`.
#[must_use]
pub fn resident_bytes(statm: &[u8]) -> Option<u64> {
    let pages: u64 = parse(fields(statm).nth(1)?)?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// The next field as a number; `None` at the end or when it is not a number.
fn number<'a, T: std::str::FromStr>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<T> {
    parse(fields.next()?)
}

fn parse<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.trim().parse().ok()
}

/// Fields separated by runs of blanks.
fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

#[cfg(test)]
mod tests;

//! The `bpf(2)` system call: maps, programs and where they are attached.

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP: libc::c_long = 1;
const MAP_UPDATE: libc::c_long = 2;
const MAP_DELETE: libc::c_long = 3;
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
const OBJECT_INFO: libc::c_long = 15;
const RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const MAP_LOOKUP_AND_DELETE: libc::c_long = 21;
const MAP_LOOKUP_BATCH: libc::c_long = 24;

/// `BPF_MAP_TYPE_*`.
pub(super) const HASH: u32 = 1;
pub(super) const ARRAY: u32 = 2;
pub(super) const PERF_EVENT_ARRAY: u32 = 4;
pub(super) const PERCPU_ARRAY: u32 = 6;
const QUEUE: u32 = 22;
/// `BPF_F_NO_PREALLOC`: an entry takes memory only while it exists.
pub(super) const AS_NEEDED: u32 = 1;

/// `BPF_PROG_TYPE_*`.
pub(super) const KPROBE: u32 = 2;
pub(super) const PERF_EVENT: u32 = 7;
pub(super) const RAW_TRACEPOINT: u32 = 17;

/// One instruction: `struct bpf_insn`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub code: u8,
    /// Destination in the low four bits, source in the high ones.
    pub registers: u8,
    pub offset: i16,
    pub immediate: i32,
}

/// Leading fields of `union bpf_attr`; the rest may be omitted.
#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buffer: u64,
    kernel_version: u32,
    flags: u32,
}

#[repr(C)]
struct Create {
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct Element {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct Tracepoint {
    name: u64,
    program: u32,
    padding: u32,
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    sizes_and_data: [u64; 3],
    repeat: u32,
    duration: u32,
    context_sizes: [u32; 2],
    context: [u64; 2],
    flags: u32,
    cpu: u32,
    batch_size: u32,
    padding: u32,
}

/// The part of `union bpf_attr` for asking about a program.
#[repr(C)]
struct Question {
    program: u32,
    size: u32,
    answer: u64,
}

/// The front of `struct bpf_prog_info`.
#[repr(C)]
#[derive(Default)]
struct ProgramInfo {
    before: [u64; 13],
    starts_count: u32,
    lengths_count: u32,
    starts: u64,
    lengths: u64,
}

/// The part of `union bpf_attr` for reading many elements at once.
#[repr(C)]
struct Batch {
    position: u64,
    next_position: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

fn bpf<T>(command: libc::c_long, argument: &T) -> io::Result<RawFd> {
    // SAFETY: every argument is the front of `union bpf_attr` for its command, its size is passed, and it is valid with
    // all it points to for the call.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *argument, size_of::<T>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as RawFd) }
}

fn opened<T>(command: libc::c_long, argument: &T) -> io::Result<OwnedFd> {
    // SAFETY: these commands return a descriptor that nobody else owns.
    bpf(command, argument).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Creates a map of keys of 4 bytes.
pub(super) fn create_map(kind: u32, value_size: u32, entries: u32, flags: u32) -> io::Result<OwnedFd> {
    opened(MAP_CREATE, &Create { kind, key_size: 4, value_size, entries, flags })
}

/// Creates a queue, which programs push to.
pub(super) fn create_queue(value_size: u32, entries: u32) -> io::Result<OwnedFd> {
    opened(MAP_CREATE, &Create { kind: QUEUE, key_size: 0, value_size, entries, flags: 0 })
}

/// Takes the oldest element of a queue; `None` if it is empty.
pub(super) fn pop<const N: usize>(queue: &OwnedFd) -> io::Result<Option<[u64; N]>> {
    let mut value = [0_u64; N];
    let element = Element { map: queue.as_raw_fd() as u32, padding: 0, key: 0, value: &raw mut value as u64, flags: 0 };
    match bpf(MAP_LOOKUP_AND_DELETE, &element) {
        Ok(_) => Ok(Some(value)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sets one element.
pub(super) fn set<V: Copy>(map: &OwnedFd, key: u32, mut value: V) -> io::Result<()> {
    element(MAP_UPDATE, map, key, &raw mut value as u64)
}

/// Removes one element.
pub(super) fn remove(map: &OwnedFd, key: u32) -> io::Result<()> {
    element(MAP_DELETE, map, key, 0)
}

/// Reads one element of plain numbers, as many as the map's values have.
pub(super) fn get<const N: usize>(map: &OwnedFd, key: u32) -> io::Result<[u64; N]> {
    let mut value = [0_u64; N];
    element(MAP_LOOKUP, map, key, &raw mut value as u64)?;
    Ok(value)
}

fn element(command: libc::c_long, map: &OwnedFd, key: u32, value: u64) -> io::Result<()> {
    let element = Element { map: map.as_raw_fd() as u32, padding: 0, key: &raw const key as u64, value, flags: 0 };
    bpf(command, &element).map(drop)
}

/// Visits every element of a hash map, whose values are `N` plain numbers. Elements that come or go meanwhile may be
/// missed or visited twice.
pub(super) fn each<const N: usize>(map: &OwnedFd, mut visit: impl FnMut(u32, &[u64; N])) -> io::Result<()> {
    const AT_ONCE: usize = 256;
    let (mut keys, mut values) = (vec![0_u32; AT_ONCE], vec![[0_u64; N]; AT_ONCE]);
    let (mut position, mut next_position) = (0_u32, 0_u32);
    let mut first = true;
    loop {
        let batch = Batch {
            position: if first { 0 } else { &raw const position as u64 },
            next_position: &raw mut next_position as u64,
            keys: keys.as_mut_ptr() as u64,
            values: values.as_mut_ptr() as u64,
            count: AT_ONCE as u32,
            map: map.as_raw_fd() as u32,
            element_flags: 0,
            flags: 0,
        };
        let (read, over) = lookup_batch(batch)?;
        keys.iter().zip(&values).take(read).for_each(|(key, value)| visit(*key, value));
        if over {
            return Ok(());
        }
        (position, first) = (next_position, false);
    }
}

/// The number of elements read, and whether they were the last.
fn lookup_batch(mut batch: Batch) -> io::Result<(usize, bool)> {
    // SAFETY: as in `bpf`; the kernel writes at most `count` elements to the arrays, which are as long, and the number
    // of those it wrote to `count`.
    let done = unsafe { libc::syscall(libc::SYS_bpf, MAP_LOOKUP_BATCH, &raw mut batch, size_of::<Batch>()) };
    let error = (done < 0).then(io::Error::last_os_error);
    match error {
        None => Ok((batch.count as usize, false)),
        Some(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok((batch.count as usize, true)),
        Some(error) => Err(error),
    }
}

/// Loads a program, which the kernel checks.
pub(super) fn load(kind: u32, program: &[Instruction]) -> io::Result<OwnedFd> {
    let license = c"GPL";
    let load = Load {
        kind,
        count: program.len() as u32,
        instructions: program.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buffer: 0,
        kernel_version: 0,
        flags: 0,
    };
    opened(PROG_LOAD, &load)
}

/// The kernel addresses of a program's machine code; `None` where the kernel does not show them or interprets programs.
pub(super) fn machine_code(program: &OwnedFd) -> Option<Range<u64>> {
    let (mut start, mut length) = (0_u64, 0_u32);
    let mut info = ProgramInfo {
        starts_count: 1,
        lengths_count: 1,
        starts: &raw mut start as u64,
        lengths: &raw mut length as u64,
        ..ProgramInfo::default()
    };
    let (program, size) = (program.as_raw_fd() as u32, size_of::<ProgramInfo>() as u32);
    bpf(OBJECT_INFO, &Question { program, size, answer: &raw mut info as u64 }).ok()?;
    (start > 0 && length > 0).then(|| start..start + u64::from(length))
}

/// Attaches a program to a tracepoint for as long as the descriptor is open.
pub(super) fn attach(program: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let tracepoint = Tracepoint { name: name.as_ptr() as u64, program: program.as_raw_fd() as u32, padding: 0 };
    opened(RAW_TRACEPOINT_OPEN, &tracepoint)
}

/// Runs a program once and returns its result.
pub(super) fn run_once(program: &OwnedFd) -> io::Result<u32> {
    let mut run = TestRun { program: program.as_raw_fd() as u32, ..TestRun::default() };
    // SAFETY: as in `bpf`; the kernel writes the program's result into the argument.
    let done = unsafe { libc::syscall(libc::SYS_bpf, PROG_TEST_RUN, &raw mut run, size_of::<TestRun>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(run.result) }
}

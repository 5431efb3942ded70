//! What is requested from the kernel: groups of events, what their samples carry, and what a refusal means.

use super::origin::{RingKind, Role};
use crate::error::{Error, ErrorKind};
use crate::model::{CallGraph, EventSpec, Note, Rate, WaitSource};
use crate::sys::perf::event::{self, Request};
use crate::sys::perf::record::Layout;
use std::io;
use std::path::Path;

/// Stack bytes copied per sample by default. Deep enough for all but a few percent of server stacks, and the average
/// sample stays near 10 kB: 16, 32 and 64 KiB averaged 10.5, 18.7 and 32.4 kB, and copying is the cost, not unwinding.
pub const STACK_BYTES: u32 = 16 << 10;

/// One group of events, opened together at every place.
#[derive(Debug, Clone)]
pub struct EventGroup {
    /// The leader, then the members.
    pub requests: Vec<Request>,
    /// How their samples are used, in the same order.
    pub roles: Vec<Role>,
    /// Its name in messages.
    pub name: String,
    /// Whether it is opened on whole CPUs whatever the target: a wake-up is the waker's event, and wakers run anywhere.
    /// (Kernels up to some version also deliver it to the woken task's own events; 6.18 does not.)
    pub everywhere: bool,
}

impl EventGroup {
    /// Whether it may be opened on CPUs instead of threads: it only samples, and the kernel accepts a filter for it.
    /// Each hit of a tracepoint is a sample, so threads lose none of them.
    pub fn is_by_cpu(&self) -> bool {
        self.ring_kind() == RingKind::Samples && self.requests.iter().all(|request| request.pmu != event::TRACEPOINT)
    }

    /// The kind of its records.
    pub fn ring_kind(&self) -> RingKind {
        self.roles.first().map_or(RingKind::Samples, |role| role.ring_kind())
    }
}

/// All events to open.
#[derive(Debug, Default)]
pub struct EventRequests {
    /// Groups; the last carries the records about tasks and mappings.
    pub sets: Vec<EventGroup>,
    /// Events actually sampled, by index.
    pub specs: Vec<EventSpec>,
    /// Fallbacks taken.
    pub notes: Vec<Note>,
    /// Whether hardware cycles count here.
    pub hardware: bool,
    /// Whether this is a virtual machine.
    pub is_virtual: bool,
    /// Whether kernel code must be excluded.
    pub exclude_kernel: bool,
    /// The source of off-CPU time, if that is requested.
    pub waits: Option<WaitSource>,
}

impl EventRequests {
    /// Number of events that may be opened on CPUs instead of threads, and of all others of the target.
    pub fn len(&self) -> (usize, usize) {
        let sets = self.sets.iter().filter(|set| !set.everywhere);
        sets.fold((0, 0), |(by_cpu, by_thread), set| match set.is_by_cpu() {
            true => (by_cpu + set.requests.len(), by_thread),
            false => (by_cpu, by_thread + set.requests.len()),
        })
    }

    /// Bytes per second that a busy CPU may write for these sets. The kernel reserves a sample's full stack size,
    /// however much it fills. The rate of events sampled by period is unknown; some thousands are assumed.
    pub fn bytes_per_second(&self, which: impl Fn(&EventGroup) -> bool) -> u64 {
        let requests = self.sets.iter().filter(|set| which(set)).flat_map(|set| &set.requests);
        requests
            .map(|request| {
                let each = 400 + u64::from(request.layout.stack_bytes);
                each * if let Some(Rate::Frequency(hertz)) = request.rate { hertz } else { 8_000 }
            })
            .sum()
    }
}

/// Layout of samples whose stacks are taken by `method`.
pub fn layout(method: CallGraph, exclude_kernel: bool) -> Layout {
    let dumped = |stack_bytes| Layout {
        // The chain is the kernel's part; with the kernel excluded it would be empty.
        chain: !exclude_kernel,
        registers: crate::unwind::REGISTERS,
        stack_bytes,
        ..Layout::default()
    };
    match method {
        CallGraph::None => Layout::default(),
        CallGraph::FramePointer => Layout { chain: true, ..Layout::default() },
        CallGraph::Lbr => Layout { chain: !exclude_kernel, branches: true, ..Layout::default() },
        CallGraph::Auto => dumped(STACK_BYTES),
        CallGraph::Dwarf { stack_bytes } => dumped(stack_bytes),
    }
}

/// `kernel.perf_event_paranoid`; `None` if it cannot be read.
pub fn paranoid(root: &Path) -> Option<i32> {
    std::fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid")).ok()?.trim().parse().ok()
}

/// Explains the refusal of an event and how to fix it.
pub fn refused(error: &io::Error, event: &str, paranoid: Option<i32>) -> Error {
    const CAPABILITY: &str = "sudo setcap cap_perfmon,cap_sys_ptrace+ep on the ironlaw binary";
    let fail = |kind, why: &str| Error::new(kind, format!("the kernel refused event {event}: {why} ({error})"));
    match error.raw_os_error() {
        Some(libc_errno::EPERM | libc_errno::EACCES) => {
            let level = paranoid.map_or_else(|| "?".to_string(), |level| level.to_string());
            fail(ErrorKind::NotPermitted, &format!("not permitted with kernel.perf_event_paranoid={level}"))
                .hint(format!("Run as root, or: sudo sysctl kernel.perf_event_paranoid=1, or: {CAPABILITY}."))
        }
        Some(libc_errno::ENOENT | libc_errno::EOPNOTSUPP | libc_errno::ENODEV) => {
            fail(ErrorKind::Unsupported, "this machine does not have it")
                .hint("See what works here with `ironlaw doctor`; `-e cpu-clock` works everywhere.")
        }
        Some(libc_errno::EMFILE | libc_errno::ENFILE) => {
            fail(ErrorKind::Exhausted, "no more descriptors").hint("Raise the limit: ulimit -n 1048576.")
        }
        Some(libc_errno::EINVAL) => fail(ErrorKind::Unsupported, "it cannot be sampled this way on this kernel")
            .hint("Try another --call-graph, a plain event without modifiers, or another frequency."),
        _ => fail(ErrorKind::Io, "it cannot be opened"),
    }
}

/// Error numbers, the same on every Linux architecture ironlaw runs on; `libc` itself stays in `sys`.
mod libc_errno {
    pub const EPERM: i32 = 1;
    pub const ENOENT: i32 = 2;
    pub const EACCES: i32 = 13;
    pub const ENODEV: i32 = 19;
    pub const EINVAL: i32 = 22;
    pub const ENFILE: i32 = 23;
    pub const EMFILE: i32 = 24;
    pub const EOPNOTSUPP: i32 = 95;
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn each_method_asks_only_for_what_it_needs() {
        let table = [
            (CallGraph::None, false, (false, false, 0)),
            (CallGraph::FramePointer, true, (true, false, 0)),
            (CallGraph::Auto, false, (true, false, STACK_BYTES)),
            (CallGraph::Auto, true, (false, false, STACK_BYTES)),
            (CallGraph::Dwarf { stack_bytes: 64 }, false, (true, false, 64)),
            (CallGraph::Lbr, false, (true, true, 0)),
        ];
        for (method, exclude_kernel, expected) in table {
            let layout = layout(method, exclude_kernel);
            assert_eq!((layout.chain, layout.branches, layout.stack_bytes), expected, "{method:?} {exclude_kernel}");
        }
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let table = [
            (libc_errno::EACCES, ErrorKind::NotPermitted, "perf_event_paranoid=1"),
            (libc_errno::ENOENT, ErrorKind::Unsupported, "doctor"),
            (libc_errno::EMFILE, ErrorKind::Exhausted, "ulimit -n"),
            (libc_errno::EINVAL, ErrorKind::Unsupported, "--call-graph"),
        ];
        for (errno, kind, remedy) in table {
            let error = refused(&io::Error::from_raw_os_error(errno), "cycles", Some(4));
            assert_eq!(error.kind(), kind);
            assert!(error.remedy().unwrap().contains(remedy) && error.to_string().contains("cycles"), "{error}");
        }
    }
}

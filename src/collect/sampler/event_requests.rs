//! What is requested from the kernel: groups of events, what their samples carry, and what a refusal means.

use super::origin::{RingKind, Role};
use crate::error::{Error, ErrorKind};
use crate::model::{CallGraph, EventSpec, Note, Rate, WaitSource};
use crate::sys::bpf::WaitSums;
use crate::sys::perf::event::{self, Request};
use crate::sys::perf::record::Layout;
use crate::sys::procfs;
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
    /// The CPUs that have its events; empty for all.
    pub cpus: Vec<u32>,
}

impl EventGroup {
    /// Whether a CPU has its events.
    pub fn is_on(&self, cpu: u32) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }

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
    /// The kernel's sums, if they are that source.
    pub sums: Option<WaitSums>,
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

    /// The requests whose samples are passed on, in the order of `specs`.
    pub fn sampled(&self) -> impl Iterator<Item = &Request> {
        let requests = self.sets.iter().flat_map(|set| set.requests.iter().zip(&set.roles));
        requests.filter(|(_, role)| matches!(role, Role::Event(_))).map(|(request, _)| request)
    }

    /// Whether nothing is sampled but an event that never happens.
    pub fn only_counts(&self) -> bool {
        self.sampled().all(|request| request.pmu == event::SOFTWARE && request.config[0] == event::DUMMY)
    }

    /// Bytes per second that a busy CPU may write for these sets. The kernel reserves a sample's full stack size,
    /// however much it fills. The rate of events sampled by period is unknown; some thousands are assumed.
    pub fn bytes_per_second(&self, which: impl Fn(&EventGroup) -> bool) -> u64 {
        let requests = self.sets.iter().filter(|set| which(set)).flat_map(|set| set.requests.iter().zip(&set.roles));
        requests
            .map(|(request, role)| {
                let each = 400 + u64::from(request.layout.stack_bytes);
                each * match (request.rate, role) {
                    (Some(Rate::Frequency(hertz)), _) => hertz,
                    // Read with the samples of its leader.
                    (None, Role::Event(_) | Role::Leads) => 0,
                    // What does not fit is summed in the kernel.
                    (_, Role::Waits) => 500,
                    _ => 8_000,
                }
            })
            .sum()
    }
}

/// An event that counts nothing and only carries records, so that these are complete wherever samples are taken, and
/// their losses are counted separately.
pub fn records(name: &str, role: Role, exclude_kernel: bool) -> EventGroup {
    let mut request = Request::counting(event::SOFTWARE, [event::DUMMY, 0, 0]);
    (request.exclude.kernel, request.exclude.hv) = (exclude_kernel, exclude_kernel);
    (request.side_band, request.switches) = (role == Role::Tasks, role == Role::Switches);
    EventGroup { requests: vec![request], roles: vec![role], name: name.to_string(), everywhere: false, cpus: vec![] }
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
        // Frame pointers lead on where the tables fail or the copy ends.
        CallGraph::Auto => Layout { chain: true, user_chain: true, ..dumped(STACK_BYTES) },
        CallGraph::Dwarf { stack_bytes } => dumped(stack_bytes),
    }
}

/// `kernel.perf_event_paranoid`; `None` if it cannot be read.
pub fn paranoid(root: &Path) -> Option<i32> {
    std::fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid")).ok()?.trim().parse().ok()
}

/// What may make the kernel refuse an event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restrictions {
    /// `kernel.perf_event_paranoid`; `None` if it cannot be read.
    pub paranoid: Option<i32>,
    /// Whether a seccomp filter is in force, as in a container.
    pub filtered: bool,
}

impl Restrictions {
    /// Those that this process is under.
    pub fn read(root: &Path) -> Restrictions {
        let status = std::fs::read(root.join("proc/self/status")).unwrap_or_default();
        Restrictions { paranoid: paranoid(root), filtered: procfs::status(&status).seccomp == Some(2) }
    }
}

/// Explains the refusal of an event and how to fix it.
pub fn refused(error: &io::Error, event: &str, restrictions: Restrictions) -> Error {
    const CONTAINER: &str = "docker run --security-opt seccomp=unconfined --cap-add PERFMON --cap-add SYS_PTRACE";
    const CAPABILITY: &str = "sudo setcap cap_perfmon,cap_sys_ptrace+ep on the ironlaw binary";
    let fail = |kind, why: &str| Error::new(kind, format!("the kernel refused event {event}: {why} ({error})"));
    match error.raw_os_error() {
        Some(libc_errno::EPERM | libc_errno::EACCES) => {
            let level = restrictions.paranoid.map_or_else(|| "?".to_string(), |level| level.to_string());
            let why = format!("not permitted with kernel.perf_event_paranoid={level}");
            let setting = format!("sudo sysctl kernel.perf_event_paranoid=1, or: {CAPABILITY}");
            match restrictions.filtered {
                false => fail(ErrorKind::NotPermitted, &why).hint(format!("Run as root, or: {setting}.")),
                true => fail(ErrorKind::NotPermitted, &format!("{why} and the seccomp filter in force"))
                    .hint(format!("In a container: {CONTAINER}. Elsewhere run as root, or: {setting}.")),
            }
        }
        Some(libc_errno::ENOSYS) if restrictions.filtered => {
            fail(ErrorKind::NotPermitted, "the seccomp filter in force takes perf_event_open away")
                .hint(format!("In a container: {CONTAINER}."))
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
    pub const ENOSYS: i32 = 38;
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
            // The user's part of it.
            (CallGraph::Auto, true, (true, false, STACK_BYTES)),
            (CallGraph::Dwarf { stack_bytes: 64 }, true, (false, false, 64)),
            (CallGraph::Dwarf { stack_bytes: 64 }, false, (true, false, 64)),
            (CallGraph::Lbr, false, (true, true, 0)),
        ];
        for (method, exclude_kernel, expected) in table {
            let layout = layout(method, exclude_kernel);
            assert_eq!((layout.chain, layout.branches, layout.stack_bytes), expected, "{method:?} {exclude_kernel}");
        }
    }

    #[test]
    fn every_refusal_of_the_kernel_says_what_it_means_and_what_to_do() {
        use ErrorKind::{Exhausted, Io, NotPermitted, Unsupported};
        // The kernel's numbers: EINTR and EIO stand for all that have no meaning of their own here.
        for (number, name, kind, meaning, remedy) in [
            (1, "EPERM", NotPermitted, "not permitted with kernel.perf_event_paranoid=4", "perf_event_paranoid=1"),
            (2, "ENOENT", Unsupported, "this machine does not have it", "ironlaw doctor"),
            (4, "EINTR", Io, "it cannot be opened", ""),
            (5, "EIO", Io, "it cannot be opened", ""),
            (13, "EACCES", NotPermitted, "not permitted with kernel.perf_event_paranoid=4", "cap_perfmon"),
            (19, "ENODEV", Unsupported, "this machine does not have it", "-e cpu-clock"),
            (22, "EINVAL", Unsupported, "cannot be sampled this way on this kernel", "--call-graph"),
            (23, "ENFILE", Exhausted, "no more descriptors", "ulimit -n"),
            (24, "EMFILE", Exhausted, "no more descriptors", "ulimit -n"),
            (95, "EOPNOTSUPP", Unsupported, "this machine does not have it", "ironlaw doctor"),
        ] {
            let cause = io::Error::from_raw_os_error(number);
            let error = refused(&cause, "llc-misses", Restrictions { paranoid: Some(4), filtered: false });
            let text = error.to_string();
            assert_eq!(error.kind(), kind, "{name}");
            assert!(text.starts_with("the kernel refused event llc-misses: "), "{name}: {text}");
            assert!(text.contains(meaning) && text.contains(&cause.to_string()), "{name}: {text}");
            assert_eq!(error.remedy().is_some(), !remedy.is_empty(), "{name}");
            assert!(error.remedy().unwrap_or_default().contains(remedy), "{name}: {:?}", error.remedy());
        }
    }

    #[test]
    fn a_filter_in_force_is_named_with_how_to_run_a_container_without() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        for (seccomp, number, expected) in [
            ("2", 1, "perf_event_paranoid=? and the seccomp filter in force ("),
            ("2", 13, "perf_event_paranoid=? and the seccomp filter in force ("),
            ("2", 38, "the seccomp filter in force takes perf_event_open away"),
            ("0", 1, "perf_event_paranoid=? ("),
            ("0", 38, "it cannot be opened"),
        ] {
            std::fs::write(root.path().join("proc/self/status"), format!("Name:\tx\nSeccomp:\t{seccomp}\n")).unwrap();
            let error = refused(&io::Error::from_raw_os_error(number), "cycles", Restrictions::read(root.path()));
            assert!(error.to_string().contains(expected), "{error}");
            let remedy = error.remedy().unwrap_or_default();
            assert_eq!(remedy.contains("docker run --security-opt seccomp=unconfined"), seccomp == "2", "{remedy}");
        }
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_not_made_up() {
        let error = refused(&io::Error::from_raw_os_error(1), "cycles", Restrictions::default());
        assert!(error.to_string().contains("perf_event_paranoid=?"), "{error}");
        let error =
            refused(&io::ErrorKind::UnexpectedEof.into(), "cycles", Restrictions { paranoid: Some(1), filtered: true });
        assert_eq!((error.kind(), error.remedy()), (ErrorKind::Io, None), "not an error of the kernel's");
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        assert_eq!(paranoid(root.path()), None);
        for (text, level) in [("-1\n", Some(-1)), ("4", Some(4)), ("", None), ("two\n", None), ("99999999999\n", None)]
        {
            std::fs::write(root.path().join("proc/sys/kernel/perf_event_paranoid"), text).unwrap();
            assert_eq!(paranoid(root.path()), level, "{text:?}");
        }
    }

    fn set(pmu: u32, role: Role, rate: Rate, stack_bytes: u32, everywhere: bool) -> EventGroup {
        let layout = Layout { stack_bytes, ..Layout::default() };
        let request = Request { rate: Some(rate), layout, ..Request::counting(pmu, [0; 3]) };
        EventGroup {
            requests: vec![request.clone(), request],
            roles: vec![role, role],
            name: "it".to_string(),
            everywhere,
            cpus: vec![],
        }
    }

    #[test]
    fn events_of_samples_may_lie_on_cpus_and_all_others_on_threads() {
        let rate = Rate::Frequency(100);
        let cycles = set(0, Role::Event(0), rate, 1_000, false);
        let tracepoint = set(event::TRACEPOINT, Role::Event(1), rate, 0, false);
        let tasks = set(event::SOFTWARE, Role::Tasks, rate, 0, false);
        let leaving = set(event::SOFTWARE, Role::Leaves(None), Rate::Period(1), 0, false);
        let everywhere = set(0, Role::Event(2), rate, 0, true);
        for (name, set, by_cpu) in [
            ("a sampled event", &cycles, true),
            ("a tracepoint, which the kernel does not filter", &tracepoint, false),
            ("records of tasks", &tasks, false),
            ("context switches", &leaving, false),
        ] {
            assert_eq!(set.is_by_cpu(), by_cpu, "{name}");
        }
        let all = EventRequests { sets: vec![cycles, tracepoint, tasks, leaving, everywhere], ..Default::default() };
        assert_eq!(all.len(), (2, 6), "what is opened everywhere is not the target's");
        assert_eq!(
            all.bytes_per_second(EventGroup::is_by_cpu),
            2 * 1_400 * 100 + 2 * 400 * 100,
            "two each, everywhere too"
        );
        assert_eq!(
            all.bytes_per_second(|set| set.ring_kind() == RingKind::Switches),
            2 * 400 * 8_000,
            "a period is a guess"
        );
        assert_eq!(EventRequests::default().bytes_per_second(|_| true), 0);
    }
}

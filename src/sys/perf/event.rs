//! A perf event: the attributes to request from the kernel, and the open descriptor.
//! Events are opened exactly as requested, without a fallback.

use super::record::Layout;
use crate::model::Rate;
use perf_event_open::config::{
    self as cfg, CallChain, Cgroup, Clock, Cpu, ExtraRecord, Lbr, Mmap, Opts, Priv, Proc, RegsMask, SampleOn,
    SampleSkid, Size, UseBuildId, WakeUpOn, sibling,
};
use perf_event_open::count::{Counter, group::CounterGroup};
use perf_event_open::event::dp::DynamicPmu;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Which new tasks an event follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inherit {
    /// None.
    No,
    /// New threads of the process (kernel 5.13 and later).
    Threads,
    /// New threads and new processes.
    All,
}

/// The parts of `perf_event_attr` that ironlaw uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `perf_event_attr.type`.
    pub pmu: u32,
    /// `config`, `config1`, `config2`.
    pub config: [u64; 3],
    /// Modes that are excluded.
    pub exclude: Priv,
    /// Sampling rate; `None` only counts.
    pub rate: Option<Rate>,
    /// `precise_ip`.
    pub precise: u8,
    /// Always on the PMU, ahead of all multiplexed events. Without a counter it neither counts nor samples.
    pub pinned: bool,
    /// Which new tasks it follows.
    pub inherit: Inherit,
    /// Stays with its task at a switch between related tasks. Otherwise the kernel exchanges their equal inherited
    /// events: cheaper, but when one task ends, a probe is lost in the other. Kernels before 6.13 refuse it for
    /// inherited events.
    pub keeps_task: bool,
    /// Starts when the task next executes a program.
    pub enable_on_exec: bool,
    /// Contents of a sample.
    pub layout: Layout,
    /// Also records mappings, task names, forks and exits, and new control groups if samples name theirs.
    pub side_band: bool,
    /// Also records context switches.
    pub switches: bool,
    /// Wakes the reader when this many bytes wait in the ring this event owns.
    pub watermark: u32,
    /// As a group leader it is read together with its members, by [`PerfEvent::read_group`] only. If its layout says how
    /// many these are, its samples carry all counts.
    pub reads_group: bool,
}

/// `PERF_TYPE_SOFTWARE`.
pub const SOFTWARE: u32 = 1;
/// `PERF_COUNT_SW_CPU_CLOCK`.
const CPU_CLOCK: u64 = 0;
/// `PERF_COUNT_SW_TASK_CLOCK`: nanoseconds.
pub const TASK_CLOCK: u64 = 1;
/// `PERF_COUNT_SW_CONTEXT_SWITCHES`: counts, in the kernel, when a task leaves the CPU.
pub const CONTEXT_SWITCHES: u64 = 3;
/// `PERF_COUNT_SW_DUMMY`: counts nothing, but carries records.
pub const DUMMY: u64 = 9;
/// `PERF_TYPE_TRACEPOINT`.
pub const TRACEPOINT: u32 = 2;

impl Request {
    /// A counting event, opened disabled.
    #[must_use]
    pub fn counting(pmu: u32, config: [u64; 3]) -> Request {
        Request {
            pmu,
            config,
            exclude: Priv::default(),
            rate: None,
            precise: 0,
            pinned: false,
            inherit: Inherit::No,
            keeps_task: false,
            enable_on_exec: false,
            layout: Layout::default(),
            side_band: false,
            switches: false,
            watermark: 0,
            reads_group: false,
        }
    }

    /// Whether it is a clock of the kernel's: sampled by a timer, and counted in nanoseconds.
    #[must_use]
    pub fn is_clock(&self) -> bool {
        self.pmu == SOFTWARE && matches!(self.config[0], CPU_CLOCK | TASK_CLOCK)
    }

    fn event(&self) -> DynamicPmu {
        let [config, config1, config2] = self.config;
        DynamicPmu { ty: self.pmu, config, config1, config2, config3: 0 }
    }

    fn options(&self) -> Opts {
        Opts {
            exclude: self.exclude.clone(),
            pin_on_pmu: self.pinned,
            inherit: self.inherit(),
            on_execve: self.enable_on_exec.then_some(cfg::OnExecve::Enable),
            stat_format: cfg::StatFormat {
                time_enabled: true,
                time_running: true,
                siblings: self.reads_group,
                ..Default::default()
            },
            sample_on: self.sample_on(),
            sample_skid: self.skid(),
            sample_format: self.sample_format(),
            extra_record: self.extra_record(),
            record_id_all: true,
            record_id_format: record_id(),
            wake_up: cfg::WakeUp { on: WakeUpOn::Bytes(self.watermark), on_aux_bytes: 0 },
            timer: Some(Clock::Monotonic),
            ..Default::default()
        }
    }

    /// Options of a group member; clock and scheduling follow the leader.
    fn sibling_options(&self) -> sibling::Opts {
        sibling::Opts {
            exclude: self.exclude.clone(),
            inherit: self.inherit(),
            stat_format: sibling::StatFormat { time_enabled: true, time_running: true, ..Default::default() },
            // Enabling the leader enables all its members; a member opened disabled would stay disabled.
            enable: true,
            sample_on: self.sample_on(),
            sample_skid: self.skid(),
            sample_format: self.sample_format(),
            record_id_all: true,
            record_id_format: record_id(),
            wake_up: cfg::WakeUp { on: WakeUpOn::Bytes(self.watermark), on_aux_bytes: 0 },
            ..Default::default()
        }
    }

    fn inherit(&self) -> Option<cfg::Inherit> {
        match self.inherit {
            Inherit::No => None,
            Inherit::Threads => Some(cfg::Inherit::NewThread),
            Inherit::All => Some(cfg::Inherit::NewChild),
        }
    }

    fn sample_on(&self) -> SampleOn {
        match self.rate {
            None => SampleOn::Count(0),
            Some(Rate::Frequency(hertz)) => SampleOn::Freq(hertz),
            Some(Rate::Period(events)) => SampleOn::Count(events),
        }
    }

    fn skid(&self) -> SampleSkid {
        match self.precise {
            0 => SampleSkid::Arbitrary,
            1 => SampleSkid::Const,
            2 => SampleSkid::ReqZero,
            _ => SampleSkid::Zero,
        }
    }

    fn sample_format(&self) -> cfg::SampleFormat {
        let layout = &self.layout;
        cfg::SampleFormat {
            // The kernel never exchanges events whose samples carry the count.
            stat: self.keeps_task || layout.members > 0,
            code_addr: true,
            period: true,
            call_chain: layout.chain.then_some(CallChain {
                exclude_user: (layout.stack_bytes > 0 && !layout.user_chain) || layout.branches,
                exclude_kernel: self.exclude.kernel,
                defer_user: false,
                max_stack_frames: 0,
            }),
            raw: layout.raw,
            lbr: layout.branches.then(call_stack_branches),
            user_regs: (layout.registers > 0).then_some(RegsMask(layout.registers)),
            user_stack: (layout.stack_bytes > 0).then_some(Size(layout.stack_bytes)),
            cgroup: layout.cgroup,
            data_addr: layout.address,
            data_source: layout.access,
            // The one word that all kernels have: of processors that measure several latencies it is the first, as in
            // the structure that newer ones offer.
            weight: layout.access.then_some(cfg::Repr::Full),
            ..Default::default()
        }
    }

    fn extra_record(&self) -> ExtraRecord {
        ExtraRecord {
            task: self.side_band,
            comm: self.side_band,
            mmap: Mmap { code: self.side_band, data: false, ext: self.side_band.then_some(UseBuildId(false)) },
            ctx_switch: self.switches,
            cgroup: self.side_band && self.layout.cgroup,
            ..Default::default()
        }
    }
}

/// The fields that `record` expects in every sample and at the end of every other record.
fn record_id() -> cfg::RecordIdFormat {
    cfg::RecordIdFormat { id: true, stream_id: false, cpu: true, task: true, time: true }
}

fn call_stack_branches() -> Lbr {
    Lbr {
        target_priv: Some(cfg::TargetPriv { user: true, kernel: false, hv: false }),
        branch_type: cfg::BranchType { call_stack: true, ..Default::default() },
        hw_index: false,
        entry_format: cfg::EntryFormat::default(),
    }
}

/// Where an event counts.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// One thread, on one CPU or on any.
    Task {
        /// Kernel thread id; 0 is the calling thread.
        tid: u32,
        /// `None`: any CPU. An inherited event with a ring needs one.
        cpu: Option<u32>,
    },
    /// Everything on one CPU.
    Cpu(u32),
    /// The tasks of a control group on one CPU.
    Cgroup {
        /// Its directory.
        directory: &'a File,
        /// The CPU.
        cpu: u32,
    },
}

impl From<Place<'_>> for cfg::Target {
    fn from(place: Place<'_>) -> cfg::Target {
        match place {
            Place::Task { tid, cpu: Some(cpu) } => (Proc(tid), Cpu(cpu)).into(),
            Place::Task { tid, cpu: None } => (Proc(tid), Cpu::ALL).into(),
            Place::Cpu(cpu) => (Proc::ALL, Cpu(cpu)).into(),
            Place::Cgroup { directory, cpu } => (Cgroup(directory), Cpu(cpu)).into(),
        }
    }
}

/// Result of a counting event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// The raw count.
    pub value: u64,
    /// Nanoseconds it was enabled.
    pub enabled_ns: u64,
    /// Nanoseconds it was counting.
    pub running_ns: u64,
}

/// Results of the events of a group, all over the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupCounted {
    /// The raw counts, the leader's first.
    pub values: Vec<u64>,
    /// Nanoseconds they were enabled.
    pub enabled_ns: u64,
    /// Nanoseconds they were counting.
    pub running_ns: u64,
}

impl From<GroupCounted> for Counted {
    /// The leader's.
    fn from(GroupCounted { values, enabled_ns, running_ns }: GroupCounted) -> Counted {
        Counted { value: values.first().copied().unwrap_or_default(), enabled_ns, running_ns }
    }
}

/// Maximum number of group members: more than any PMU counts at once.
pub const MOST_MEMBERS: usize = 32;

/// The nanoseconds between two samples of a clock.
#[must_use]
pub fn clock_period(hertz: u64) -> u64 {
    1_000_000_000 / hertz.max(1)
}

/// An opened event; closed when dropped.
#[derive(Debug)]
pub struct PerfEvent {
    fd: OwnedFd,
}

// `_IO('$', n)` of linux/perf_event.h; `_IOW('$', 4, u64)` for the period, `_IOR('$', 7, u64 *)` for the id. The same on all architectures of ironlaw.
const IOC_ENABLE: u32 = 0x2400;
const IOC_DISABLE: u32 = 0x2401;
const IOC_PERIOD: u32 = 0x4008_2404;
const IOC_SET_OUTPUT: u32 = 0x2405;
const IOC_ID: u32 = 0x8008_2407;
const IOC_SET_BPF: u32 = 0x4004_2408;

/// Opens an event, disabled, and the members of its group; the leader comes first.
///
/// # Errors
/// As `perf_event_open(2)`; on failure nothing stays open.
pub fn open(leader: &Request, members: &[Request], place: Place<'_>) -> io::Result<Vec<PerfEvent>> {
    let counter = Counter::new(leader.event(), place, leader.options())?;
    let mut group = CounterGroup::from(counter);
    for member in members {
        group.add(member.event(), member.sibling_options())?;
    }
    // The crate's counters carry buffers and are bound to a thread; only the bare descriptor is needed.
    std::iter::once(group.leader())
        .chain(group.siblings().iter().map(|sibling| &**sibling))
        .map(|counter| Ok(PerfEvent { fd: counter.file().as_fd().try_clone_to_owned()? }))
        .collect()
}

impl PerfEvent {
    /// Starts it, the members of its group and its inherited copies.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn enable(&self) -> io::Result<()> {
        self.control(IOC_ENABLE, 0)
    }

    /// Stops it and its inherited copies.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn disable(&self) -> io::Result<()> {
        self.control(IOC_DISABLE, 0)
    }

    /// Sends its records into the ring of `owner`, which must use the same CPU and clock.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn redirect(&self, owner: &PerfEvent) -> io::Result<()> {
        self.control(IOC_SET_OUTPUT, owner.fd.as_raw_fd())
    }

    /// Attaches a BPF program that decides which overflows become samples.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn filter(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        self.control(IOC_SET_BPF, program.as_raw_fd())
    }

    /// Changes the frequency of an event that was opened with one; of a clock, which the kernel has given a period in place of
    /// that, the period in nanoseconds. Begins the interval to the next sample anew. Copies that tasks have inherited keep
    /// theirs, and samples of a clock carry the period it was opened with all the same.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn set_period(&self, value: u64) -> io::Result<()> {
        // SAFETY: this request reads one u64 through the pointer, which is valid for it.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_PERIOD as _, &raw const value) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The id that its records carry.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn id(&self) -> io::Result<u64> {
        let mut id = 0u64;
        // SAFETY: this request writes one u64 through the pointer, which is valid for it.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_ID as _, &raw mut id) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(id) }
    }

    /// Reads its count, inherited copies included.
    ///
    /// # Errors
    /// As `read(2)`; `UnexpectedEof` when it has been forced off the CPU for good.
    pub fn read(&self) -> io::Result<Counted> {
        let mut bytes = [0u8; 24];
        if rustix::io::read(&self.fd, &mut bytes)? < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let [value, enabled_ns, running_ns] =
            [0, 8, 16].map(|at| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i])));
        Ok(Counted { value, enabled_ns, running_ns })
    }

    /// Reads the counts of its whole group over the same time with one system call: the leader's count, then the
    /// members'. The leader must have been opened with [`Request::reads_group`].
    ///
    /// # Errors
    /// As `read(2)`; `UnexpectedEof` when it has been forced off the CPU for good, or has fewer than `members` members.
    pub fn read_group(&self, members: usize) -> io::Result<GroupCounted> {
        let mut bytes = [0u8; 8 * (3 + MOST_MEMBERS)];
        let length = rustix::io::read(&self.fd, &mut bytes)?;
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[8 * at + i]));
        if members > MOST_MEMBERS || length < 8 * (3 + members) || word(0) != members as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let values = (0..members).map(|at| word(3 + at)).collect();
        Ok(GroupCounted { values, enabled_ns: word(1), running_ns: word(2) })
    }

    fn control(&self, request: u32, argument: i32) -> io::Result<()> {
        // SAFETY: these requests take an integer argument and touch no memory of ours.
        let done = unsafe { libc::ioctl(self.fd.as_raw_fd(), request as _, argument) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for PerfEvent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::counting(4, [0x3c, 0x11, 0x22])
    }

    #[test]
    fn the_numbers_of_an_event_are_handed_over_as_they_are() {
        let DynamicPmu { ty, config, config1, config2, config3 } = request().event();
        assert_eq!((ty, config, config1, config2, config3), (4, 0x3c, 0x11, 0x22, 0));
    }

    #[test]
    fn an_event_that_only_counts_asks_for_no_sample_and_no_record() {
        let options = request().options();
        assert!(matches!(options.sample_on, SampleOn::Count(0)));
        assert!(!options.enable, "it is opened disabled");
        assert!(!options.pin_on_pmu && options.inherit.is_none() && options.on_execve.is_none());
        let ExtraRecord { task, comm, mmap, ctx_switch, .. } = &options.extra_record;
        assert!(!task && !comm && !ctx_switch && !mmap.code && !mmap.data && mmap.ext.is_none());
        assert!(options.stat_format.time_enabled && options.stat_format.time_running, "or multiplexing stays unseen");
        assert!(!options.stat_format.siblings && options.sample_format.call_chain.is_none());
    }

    #[test]
    fn a_rate_becomes_a_frequency_or_a_period() {
        let with = |rate| Request { rate, ..request() }.options().sample_on;
        assert!(matches!(with(Some(Rate::Frequency(997))), SampleOn::Freq(997)));
        assert!(matches!(with(Some(Rate::Period(100_003))), SampleOn::Count(100_003)));
        assert!(matches!(with(None), SampleOn::Count(0)));
    }

    #[test]
    fn precision_is_a_request_up_to_three() {
        let with = |precise| Request { precise, ..request() }.options().sample_skid;
        assert!(matches!(with(0), SampleSkid::Arbitrary));
        assert!(matches!(with(1), SampleSkid::Const));
        assert!(matches!(with(2), SampleSkid::ReqZero));
        assert!(matches!(with(3), SampleSkid::Zero));
        assert!(matches!(with(255), SampleSkid::Zero), "more than there is");
    }

    #[test]
    fn new_tasks_are_followed_as_asked_by_the_leader_and_by_its_members() {
        for (inherit, threads, all) in
            [(Inherit::No, false, false), (Inherit::Threads, true, false), (Inherit::All, false, true)]
        {
            let request = Request { inherit, ..request() };
            for asked in [request.options().inherit, request.sibling_options().inherit] {
                assert_eq!(matches!(asked, Some(cfg::Inherit::NewThread)), threads, "{inherit:?}");
                assert_eq!(matches!(asked, Some(cfg::Inherit::NewChild)), all, "{inherit:?}");
            }
        }
    }

    #[test]
    fn a_member_begins_with_its_leader_and_keeps_its_own_sampling() {
        let member = Request { rate: Some(Rate::Frequency(97)), precise: 2, enable_on_exec: true, ..request() };
        let options = member.sibling_options();
        assert!(options.enable, "a member opened disabled would stay disabled");
        assert!(matches!(options.sample_on, SampleOn::Freq(97)));
        assert!(matches!(options.sample_skid, SampleSkid::ReqZero));
        assert!(options.record_id_all && options.stat_format.time_enabled && options.stat_format.time_running);
    }

    #[test]
    fn a_sample_holds_what_its_layout_says() {
        for (name, layout, chain, user_left_out, stack, registers, raw, branches) in [
            ("an address alone", Layout::default(), false, false, 0, 0, false, false),
            ("the kernel's chain", Layout { chain: true, ..Layout::default() }, true, false, 0, 0, false, false),
            (
                "a copy of the stack",
                Layout { chain: true, stack_bytes: 8192, registers: 0xff, ..Layout::default() },
                true,
                true,
                8192,
                0xff,
                false,
                false,
            ),
            (
                "a copy of the stack and frame pointers",
                Layout { chain: true, user_chain: true, stack_bytes: 8192, registers: 0xff, ..Layout::default() },
                true,
                false,
                8192,
                0xff,
                false,
                false,
            ),
            (
                "branch records",
                Layout { chain: true, branches: true, ..Layout::default() },
                true,
                true,
                0,
                0,
                false,
                true,
            ),
            ("a tracepoint's fields", Layout { raw: true, ..Layout::default() }, false, false, 0, 0, true, false),
        ] {
            let format = Request { layout, ..request() }.sample_format();
            assert_eq!(format.call_chain.is_some(), chain, "{name}");
            let left_out = format.call_chain.as_ref().is_some_and(|chain| chain.exclude_user);
            assert_eq!(left_out, user_left_out, "{name}: user frames come from elsewhere");
            assert_eq!(format.user_stack.as_ref().map_or(0, |size| size.0), stack, "{name}");
            assert_eq!(format.user_regs.as_ref().map_or(0, |mask| mask.0), registers, "{name}");
            assert_eq!((format.raw, format.lbr.is_some()), (raw, branches), "{name}");
            assert!(format.code_addr && format.period, "{name}: every sample says where and how heavy");
        }
    }

    #[test]
    fn the_kernels_frames_are_left_out_with_the_kernel() {
        let layout = Layout { chain: true, ..Layout::default() };
        for kernel in [false, true] {
            let exclude = Priv { kernel, ..Priv::default() };
            let format = Request { layout, exclude, ..request() }.sample_format();
            assert_eq!(format.call_chain.map(|chain| chain.exclude_kernel), Some(kernel));
        }
    }

    #[test]
    fn one_event_carries_the_records_of_what_changes() {
        let side = Request { side_band: true, ..request() }.extra_record();
        assert!(side.task && side.comm && side.mmap.code && side.mmap.ext.is_some() && !side.ctx_switch);
        assert!(!side.mmap.data, "data mappings are many and hold no code");
        let switches = Request { switches: true, ..request() }.extra_record();
        assert!(switches.ctx_switch && !switches.task && !switches.mmap.code);
    }

    #[test]
    fn what_stays_with_its_task_says_so_by_the_count_in_its_samples() {
        for keeps_task in [false, true] {
            assert_eq!(Request { keeps_task, ..request() }.sample_format().stat, keeps_task);
        }
    }

    #[test]
    fn a_pinned_event_and_one_that_waits_for_exec_say_so() {
        let options =
            Request { pinned: true, enable_on_exec: true, reads_group: true, watermark: 4096, ..request() }.options();
        assert!(options.pin_on_pmu && options.stat_format.siblings);
        assert!(matches!(options.on_execve, Some(cfg::OnExecve::Enable)));
        assert!(matches!(options.wake_up.on, WakeUpOn::Bytes(4096)));
        assert!(matches!(options.timer, Some(Clock::Monotonic)), "all records have one clock");
    }

    #[test]
    fn every_record_names_its_event_cpu_task_and_time() {
        let cfg::RecordIdFormat { id, stream_id, cpu, task, time } = record_id();
        assert!(id && cpu && task && time && !stream_id);
    }

    /// The clock counts for everybody who may open an event at all; elsewhere there is nothing to read.
    #[test]
    fn a_group_of_clocks_is_read_at_once_and_alone_alike() {
        let clock = |config| Request {
            exclude: Priv { kernel: true, hv: true, ..Priv::default() },
            ..Request::counting(SOFTWARE, [config, 0, 0])
        };
        let leader = Request { reads_group: true, ..clock(1) };
        let place = Place::Task { tid: 0, cpu: None };
        let Ok(events) = open(&leader, &[clock(0)], place) else { return };
        assert_eq!(events.len(), 2);
        events[0].enable().expect("it can be enabled");
        let mut sum = 0u64;
        while events[0].read_group(2).expect("two clocks").values.contains(&0) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        events[0].disable().expect("it can be disabled");
        let group = events[0].read_group(2).expect("two clocks");
        let alone = events[1].read().expect("a clock");
        assert_eq!(group.values[1], alone.value, "nothing counts any more");
        assert!(group.running_ns <= group.enabled_ns && alone.running_ns <= alone.enabled_ns);
        for members in [0, 1, 3, MOST_MEMBERS + 1] {
            let error = events[0].read_group(members).expect_err("it has two events");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{members}");
        }
        assert_ne!(events[0].id().expect("an id"), events[1].id().expect("an id"));
    }

    #[test]
    fn what_the_kernel_refuses_leaves_nothing_open() {
        let descriptors = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let wrong = Request::counting(u32::MAX, [0; 3]);
        let right = Request::counting(SOFTWARE, [DUMMY, 0, 0]);
        let place = Place::Task { tid: 0, cpu: None };
        // Other tests open files meanwhile: a leak of a hundred would show nevertheless.
        let before = descriptors();
        for _ in 0..100 {
            assert!(open(&wrong, &[], place).is_err());
            assert!(open(&right, std::slice::from_ref(&wrong), place).is_err());
            assert!(open(&right, &[], Place::Cpu(100_000)).is_err());
        }
        assert!(descriptors() < before + 90, "{before} descriptors became {}", descriptors());
    }
}

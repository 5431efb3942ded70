//! Opens the events on the target, all of a CPU's into one ring, and chooses how: per thread, per CPU or per control
//! group. The events are opened stopped.

use super::event_requests::{EventGroup, EventRequests, Restrictions, paranoid, refused};
use super::new_threads::threads_of;
use super::origin::{Origin, Origins, RingKind, Role};
use super::rings::Rings;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, SampleSource, Target};
use crate::sys::bpf::{ProcessFilter, WaitSums};
use crate::sys::limits;
use crate::sys::perf::event::{self, Inherit, PerfEvent, Place, Request};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io;
use std::path::Path;

/// Above this number of events, whole CPUs are sampled instead of every thread. Each event costs about 70 us to open
/// and its share of every context switch. Sampling a CPU costs nothing per thread, but delivers (and drops) all others'
/// samples.
const MOST_EVENTS: usize = 2048;
/// The same if nothing is sampled and the target's own events are to be counted: some seconds to open them.
const MOST_COUNTING: usize = 32_768;
/// Bytes per second that may flow and be dropped if the kernel does not keep others' samples out of the rings.
const CHEAP: u64 = 16 << 20;
/// Descriptors reserved for everything else.
const SPARE_FILES: usize = 128;
const ESRCH: i32 = 3;
const EINVAL: i32 = 22;
const ENODEV: i32 = 19;

/// The opened events.
#[derive(Debug, Default)]
pub struct Attached {
    /// The rings.
    pub rings: Rings,
    /// Events to start and stop.
    pub events: Vec<PerfEvent>,
    /// Events to start and stop on whole CPUs, whatever the target: `exec` does not start them.
    pub everywhere: Vec<PerfEvent>,
    /// Keeps others' samples out if whole CPUs are sampled for a few processes.
    pub filter: Option<ProcessFilter>,
    /// Where samples are taken.
    pub samples: SampleSource,
    /// Events by the id in their records.
    pub origins: Origins,
    /// Threads that may be sampled by an inherited event as well as by their own.
    pub twice: FxHashSet<u32>,
    /// Fallbacks taken and limits reached.
    pub notes: Vec<Note>,
}

impl Attached {
    /// All events.
    pub fn all(&self) -> impl Iterator<Item = &PerfEvent> {
        self.events.iter().chain(&self.everywhere)
    }

    /// The event at this position among all.
    pub fn at(&self, at: usize) -> Option<&PerfEvent> {
        self.events.get(at).or_else(|| self.everywhere.get(at - self.events.len()))
    }
}

/// The objects that events are opened on.
#[derive(Debug)]
pub enum AttachScope {
    /// Each thread of these processes.
    Processes(Vec<u32>, Inherit),
    /// These threads.
    Threads(Vec<u32>),
    /// All tasks on the CPUs; samples of other processes are dropped, in the kernel if it accepts the filter.
    Cpus(Option<(Vec<u32>, Inherit)>),
    /// Control groups: events on each CPU for each of them.
    Cgroups(Vec<CgroupDirectory>),
}

/// A control group to open events on.
///
/// Several groups have events of their own on every CPU (`PERF_FLAG_PID_CGROUP`) rather than one set of events whose
/// samples name their group: hardware counts can be told apart by group in no other way, others' samples cost nothing
/// because the kernel switches the events off while no task of the group runs, and kernels before 5.7 can do it. The
/// cost is groups times CPUs, however many threads there are.
#[derive(Debug)]
pub struct CgroupDirectory {
    /// The opened directory.
    pub directory: File,
    /// Whether the group lies in another one of the target: its tasks are sampled and counted there already.
    pub is_within: bool,
}

/// Chooses how to reach a target. `command` is the process of a started command; files are read below `root`.
///
/// # Errors
/// `NotFound` for a target that does not exist; `Exhausted` and `NotPermitted` if it has more threads than descriptors.
pub fn attach_scope(
    target: &Target,
    command: Option<u32>,
    event_requests: &EventRequests,
    cpus: &[u32],
    root: &Path,
    notes: &mut Vec<Note>,
) -> Result<AttachScope> {
    match target {
        Target::Command { .. } => Ok(AttachScope::Processes(command.into_iter().collect(), Inherit::All)),
        Target::Threads { tids } => Ok(AttachScope::Threads(tids.clone())),
        Target::Cpus { .. } => Ok(AttachScope::Cpus(None)),
        Target::Cgroup { .. } => {
            let outermost = target.outermost_cgroups();
            let open = |(name, path): (&str, &Path)| {
                let directory = File::open(path)
                    .map_err(|error| Error::from(error).context(format!("cannot open control group {name}")))?;
                Ok(CgroupDirectory { directory, is_within: !outermost.contains(&path) })
            };
            Ok(AttachScope::Cgroups(target.cgroups().into_iter().map(open).collect::<Result<_>>()?))
        }
        Target::Processes { pids, children } => {
            let mut threads = 0;
            // Children that have ended since they were listed are not missed.
            let gone = pids.iter().filter(|pid| {
                let found = threads_of(root, **pid).len();
                threads += found;
                found == 0
            });
            let gone: Vec<u32> = gone.copied().collect();
            if let Some(pid) = gone.first().filter(|_| !*children || gone.len() == pids.len()) {
                return Err(Error::new(ErrorKind::NotFound, format!("process {pid} does not exist")));
            }
            let inherit = if *children { Inherit::All } else { Inherit::Threads };
            let each = AttachScope::Processes(pids.clone(), inherit);
            let whole = AttachScope::Cpus(Some((pids.clone(), inherit)));
            per_thread_or_cpu(threads, event_requests, cpus, root, notes)
                .map(|per_thread| if per_thread { each } else { whole })
        }
    }
}

/// Whether to open events on each of these threads (true) or on whole CPUs (false).
fn per_thread_or_cpu(
    threads: usize,
    event_requests: &EventRequests,
    cpus: &[u32],
    root: &Path,
    notes: &mut Vec<Note>,
) -> Result<bool> {
    let limit = limits::raise_open_files().map_or(usize::MAX, |limit| limit as usize);
    let whole = may_open_cpus(event_requests, cpus);
    let (by_cpu, by_thread) = event_requests.len();
    let needed = if whole { threads * by_thread + by_cpu } else { threads * (by_thread + by_cpu) } * cpus.len();
    let fits = needed + SPARE_FILES <= limit;
    // Whole CPUs would count all others' events as well.
    let most = if event_requests.only_counts() { MOST_COUNTING } else { MOST_EVENTS };
    if needed <= most && fits {
        return Ok(true);
    }
    if whole {
        notes.push(Note {
            topic: "whole-cpus".to_string(),
            text: format!(
                "{threads} threads would need {needed} events: those of whole CPUs are taken instead and only the target's \
                 records kept."
            ),
            fix: None,
        });
        return Ok(false);
    }
    if fits {
        return Ok(true);
    }
    let level = paranoid(root).map_or("?".to_string(), |level| level.to_string());
    let text = format!(
        "{threads} threads need {needed} descriptors besides {SPARE_FILES} for files, and only {limit} may be open \
         (RLIMIT_NOFILE)"
    );
    Err(Error::new(ErrorKind::Exhausted, text).hint(format!(
        "Raise the hard limit (ulimit -Hn), or let whole CPUs be sampled: run as root or set \
         kernel.perf_event_paranoid=0 (now {level})."
    )))
}

/// Whether events on CPUs are permitted.
pub(super) fn may_open_cpus(event_requests: &EventRequests, cpus: &[u32]) -> bool {
    let request = event_requests.sets.first().and_then(|set| set.requests.first());
    request.zip(cpus.first()).is_some_and(|(request, cpu)| event::open(request, &[], Place::Cpu(*cpu)).is_ok())
}

/// Opens the requested events on everything in `attach_scope`. With `on_exec` they start by themselves at the next `exec`.
///
/// # Errors
/// The meaning of the kernel's refusal, with the remedy.
pub fn attach(
    event_requests: &EventRequests,
    attach_scope: &AttachScope,
    cpus: &[u32],
    on_exec: bool,
    root: &Path,
) -> Result<Attached> {
    let mut attacher =
        Attacher { event_requests, cpus, on_exec, root, done: Attached::default(), inherit: Inherit::No };
    let (rings, note) = Rings::open(cpus, event_requests, root)?;
    attacher.done.rings = rings;
    attacher.done.notes.extend(note);
    attacher.whole_cpus(|set| set.everywhere)?;
    match attach_scope {
        AttachScope::Processes(pids, inherit) => {
            attacher.follow(pids);
            attacher.sample_cpus(pids, *inherit)?;
            attacher.processes(pids, *inherit)?;
        }
        AttachScope::Threads(tids) => attacher.threads(tids)?,
        AttachScope::Cpus(keep) => {
            attacher.done.samples = SampleSource::Cpus;
            attacher.whole_cpus(|set| !set.everywhere)?;
            if let Some((pids, inherit)) = keep {
                attacher.follow(pids);
                attacher.open_filter(pids, *inherit);
                attacher.keep_in_kernel();
            }
        }
        AttachScope::Cgroups(groups) => {
            attacher.done.samples = SampleSource::Cpus;
            let mut groups = groups.iter().filter(|group| !group.is_within);
            groups.try_for_each(|group| attacher.cgroup(&group.directory))?;
        }
    }
    Ok(attacher.done)
}

/// `None` if the kernel or its permissions do not allow a filter, or there are too many processes.
fn filter(pids: &[u32], inherit: Inherit, root: &Path) -> Option<ProcessFilter> {
    let filter = ProcessFilter::open(inherit == Inherit::All, root).ok()?;
    pids.iter().try_for_each(|pid| filter.add(*pid)).ok()?;
    Some(filter)
}

struct Attacher<'a> {
    event_requests: &'a EventRequests,
    cpus: &'a [u32],
    on_exec: bool,
    root: &'a Path,
    done: Attached,
    inherit: Inherit,
}

impl Attacher<'_> {
    /// Samples whole CPUs on behalf of some processes, if that is permitted and others' samples cost little. An event
    /// on a thread loses its current period when the thread ends, so a thread that lives shorter than a period is
    /// hardly sampled.
    fn sample_cpus(&mut self, pids: &[u32], inherit: Inherit) -> Result<()> {
        if !may_open_cpus(self.event_requests, self.cpus) || self.keeps_to_tasks() {
            return Ok(());
        }
        self.open_filter(pids, inherit);
        if self.filter().is_none()
            && self.event_requests.bytes_per_second(EventGroup::is_by_cpu) > CHEAP / self.cpus.len() as u64
        {
            return Ok(());
        }
        self.done.samples = SampleSource::Cpus;
        self.whole_cpus(EventGroup::is_by_cpu)?;
        self.keep_in_kernel();
        Ok(())
    }

    /// The kernel's sums of waits have a filter that serves samples as well.
    fn filter(&self) -> Option<&ProcessFilter> {
        self.event_requests.sums.as_ref().and_then(WaitSums::filter).or(self.done.filter.as_ref())
    }

    fn open_filter(&mut self, pids: &[u32], inherit: Inherit) {
        if self.filter().is_none() {
            self.done.filter = filter(pids, inherit, self.root);
        }
    }

    /// Adds the processes whose waits are summed.
    fn follow(&self, pids: &[u32]) {
        let filter = self.event_requests.sums.as_ref().and_then(WaitSums::filter);
        // More processes than there is room for end no capture: the waits of the last are not seen.
        filter.into_iter().for_each(|filter| pids.iter().for_each(|pid| drop(filter.add(*pid))));
    }

    /// Whether sampling events must stay on the tasks. Multiplexed events on CPUs are scheduled before those of tasks,
    /// so the target's counting groups would hardly get a counter; and counter interrupts on all CPUs of a virtual
    /// machine have locked one up.
    fn keeps_to_tasks(&self) -> bool {
        let hardware = |request: &Request| !matches!(request.pmu, event::SOFTWARE | event::TRACEPOINT);
        let pinned = |set: &EventGroup| set.requests.first().is_some_and(|leader| leader.pinned);
        let mut sets = self.event_requests.sets.iter().filter(|set| set.is_by_cpu());
        sets.any(|set| set.requests.iter().any(hardware) && (self.event_requests.is_virtual || !pinned(set)))
    }

    /// Opens events on every thread, listing the threads until no new one appears. Those found later may have been
    /// created by a thread that was already attached, and then have its event too.
    fn processes(&mut self, pids: &[u32], inherit: Inherit) -> Result<()> {
        self.inherit = inherit;
        let mut seen = FxHashSet::default();
        for (look, _) in (0..64).enumerate() {
            let found: Vec<u32> = pids.iter().flat_map(|pid| threads_of(self.root, *pid)).collect();
            let fresh: Vec<u32> = found.into_iter().filter(|tid| seen.insert(*tid)).collect();
            if fresh.is_empty() {
                break;
            }
            for tid in fresh {
                let opened = self.thread(tid)?;
                if opened && look > 0 && self.inherit != Inherit::No {
                    self.done.twice.insert(tid);
                }
            }
        }
        if self.done.events.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("{} ended before it could be profiled", list(pids))));
        }
        Ok(())
    }

    fn threads(&mut self, tids: &[u32]) -> Result<()> {
        for tid in tids {
            if !self.thread(*tid)? {
                return Err(Error::new(ErrorKind::NotFound, format!("thread {tid} does not exist")));
            }
        }
        Ok(())
    }

    /// Returns false if the thread has ended.
    fn thread(&mut self, tid: u32) -> Result<bool> {
        for at in 0..self.cpus.len() {
            let place = Place::Task { tid, cpu: Some(self.cpus[at]) };
            let by_cpu =
                |set: &EventGroup| set.everywhere || (self.done.samples == SampleSource::Cpus && set.is_by_cpu());
            let cpu = self.cpus[at];
            let is_its = |set: &&EventGroup| !by_cpu(set) && set.is_on(cpu);
            let sets: Vec<&EventGroup> = self.event_requests.sets.iter().filter(is_its).collect();
            for set in sets {
                match self.set(set, place, at, Some(tid)) {
                    Err(error) if error.raw_os_error() == Some(ESRCH) => return Ok(false),
                    Err(error) => {
                        return Err(self.explained(&error, set).context(format!("cannot profile thread {tid}")));
                    }
                    Ok(()) => {}
                }
            }
        }
        Ok(true)
    }

    /// Opens the selected sets on each CPU.
    fn whole_cpus(&mut self, which: impl Fn(&EventGroup) -> bool) -> Result<()> {
        for at in 0..self.cpus.len() {
            let cpu = self.cpus[at];
            for set in self.event_requests.sets.iter().filter(|set| which(set) && set.is_on(cpu)) {
                let opened = self.set(set, Place::Cpu(cpu), at, None);
                self.cpu_result(opened, set, cpu)?;
            }
        }
        Ok(())
    }

    fn cgroup(&mut self, directory: &File) -> Result<()> {
        for at in 0..self.cpus.len() {
            let cpu = self.cpus[at];
            for set in self.event_requests.sets.iter().filter(|set| !set.everywhere && set.is_on(cpu)) {
                let opened = self.set(set, Place::Cgroup { directory, cpu }, at, None);
                self.cpu_result(opened, set, cpu)?;
            }
        }
        Ok(())
    }

    /// Skips a CPU that went offline meanwhile.
    fn cpu_result(&self, opened: io::Result<()>, set: &EventGroup, cpu: u32) -> Result<()> {
        match opened {
            Err(error) if error.raw_os_error() == Some(ENODEV) && self.cpus.len() > 1 => Ok(()),
            Err(error) => Err(self.explained(&error, set).context(format!("cannot profile CPU {cpu}"))),
            Ok(()) => Ok(()),
        }
    }

    /// What a refusal means for this group.
    fn explained(&self, error: &io::Error, set: &EventGroup) -> Error {
        let meant = refused(error, &set.name, Restrictions::read(self.root));
        let is_access = set.requests.iter().any(|request| request.layout.access);
        if is_access && meant.kind() == ErrorKind::Unsupported {
            return meant.hint(
                "Without PEBS or IBS, as in most virtual machines, leave --mem away. Older kernels let IBS sample only \
                 whole CPUs with the kernel's code: run as root with -a.",
            );
        }
        meant
    }

    /// Opens one group at one place, with its records in the CPU's ring.
    fn set(&mut self, set: &EventGroup, place: Place<'_>, at: usize, owner: Option<u32>) -> io::Result<()> {
        let events = match self.open(set, place) {
            // Kernels before 5.13 cannot inherit to threads only; what child processes add is dropped later.
            Err(error) if error.raw_os_error() == Some(EINVAL) && self.inherit == Inherit::Threads => {
                self.inherit = Inherit::All;
                self.open(set, place)?
            }
            opened => opened?,
        };
        for ((event, role), request) in events.iter().zip(&set.roles).zip(&set.requests) {
            if let Some(ring) = self.done.rings.of(role.ring_kind(), at) {
                event.redirect(ring.owner())?;
            }
            if let (Role::Waits, Place::Cpu(cpu), Some(sums)) = (role, place, &self.event_requests.sums) {
                sums.send(cpu, event)?;
            }
            self.done.origins.insert(event.id()?, Origin { role: *role, layout: request.layout, owner });
        }
        let by_exec = matches!(place, Place::Task { .. });
        if by_exec { &mut self.done.events } else { &mut self.done.everywhere }.extend(events);
        Ok(())
    }

    fn open(&self, set: &EventGroup, place: Place<'_>) -> io::Result<Vec<PerfEvent>> {
        let whole = !matches!(place, Place::Task { .. });
        let prepare = |request: &Request| {
            let mut request = request.clone();
            request.inherit = if whole { Inherit::No } else { self.inherit };
            // A CPU does not call `exec`: such an event is started explicitly.
            request.enable_on_exec = self.on_exec && !whole;
            request.exclude.idle = whole && request.pmu == event::SOFTWARE;
            request
        };
        let requests: Vec<Request> = set.requests.iter().map(prepare).collect();
        match requests.split_first() {
            Some((leader, members)) => event::open(leader, members, place),
            None => Ok(Vec::new()),
        }
    }

    /// If the kernel accepts a program, others' samples are dropped before they cost a copy, otherwise after the ring.
    /// Tracepoints reject this kind of program.
    fn keep_in_kernel(&self) {
        let Some(filter) = self.filter() else { return };
        for event in &self.done.everywhere {
            let origin = event.id().ok().and_then(|id| self.done.origins.get(&id));
            if origin.is_some_and(|origin| origin.role.ring_kind() == RingKind::Samples) {
                let _ = event.filter(filter.program());
            }
        }
    }
}

fn list(pids: &[u32]) -> String {
    let names: Vec<_> = pids.iter().map(u32::to_string).collect();
    format!("process {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_exist_is_named() {
        let event_requests = EventRequests::default();
        let target = Target::Processes { pids: vec![std::process::id(), 4_194_400], children: false };
        let error = attach_scope(&target, None, &event_requests, &[0], Path::new("/"), &mut vec![]).map(|_| ()).err();
        assert_eq!(error.map(|error| error.to_string()), Some("process 4194400 does not exist".to_string()));
    }

    #[test]
    fn own_threads_are_found() {
        let main = std::process::id();
        let threads = threads_of(Path::new("/"), main);
        assert!(threads.contains(&main) && threads.len() > 1, "the test runs on a thread of its own");
    }
}

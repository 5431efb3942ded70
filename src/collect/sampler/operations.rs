//! Counts operations in the kernel: calls of a function or hits of a tracepoint, wherever the target runs. Counts are
//! not sampled or scaled: a count includes every hit, or a note reports that it is less.

use super::event_requests::{Restrictions, refused};
use super::new_threads::{settled, threads_of};
use super::probe::{self, Probe, Search, Wanted};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, OpsSpec, Plan, Target};
use crate::sys::cgroupfs;
use crate::sys::perf::event::{self, Counted, Inherit, PerfEvent, Request, SOFTWARE, TASK_CLOCK, TRACEPOINT};
use crate::sys::perf::tracefs::{self, Format};
use crate::units::{Nanos, Ops};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Share of the target's CPU time that probing may take before the numbers are reported as distorted.
const DISTORTS: f64 = 0.02;
const ESRCH: i32 = 3;
const EINVAL: i32 = 22;
const ENODEV: i32 = 19;
/// `ENOTSUPP`, which the kernel returns for an instruction it cannot probe, and which C does not define.
const ENOTSUPP: i32 = 524;

/// The counters. Fields drop in order: the events before the probe they are on.
#[derive(Debug)]
pub struct Operations {
    counters: Vec<Counter>,
    /// What counters that were closed had counted.
    closed: Counted,
    /// Never started: see [`OpsRequest::placeholders`].
    placeholders: Vec<PerfEvent>,
    probe: Option<Probe>,
}

#[derive(Debug)]
struct Counter {
    event: PerfEvent,
    /// Kept for when it can no longer be read.
    last: Counted,
    /// What it counted in a trial.
    before: Counted,
}

/// The event requested from the kernel; an older kernel may accept only a weaker one.
struct OpsRequest<'a> {
    request: Request,
    /// Whether it counts hits of a probe.
    probed: bool,
    name: String,
    root: &'a Path,
}

/// Where the events of a capture are opened.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The process of a started command.
    pub command: Option<u32>,
    /// The CPUs of targets that are not tasks.
    pub cpus: &'a [u32],
    /// Whether the events of a command start at its `exec`.
    pub on_exec: bool,
    /// Files are read below it.
    pub root: &'a Path,
}

impl Operations {
    /// Opens the plan's counting events, stopped; `None` if it counts nothing or something the kernel does not count.
    ///
    /// # Errors
    /// `NotFound` for a function or tracepoint that does not exist, with similar names; `NotPermitted` and
    /// `Unsupported` for what the kernel refuses; `Exhausted` for limits; all with the remedy.
    pub fn open(plan: &Plan, place: &Place<'_>, notes: &mut Vec<Note>) -> Result<Option<Operations>> {
        let wanted = match &plan.ops {
            Some(OpsSpec::Tracepoint { category, name }) => {
                let id = Format::read(&tracefs::reach(place.root)?, category, name)?.id;
                return Operations::on(id, format!("{category}:{name}"), None, &plan.target, place, notes).map(Some);
            }
            Some(OpsSpec::Uprobe { binary, symbol }) => (binary, Wanted::Calls(symbol)),
            Some(OpsSpec::Usdt { binary, provider, name }) => (binary, Wanted::Hits(provider.as_deref(), name)),
            _ => return Ok(None),
        };
        let probe = probed(wanted.0, wanted.1, &plan.target, place.root)?;
        notes.push(probe.note());
        Operations::of_probe(probe, &plan.target, place, notes).map(Some)
    }

    /// Opens counters of a probe's hits, stopped.
    ///
    /// # Errors
    /// As for [`Operations::open`].
    pub fn of_probe(probe: Probe, target: &Target, place: &Place<'_>, notes: &mut Vec<Note>) -> Result<Operations> {
        Operations::on(probe.id(), probe.name().to_string(), Some(probe), target, place, notes)
    }

    fn on(
        id: u64,
        name: String,
        probe: Option<Probe>,
        target: &Target,
        &Place { command, cpus, on_exec, root }: &Place<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<Operations> {
        let mut request = Request::counting(TRACEPOINT, [id, 0, 0]);
        request.enable_on_exec = on_exec;
        let mut requested = OpsRequest { request, probed: probe.is_some(), name, root };
        let events = requested.open(target, command, cpus, notes)?;
        let placeholders = requested.placeholders(cpus, notes);
        Ok(Operations { counters: counters(events), closed: Counted::default(), placeholders, probe })
    }

    /// Takes the counters out, to be closed: that takes the kernel up to a quarter of a second if they are on a probe. What
    /// they counted stays.
    pub fn close(&mut self) -> impl Send + use<> {
        self.count();
        self.closed = self.total();
        (std::mem::take(&mut self.counters), std::mem::take(&mut self.placeholders))
    }

    /// Opens counters again after they were closed, stopped.
    ///
    /// # Errors
    /// As for [`Operations::open`].
    pub fn reopen(&mut self, target: &Target, place: &Place<'_>) -> Result<()> {
        let Some(probe) = &self.probe else { return Ok(()) };
        let opened = Operations::on(probe.id(), probe.name().to_string(), None, target, place, &mut Vec::new())?;
        (self.counters, self.placeholders) = (opened.counters, opened.placeholders);
        Ok(())
    }

    /// Runs a program at each hit, as long as these counters are open.
    ///
    /// # Errors
    /// As `ioctl(2)`.
    pub fn attach(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        // One event is enough: the program belongs to the tracepoint that all of them count.
        self.counters.first().map_or(Ok(()), |counter| counter.event.filter(program))
    }

    /// Opens a counter of the target's CPU time in nanoseconds, stopped. Files are read below `root`.
    ///
    /// # Errors
    /// As for [`Operations::open`].
    pub fn cpu_time(target: &Target, cpus: &[u32], root: &Path) -> Result<Operations> {
        let request = Request::counting(SOFTWARE, [TASK_CLOCK, 0, 0]);
        let mut requested = OpsRequest { request, probed: false, name: "task-clock".to_string(), root };
        let events = requested.open(target, None, cpus, &mut Vec::new())?;
        Ok(Operations { counters: counters(events), closed: Counted::default(), placeholders: Vec::new(), probe: None })
    }

    /// Stops counting, for now.
    pub fn disable(&self) {
        self.counters.iter().for_each(|counter| drop(counter.event.disable()));
    }

    /// All hits so far.
    pub fn count(&mut self) -> u64 {
        for counter in &mut self.counters {
            counter.last = counter.event.read().unwrap_or(counter.last);
        }
        self.total().value
    }

    /// Counts from zero again. Call it while it is stopped.
    pub fn begin_anew(&mut self) {
        self.count();
        self.counters.iter_mut().for_each(|counter| counter.before = counter.last);
    }

    /// The cost of each hit to the target, if it is that of a probe and could be measured.
    pub fn cost_ns(&self) -> Option<f64> {
        self.probe.as_ref().and_then(Probe::cost_ns)
    }

    /// Whether it counts hits of a probe, which stops the target at each.
    pub fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// What the hits so far should have cost the target, by what one did in a trial.
    pub fn expected_cost(&self) -> Option<Nanos> {
        self.cost_ns().map(|cost| Nanos((self.total().value as f64 * cost) as u64))
    }

    /// Starts counting.
    pub fn enable(&self) {
        // A thread that has ended meanwhile has nothing left to count.
        self.counters.iter().for_each(|counter| drop(counter.event.enable()));
    }

    /// All hits so far, those of ended threads and processes included.
    pub fn read(&mut self) -> Ops {
        Ops(self.count())
    }

    fn total(&self) -> Counted {
        self.counters.iter().fold(self.closed, |total, counter| Counted {
            value: total.value + (counter.last.value - counter.before.value),
            enabled_ns: total.enabled_ns + (counter.last.enabled_ns - counter.before.enabled_ns),
            running_ns: total.running_ns + (counter.last.running_ns - counter.before.running_ns),
        })
    }

    /// Notes on the count, once it has been read for the last time.
    pub fn verdict(&self, sampled: Nanos) -> Vec<Note> {
        let total = self.total();
        let cost = self.cost_ns();
        multiplexed(total).into_iter().chain(cost.and_then(|cost| distorted(total, cost, sampled))).collect()
    }
}

fn counters(events: Vec<PerfEvent>) -> Vec<Counter> {
    let (last, before) = (Counted::default(), Counted::default());
    events.into_iter().map(|event| Counter { event, last, before }).collect()
}

/// The definition of a probe.
fn probed(binary: &Path, wanted: Wanted<'_>, target: &Target, root: &Path) -> Result<Probe> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Probe::define(binary, wanted, &Search { pids: &processes(target), path: &path, root })
}

/// It did not count all the time. This cannot happen to events that need no hardware.
fn multiplexed(total: Counted) -> Option<Note> {
    (total.running_ns < total.enabled_ns).then(|| {
        let share = 100.0 * total.running_ns as f64 / total.enabled_ns as f64;
        note(
            "ops-multiplexed",
            &format!("Operations were counted for {share:.1}% of the time only; this is not made up for."),
        )
    })
}

/// The probe took so much of the target's time that everything else measured describes a slower program.
fn distorted(total: Counted, cost_ns: f64, sampled: Nanos) -> Option<Note> {
    let share = total.value as f64 * cost_ns / total.running_ns as f64;
    (share > DISTORTS).then(|| Note {
        topic: "ops-probe-cost".to_string(),
        text: format!(
            "{:.0} calls/s at {} each take {:.0}% of the target's CPU time: the numbers below are distorted.",
            total.value as f64 / sampled.seconds(),
            probe::each(cost_ns),
            100.0 * share.min(1.0)
        ),
        fix: Some("Count something rarer, or have the program count (--ops page:, --ops file:).".to_string()),
    })
}

impl OpsRequest<'_> {
    fn open(
        &mut self,
        target: &Target,
        command: Option<u32>,
        cpus: &[u32],
        notes: &mut Vec<Note>,
    ) -> Result<Vec<PerfEvent>> {
        match target {
            Target::Command { .. } => {
                self.request.inherit = Inherit::All;
                self.tasks(|| command.into_iter().collect(), notes)
            }
            Target::Processes { pids, children } => {
                self.request.inherit = if *children { Inherit::All } else { Inherit::Threads };
                let root = self.root;
                self.tasks(|| pids.iter().flat_map(|pid| threads_of(root, *pid)).collect(), notes)
            }
            Target::Threads { tids } => self.tasks(|| tids.clone(), notes),
            Target::Cpus { .. } => self.each_cpu(cpus, event::Place::Cpu),
            Target::Cgroup { name, .. } => {
                let mut events = Vec::new();
                for path in target.outermost_cgroups() {
                    let directory = File::open(path)
                        .map_err(|error| Error::from(error).context(format!("cannot open control group {name}")))?;
                    events.extend(self.each_cpu(cpus, |cpu| event::Place::Cgroup { directory: &directory, cpu })?);
                }
                Ok(events)
            }
        }
    }

    /// Opens one event per CPU; skips a CPU that went offline meanwhile.
    fn each_cpu<'a>(&self, cpus: &[u32], place: impl Fn(u32) -> event::Place<'a>) -> Result<Vec<PerfEvent>> {
        let mut events = Vec::new();
        for cpu in cpus {
            match event::open(&self.request, &[], place(*cpu)) {
                Ok(opened) => events.extend(opened),
                Err(error) if error.raw_os_error() == Some(ENODEV) && cpus.len() > 1 => {}
                Err(error) => return Err(self.refused(&error)),
            }
        }
        Ok(events)
    }

    /// Opens one event per thread; threads created later inherit it.
    fn tasks(&mut self, list: impl Fn() -> Vec<u32>, notes: &mut Vec<Note>) -> Result<Vec<PerfEvent>> {
        self.request.keeps_task = self.probed && self.request.inherit != Inherit::No;
        let (events, born) = settled(list, |tids| self.threads(tids, notes))?;
        notes.extend((born > 0).then(|| threads_kept_starting(born)));
        Ok(events)
    }

    fn threads(&mut self, tids: &[u32], notes: &mut Vec<Note>) -> Result<Vec<PerfEvent>> {
        let mut events = Vec::new();
        for tid in tids {
            match self.thread(*tid, notes) {
                Ok(opened) => events.extend(opened),
                Err(error) if error.raw_os_error() == Some(ESRCH) => {}
                Err(error) => return Err(self.refused(&error)),
            }
        }
        if events.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, "the target ended before its operations could be counted"));
        }
        Ok(events)
    }

    fn thread(&mut self, tid: u32, notes: &mut Vec<Note>) -> io::Result<Vec<PerfEvent>> {
        loop {
            match event::open(&self.request, &[], event::Place::Task { tid, cpu: None }) {
                Err(error) if error.raw_os_error() == Some(EINVAL) && self.weaken(notes) => {}
                opened => return opened,
            }
        }
    }

    /// Weakens the request for an older kernel; false if nothing is left to give up.
    fn weaken(&mut self, notes: &mut Vec<Note>) -> bool {
        if self.request.keeps_task {
            self.request.keeps_task = false;
            return true;
        }
        // Kernels before 5.13 cannot inherit to threads only.
        let children = self.request.inherit == Inherit::Threads;
        if children {
            self.request.inherit = Inherit::All;
            notes.push(note(
                "ops-children",
                "This kernel counts the operations of processes that the target forks as well.",
            ));
        }
        children
    }

    /// An event that keeps the probe in every process that has the function, for kernels that would drop it in some
    /// processes that the target forks: when related processes have exchanged their events, the end of one takes the
    /// probe from the other.
    fn placeholders(&self, cpus: &[u32], notes: &mut Vec<Note>) -> Vec<PerfEvent> {
        if !self.probed || self.request.inherit != Inherit::All || self.request.keeps_task {
            return Vec::new();
        }
        let request = Request::counting(self.request.pmu, self.request.config);
        let opened = cpus.first().map_or(Ok(Vec::new()), |cpu| event::open(&request, &[], event::Place::Cpu(*cpu)));
        notes.push(match &opened {
            Ok(_) => note(
                "ops-probe-everywhere",
                "On this kernel every process that runs the function is slowed by the probe, not only the target's.",
            ),
            Err(error) => note(
                "ops-probe-forgotten",
                &format!("Calls in processes that the target forks may be missing on this kernel ({error})."),
            ),
        });
        opened.unwrap_or_default()
    }

    fn refused(&self, error: &io::Error) -> Error {
        let error = match error.raw_os_error() {
            Some(EINVAL | ENOTSUPP) => {
                Error::new(ErrorKind::Unsupported, format!("the kernel cannot put a probe on {} ({error})", self.name))
                    .hint("Its first instruction may be one that cannot be replaced: count another function.")
            }
            _ => refused(error, &self.name, Restrictions::read(self.root)),
        };
        error.context("cannot count operations")
    }
}

fn threads_kept_starting(born: usize) -> Note {
    note(
        "ops-restless",
        &format!("Calls of {born} threads that were born while the counters were opened may be missing."),
    )
}

fn note(topic: &str, text: &str) -> Note {
    Note { topic: topic.to_string(), text: text.to_string(), fix: None }
}

/// The processes whose files are searched.
pub fn processes(target: &Target) -> Vec<u32> {
    match target {
        Target::Processes { pids, .. } => pids.clone(),
        Target::Threads { tids } => tids.clone(),
        Target::Cgroup { .. } => {
            let groups = target.outermost_cgroups().into_iter();
            groups.flat_map(|path| cgroupfs::processes(path).unwrap_or_default()).collect()
        }
        // A command has not executed anything yet; on whole CPUs anything may run.
        Target::Command { .. } | Target::Cpus { .. } => Vec::new(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn counted(value: u64, enabled_ns: u64, running_ns: u64) -> Counted {
        Counted { value, enabled_ns, running_ns }
    }

    #[test]
    fn a_probe_that_takes_more_than_a_fiftieth_of_the_cpu_time_is_said_to_distort() {
        let second = Nanos(1_000_000_000);
        let note = distorted(counted(200_000, second.0, second.0), 1_400.0, second).unwrap();
        assert!(note.text.starts_with("200000 calls/s at 1.4 us each take 28% of"), "{}", note.text);
        for (value, running) in [(10_000, second.0), (0, second.0), (0, 0)] {
            assert_eq!(distorted(counted(value, running, running), 1_400.0, second), None);
        }
    }

    #[test]
    fn a_count_of_a_part_of_the_time_is_said_and_not_scaled() {
        assert_eq!(multiplexed(counted(9, 100, 100)), None);
        assert!(multiplexed(counted(9, 100, 50)).unwrap().text.contains("50.0%"));
    }

    #[test]
    fn what_the_kernel_does_not_count_is_left_to_others() {
        let target = Target::Threads { tids: vec![std::process::id()] };
        let plan = |ops| Plan {
            interval: Nanos(1),
            ops,
            ..Plan::new(target.clone(), crate::model::Rate::Frequency(1), crate::model::CallGraph::None)
        };
        let place = Place { command: None, cpus: &[0], on_exec: false, root: Path::new("/nowhere") };
        let open = |ops| Operations::open(&plan(ops), &place, &mut vec![]);
        assert!(open(None).unwrap().is_none());
        assert!(open(Some(OpsSpec::Rate { per_second: 1.0 })).unwrap().is_none());
        let spec = OpsSpec::Tracepoint { category: "a".to_string(), name: "b".to_string() };
        assert!(open(Some(spec)).unwrap_err().remedy().unwrap().contains("mount -t tracefs"));
    }
}

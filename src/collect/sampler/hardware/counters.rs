//! The target's hardware counters, opened and read.

use super::core_plan::hardware_plan;
use super::requests::{OpenedGroup, Requests};
use super::switch_budget::{self, Activity, SwitchBudget};
use super::totals::{CgroupLocation, Totals};
use super::trial::{LeftOut, TrialResult};
use crate::collect::catalog;
use crate::collect::sampler::attach::{AttachScope, CgroupDirectory};
use crate::collect::sampler::event_requests::EventRequests;
use crate::collect::sampler::new_threads::{settled, threads_of};
use crate::model::{CounterReading, Event, HardwarePlan, Note, Scope};
use crate::sys::perf::event::{Inherit, PerfEvent, Place};
use crate::units::Nanos;
use std::convert::Infallible;
use std::path::Path;

/// The counting groups; none if no PMU counts.
#[derive(Debug, Default)]
pub struct Hardware {
    plan: HardwarePlan,
    groups: Vec<OpenedGroup>,
    totals: Totals,
    /// What counting may cost; `None` if it may cost anything or costs nothing.
    budget: Option<SwitchBudget>,
    /// The target's switches and CPU time when counting began.
    before: Option<Activity>,
    /// The target's switches at the first reading, and what they have cost since.
    first_switches: Option<f64>,
    spent: Nanos,
}

/// Where and how the groups are opened.
#[derive(Debug, Clone, Copy)]
pub struct AttachOptions<'a> {
    /// How the target is reached.
    pub attach_scope: &'a AttachScope,
    /// CPUs to open on.
    pub cpus: &'a [u32],
    /// Whether they start by themselves at the next `exec`.
    pub on_exec: bool,
    /// What counting may cost the target, in percent; `None` for no limit.
    pub max_overhead: Option<f64>,
    /// Descriptors already in use.
    pub used: usize,
    /// Files are read below this directory.
    pub root: &'a Path,
}

/// Result of trying the events of this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HardwareTrial {
    /// The microarchitecture.
    pub uarch: String,
    /// Number of different events that count.
    pub events: usize,
    /// Number of groups they are counted in, in turn if they do not fit at once.
    pub groups: usize,
    /// Events that do not count, each with its reason.
    pub left_out: Vec<String>,
}

/// Tries the planned events that a capture would use, on this thread; `None` if there are none.
#[must_use]
pub fn try_hardware(plans: &[HardwarePlan], exclude_kernel: bool) -> Option<HardwareTrial> {
    let (plan, _) = hardware_plan(plans);
    if plans.iter().all(|plan| plan.groups.is_empty()) {
        return None;
    }
    let TrialResult { plan, left_out } = super::trial::tried(plan, &mut super::trial::OwnThread::new(exclude_kernel));
    let mut roles: Vec<&str> =
        plan.groups.iter().flat_map(|group| &group.events).map(|event| event.role.as_str()).collect();
    roles.sort_unstable();
    roles.dedup();
    let left_out = left_out.iter().map(LeftOut::to_string).collect();
    Some(HardwareTrial { events: roles.len(), groups: plan.groups.len(), left_out, uarch: plan.uarch })
}

impl Hardware {
    /// Opens the plan's groups on the target after a short trial on this thread. Events that cannot be opened or do not
    /// count are left out and noted.
    pub fn open(
        plan: HardwarePlan,
        event_requests: &EventRequests,
        options: &AttachOptions<'_>,
    ) -> (Hardware, Vec<Note>) {
        let TrialResult { plan, left_out: impossible } = super::trial::possible(plan, event_requests);
        if plan.groups.is_empty() {
            let notes = super::trial::note(&impossible).into_iter().collect();
            return (Hardware { plan, ..Hardware::default() }, notes);
        }
        let TrialResult { plan, left_out } =
            super::trial::tried(plan, &mut super::trial::OwnThread::new(event_requests.exclude_kernel));
        let listed = tasks(options.attach_scope, options.root);
        let cost = match listed.is_empty() {
            true => None,
            false => super::switch_cost::switch_cost(|| on_this_thread(&plan, event_requests.exclude_kernel)),
        };
        let budget = options.max_overhead.zip(cost).map(|(percent, cost)| SwitchBudget { percent, cost });
        if let Some(note) = budget.as_ref().and_then(|budget| too_costly(budget, &listed, options)) {
            let plan = HardwarePlan { groups: vec![], too_costly: true, ..plan };
            return (Hardware { plan, ..Hardware::default() }, vec![note]);
        }
        // Each attempt releases its descriptors before the next one.
        let attempt =
            |tids: &[u32]| Ok::<_, Infallible>(Opening::of(&plan, tids, event_requests.exclude_kernel, options));
        let Ok((opening, born)) = settled(|| tasks(options.attach_scope, options.root), attempt);
        let Opening { plan, beyond, groups, kept, refused, by_task, places } = opening;
        let left_out: Vec<LeftOut> = impossible.into_iter().chain(left_out).chain(refused).collect();
        let none = groups.is_empty().then(|| opened_at_no_place(places, &left_out));
        let mut plan = super::trial::without(plan, |number| kept.contains(&number), &left_out);
        plan.switch_cost_ns = cost.map(|cost| cost.0);
        // The recording states what was counted, not what was requested.
        let events = plan.groups.iter_mut().flat_map(|group| &mut group.events);
        events.for_each(|event| event.event.exclude_kernel |= event_requests.exclude_kernel);
        let missed = (born > 0).then(|| threads_kept_starting(born));
        let notes = none.or_else(|| super::trial::note(&left_out)).into_iter().chain(beyond).chain(missed).collect();
        let totals = Totals::of(&plan, catalog::hardware(&plan), by_task);
        (Hardware { plan, groups, totals, budget, ..Hardware::default() }, notes)
    }

    /// What is actually counted.
    pub fn plan(&self) -> &HardwarePlan {
        &self.plan
    }

    /// Starts counting.
    pub fn enable(&self) {
        // A thread that has ended meanwhile has nothing left to count.
        self.groups.iter().filter_map(|group| group.events.first()).for_each(|leader| drop(leader.enable()));
    }

    /// Stops counting for good if the target's switches, by these readings, have cost more than allowed since
    /// the first call. Readings until then stay, and there are none afterwards. Returns a note on it.
    pub fn judge(&mut self, readings: &[Event]) -> Option<Note> {
        let now = self.budget.and_then(|_| activity_in(readings))?;
        let before = *self.before.get_or_insert(now);
        let since = Activity {
            switches: now.switches - before.switches,
            ran: now.ran - before.ran,
            elapsed: now.elapsed - before.elapsed,
        };
        let mut note = self.budget?.exceeded(&since)?;
        note.text = format!("From {:.1} s on: {}", now.elapsed.seconds(), note.text);
        self.budget = None;
        // Closed: a disabled event would still be visited at every switch.
        self.groups.clear();
        self.totals = Totals::default();
        Some(note)
    }

    /// What counting has added to the target's switches since the first call, by these readings of its other counters; the
    /// last such time once hardware events are given up.
    pub fn cost(&mut self, readings: &[Event]) -> Nanos {
        if let (Some(cost), Some(now), false) =
            (self.plan.switch_cost_ns, activity_in(readings), self.groups.is_empty())
        {
            let first = *self.first_switches.get_or_insert(now.switches);
            self.spent = Nanos(((now.switches - first) * cost as f64) as u64);
        }
        self.spent
    }

    /// The target's totals so far, and the first group's totals of threads that are counted individually.
    pub fn read(&mut self, at: Nanos) -> Vec<Event> {
        for (place, opened) in self.groups.iter().enumerate() {
            let counted = opened.events.first().and_then(|leader| leader.read_group(opened.events.len()).ok());
            self.totals.take(place, opened.location, counted);
        }
        self.totals.readings(at)
    }
}

/// A note on the reason, if counting these threads would cost more than allowed. A command that waits to be executed
/// makes no switches yet.
fn too_costly(budget: &SwitchBudget, tids: &[u32], options: &AttachOptions<'_>) -> Option<Note> {
    let activity = if options.on_exec { None } else { switch_budget::activity(options.root, tids) };
    budget.exceeded(&activity?)
}

/// The target's switches and CPU time by its other counters; `None` if not all were read.
fn activity_in(readings: &[Event]) -> Option<Activity> {
    let find = |counter| {
        readings.iter().find_map(|event| match event {
            Event::Reading(reading) if reading.scope == Scope::Target && reading.counter == counter => Some(*reading),
            _ => None,
        })
    };
    let all = |reading: CounterReading| {
        let share = reading.running.as_f64() / reading.enabled.as_f64();
        // Of threads that ended unread, only the share is known.
        if share > 0.0 { reading.value as f64 / share } else { reading.value as f64 }
    };
    let ran = find(catalog::TASK_CLOCK)?;
    let switches = all(find(catalog::VOLUNTARY_SWITCHES)?) + all(find(catalog::INVOLUNTARY_SWITCHES)?);
    Some(Activity { switches, ran: Nanos(ran.value), elapsed: ran.at })
}

/// The target's switches so far, by its other counters.
pub fn switches_in(readings: &[Event]) -> Option<f64> {
    activity_in(readings).map(|activity| activity.switches)
}

/// Opens all groups of a plan on this thread and starts them; `None` if one is refused.
fn on_this_thread(plan: &HardwarePlan, exclude_kernel: bool) -> Option<Vec<Vec<PerfEvent>>> {
    let requests = Requests { inherit: Inherit::No, on_exec: false, exclude_kernel };
    let own = Place::Task { tid: 0, cpu: None };
    let groups: Vec<_> = plan.groups.iter().map(|group| requests.open(group, own).ok()).collect::<Option<_>>()?;
    groups.iter().filter_map(|events| events.first()).try_for_each(PerfEvent::enable).ok()?;
    (!groups.is_empty()).then_some(groups)
}

/// Groups opened on the threads listed at one moment, or on CPUs.
struct Opening {
    /// The part of the plan that the descriptors allow.
    plan: HardwarePlan,
    /// Note on the rest.
    beyond: Option<Note>,
    groups: Vec<OpenedGroup>,
    /// Numbers of the plan's groups that were opened somewhere.
    kept: Vec<usize>,
    refused: Vec<LeftOut>,
    by_task: bool,
    places: usize,
}

impl Opening {
    fn of(plan: &HardwarePlan, tids: &[u32], exclude_kernel: bool, options: &AttachOptions<'_>) -> Opening {
        let (places, inherit) = places(options.attach_scope, options.cpus, tids);
        let affordable_groups =
            super::budget::affordable_groups(plan, places.len(), super::budget::descriptors(options.used));
        let (plan, beyond) = super::budget::cut(plan.clone(), affordable_groups);
        let by_task = places.iter().all(|place| matches!(place, Place::Task { .. }));
        let requests = Requests { inherit, on_exec: options.on_exec, exclude_kernel };
        let (mut groups, mut kept, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (number, group) in plan.groups.iter().enumerate() {
            let before = groups.len();
            let error = requests.everywhere(group, kept.len(), &places, &mut groups);
            for opened in &mut groups[before..] {
                opened.location.cgroup = cgroup_at(options, opened.location.at);
            }
            if groups.len() > before {
                kept.push(number);
            }
            refused.extend(error.map(|error| LeftOut::group(group, groups.len() - before, places.len(), &error)));
        }
        Opening { plan, beyond, groups, kept, refused, by_task, places: places.len() }
    }
}

fn threads_kept_starting(born: usize) -> Note {
    Note {
        topic: "hardware-restless".to_string(),
        text: format!(
            "Cycles and instructions of {born} threads that were born while the counters were opened may be missing."
        ),
        fix: None,
    }
}

fn opened_at_no_place(places: usize, left_out: &[LeftOut]) -> Note {
    let why = match (places, left_out.last()) {
        (0, _) => {
            "whole CPUs are sampled in place of the target's threads, and hardware would count others too".to_string()
        }
        (_, Some(last)) => last.to_string(),
        (places, None) => format!("{places} threads or CPUs are more than may be counted"),
    };
    Note {
        topic: "no-hardware-counters".to_string(),
        text: format!("Cycles and instructions of the target are not counted: {why}."),
        fix: None,
    }
}

/// The threads that events are opened on now; empty if they are opened on CPUs.
fn tasks(attach_scope: &AttachScope, root: &Path) -> Vec<u32> {
    match attach_scope {
        AttachScope::Processes(pids, _) => pids.iter().flat_map(|pid| threads_of(root, *pid)).collect(),
        AttachScope::Threads(tids) => tids.clone(),
        AttachScope::Cpus(_) | AttachScope::Cgroups(_) => Vec::new(),
    }
}

/// Which of several control groups the place at this position belongs to.
fn cgroup_at(options: &AttachOptions<'_>, at: usize) -> Option<CgroupLocation> {
    let AttachScope::Cgroups(groups) = options.attach_scope else { return None };
    let number = at / options.cpus.len().max(1);
    let group = groups.get(number).filter(|_| groups.len() > 1)?;
    Some(CgroupLocation { number: number as u32, is_within: group.is_within })
}

/// Each of these threads on any CPU, or each CPU; empty if whole CPUs are sampled for a few processes.
fn places<'a>(attach_scope: &'a AttachScope, cpus: &'a [u32], tids: &[u32]) -> (Vec<Place<'a>>, Inherit) {
    let each = |tid: &u32| Place::Task { tid: *tid, cpu: None };
    match attach_scope {
        AttachScope::Processes(_, inherit) => (tids.iter().map(each).collect(), *inherit),
        AttachScope::Threads(_) => (tids.iter().map(each).collect(), Inherit::No),
        AttachScope::Cpus(None) => (cpus.iter().map(|cpu| Place::Cpu(*cpu)).collect(), Inherit::No),
        AttachScope::Cpus(Some(_)) => (Vec::new(), Inherit::No),
        AttachScope::Cgroups(groups) => {
            let on = |group: &'a CgroupDirectory| cpus.iter().map(|cpu| (&group.directory, *cpu));
            let places = groups.iter().flat_map(on).map(|(directory, cpu)| Place::Cgroup { directory, cpu });
            (places.collect(), Inherit::No)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::core_plan::base;
    use super::*;
    use crate::model::{CounterReading, EventKind, Scope};

    #[test]
    fn without_a_pmu_nothing_is_opened_and_nothing_read() {
        let event_requests = EventRequests::default();
        let attach_scope = AttachScope::Threads(vec![1]);
        let options = AttachOptions {
            attach_scope: &attach_scope,
            cpus: &[0],
            on_exec: false,
            max_overhead: None,
            used: 0,
            root: Path::new("/"),
        };
        let (mut hardware, notes) = Hardware::open(base(), &event_requests, &options);
        assert!(hardware.read(Nanos(1)).is_empty() && notes.is_empty() && hardware.plan().groups.is_empty());
    }

    /// Kernel clocks instead of hardware events: everything but the PMU is as on a machine that has one.
    fn clocks() -> HardwarePlan {
        let mut plan = base();
        for (event, config) in plan.groups[0].events.iter_mut().zip(0..) {
            event.event.kind = EventKind::Software(config);
        }
        plan.groups.push(plan.groups[0].clone());
        plan
    }

    fn read(attach_scope: &AttachScope, work: impl FnOnce()) -> Option<Vec<CounterReading>> {
        let event_requests = EventRequests { hardware: true, exclude_kernel: true, ..EventRequests::default() };
        let options = AttachOptions {
            attach_scope,
            cpus: &[0],
            on_exec: false,
            max_overhead: None,
            used: 0,
            root: Path::new("/"),
        };
        let (mut hardware, _) = Hardware::open(clocks(), &event_requests, &options);
        // If the kernel refuses its clocks as counters, there is nothing to test.
        if hardware.plan().groups.len() < 2 {
            return None;
        }
        hardware.enable();
        work();
        let reading = |event| match event {
            Event::Reading(reading) => Some(reading),
            _ => None,
        };
        Some(hardware.read(Nanos(1)).into_iter().filter_map(reading).collect())
    }

    fn work() {
        std::hint::black_box((0..20_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
    }

    #[test]
    fn groups_are_read_whole_and_follow_threads_that_are_born_later() {
        let attach_scope = AttachScope::Processes(vec![std::process::id()], Inherit::Threads);
        let Some(readings) = read(&attach_scope, || drop(std::thread::spawn(work).join())) else { return };
        assert_eq!(readings.len(), 4, "two groups of two, and no thread by itself");
        for reading in &readings {
            let Nanos(running) = reading.running;
            assert!(reading.scope == Scope::Target && reading.value > 0 && running > 0, "{reading:?}");
            assert_eq!(reading.enabled, reading.running, "clocks need no counter");
        }
    }

    #[test]
    fn threads_that_are_attached_one_by_one_are_told_one_by_one() {
        let own = std::fs::read_link("/proc/thread-self").ok();
        let tid = own.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
        let Some(tid) = tid else { panic!("this thread has no number") };
        let Some(readings) = read(&AttachScope::Threads(vec![tid]), work) else { return };
        let by_thread: Vec<_> = readings.iter().filter(|reading| reading.scope == Scope::Thread(tid)).collect();
        assert_eq!((readings.len(), by_thread.len()), (6, 2));
        assert!(by_thread.iter().all(|reading| reading.value > 0), "{by_thread:?}");
    }

    #[test]
    fn of_several_kinds_of_core_all_count_the_law_and_most_count_the_rest() {
        let kind =
            |pmu: &str, from: u32, to: u32| HardwarePlan { pmu: pmu.into(), cpus: (from..to).collect(), ..base() };
        let (plan, note) = hardware_plan(&[kind("cpu_core", 0, 4), kind("cpu_atom", 4, 12)]);
        let roles: Vec<Vec<&str>> =
            plan.groups.iter().map(|group| group.events.iter().map(|event| event.role.as_str()).collect()).collect();
        assert_eq!(roles, [vec!["cycles", "instructions"], vec!["cycles@cpu_core", "instructions@cpu_core"]]);
        assert_eq!((plan.groups[0].cpus.len(), plan.groups[1].cpus.len()), (8, 4));
        assert!(note.is_some_and(|note| note.text.contains("8 CPUs of cpu_atom")));
        assert!(plan.groups[1].counts_at(&Place::Cpu(3)) && !plan.groups[1].counts_at(&Place::Cpu(4)));
        assert!(plan.groups[0].counts_at(&Place::Task { tid: 1, cpu: None }));
        assert_eq!(hardware_plan(&[kind("cpu", 0, 0)]), (kind("cpu", 0, 0), None));
        let unseen = HardwarePlan { groups: vec![], ..kind("unseen", 0, 0) };
        for plans in [vec![], vec![unseen]] {
            assert_eq!(hardware_plan(&plans), (base(), None));
        }
    }
}

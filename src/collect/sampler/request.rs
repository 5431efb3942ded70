//! Translates the plan into requests to the kernel: events, their fallbacks, what each sample carries. Events are
//! opened only on the calling thread, to test what is permitted and what counts.

use super::assemble::MOST_MEMBERS;
use super::event_requests::{EventGroup, EventRequests, Restrictions, layout, records, refused};
use super::origin::Role;
use super::switches;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{AccessSampling, CallGraph, EventKind, EventSpec, Note, OnlyCode, Plan, Rate, Unit};
use crate::pmu::detect::is_virtual;
use crate::sys::perf::event::{self, Place, Request};
use crate::sys::perf::record::Layout;
use crate::sys::perf::tracefs::Format;
use std::io;
use std::path::Path;

/// Chooses what to open. Files are read below `root` (`/` on a live system).
///
/// # Errors
/// `NotPermitted` if the kernel refuses sampling altogether, `Unsupported` and `NotFound` for events it does not have.
pub fn choose(plan: &Plan, root: &Path) -> Result<EventRequests> {
    let mut notes = Vec::new();
    let exclude_kernel = !permitted(root, &mut notes)?;
    let hardware = counts(0, 0, false);
    let is_virtual = is_virtual(&std::fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default());
    let mut specs = if plan.events.is_empty() {
        vec![default_event(hardware, is_virtual, &mut notes)]
    } else {
        plan.events.iter().map(|spec| countable(spec, hardware, &mut notes)).collect()
    };
    let own = specs.len();
    specs.extend(plan.accesses.iter().cloned());
    // The recording states what was sampled, not what was requested.
    for spec in &mut specs {
        if let Some(only) = plan.only {
            restrict(spec, only);
        }
        spec.exclude_kernel |= exclude_kernel;
        if spec.exclude_kernel && spec.exclude_user && spec.exclude_hv {
            return Err(Error::new(ErrorKind::NotPermitted, format!("event {} samples nothing", spec.name))
                .hint("It leaves out user code, and the kernel does not let this user sample it: sudo sysctl kernel.perf_event_paranoid=1."));
        }
    }
    let rate = cap(plan.rate, root, &mut notes);
    let cgroups = cgroups_in_samples(exclude_kernel, &mut notes);
    let mut sets: Vec<EventGroup> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let mut request = sample_request(spec, plan.call_graph, rate, exclude_kernel, root)?;
        request.layout.cgroup = cgroups;
        let members = members(&specs[index..]);
        if spec.read_by_leader {
            (request.rate, request.layout) = (None, Layout::default());
        } else if members > MOST_MEMBERS {
            return Err(Error::new(ErrorKind::Usage, format!("a group of {} events is too large", members + 1))
                .hint(format!("With :S, a leader's samples carry the counts of up to {MOST_MEMBERS} others.")));
        }
        (request.reads_group, request.layout.members) = (members > 0, members as u8);
        // Counting groups take turns on the PMU; a sampling event among them would be inactive most of the time.
        let alone = own == 1 + members && spec.kind.is_hardware() && spec.access.is_none();
        request.pinned = hardware && alone && counts(0, 0, true);
        let role = Role::Event(index as u16);
        let same = index > 0 && spec.group.is_some() && specs[index - 1].group == spec.group;
        match sets.last_mut().filter(|_| same) {
            Some(set) => {
                set.requests.push(request);
                set.roles.push(role);
            }
            None => sets.push(group(spec, request, role)),
        }
    }
    let (mut waits, mut sums) = (None, None);
    if plan.off_cpu {
        let switches = switches::choose(plan, exclude_kernel, root);
        waits = Some(switches.source);
        sums = switches.sums;
        sets.extend(switches.sets);
        notes.extend(switches.note);
    }
    let mut tasks = records("tasks", Role::Tasks, exclude_kernel);
    tasks.requests.iter_mut().for_each(|request| request.layout.cgroup = cgroups);
    sets.push(tasks);
    // It stands before the id in a sample, which must have the same place in all.
    let addressed = specs.iter().any(|spec| spec.access.is_some());
    sets.iter_mut().flat_map(|set| &mut set.requests).for_each(|request| request.layout.address = addressed);
    Ok(EventRequests { sets, specs, notes, hardware, is_virtual, exclude_kernel, waits, sums })
}

/// An event in a group of its own, behind the leader that its CPU needs.
fn group(spec: &EventSpec, request: Request, role: Role) -> EventGroup {
    let AccessSampling { leader, cpus } = spec.access.clone().unwrap_or_default();
    let leader = leader.as_ref().and_then(numbers).map(|(pmu, config)| {
        let exclude = request.exclude.clone();
        (Request { exclude, precise: request.precise, ..Request::counting(pmu, config) }, Role::Leads)
    });
    let (requests, roles) = leader.into_iter().chain([(request, role)]).unzip();
    EventGroup { requests, roles, name: spec.name.clone(), everywhere: false, cpus }
}

/// How many events after the first one are read with its samples.
fn members(specs: &[EventSpec]) -> usize {
    let (leader, rest) = specs.split_first().unzip();
    let follows = |spec: &&EventSpec| spec.read_by_leader && Some(spec.group) == leader.map(|leader| leader.group);
    if leader.is_some_and(|leader| leader.read_by_leader) {
        0
    } else {
        rest.into_iter().flatten().take_while(follows).count()
    }
}

fn sample_request(
    spec: &EventSpec,
    method: CallGraph,
    rate: Rate,
    exclude_kernel: bool,
    root: &Path,
) -> Result<Request> {
    let mut request = counting(spec, root)?;
    request.exclude.kernel |= exclude_kernel;
    request.layout = layout(method, request.exclude.kernel);
    request.layout.access = spec.access.is_some();
    // Each hit of a tracepoint is one event: a frequency would skip most of them.
    let every = matches!(spec.kind, EventKind::Tracepoint { .. }) && matches!(rate, Rate::Frequency(_));
    request.rate = Some(if every { Rate::Period(1) } else { rate });
    Ok(request)
}

/// A request that only counts the event.
///
/// # Errors
/// `Unsupported` and `NotFound` for a tracepoint that the kernel does not have or show.
pub fn counting(spec: &EventSpec, root: &Path) -> Result<Request> {
    let (pmu, config) = match &spec.kind {
        EventKind::Tracepoint { category, name } => (event::TRACEPOINT, [Format::open(root, category, name)?.id, 0, 0]),
        kind => numbers(kind)
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("event {} cannot be sampled", spec.name)))?,
    };
    let mut request = Request::counting(pmu, config);
    request.exclude.user = spec.exclude_user;
    request.exclude.kernel = spec.exclude_kernel;
    request.exclude.hv = spec.exclude_hv;
    request.exclude.guest = spec.exclude_guest;
    request.exclude.host = spec.exclude_host;
    request.precise = spec.precise;
    Ok(request)
}

/// `type` and `config`, `config1`, `config2`; `None` for a tracepoint, whose numbers are only in tracefs.
pub fn numbers(kind: &EventKind) -> Option<(u32, [u64; 3])> {
    Some(match kind {
        EventKind::Hardware(config) => (0, [*config, 0, 0]),
        EventKind::Software(config) => (event::SOFTWARE, [*config, 0, 0]),
        EventKind::Cache(config) => (3, [*config, 0, 0]),
        EventKind::Raw { pmu, config, config1, config2 } => (*pmu, [*config, *config1, *config2]),
        EventKind::Tracepoint { .. } => return None,
    })
}

const EXPOSE: &str = "Have the host expose its PMU.";

fn place(is_virtual: bool) -> &'static str {
    if is_virtual { "in this virtual machine" } else { "on this machine" }
}

/// Cycles if a real PMU counts them. A virtual machine's counter interrupts pass through its host, tens of microseconds
/// each: on a Zen 5 guest they attributed half of the kernel's time to its callers, and on whole CPUs they locked the
/// guest up.
fn default_event(hardware: bool, is_virtual: bool, notes: &mut Vec<Note>) -> EventSpec {
    let cycles = hardware && !is_virtual;
    if hardware && is_virtual {
        notes.push(Note {
            topic: "virtual-pmu".to_string(),
            text:
                "Samples come from the CPU clock: in a virtual machine the interrupts of hardware counters come late."
                    .to_string(),
            fix: Some("To sample cycles nevertheless: -e cycles.".to_string()),
        });
    } else if !hardware {
        notes.push(Note {
            topic: "no-pmu".to_string(),
            text: format!("No hardware counters {}: samples come from the CPU clock.", place(is_virtual)),
            fix: Some(if is_virtual { EXPOSE } else { "`ironlaw doctor` says why." }.to_string()),
        });
    }
    let (name, kind, unit) = if cycles {
        ("cycles", EventKind::Hardware(0), Unit::Cycles)
    } else {
        ("cpu-clock", EventKind::Software(0), Unit::Nanos)
    };
    EventSpec { exclude_guest: cycles, ..EventSpec::new(name, kind, unit) }
}

/// Cycles that nothing counts here are replaced by the CPU clock, as perf does it: most who ask for them want to know
/// where time goes. Other hardware events are never replaced, nor are members of a group.
fn countable(spec: &EventSpec, hardware: bool, notes: &mut Vec<Note>) -> EventSpec {
    if hardware || spec.kind != EventKind::Hardware(0) || spec.group.is_some() {
        return spec.clone();
    }
    notes.push(Note {
        topic: "no-cycles".to_string(),
        text: format!("No hardware counter counts {} here: samples come from the CPU clock instead.", spec.name),
        fix: Some(format!("In a virtual machine: {EXPOSE}")),
    });
    let modifiers: String =
        spec.name.split(':').nth(1).unwrap_or_default().chars().filter(|c| "uk".contains(*c)).collect();
    let name = if modifiers.is_empty() { "cpu-clock".to_string() } else { format!("cpu-clock:{modifiers}") };
    let (exclude_user, exclude_kernel) = (spec.exclude_user, spec.exclude_kernel);
    EventSpec { exclude_user, exclude_kernel, ..EventSpec::new(&name, EventKind::Software(0), Unit::Nanos) }
}

/// Leaves out all other code, and says so in the name as perf's modifiers do.
fn restrict(spec: &mut EventSpec, only: OnlyCode) {
    let (letter, said) = match only {
        OnlyCode::User => ('u', std::mem::replace(&mut spec.exclude_kernel, true)),
        OnlyCode::Kernel => ('k', std::mem::replace(&mut spec.exclude_user, true)),
    };
    spec.exclude_hv = true;
    if !said {
        let begun =
            spec.name.ends_with('/') || spec.name.contains(':') && !matches!(spec.kind, EventKind::Tracepoint { .. });
        spec.name.extend((!begun).then_some(':').into_iter().chain([letter]));
    }
}

/// Whether the event actually counts on this thread: many virtual machines open hardware events that stay at zero, and
/// a pinned event reads nothing if other pinned events hold the counters.
pub fn counts(pmu: u32, config: u64, pinned: bool) -> bool {
    let mut request = Request { pinned, ..Request::counting(pmu, [config, 0, 0]) };
    (request.exclude.kernel, request.exclude.hv) = (true, true);
    let count = || -> io::Result<u64> {
        let events = event::open(&request, &[], Place::Task { tid: 0, cpu: None })?;
        let event = events.first().ok_or(io::ErrorKind::NotFound)?;
        event.enable()?;
        std::hint::black_box((0..100_000u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        Ok(event.read()?.value)
    };
    count().is_ok_and(|value| value > 0)
}

/// Whether samples can carry the control group of their task: since kernel 5.7, if it was built with groups for perf.
fn cgroups_in_samples(exclude_kernel: bool, notes: &mut Vec<Note>) -> bool {
    let mut set = records("tasks", Role::Tasks, exclude_kernel);
    set.requests.iter_mut().for_each(|request| request.layout.cgroup = true);
    let own = Place::Task { tid: 0, cpu: None };
    let opens = set.requests.iter().all(|request| event::open(request, &[], own).is_ok());
    if !opens {
        notes.push(Note {
            topic: "cgroups-of-processes".to_string(),
            text: "This kernel's samples do not name control groups: a thread counts for the one that its process was \
                   in when it was first seen."
                .to_string(),
            fix: None,
        });
    }
    opens
}

/// Whether the kernel itself may be sampled; an error if not even this process may be.
fn permitted(root: &Path, notes: &mut Vec<Note>) -> Result<bool> {
    let mut request = Request::counting(event::SOFTWARE, [0, 0, 0]);
    let mut open = |exclude| {
        (request.exclude.kernel, request.exclude.hv) = (exclude, exclude);
        event::open(&request, &[], Place::Task { tid: 0, cpu: None }).map(drop)
    };
    if open(false).is_ok() {
        return Ok(true);
    }
    let restrictions = Restrictions::read(root);
    open(true).map_err(|error| refused(&error, "cpu-clock", restrictions))?;
    notes.push(Note {
        topic: "kernel-excluded".to_string(),
        text: format!(
            "The kernel does not let this user sample it (perf_event_paranoid is {}): only user code is \
             sampled and counted.",
            restrictions.paranoid.map_or("unknown".to_string(), |level| level.to_string())
        ),
        fix: Some("sudo sysctl kernel.perf_event_paranoid=1".to_string()),
    });
    Ok(false)
}

/// Lowers a frequency beyond `kernel.perf_event_max_sample_rate`, which the kernel would refuse, and notes it.
fn cap(rate: Rate, root: &Path, notes: &mut Vec<Note>) -> Rate {
    let path = root.join("proc/sys/kernel/perf_event_max_sample_rate");
    let most = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    match (rate, most) {
        (Rate::Frequency(requested), Some(most)) if requested > most => {
            notes.push(Note {
                topic: "rate-capped".to_string(),
                text: format!("{requested} samples per second are more than this kernel allows: taking {most}."),
                fix: Some(format!("sudo sysctl kernel.perf_event_max_sample_rate={requested}")),
            });
            Rate::Frequency(most)
        }
        _ => rate,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_beyond_the_kernels_limit_is_lowered_and_said() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        std::fs::write(root.path().join("proc/sys/kernel/perf_event_max_sample_rate"), "1000\n").unwrap();
        for (requested, taken, said) in [(997, 997, 0), (5000, 1000, 1)] {
            let mut notes = Vec::new();
            assert_eq!(cap(Rate::Frequency(requested), root.path(), &mut notes), Rate::Frequency(taken));
            assert_eq!(notes.len(), said);
        }
    }

    fn spec(kind: EventKind) -> EventSpec {
        EventSpec::new("it", kind, Unit::Count)
    }

    fn tracepoint() -> EventKind {
        EventKind::Tracepoint { category: "sched".to_string(), name: "sched_switch".to_string() }
    }

    #[test]
    fn every_kind_of_event_has_the_kernels_numbers() {
        let raw = EventKind::Raw { pmu: 11, config: 0x3c, config1: 0x7, config2: u64::MAX };
        for (kind, expected) in [
            (EventKind::Hardware(0), Some((0, [0, 0, 0]))),
            (EventKind::Hardware(10 << 32 | 1), Some((0, [10 << 32 | 1, 0, 0]))),
            (EventKind::Software(9), Some((1, [9, 0, 0]))),
            (EventKind::Cache(0x1_0002), Some((3, [0x1_0002, 0, 0]))),
            (raw, Some((11, [0x3c, 0x7, u64::MAX]))),
            (tracepoint(), None),
        ] {
            assert_eq!(numbers(&kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn only_user_code_is_said_in_the_name_like_a_modifier() {
        let named = |name: &str, kind| EventSpec::new(name, kind, Unit::Count);
        for (mut spec, only, name) in [
            (named("cycles", EventKind::Hardware(0)), OnlyCode::User, "cycles:u"),
            (named("cycles:p", EventKind::Hardware(0)), OnlyCode::Kernel, "cycles:pk"),
            (named("cpu/event=1/", EventKind::Hardware(0)), OnlyCode::User, "cpu/event=1/u"),
            (named("sched:sched_switch", tracepoint()), OnlyCode::Kernel, "sched:sched_switch:k"),
        ] {
            restrict(&mut spec, only);
            assert_eq!((spec.name.as_str(), spec.exclude_kernel), (name, only == OnlyCode::User));
            assert_eq!(spec.exclude_user, only == OnlyCode::Kernel);
            let again = spec.name.clone();
            restrict(&mut spec, only);
            assert_eq!(spec.name, again, "the modifier is added once");
        }
    }

    #[test]
    fn cycles_that_nothing_counts_become_the_clock_and_nothing_else_does() {
        let asked = |name: &str, kind| EventSpec {
            exclude_kernel: name.ends_with('u'),
            ..EventSpec::new(name, kind, Unit::Count)
        };
        for (name, kind, hardware, taken) in [
            ("cycles", EventKind::Hardware(0), false, "cpu-clock"),
            ("cycles:up", EventKind::Hardware(0), false, "cpu-clock:u"),
            ("cycles:u", EventKind::Hardware(0), false, "cpu-clock:u"),
            ("cycles:u", EventKind::Hardware(0), true, "cycles:u"),
            ("instructions", EventKind::Hardware(1), false, "instructions"),
        ] {
            let mut notes = Vec::new();
            let spec = countable(&asked(name, kind), hardware, &mut notes);
            assert_eq!((spec.name.as_str(), notes.len()), (taken, usize::from(name != taken)));
            assert_eq!(spec.exclude_kernel, name.ends_with('u'), "{name}");
        }
        let mut notes = Vec::new();
        let grouped = EventSpec { group: Some(0), ..asked("cycles", EventKind::Hardware(0)) };
        assert_eq!(countable(&grouped, false, &mut notes).name, "cycles");
    }

    /// A root whose kernel has one tracepoint, number 372.
    fn traced() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("sys/kernel/tracing/events/sched/sched_switch");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("format"), "name: sched_switch\nID: 372\nformat:\n").unwrap();
        root
    }

    #[test]
    fn every_hit_of_a_tracepoint_is_a_sample_unless_a_period_is_asked_for() {
        let root = traced();
        for (kind, rate, expected) in [
            (tracepoint(), Rate::Frequency(997), Rate::Period(1)),
            (tracepoint(), Rate::Period(64), Rate::Period(64)),
            (EventKind::Hardware(0), Rate::Frequency(997), Rate::Frequency(997)),
            (EventKind::Hardware(0), Rate::Period(64), Rate::Period(64)),
        ] {
            let request = sample_request(&spec(kind.clone()), CallGraph::None, rate, false, root.path()).unwrap();
            assert_eq!(request.rate, Some(expected), "{kind:?} at {rate:?}");
            let (pmu, config) = numbers(&kind).unwrap_or((event::TRACEPOINT, [372, 0, 0]));
            assert_eq!((request.pmu, request.config), (pmu, config), "{kind:?}");
        }
        let error = sample_request(&spec(tracepoint()), CallGraph::None, Rate::Period(1), false, Path::new("/nowhere"));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported, "tracefs is not mounted there");
    }

    #[test]
    fn modes_are_left_out_as_asked_and_the_kernel_also_where_it_must_be() {
        let asked = EventSpec {
            exclude_user: true,
            exclude_hv: true,
            exclude_guest: true,
            exclude_host: true,
            precise: 2,
            ..spec(EventKind::Hardware(0))
        };
        let request = |spec: &EventSpec, exclude_kernel| {
            sample_request(spec, CallGraph::Auto, Rate::Frequency(1), exclude_kernel, Path::new("/")).unwrap()
        };
        let all = request(&asked, false);
        let exclude = &all.exclude;
        assert!(exclude.user && exclude.hv && exclude.guest && exclude.host && !exclude.kernel && !exclude.idle);
        assert!(all.precise == 2 && all.layout.chain, "the kernel's part of the stack is there");
        for (spec, exclude_kernel) in
            [(spec(EventKind::Hardware(0)), true), (EventSpec { exclude_kernel: true, ..asked }, false)]
        {
            let request = request(&spec, exclude_kernel);
            assert!(request.exclude.kernel && request.layout.user_chain, "and the user's alone without it");
        }
    }

    #[test]
    fn cycles_are_sampled_only_where_their_interrupts_are_cheap() {
        for (hardware, is_virtual, name, topic) in [
            (true, false, "cycles", None),
            (true, true, "cpu-clock", Some("virtual-pmu")),
            (false, true, "cpu-clock", Some("no-pmu")),
            (false, false, "cpu-clock", Some("no-pmu")),
        ] {
            let mut notes = Vec::new();
            let event = default_event(hardware, is_virtual, &mut notes);
            let context = format!("hardware {hardware}, virtual {is_virtual}");
            assert_eq!(event.name, name, "{context}");
            assert_eq!(notes.first().map(|note| note.topic.as_str()), topic, "{context}");
            assert!(notes.iter().all(|note| note.fix.is_some()), "{context}: {notes:?}");
            let unit = if name == "cycles" { Unit::Cycles } else { Unit::Nanos };
            assert_eq!((event.unit, event.exclude_guest), (unit, name == "cycles"), "{context}");
        }
    }

    #[test]
    fn records_are_carried_by_an_event_that_counts_nothing() {
        for (role, side_band, switches) in [(Role::Tasks, true, false), (Role::Switches, false, true)] {
            for exclude_kernel in [false, true] {
                let set = records("it", role, exclude_kernel);
                let request = &set.requests[0];
                assert_eq!((request.pmu, request.config[0]), (event::SOFTWARE, event::DUMMY), "{role:?}");
                assert_eq!(
                    (request.side_band, request.switches, request.rate),
                    (side_band, switches, None),
                    "{role:?}"
                );
                assert_eq!((request.exclude.kernel, request.exclude.hv), (exclude_kernel, exclude_kernel), "{role:?}");
                assert!(!set.everywhere && !set.is_by_cpu(), "{role:?}");
            }
        }
    }

    #[test]
    fn only_a_frequency_is_capped_and_only_by_a_limit_that_can_be_read() {
        let root = tempfile::tempdir().unwrap();
        let limit = root.path().join("proc/sys/kernel/perf_event_max_sample_rate");
        std::fs::create_dir_all(limit.parent().unwrap()).unwrap();
        for (text, rate, expected) in [
            ("1000\n", Rate::Period(5000), Rate::Period(5000)),
            ("1000\n", Rate::Frequency(1000), Rate::Frequency(1000)),
            ("none\n", Rate::Frequency(5000), Rate::Frequency(5000)),
            ("-1\n", Rate::Frequency(5000), Rate::Frequency(5000)),
        ] {
            std::fs::write(&limit, text).unwrap();
            let mut notes = Vec::new();
            assert_eq!((cap(rate, root.path(), &mut notes), notes.len()), (expected, 0), "{text:?} {rate:?}");
        }
        std::fs::remove_file(&limit).unwrap();
        assert_eq!(cap(Rate::Frequency(9), root.path(), &mut Vec::new()), Rate::Frequency(9));
    }
}

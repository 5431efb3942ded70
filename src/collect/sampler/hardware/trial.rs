//! Tries a plan's events on this machine: each group is counted briefly on this thread before anything relies on it. An
//! event at zero is dropped if the workload must have made it count. One that may be zero is kept, unless others show
//! that this PMU accepts events it does not count, as those of virtual machines do.

use super::load::Load;
use super::requests::request;
use crate::collect::catalog;
use crate::collect::sampler::event_requests::EventRequests;
use crate::model::{
    AbsentMetric, EventKind, EventSpec, Formula, HardwareEvent, HardwareGroup, HardwarePlan, MetricId, Note,
};
use crate::sys::perf::event::{self, GroupCounted, Place};
use std::fmt;
use std::io;

/// Roles that the workload always makes count, on every CPU.
const ALWAYS: [&str; 6] = ["cycles", "instructions", "ref-cycles", "branches", "loads", "slots"];
/// Prefix of the roles of the first-level cache, whose misses also always count.
const L1D: &str = "l1d-";
const ENOENT: i32 = 2;
const EINVAL: i32 = 22;

/// The plan that actually counts, and the events left out.
#[derive(Debug)]
pub(super) struct TrialResult {
    pub plan: HardwarePlan,
    pub left_out: Vec<LeftOut>,
}

/// Events that are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    roles: Vec<String>,
    events: String,
    why: String,
}

impl LeftOut {
    pub fn event(event: &HardwareEvent, why: impl Into<String>) -> LeftOut {
        LeftOut { roles: vec![event.role.clone()], events: event.event.name.clone(), why: why.into() }
    }

    /// A group that was refused at some places or at all.
    pub fn group(group: &HardwareGroup, opened: usize, places: usize, error: &io::Error) -> LeftOut {
        let names: Vec<&str> = group.events.iter().map(|event| event.event.name.as_str()).collect();
        let roles = group.events.iter().map(|event| event.role.clone()).collect();
        let why = match opened {
            0 => format!("cannot be counted on the target ({error})"),
            _ => format!("could be counted on {opened} of {places} threads or CPUs only ({error})"),
        };
        LeftOut { roles, events: format!("{{{}}}", names.join(", ")), why }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.events, self.why)
    }
}

/// Counts events during a short workload.
pub(super) trait EventCounter {
    /// Counts them as one group; returns the kernel's error number if it refuses them.
    fn count(&mut self, events: &[HardwareEvent]) -> Result<GroupCounted, i32>;
}

/// The trial on this thread.
#[derive(Debug)]
pub(super) struct OwnThread {
    exclude_kernel: bool,
    load: Load,
}

impl OwnThread {
    pub fn new(exclude_kernel: bool) -> OwnThread {
        OwnThread { exclude_kernel, load: Load::new() }
    }
}

impl EventCounter for OwnThread {
    fn count(&mut self, events: &[HardwareEvent]) -> Result<GroupCounted, i32> {
        let requests: Option<Vec<_>> = events.iter().map(|event| request(&event.event, self.exclude_kernel)).collect();
        let mut requests = requests.ok_or(EINVAL)?;
        let (leader, members) = requests.split_first_mut().ok_or(EINVAL)?;
        leader.reads_group = true;
        let counted = event::open(leader, members, Place::Task { tid: 0, cpu: None }).and_then(|opened| {
            let leader = opened.first().ok_or(io::ErrorKind::NotFound)?;
            leader.enable()?;
            self.load.run();
            leader.read_group(opened.len())
        });
        counted.map_err(|error| error.raw_os_error().unwrap_or(EINVAL))
    }
}

/// The part of a plan that can be counted at all. Of events that the user named, it says why others cannot: a count of zero
/// would be wrong.
pub(super) fn possible(plan: HardwarePlan, requests: &EventRequests) -> TrialResult {
    let HardwarePlan { groups, .. } = &plan;
    let reason = |event: &HardwareEvent| match &event.event {
        spec if of_core(spec) && !requests.hardware => Some("need a hardware counter, and none counts here"),
        spec if in_kernel(spec) && (spec.exclude_kernel || requests.exclude_kernel) => {
            Some("happen in the kernel, which is excluded")
        }
        _ => None,
    };
    if !plan.is_named() {
        let groups = if requests.hardware { groups.clone() } else { vec![] };
        return TrialResult { plan: HardwarePlan { groups, ..plan }, left_out: vec![] };
    }
    let mut left_out: Vec<LeftOut> = Vec::new();
    for (event, why) in groups.iter().flat_map(|group| &group.events).filter_map(|it| Some((it, reason(it)?))) {
        match left_out.iter_mut().find(|left| left.why == why) {
            Some(left) => {
                left.roles.push(event.role.clone());
                left.events = format!("{}, {}", left.events, event.event.name);
            }
            None => left_out.push(LeftOut::event(event, why)),
        }
    }
    let kept = groups.iter().map(|group| HardwareGroup {
        events: group.events.iter().filter(|event| reason(event).is_none()).cloned().collect(),
        ..group.clone()
    });
    let groups = kept.filter(|group| !group.events.is_empty()).collect();
    TrialResult { plan: HardwarePlan { groups, ..plan }, left_out }
}

/// Whether an event is counted by a core's PMU. Only those exclude guests.
fn of_core(spec: &EventSpec) -> bool {
    spec.exclude_guest || matches!(spec.kind, EventKind::Hardware(_) | EventKind::Cache(_))
}

/// Whether the kernel counts it while it runs itself: context switches, migrations and its tracepoints.
fn in_kernel(spec: &EventSpec) -> bool {
    matches!(spec.kind, EventKind::Software(3 | 4 | 11) | EventKind::Tracepoint { .. })
}

/// Tries every group. A refused group is built up event by event; an event at zero that must count is dropped.
pub(super) fn tried(plan: HardwarePlan, counter: &mut impl EventCounter) -> TrialResult {
    let mut trial = Trial { counter, left_out: vec![], silent: vec![], stuck: false };
    let mut groups: Vec<HardwareGroup> = plan.groups.iter().map(|group| trial.group(group)).collect();
    trial.drop_doubtful(&mut groups);
    let left_out = trial.left_out;
    let old = roles(&plan.groups);
    let mut kept: Vec<HardwareGroup> = Vec::new();
    for (group, planned) in groups.into_iter().zip(&plan.groups) {
        let known = roles(&kept);
        // The rest of a group may only repeat events that others already contain.
        let tells_more = group.events.iter().any(|event| !known.contains(&event.role));
        if tells_more || (group == *planned && !group.events.is_empty()) {
            kept.push(group);
        }
    }
    let mut tried = HardwarePlan { groups: kept, ..plan };
    tell_absent(&mut tried, &old, &left_out);
    TrialResult { plan: tried, left_out }
}

/// The plan without some of its groups; metrics that can no longer be computed are marked absent.
pub(super) fn without(plan: HardwarePlan, keep: impl Fn(usize) -> bool, left_out: &[LeftOut]) -> HardwarePlan {
    let old = roles(&plan.groups);
    let groups = plan.groups.into_iter().enumerate().filter(|(number, _)| keep(*number)).map(|(_, group)| group);
    let mut plan = HardwarePlan { groups: groups.collect(), ..plan };
    tell_absent(&mut plan, &old, left_out);
    plan
}

/// The note for readers of the recording; `None` if everything counts.
pub(super) fn note(left_out: &[LeftOut]) -> Option<Note> {
    let reasons: Vec<String> = left_out.iter().map(LeftOut::to_string).collect();
    (!reasons.is_empty()).then(|| Note {
        topic: "hardware-events-left-out".to_string(),
        text: format!("Not all events are counted: {}.", reasons.join("; ")),
        fix: None,
    })
}

fn roles(groups: &[HardwareGroup]) -> Vec<String> {
    groups.iter().flat_map(|group| &group.events).map(|event| event.role.clone()).collect()
}

fn tell_absent(plan: &mut HardwarePlan, old: &[String], left_out: &[LeftOut]) {
    let new = roles(&plan.groups);
    for metric in MetricId::from_events().map(MetricId::def) {
        let needed: Vec<Formula> = plan.formulas_of(metric).filter_map(Formula::parse).collect();
        if !formed(&needed, old) || formed(&needed, &new) {
            continue;
        }
        let needs = |role: &String| {
            !new.contains(role) && needed.iter().any(|formula| formula.names().contains(&role.as_str()))
        };
        let why = left_out.iter().find(|left| left.roles.iter().any(needs));
        let known = plan.absent.iter().any(|absent| absent.metric == metric.name);
        if let (Some(why), false) = (why, known) {
            plan.absent.push(AbsentMetric { metric: metric.name.to_string(), why: why.to_string() });
        }
    }
}

fn formed(formulas: &[Formula], roles: &[String]) -> bool {
    let counted = |name: &str| matches!(name, "wall" | "task-clock") || roles.iter().any(|role| role == name);
    formulas.iter().any(|formula| formula.names().into_iter().all(counted))
}

struct Trial<'a, B> {
    counter: &'a mut B,
    left_out: Vec<LeftOut>,
    /// Roles that stayed at zero and may do so.
    silent: Vec<String>,
    /// Whether a role stayed at zero that must count.
    stuck: bool,
}

impl<B: EventCounter> Trial<'_, B> {
    /// The part of the group that counts.
    fn group(&mut self, group: &HardwareGroup) -> HardwareGroup {
        // Others may not count on this thread at all, or nothing of what it does.
        if !group.events.iter().any(|event| of_core(&event.event)) {
            return group.clone();
        }
        let mut kept = Vec::new();
        for event in &group.events {
            let taken = catalog::definitions().iter().any(|def| def.name == event.role);
            match taken {
                true => self.leave(event, "bears the name of another counter"),
                false => kept.push(event.clone()),
            }
        }
        let counted = match self.counter.count(&kept) {
            Ok(counted) => Some(counted),
            Err(_) => self.build_up(&mut kept),
        };
        match counted {
            Some(counted) if counted.running_ns == 0 => self.shrink(&mut kept),
            Some(counted) => self.drop_stuck(&mut kept, &counted),
            None => {}
        }
        HardwareGroup { events: kept, ..group.clone() }
    }

    /// Adds event by event; each must fit together with those accepted before it.
    fn build_up(&mut self, events: &mut Vec<HardwareEvent>) -> Option<GroupCounted> {
        let mut counted = None;
        for event in std::mem::take(events) {
            events.push(event);
            match self.counter.count(events) {
                Ok(now) => counted = Some(now),
                Err(errno) => {
                    let event = events.pop()?;
                    let alone = !events.is_empty() && self.counter.count(std::slice::from_ref(&event)).is_ok();
                    self.leave(&event, if alone { "does not fit into its group".into() } else { refusal(errno) });
                }
            }
        }
        counted
    }

    /// The group was not scheduled at all: others hold counters. Drops its last events until it runs. If even its
    /// leader alone does not run, nothing can be decided here, as on a CPU of another kind than the plan's.
    fn shrink(&mut self, events: &mut Vec<HardwareEvent>) {
        let runs = |counted: Result<GroupCounted, i32>| counted.is_ok_and(|counted| counted.running_ns > 0);
        if !runs(self.counter.count(&events[..events.len().min(1)])) {
            return;
        }
        while events.len() > 1 && !runs(self.counter.count(events)) {
            if let Some(event) = events.pop() {
                self.leave(&event, "finds no free counter: others hold them");
            }
        }
    }

    fn drop_stuck(&mut self, events: &mut Vec<HardwareEvent>, counted: &GroupCounted) {
        let mut values = counted.values.iter();
        events.retain(|event| {
            let silent = values.next() == Some(&0);
            let stuck = silent && counts_for_certain(&event.role);
            if stuck {
                self.stuck = true;
                self.leave(event, "stays at zero under every load");
            } else if silent {
                self.silent.push(event.role.clone());
            }
            !stuck
        });
    }

    /// If one event is accepted but not counted, a zero of another event is doubtful too.
    fn drop_doubtful(&mut self, groups: &mut [HardwareGroup]) {
        if !self.stuck {
            return;
        }
        for events in groups.iter_mut().map(|group| &mut group.events) {
            let (silent, counting) =
                std::mem::take(events).into_iter().partition(|event| self.silent.contains(&event.role));
            *events = counting;
            let silent: Vec<HardwareEvent> = silent;
            silent.iter().for_each(|event| self.leave(event, "stays at zero, as others here that must count"));
        }
    }

    /// An event may be in several groups, but is reported once.
    fn leave(&mut self, event: &HardwareEvent, why: impl Into<String>) {
        let left = LeftOut::event(event, why);
        if !self.left_out.contains(&left) {
            self.left_out.push(left);
        }
    }
}

fn counts_for_certain(role: &str) -> bool {
    ALWAYS.contains(&role) || role.starts_with(L1D)
}

fn refusal(errno: i32) -> String {
    let why = match errno {
        ENOENT => "this CPU or virtual machine does not have it".to_string(),
        errno => io::Error::from_raw_os_error(errno).to_string(),
    };
    format!("is refused ({why})")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{EventKind, EventSpec, Unit};
    use proptest::prelude::*;

    /// A plan by roles; an event's name is its role in capitals.
    pub fn plan(groups: &[&[&str]]) -> HardwarePlan {
        let event = |role: &&str| HardwareEvent {
            role: (*role).to_string(),
            event: EventSpec {
                exclude_guest: true,
                ..EventSpec::new(role.to_uppercase(), EventKind::Hardware(0), Unit::Count)
            },
        };
        let group =
            |roles: &&[&str]| HardwareGroup { events: roles.iter().map(event).collect(), ..HardwareGroup::default() };
        HardwarePlan {
            uarch: "test".to_string(),
            groups: groups.iter().map(group).collect(),
            ..HardwarePlan::default()
        }
    }

    #[test]
    fn events_that_would_stay_at_zero_are_left_out_with_the_reason() {
        let event = |name: &str, kind| EventSpec::new(name, kind, Unit::Count);
        let named = HardwarePlan::of_named(&[
            event("cycles", EventKind::Hardware(0)),
            event("cs", EventKind::Software(3)),
            event("faults", EventKind::Software(2)),
            event("msr/tsc/", EventKind::Raw { pmu: 9, config: 0, config1: 0, config2: 0 }),
        ]);
        let (no_counter, in_kernel) =
            ("need a hardware counter, and none counts here", "happen in the kernel, which is excluded");
        for (hardware, exclude_kernel, kept, left) in [
            (true, false, &["cycles", "cs", "faults", "msr/tsc/"][..], &[][..]),
            (false, true, &["faults", "msr/tsc/"], &[("cycles", no_counter), ("cs", in_kernel)]),
        ] {
            let requests = EventRequests { hardware, exclude_kernel, ..EventRequests::default() };
            let TrialResult { plan, left_out } = possible(named.clone(), &requests);
            let names: Vec<_> = plan.groups.iter().map(|group| group.events[0].event.name.as_str()).collect();
            let reasons: Vec<_> = left_out.iter().map(|left| (left.events.as_str(), left.why.as_str())).collect();
            assert_eq!((names.as_slice(), reasons.as_slice()), (kept, left));
        }
        let own = possible(super::super::core_plan::base(), &EventRequests::default());
        assert!(own.plan.groups.is_empty() && own.left_out.is_empty(), "a default plan needs no excuse");
    }

    /// A CPU with a number of counters, some of them held by others; it refuses some events and keeps some at zero.
    struct Fake {
        counters: usize,
        held: usize,
        refused: Vec<&'static str>,
        stuck: Vec<&'static str>,
        opened: usize,
    }

    impl EventCounter for Fake {
        fn count(&mut self, events: &[HardwareEvent]) -> Result<GroupCounted, i32> {
            self.opened += events.len();
            if events.is_empty() || events.len() > self.counters {
                return Err(EINVAL);
            }
            if events.iter().any(|event| self.refused.contains(&event.role.as_str())) {
                return Err(ENOENT);
            }
            let runs = events.len() + self.held <= self.counters;
            let value = |event: &HardwareEvent| u64::from(runs && !self.stuck.contains(&event.role.as_str()));
            let running_ns = if runs { 1000 } else { 0 };
            Ok(GroupCounted { values: events.iter().map(value).collect(), enabled_ns: 1000, running_ns })
        }
    }

    fn fake() -> Fake {
        Fake { counters: 4, held: 0, refused: vec![], stuck: vec![], opened: 0 }
    }

    fn kept(tried: &TrialResult) -> Vec<Vec<&str>> {
        tried.plan.groups.iter().map(|group| group.events.iter().map(|event| event.role.as_str()).collect()).collect()
    }

    fn told(tried: &TrialResult) -> Vec<String> {
        tried.left_out.iter().map(LeftOut::to_string).collect()
    }

    const CACHE: &[&[&str]] = &[&["cycles", "instructions"], &["instructions", "l1d-miss", "llc-miss"]];

    #[test]
    fn what_counts_is_kept_as_it_was_planned() {
        let tried = tried(plan(CACHE), &mut fake());
        assert_eq!((kept(&tried), told(&tried).len()), (CACHE.iter().map(|group| group.to_vec()).collect(), 0));
        assert_eq!(note(&tried.left_out), None);
    }

    #[test]
    fn a_refused_group_is_built_up_from_what_is_not_refused() {
        let tried = tried(plan(CACHE), &mut Fake { refused: vec!["llc-miss"], ..fake() });
        assert_eq!(kept(&tried), [vec!["cycles", "instructions"], vec!["instructions", "l1d-miss"]]);
        assert_eq!(told(&tried), ["LLC-MISS is refused (this CPU or virtual machine does not have it)"]);
        assert_eq!(tried.plan.absent[0].metric, "llc_mpki");
    }

    #[test]
    fn a_group_left_with_what_others_hold_is_dropped_and_an_event_is_told_once() {
        let groups: &[&[&str]] = &[&["cycles", "instructions"], &["instructions", "llc-miss"], &["llc-miss", "cycles"]];
        let tried = tried(plan(groups), &mut Fake { refused: vec!["llc-miss"], ..fake() });
        assert_eq!((kept(&tried), told(&tried).len()), (vec![vec!["cycles", "instructions"]], 1));
    }

    #[test]
    fn a_group_too_large_gives_up_what_does_not_fit() {
        let tried = tried(plan(CACHE), &mut Fake { counters: 2, ..fake() });
        assert_eq!(kept(&tried), [vec!["cycles", "instructions"], vec!["instructions", "l1d-miss"]]);
        assert_eq!(told(&tried), ["LLC-MISS does not fit into its group"]);
    }

    #[test]
    fn a_group_that_never_runs_shrinks_until_it_does() {
        let tried = tried(plan(CACHE), &mut Fake { held: 2, ..fake() });
        assert_eq!(kept(&tried)[1], ["instructions", "l1d-miss"]);
        assert_eq!(told(&tried), ["LLC-MISS finds no free counter: others hold them"]);
    }

    #[test]
    fn where_not_even_a_leader_runs_nothing_is_concluded() {
        let tried = tried(plan(CACHE), &mut Fake { held: 4, ..fake() });
        assert_eq!((kept(&tried).len(), told(&tried).len()), (2, 0));
    }

    #[test]
    fn a_zero_that_cannot_be_is_a_stuck_counter_and_one_that_may_be_is_a_zero() {
        let groups: &[&[&str]] = &[&["cycles", "instructions"], &["instructions", "l1d-miss", "remote-dram"]];
        let tried = tried(plan(groups), &mut Fake { stuck: vec!["remote-dram"], ..fake() });
        assert_eq!((kept(&tried)[1].len(), told(&tried).len()), (3, 0));
    }

    #[test]
    fn where_one_event_is_stuck_no_zero_is_believed() {
        let groups: &[&[&str]] = &[&["cycles", "remote-dram"], &["instructions", "l1d-miss", "l2-miss", "remote-dram"]];
        let tried = tried(plan(groups), &mut Fake { stuck: vec!["l1d-miss", "remote-dram"], ..fake() });
        assert_eq!(kept(&tried), [vec!["cycles"], vec!["instructions", "l2-miss"]]);
        let doubted = "REMOTE-DRAM stays at zero, as others here that must count";
        assert_eq!(told(&tried), ["L1D-MISS stays at zero under every load", doubted]);
    }

    #[test]
    fn a_role_never_takes_the_name_of_another_counter() {
        let tried = tried(plan(&[&["cycles", "run-delay"]]), &mut fake());
        assert_eq!(kept(&tried), [vec!["cycles"]]);
    }

    proptest! {
        #[test]
        fn whatever_the_cpu_refuses_the_plan_that_is_left_can_be_opened(
            sizes in prop::collection::vec(1..6_usize, 1..6),
            counters in 1..6_usize, held in 0..4_usize, refused in 0..5_usize, stuck in 0..5_usize,
        ) {
            const ROLES: [&str; 5] = ["cycles", "instructions", "l1d-miss", "llc-miss", "branches"];
            let groups: Vec<Vec<&str>> = sizes.iter().enumerate()
                .map(|(at, size)| (0..*size).map(|n| ROLES[(at + n) % 5]).collect()).collect();
            let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
            let mut counter = Fake { counters, held, refused: vec![ROLES[refused]], stuck: vec![ROLES[stuck]], ..fake() };
            let planned = plan(&groups);
            let tried = tried(planned.clone(), &mut counter);
            for group in &tried.plan.groups {
                prop_assert!(!group.events.is_empty() && counter.count(&group.events).is_ok());
            }
            let left: Vec<String> = roles(&tried.plan.groups);
            for role in roles(&planned.groups) {
                let told = tried.left_out.iter().any(|out| out.roles.contains(&role));
                prop_assert!(left.contains(&role) || told, "{role} vanished in silence");
            }
        }
    }
}

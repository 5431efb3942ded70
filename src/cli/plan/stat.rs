//! What `stat` counts: the events as named, each in its own group or the group it was given, and nothing sampled.

use crate::abi;
use crate::cli::args::{CaptureArgs, FrequencyArg, StatArgs};
use crate::model::{CallGraph, EventKind, EventSpec, HardwareEvent, HardwarePlan, Plan, Rate, Unit};
use crate::pmu::EventSources;

/// perf's list. Events that are divided by each other are counted together.
const DEFAULT: &str =
    "task-clock,context-switches,cpu-migrations,page-faults,{cycles,instructions},{branches,branch-misses}";

/// The flags that it shares with other captures.
#[must_use]
pub fn stat_capture(args: &StatArgs) -> CaptureArgs {
    let default = CaptureArgs::default();
    CaptureArgs {
        event: if args.event.is_empty() { vec![DEFAULT.to_string()] } else { args.event.clone() },
        // Nothing is sampled: not even the kernel's limit is reached.
        freq: Some(FrequencyArg::Hertz(1)),
        interval: args.interval.unwrap_or(default.interval),
        duration: args.duration,
        delay: args.delay,
        ops: args.ops.clone(),
        ..default
    }
}

/// Turns a plan that samples events into one that counts them. Returns them as they are counted.
#[must_use]
pub fn stat(mut plan: Plan, args: &StatArgs, sources: &dyn EventSources) -> (Plan, Vec<EventSpec>) {
    let mut events = std::mem::take(&mut plan.events);
    for event in &mut events {
        event.exclude_kernel |= args.all_user;
        event.exclude_hv |= args.all_user;
        event.exclude_user |= args.all_kernel;
        if (args.all_user || args.all_kernel) && !event.name.contains([':', '/']) {
            event.name += if args.all_user { ":u" } else { ":k" };
        }
    }
    let mut counted = HardwarePlan::of_named(&events);
    for group in &mut counted.groups {
        // Each CPU of a package reads the same counter of a PMU outside the cores.
        let cpus = group.events.first().and_then(|leader| cpus_of(&leader.event, sources));
        group.cpus = cpus.unwrap_or_default();
    }
    if plan.ops.is_some() {
        let missing = law().into_iter().filter(|event| !counted.counts(&HardwareEvent::named_role(event)));
        let missing: Vec<_> = missing.collect();
        counted.groups.extend(HardwarePlan::of_named(&missing).groups);
    }
    plan.hardware = vec![counted];
    plan.events = vec![EventSpec::new("dummy", EventKind::Software(9), Unit::Count)];
    (plan.rate, plan.call_graph) = (Rate::Frequency(0), CallGraph::None);
    (plan.max_overhead, plan.max_sampling) = (None, None);
    (plan, events)
}

/// What the costs of an operation are made of.
fn law() -> [EventSpec; 3] {
    let event = |name: &str, config, unit| EventSpec {
        exclude_guest: true,
        group: Some(0),
        ..EventSpec::new(name, EventKind::Hardware(config), unit)
    };
    let clock = EventSpec::new("task-clock", EventKind::Software(1), Unit::Nanos);
    [clock, event("cycles", 0, Unit::Cycles), event("instructions", 1, Unit::Instructions)]
}

/// The CPUs on which a PMU outside the cores is to be opened.
fn cpus_of(event: &EventSpec, sources: &dyn EventSources) -> Option<Vec<u32>> {
    let pmu = event.name.split_once('/')?.0;
    abi::parse_cpu_list(&sources.read(&format!("{pmu}/cpumask"))?).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use crate::model::Target;
    use crate::pmu::fake::FakeSources;
    use clap::Parser;

    fn planned(line: &str) -> (Plan, Vec<EventSpec>) {
        let Some(Command::Stat(args)) = Cli::parse_from(line.split_whitespace()).command else { panic!("{line}") };
        let sources = FakeSources(&[("imc/type", "14"), ("imc/format/event", "config:0-7"), ("imc/cpumask", "0,18")]);
        let capture = stat_capture(&args);
        let mut plan = Plan::new(Target::Cpus { cpus: vec![] }, Rate::Period(1), CallGraph::Auto);
        plan.events = crate::pmu::parse(&capture.event.join(","), &sources).unwrap();
        plan.ops = capture.ops;
        stat(plan, &args, &sources)
    }

    fn roles(plan: &Plan) -> Vec<Vec<&str>> {
        let groups = plan.hardware[0].groups.iter();
        groups.map(|group| group.events.iter().map(|event| event.role.as_str()).collect()).collect()
    }

    #[test]
    fn each_event_has_a_group_of_its_own_unless_it_was_given_one() {
        let (plan, events) = planned("ironlaw stat true");
        assert_eq!(events.len(), 8);
        let expected: [&[&str]; 6] = [
            &["event:task-clock"],
            &["event:context-switches"],
            &["event:cpu-migrations"],
            &["event:page-faults"],
            &["cycles", "instructions"],
            &["branches", "event:branch-misses"],
        ];
        assert_eq!(roles(&plan), expected);
        assert_eq!((plan.rate, plan.events.len(), plan.max_overhead), (Rate::Frequency(0), 1, None));
        let (plan, _) = planned("ironlaw stat -e {faults,cs} -e cycles:u,imc/event=4/,faults true");
        assert_eq!(roles(&plan), [&["event:faults", "event:cs"][..], &["event:cycles:u"], &["event:imc/event=4/"]]);
        let cpus: Vec<_> = plan.hardware[0].groups.iter().map(|group| group.cpus.as_slice()).collect();
        assert_eq!(cpus, [&[][..], &[], &[0, 18]]);
    }

    #[test]
    fn costs_per_operation_have_what_they_need_though_it_is_not_shown() {
        let (plan, events) = planned("ironlaw stat --ops rate:5 -e faults --all-user true");
        assert_eq!(roles(&plan), [&["event:faults:u"][..], &["event:task-clock"], &["cycles", "instructions"]]);
        assert_eq!((events.len(), events[0].name.as_str()), (1, "faults:u"));
        assert!(events[0].exclude_kernel && !events[0].exclude_user);
    }
}

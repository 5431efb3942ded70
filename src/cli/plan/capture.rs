//! The options of a capture: events that this kernel knows, a rate that it allows, sensible times.

use super::usage;
use crate::cli::args::{CaptureArgs, FrequencyArg};
use crate::cli::hardware;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EventSpec, LatencySpec, Note, OnlyCode, Plan, Rate, Target};
use crate::pmu::{self, CoreType, EventSources, Known};
use crate::units::Nanos;
use std::fmt;

/// Not a round number, so that samples do not align with timers.
const DEFAULT_HERTZ: u64 = 997;
/// What sampling and hardware counters may each cost unless they are asked for, in percent.
pub const DEFAULT_OVERHEAD: f64 = 2.0;
const MIN_INTERVAL: Nanos = Nanos(10_000_000);

/// The facts about the machine that planning may use.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// `/proc/sys/kernel/perf_event_max_sample_rate`, if it can be read.
    pub max_sample_rate: Option<u64>,
    /// Online CPUs; empty if unknown.
    pub online_cpus: &'a [u32],
    /// The kernel's event sources.
    pub event_sources: &'a dyn EventSources,
    /// The core types of the machine.
    pub cores: &'a [CoreType],
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Environment");
        fields.field("max_sample_rate", &self.max_sample_rate).field("online_cpus", &self.online_cpus);
        fields.finish_non_exhaustive()
    }
}

/// Validated capture options; with a resolved target they form a [`Plan`].
#[derive(Debug, Clone, PartialEq)]
pub struct CapturePlan {
    plan: Plan,
    /// Adjustments to the request, and their reasons.
    pub notes: Vec<Note>,
}

impl CapturePlan {
    /// The plan for `target`.
    #[must_use]
    pub fn on(&self, target: Target) -> Plan {
        Plan { target, ..self.plan.clone() }
    }
}

/// Validates the capture options. Errors: `Usage` for invalid times, and any error of [`pmu::parse`] for the events.
pub fn capture(args: &CaptureArgs, environment: &Environment<'_>) -> Result<CapturePlan> {
    if args.interval < MIN_INTERVAL {
        return Err(usage("an interval below 10ms would measure itself").hint("Give -I 10ms or more."));
    }
    let mut notes = Vec::new();
    let known = Known { sources: environment.event_sources, cores: environment.cores };
    let wanted = pmu::wanted(args.hardware.metrics.as_deref().unwrap_or("default"))?;
    let rate = rate(args, environment.max_sample_rate, &mut notes)?;
    let events = events(&args.event, &known)?;
    // Why slow operations are slow takes their waits and who else used the machine.
    let explained = args.latency.as_ref().is_some_and(LatencySpec::is_in_kernel);
    let plan = Plan {
        target: Target::Cpus { cpus: Vec::new() },
        max_overhead: max_overhead(args, &events),
        max_sampling: max_sampling(args),
        events,
        accesses: if args.mem { pmu::access_events(environment.event_sources, environment.cores)? } else { Vec::new() },
        only: match (args.all_user, args.all_kernel) {
            (true, _) => Some(OnlyCode::User),
            (_, true) => Some(OnlyCode::Kernel),
            _ => None,
        },
        rate,
        call_graph: args.call_graph,
        off_cpu: args.off_cpu || explained,
        interval: args.interval,
        duration: args.duration,
        delay: args.delay,
        ops: args.ops.clone(),
        latency: args.latency.clone(),
        slo: args.slo,
        beside: None,
        neighbours: args.neighbours || explained,
        probe: args.probe,
        hardware: hardware::plans(environment.cores, &wanted),
    };
    Ok(CapturePlan { plan, notes })
}

/// What is asked for is counted, unless a limit is asked for as well.
fn max_overhead(args: &CaptureArgs, events: &[EventSpec]) -> Option<f64> {
    let named = args.hardware.metrics.as_deref().is_some_and(|list| !matches!(list, "default" | "none"));
    let asked = named || events.iter().any(|event| event.kind.is_hardware());
    let default = (!asked).then_some(DEFAULT_OVERHEAD);
    args.max_overhead.or(default).filter(|percent| *percent < 100.0)
}

/// A frequency that is asked for is kept, unless a limit is asked for as well.
fn max_sampling(args: &CaptureArgs) -> Option<f64> {
    let default = args.freq.is_none().then_some(DEFAULT_OVERHEAD);
    args.max_overhead.or(default).filter(|percent| *percent < 100.0)
}

fn events(lists: &[String], sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    // Joined first, so that groups of several -e get different numbers.
    if lists.is_empty() { Ok(Vec::new()) } else { pmu::parse(&lists.join(","), sources) }
}

fn rate(args: &CaptureArgs, limit: Option<u64>, notes: &mut Vec<Note>) -> Result<Rate> {
    if let Some(period) = args.count {
        return Ok(Rate::Period(period));
    }
    let wanted = match args.freq {
        None => DEFAULT_HERTZ,
        Some(FrequencyArg::Hertz(hertz)) => hertz,
        Some(FrequencyArg::Max) => limit.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, "the highest sampling frequency of this kernel is not known")
                .hint("Give a number, e.g. -F 4999; /proc/sys/kernel/perf_event_max_sample_rate cannot be read.")
        })?,
    };
    let allowed = limit.unwrap_or(wanted).max(1);
    if wanted > allowed {
        notes.push(Note {
            topic: "rate-lowered".to_string(),
            text: format!("sampling at {allowed} Hz in place of {wanted}: the kernel allows no more"),
            fix: Some(format!("sysctl kernel.perf_event_max_sample_rate={wanted}")),
        });
    }
    Ok(Rate::Frequency(wanted.min(allowed)))
}

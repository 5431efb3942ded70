//! Checks of what tells about memory: sampled accesses, and counters of memory controllers.

use super::check::{Check, Status};
use super::machine::Rule;
use super::probe::Probe;

/// In display order.
pub(super) const RULES: &[Rule] = &[accesses, uncore];

fn accesses(probe: &Probe) -> Option<Check> {
    let topic = "memory-accesses";
    Some(match probe.access_events.as_ref()? {
        Ok(events) => Check::works(topic, format!("--mem samples them by {}", events.join(", "))),
        Err(why) => Check::new(topic, Status::Limited, "not sampled").detail(why.clone()),
    })
}

fn uncore(probe: &Probe) -> Option<Check> {
    let topic = "uncore";
    let limited = |text: String| Check::new(topic, Status::Limited, text);
    Some(match (probe.uncore_counters?, probe.whole_cpu) {
        (0, _) => limited("no counters of memory controllers".to_string())
            .detail("memory bandwidth by socket, and data between sockets, stay unknown"),
        (count, Some(Ok(_))) => {
            Check::works(topic, format!("{count} counters of memory controllers and links between sockets"))
        }
        (count, _) => limited(format!("{count} counters of memory controllers, which this user may not open"))
            .detail("they count the whole machine")
            .fix("sudo sysctl kernel.perf_event_paranoid=0, or run as root"),
    })
}

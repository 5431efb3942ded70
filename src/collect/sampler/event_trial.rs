//! Tries whether the kernel lets this thread count an event, by opening it. It stays disabled and is closed at once.

use super::event_requests::{Restrictions, refused};
use super::request::{counting, counts};
use crate::model::{EventKind, EventSpec};
use crate::sys::perf::event::{self, Place, Request};
use std::io;
use std::path::Path;

/// The kernel's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventTrial {
    /// It counts.
    Counts,
    /// It counts in user code; the kernel's own code is not permitted.
    UserOnly,
    /// It does not count, for this reason.
    Refused(String),
}

/// Tries an event on this thread. Files are read below `root` (`/` on a live system).
#[must_use]
pub fn try_event(spec: &EventSpec, root: &Path) -> EventTrial {
    let open = |request: &Request| event::open(request, &[], Place::Task { tid: 0, cpu: None }).map(drop);
    let request = match counting(spec, root) {
        Ok(request) => request,
        Err(error) => return EventTrial::Refused(error.to_string()),
    };
    let Err(error) = open(&request) else {
        // Cycles and instructions of a running thread are never 0, but virtual machines may open what does not count.
        return match spec.kind {
            EventKind::Hardware(config @ 0..=1) if !counts(0, config, false) => {
                EventTrial::Refused("it opens and stays at 0".to_string())
            }
            _ => EventTrial::Counts,
        };
    };
    let mut user = request;
    (user.exclude.kernel, user.exclude.hv) = (true, true);
    // An event of the kernel alone counts nothing then.
    if error.kind() == io::ErrorKind::PermissionDenied && !user.exclude.user && open(&user).is_ok() {
        return EventTrial::UserOnly;
    }
    EventTrial::Refused(reason(&error, &spec.name, root))
}

/// A short reason for what a table says of many events.
fn reason(error: &io::Error, name: &str, root: &Path) -> String {
    match error.kind() {
        // ENOENT and EOPNOTSUPP.
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => "no such counter".to_string(),
        io::ErrorKind::InvalidInput => "it cannot be counted on a thread".to_string(),
        io::ErrorKind::ResourceBusy => "another user holds its counter".to_string(),
        _ => refused(error, name, Restrictions::read(root)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;

    #[test]
    fn a_clock_counts_wherever_events_may_be_opened_and_an_unknown_pmu_nowhere() {
        let of = |kind| try_event(&EventSpec::new("x", kind, Unit::Count), Path::new("/"));
        let permitted = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
            .is_ok_and(|level| level.trim().parse::<i32>().is_ok_and(|level| level <= 2));
        if permitted {
            assert!(matches!(of(EventKind::Software(1)), EventTrial::Counts | EventTrial::UserOnly));
        }
        let unknown = EventKind::Raw { pmu: 0x7fff_fff0, config: 0, config1: 0, config2: 0 };
        assert!(matches!(of(unknown), EventTrial::Refused(_)));
        let nowhere = Path::new("/nonexistent");
        let tracepoint = EventKind::Tracepoint { category: "sched".into(), name: "sched_switch".into() };
        let trial = try_event(&EventSpec::new("x", tracepoint, Unit::Count), nowhere);
        assert!(matches!(&trial, EventTrial::Refused(why) if why.contains("tracefs")), "{trial:?}");
    }

    #[test]
    fn reasons_are_short_and_say_which_refusal_it_was() {
        for (number, part) in [
            (2, "no such counter"),
            (95, "no such counter"),
            (22, "on a thread"),
            (16, "holds"),
            (13, "paranoid"),
            (24, "descriptors"),
        ] {
            let why = reason(&io::Error::from_raw_os_error(number), "cycles", Path::new("/"));
            assert!(why.contains(part), "{number}: {why}");
        }
    }
}

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
    if error.kind() != io::ErrorKind::PermissionDenied {
        return EventTrial::Refused(reason(&error, &spec.name, root));
    }
    match open(&user) {
        Ok(()) if !user.exclude.user && !is_kernels(&spec.kind) => EventTrial::UserOnly,
        // The kernel checks the permission before the event.
        Err(absent) if is_absent(&absent) => EventTrial::Refused(reason(&absent, &spec.name, root)),
        _ => EventTrial::Refused(reason(&error, &spec.name, root)),
    }
}

/// Whether an event happens only in the kernel's own code, so that it stays at 0 in user code.
fn is_kernels(kind: &EventKind) -> bool {
    const CPU_MIGRATIONS: u64 = 4;
    const CGROUP_SWITCHES: u64 = 11;
    match kind {
        EventKind::Software(config) => matches!(*config, event::CONTEXT_SWITCHES | CPU_MIGRATIONS | CGROUP_SWITCHES),
        EventKind::Tracepoint { .. } => true,
        _ => false,
    }
}

/// ENOENT or EOPNOTSUPP.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::Unsupported)
}

/// A short reason for what a table says of many events.
fn reason(error: &io::Error, name: &str, root: &Path) -> String {
    let restrictions = Restrictions::read(root);
    match error.kind() {
        _ if is_absent(error) => "no such counter".to_string(),
        io::ErrorKind::PermissionDenied if !restrictions.filtered => restrictions.paranoid.map_or_else(
            || "not permitted".to_string(),
            |level| format!("not permitted with kernel.perf_event_paranoid={level}"),
        ),
        io::ErrorKind::InvalidInput => "it cannot be counted on a thread".to_string(),
        io::ErrorKind::ResourceBusy => "another user holds its counter".to_string(),
        _ => refused(error, name, restrictions).to_string(),
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
    fn events_of_the_kernel_do_not_count_in_user_code() {
        for (kind, expected) in [
            (EventKind::Software(event::CONTEXT_SWITCHES), true),
            (EventKind::Tracepoint { category: "sched".into(), name: "sched_switch".into() }, true),
            (EventKind::Software(2), false),
            (EventKind::Hardware(4), false),
        ] {
            assert_eq!(is_kernels(&kind), expected, "{kind:?}");
        }
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

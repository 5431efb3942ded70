//! Runs all checks.

use super::check::{Check, PERF_EVENTS, Status};
use super::probe::Probe;

/// Evaluates what was gathered: capture checks first, then the machine, then the given process.
#[must_use]
pub fn examine(probe: &Probe) -> Vec<Check> {
    let rules = super::capture::RULES.iter().chain(super::machine::RULES).chain(super::memory::RULES);
    let general = rules.filter_map(|rule| rule(probe));
    general.chain(probe.modules.iter().map(super::debug_info::check)).collect()
}

/// Whether profiling works at all, that is, whether user code of the user's own processes can be sampled.
#[must_use]
pub fn profiling_works(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.topic == PERF_EVENTS && check.status != Status::Fails)
}

#[cfg(test)]
mod tests {
    use super::super::probe::{Roots, Tracefs, gather};
    use super::*;
    use crate::sys::procfs::ProcFs;
    use crate::sys::sysfs::SysFs;

    fn status_of(probe: &Probe, topic: &str) -> Option<(Status, String)> {
        let check = examine(probe).into_iter().find(|check| check.topic == topic)?;
        Some((check.status, check.fix.unwrap_or_default()))
    }

    #[test]
    fn whatever_is_not_well_says_why_and_no_topic_comes_twice() {
        let refused = Probe {
            user_clock: Some(Err(libc_like::EACCES)),
            kernel_clock: Some(Err(libc_like::EACCES)),
            whole_cpu: Some(Err(libc_like::EACCES)),
            cycles: Some(Err(libc_like::ENOENT)),
            ..Probe::default()
        };
        for probe in [Probe::default(), refused] {
            let checks = examine(&probe);
            for check in &checks {
                assert!(check.status == Status::Works || !check.detail.is_empty(), "{check:?}");
            }
            let mut topics: Vec<_> = checks.iter().map(|check| &check.topic).collect();
            topics.sort();
            topics.dedup();
            assert_eq!(topics.len(), checks.len());
        }
    }

    #[test]
    fn a_refusal_is_laid_at_the_right_door() {
        use libc_like::{EACCES, EMFILE, ENOSYS, EPERM};
        let filtered = crate::sys::caps::Privileges { seccomp: Some(2), ..Default::default() };
        let rows = [
            (EACCES, Some(4), Default::default(), "sysctl"),
            (EACCES, Some(3), filtered, "sysctl"),
            (EPERM, Some(2), filtered, "seccomp"),
            (ENOSYS, None, filtered, "seccomp"),
            (ENOSYS, None, Default::default(), "CONFIG_PERF_EVENTS"),
            (EMFILE, Some(1), Default::default(), "ulimit"),
        ];
        for (error, paranoid, privileges, word) in rows {
            let probe = Probe { user_clock: Some(Err(error)), paranoid, privileges, ..Probe::default() };
            let (status, fix) = status_of(&probe, PERF_EVENTS).unwrap_or((Status::Unknown, String::new()));
            assert_eq!(status, Status::Fails);
            assert!(fix.contains(word), "errno {error}: {fix}");
            assert!(!profiling_works(&examine(&probe)));
        }
    }

    #[test]
    fn a_counter_is_present_only_if_it_counts() {
        let rows =
            [(Ok(5_000_000), Status::Works), (Ok(0), Status::Limited), (Err(libc_like::ENOENT), Status::Limited)];
        for (cycles, expected) in rows {
            let probe = Probe { cycles: Some(cycles), virtual_machine: true, ..Probe::default() };
            assert_eq!(status_of(&probe, "hardware-counters").map(|(status, _)| status), Some(expected), "{cycles:?}");
        }
    }

    #[test]
    fn the_source_of_waits_goes_by_what_is_allowed_and_tracefs_is_no_condition() {
        let root = crate::sys::caps::Privileges { effective: u64::MAX, ..Default::default() };
        let (yes, no) = (Some(Ok(1)), Some(Err(libc_like::EACCES)));
        let rows = [
            (yes, Tracefs::Readable(1), yes, root, Status::Works, "tracepoints", ""),
            (yes, Tracefs::Absent, None, root, Status::Limited, "context-switch events", "mount -t tracefs"),
            (yes, Tracefs::Unreadable, None, Default::default(), Status::Limited, "context-switch events", "remount"),
            (no, Tracefs::Absent, None, Default::default(), Status::Limited, "/proc", "perf_event_paranoid=1"),
        ];
        for (kernel_clock, tracefs, sched_switch, privileges, status, text, fix) in rows {
            let (user_clock, whole_cpu) = (Some(Ok(1)), kernel_clock);
            let probe =
                Probe { user_clock, kernel_clock, whole_cpu, tracefs, sched_switch, privileges, ..Probe::default() };
            let checks = examine(&probe);
            let check = checks.iter().find(|check| check.topic == "waits");
            assert!(check.is_some_and(|check| check.status == status && check.text.contains(text)), "{check:?}");
            let remedy = check.and_then(|check| check.fix.clone()).unwrap_or_default();
            assert!(remedy.contains(fix), "{remedy}");
        }
    }

    #[test]
    fn events_that_do_not_count_are_told_one_by_one() {
        use crate::collect::sampler::HardwareTrial;
        let trial = |left_out: &[&str]| HardwareTrial {
            uarch: "intel-spr".to_string(),
            events: 7,
            groups: 2,
            left_out: left_out.iter().map(|left| left.to_string()).collect(),
        };
        for (left_out, expected) in [(&[][..], Status::Works), (&["LLC-MISS is refused"][..], Status::Limited)] {
            let probe = Probe { hardware: Some(trial(left_out)), ..Probe::default() };
            let check = examine(&probe).into_iter().find(|check| check.topic == "hardware-events");
            let told = check.map(|check| (check.status, left_out.iter().all(|left| check.detail.contains(left))));
            assert_eq!(told, Some((expected, true)));
        }
        assert_eq!(status_of(&Probe::default(), "hardware-events"), None);
    }

    #[test]
    fn the_kernel_of_this_machine_is_examined_without_surprises() {
        let roots = Roots { proc: ProcFs::new("/proc"), sys: SysFs::new("/sys") };
        let probe = gather(&roots, &[], Some(std::process::id()));
        let checks = examine(&probe);
        assert!(checks.iter().any(|check| check.topic.starts_with("debug-info")), "this test has code mapped");
        assert_eq!(profiling_works(&checks), matches!(probe.user_clock, Some(Ok(_))));
    }

    /// Error numbers, the same on every Linux.
    pub(super) mod libc_like {
        pub use crate::collect::doctor::probe::errno::*;
    }
}

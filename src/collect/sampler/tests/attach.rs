//! How each kind of target is attached to, and the message where that fails.

use crate::collect::sampler::attach::{AttachScope, attach, attach_scope};
use crate::collect::sampler::event_requests::{EventGroup, EventRequests};
use crate::collect::sampler::origin::Role;
use crate::error::ErrorKind;
use crate::model::Target;
use crate::sys::perf::event::{Inherit, Request};
use std::path::Path;

/// A root with one process of these threads.
fn process(pid: u32, threads: &[u32]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for tid in threads {
        std::fs::create_dir_all(root.path().join(format!("proc/{pid}/task/{tid}"))).expect("a folder");
    }
    root
}

/// Requests that the kernel refuses everywhere: the event source does not exist.
fn refused_everywhere(requests: usize) -> EventRequests {
    let request = Request::counting(u32::MAX, [0; 3]);
    let set = EventGroup {
        requests: vec![request; requests],
        roles: vec![Role::Event(0); requests],
        name: "it".to_string(),
        everywhere: false,
        cpus: vec![],
    };
    EventRequests { sets: vec![set], ..EventRequests::default() }
}

#[test]
fn a_target_is_reached_as_what_it_is() {
    let root = process(41, &[41, 42]);
    let requests = refused_everywhere(1);
    let reached = |target: &Target, command| {
        let mut notes = Vec::new();
        let scope = attach_scope(target, command, &requests, &[0], root.path(), &mut notes).expect("it exists");
        assert!(notes.is_empty(), "{notes:?}");
        scope
    };
    let command = Target::Command { argv: vec!["true".to_string()] };
    assert!(matches!(reached(&command, Some(9)), AttachScope::Processes(pids, Inherit::All) if pids == [9]));
    let threads = Target::Threads { tids: vec![42] };
    assert!(matches!(reached(&threads, None), AttachScope::Threads(tids) if tids == [42]));
    let cpus = Target::Cpus { cpus: vec![] };
    assert!(matches!(reached(&cpus, None), AttachScope::Cpus(None)));
    for (children, inherit) in [(false, Inherit::Threads), (true, Inherit::All)] {
        let processes = Target::Processes { pids: vec![41], children };
        let scope = reached(&processes, None);
        assert!(matches!(scope, AttachScope::Processes(pids, is) if pids == [41] && is == inherit), "{children}");
    }
    let group = Target::Cgroup { name: "web".to_string(), path: root.path().to_path_buf(), others: vec![] };
    assert!(matches!(reached(&group, None), AttachScope::Cgroups(groups) if groups.len() == 1));
}

#[test]
fn a_control_group_that_is_gone_is_named() {
    let target =
        Target::Cgroup { name: "web".to_string(), path: Path::new("/nowhere/web").to_path_buf(), others: vec![] };
    let error =
        attach_scope(&target, None, &EventRequests::default(), &[0], Path::new("/"), &mut vec![]).expect_err("gone");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("cannot open control group web"), "{error}");
}

#[test]
fn of_a_family_only_those_alive_are_needed() {
    let root = process(41, &[41]);
    let requests = refused_everywhere(1);
    let reached = |pids: &[u32], children| {
        let target = Target::Processes { pids: pids.to_vec(), children };
        attach_scope(&target, None, &requests, &[0], root.path(), &mut vec![])
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(reached(&[41, 77], true), Ok(()), "a child that has ended since is not missed");
    assert_eq!(reached(&[41, 77], false), Err("process 77 does not exist".to_string()));
    assert_eq!(reached(&[77, 78], true), Err("process 77 does not exist".to_string()));
}

#[test]
fn more_events_than_descriptors_name_the_limit_and_both_remedies() {
    let root = process(41, &[41, 42, 43]);
    std::fs::create_dir_all(root.path().join("proc/sys/kernel")).expect("a folder");
    std::fs::write(root.path().join("proc/sys/kernel/perf_event_paranoid"), "2\n").expect("a file");
    let target = Target::Processes { pids: vec![41], children: false };
    // More than any limit of open files.
    let cpus = vec![0; 1_000_000];
    let requests = refused_everywhere(1_000);
    let error = attach_scope(&target, None, &requests, &cpus, root.path(), &mut vec![]).expect_err("too many");
    assert_eq!(error.kind(), ErrorKind::Exhausted);
    assert!(error.to_string().starts_with("3 threads need 3000000000 descriptors"), "{error}");
    let remedy = error.remedy().unwrap_or_default();
    assert!(remedy.contains("ulimit -Hn") && remedy.contains("perf_event_paranoid=0 (now 2)"), "{remedy}");
}

#[test]
fn what_cannot_be_opened_names_the_thread_or_the_cpu_and_leaves_nothing_open() {
    let requests = refused_everywhere(1);
    let own = AttachScope::Threads(vec![std::process::id()]);
    let whole = AttachScope::Cpus(None);
    for (scope, place) in [(&own, "cannot profile thread "), (&whole, "cannot profile CPU 0")] {
        let error = attach(&requests, scope, &[0], false, Path::new("/")).map(drop).expect_err("no such event source");
        // Where no event may be opened at all, not even the rings can be.
        if error.kind() != ErrorKind::NotPermitted {
            assert!(error.to_string().starts_with(place) && error.to_string().contains("event it"), "{error}");
        }
    }
}

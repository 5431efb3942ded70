//! `ironlaw list` on this machine: what it says counts really opens, and what it does not know is answered with names.

use crate::program::{Dir, Ran};
use serde_json::Value;
use std::fs;

fn json(dir: &Dir, words: &[&str]) -> Value {
    serde_json::from_str(&dir.ironlaw(&[&["list", "-j"], words].concat()).succeeds().out).unwrap()
}

fn row<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["events"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

#[test]
fn software_events_that_are_listed_as_counted_can_be_recorded() {
    require!("perf");
    let dir = Dir::new();
    let list = json(&dir, &["sw"]);
    assert_eq!(list["events"].as_array().unwrap().len(), 12, "{list}");
    for name in ["task-clock", "page-faults", "context-switches"] {
        assert_eq!(row(&list, name)["counted"], true, "{list}");
        dir.ironlaw(&["-q", "record", "-f", "-o", "x", "-e", name, "-d", "1", "--", "sleep", "0.1"]).succeeds();
    }
    let counted = row(&json(&dir, &["branch-misses"]), "branch-misses")["counted"] == true;
    let recorded =
        dir.ironlaw(&["-q", "record", "-f", "-o", "x", "-e", "branch-misses", "-d", "1", "--", "sleep", "0.1"]);
    assert_eq!(counted, recorded.code == Some(0), "{}", recorded.err);
}

#[test]
fn the_list_has_every_kind_and_a_pattern_only_its_own() {
    let dir = Dir::new();
    let all = dir.line("list").succeeds().out;
    for part in
        ["Hardware events", "Software events", "Cache events", "Metrics (-M)", "cycles OR cpu-cycles", "racepoints"]
    {
        assert!(all.contains(part), "no {part} in\n{all}");
    }
    let software = dir.line("list sw").succeeds().out;
    assert!(software.contains("context-switches OR cs") && !software.contains("cycles"), "{software}");
    let some = dir.line("list cpu-*").succeeds().out;
    assert!(some.contains("cpu-clock") && some.contains("cpu-cycles") && !some.contains("page-faults"), "{some}");
}

#[test]
fn a_name_that_does_not_exist_is_an_error_with_what_to_do() {
    let dir = Dir::new();
    for (words, code, parts) in [
        (&["list", "nosuchthing"][..], 1, &["no event or metric matches 'nosuchthing'", "`ironlaw list`"][..]),
        (&["list", "cahce-misses"], 1, &["no event or metric matches 'cahce-misses'", "nearest are cache-misses"]),
        (&["list", "x\u{1b}[2J"], 1, &["\u{241b}[2J"]),
        (&["list", "cgroups", "no-such-group-\u{202e}"], 1, &["no-such-group"]),
        (&["record", "-e", "cahce-*", "--", "true"], 2, &["no event matches 'cahce-*'", "nearest are cache-"]),
        (&["record", "-G", "", "-d", "1"], 2, &["name is empty", "`ironlaw list cgroups`"]),
        (&["record", "-G", "no-such-group", "-d", "1"], 1, &["no-such-group"]),
    ] {
        let Ran { code: found, out, err } = dir.ironlaw(words);
        assert_eq!((found, out.as_str()), (Some(code), ""), "{words:?}: {err}");
        for part in parts {
            assert!(err.contains(part), "{words:?}: no '{part}' in\n{err}");
        }
        assert!(err.starts_with("ironlaw: error: ") && !err.contains(['\u{1b}', '\u{202e}']), "{words:?}: {err:?}");
    }
}

#[test]
fn control_groups_of_a_machine_are_listed_with_their_use() {
    let dir = Dir::new();
    let root = dir.path().to_str().unwrap();
    for (file, text) in [
        ("proc/self/mountinfo", format!("1 0 0:1 / {root}/groups rw - cgroup2 cgroup2 rw\n")),
        ("groups/web.slice/a/cgroup.procs", "7\n8\n".to_string()),
        ("groups/web.slice/a/cpu.stat", "usage_usec 2500000\nuser_usec 1\nsystem_usec 1\n".to_string()),
        ("groups/web.slice/cgroup.procs", String::new()),
        ("groups/idle/cgroup.procs", String::new()),
    ] {
        fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        fs::write(dir.join(file), text).unwrap();
    }
    let text = dir.ironlaw(&["list", "--root", root, "cgroups"]).succeeds().out;
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows, [vec!["2.50", "s", "2", "/web.slice/a"], vec!["-", "2", "/web.slice"], vec!["-", "0", "/idle"]]);
    let slice = json(&dir, &["--root", root, "cgroups", "*/a"]);
    assert_eq!(slice["cgroups"][0]["processes"], 2, "{slice}");
    let wrong = dir.ironlaw(&["list", "--root", root, "cgroups", "web.slcie"]);
    assert!(wrong.code == Some(1) && wrong.err.contains("no control group matches 'web.slcie'"), "{}", wrong.err);
}

#[test]
fn tracepoints_are_listed_and_expanded_from_a_tracefs() {
    let dir = Dir::new();
    let events = dir.join("sys/kernel/tracing/events");
    for (name, number) in [("sched_switch", 1), ("sched_wakeup", 2), ("sched_wakeup_new", 3)] {
        fs::create_dir_all(events.join("sched").join(name)).unwrap();
        fs::write(events.join("sched").join(name).join("id"), format!("{number}\n")).unwrap();
    }
    let root = dir.path().to_str().unwrap();
    let list = json(&dir, &["--root", root, "sched:*wakeup*"]);
    let names: Vec<_> = list["events"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sched:sched_wakeup", "sched:sched_wakeup_new"]);
    let counted = dir.ironlaw(&["list", "--root", root]).succeeds().out;
    assert!(counted.contains("3 tracepoints in 1 category; sched:sched_switch, tried for all, "), "{counted}");
}

#[test]
fn tracepoints_of_this_kernel_that_a_pattern_stands_for_are_recorded() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    let list = json(&dir, &["tracepoint"]);
    assert!(list["events"].as_array().unwrap().len() > 100 && list["notes"][0].as_str().unwrap().contains("counts"));
    dir.ironlaw(&["-q", "record", "-o", "x", "-e", "sched:sched_wak*", "-d", "1", "--", "sleep", "0.1"]).succeeds();
    let meta: Value = serde_json::from_slice(&fs::read(dir.join("x.ironlaw/meta.json")).unwrap()).unwrap();
    assert!(meta["events"].as_array().unwrap().len() > 1, "{meta}");
    let many = dir.ironlaw(&["record", "-e", "*:*", "--", "true"]);
    assert!(many.code == Some(2) && many.err.contains("Narrow it, e.g. '"), "{}", many.err);
}

//! The list as text and JSON, on machines that are not here.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::selection::{Kind, Selection};
use super::{cgroups, events, json, text};
use crate::error::ErrorKind;
use crate::sys::cgroupfs::{CgroupFs, Hierarchy};
use std::path::Path;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A machine with a PMU whose numbers this kernel does not know, an uncore PMU and three tracepoints.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let devices = "sys/bus/event_source/devices";
    for (file, text) in [
        ("odd/type", "2147483000"),
        ("odd/format/event", "config:0-7"),
        ("odd/events/busy", "event=0x3c"),
        ("odd/events/a\u{1b}[2J", "event=0x3c"),
        ("uncore_x/type", "2147483001"),
        ("uncore_x/cpumask", "0"),
        ("uncore_x/format/event", "config:0-7"),
        ("uncore_x/events/reads", "event=1"),
    ] {
        write(root.path(), &format!("{devices}/{file}"), text);
    }
    for name in ["sched/sched_switch", "sched/sched_wakeup", "irq/softirq_entry"] {
        write(root.path(), &format!("sys/kernel/tracing/events/{name}/id"), "2147483000\n");
    }
    root
}

fn listed(root: &Path, line: &str) -> events::Listing {
    events::list(root, &Selection::of(&words(line))).unwrap()
}

fn names(root: &Path, line: &str) -> Vec<String> {
    listed(root, line).events.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn kinds_patterns_and_parts_of_names_select_what_is_listed() {
    let machine = machine();
    let root = machine.path();
    for (line, expected) in [
        ("cpu-c*", vec!["cycles", "cpu-clock"]),
        ("CPU-MIG", vec!["cpu-migrations"]),
        ("cpu-migrations cs", vec!["context-switches", "cpu-migrations"]),
        ("sched:*", vec!["sched:sched_switch", "sched:sched_wakeup"]),
        ("wakeup", vec!["sched:sched_wakeup"]),
        ("tracepoint", vec!["irq:softirq_entry", "sched:sched_switch", "sched:sched_wakeup"]),
        ("odd/busy/", vec!["odd/busy/"]),
        (
            "*/reads/ faults",
            vec![
                "page-faults",
                "minor-faults",
                "major-faults",
                "alignment-faults",
                "emulation-faults",
                "uncore_x/reads/",
            ],
        ),
    ] {
        assert_eq!(names(root, line), expected, "{line}");
    }
    for (line, kind, least) in [
        ("hw", Kind::Hardware, 10),
        ("software", Kind::Software, 12),
        ("cache", Kind::Cache, 32),
        ("metric", Kind::Metric, 10),
    ] {
        let found = listed(root, line).events;
        assert!(found.len() >= least && found.iter().all(|entry| entry.kind == kind), "{line}: {}", found.len());
    }
}

#[test]
fn what_the_kernel_refuses_is_marked_with_the_reason_and_text_does_not_act() {
    let machine = machine();
    for width in [None, Some(60), Some(200)] {
        let selection = Selection::of(&words("pmu"));
        let shown = text::events(&events::list(machine.path(), &selection).unwrap(), &selection, width);
        let shown = String::from_utf8(shown).unwrap();
        let line = |name: &str| shown.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{shown}"));
        assert!(line("odd/busy/").contains("  not counted here:"), "{shown}");
        assert!(line("uncore_x/reads/").contains("  not tried: it counts"), "{shown}");
        assert!(!shown.contains('\u{1b}') && shown.contains('\u{241b}'), "{shown:?}");
        let odd = shown.lines().filter(|line| !line.contains("vendor"));
        assert!(width != Some(60) || odd.clone().all(|line| line.chars().count() <= 72), "{shown}");
        assert!(shown.lines().all(|line| line.trim_end() == line), "{shown:?}");
    }
}

#[test]
fn the_list_of_everything_counts_tracepoints_and_json_has_them_all() {
    let machine = machine();
    let selection = Selection::default();
    let listing = events::list(machine.path(), &selection).unwrap();
    let shown = String::from_utf8(text::events(&listing, &selection, Some(80))).unwrap();
    for part in [
        "Hardware events\n",
        "  cycles OR cpu-cycles ",
        "Software events\n",
        "\n3 tracepoints in 2 categories;",
        "Metrics (-M)\n",
        "patterns such as",
    ] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert!(!shown.contains("softirq_entry"), "{shown}");
    let value: serde_json::Value = serde_json::from_slice(&json(&listing).unwrap()).unwrap();
    let rows = value["events"].as_array().unwrap();
    let find = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(find("irq:softirq_entry")["kind"], "tracepoint");
    assert_eq!((&find("odd/busy/")["kind"], &find("odd/busy/")["counted"]), (&"pmu".into(), &false.into()));
    assert_eq!(find("cycles")["aliases"][0], "cpu-cycles");
    assert!(find("L1-dcache-loads")["aliases"].as_array().unwrap().contains(&"l1d-loads".into()));
}

#[test]
fn a_pattern_without_a_match_names_the_nearest_and_a_missing_tracefs_its_fix() {
    let machine = machine();
    let bare = tempfile::tempdir().unwrap();
    for (root, line, kind, message, hint) in [
        (
            machine.path(),
            "cylces",
            ErrorKind::NotFound,
            "no event or metric matches 'cylces'",
            "The nearest are cycles",
        ),
        (
            machine.path(),
            "sw nosuchthing",
            ErrorKind::NotFound,
            "no event or metric matches 'nosuchthing'",
            "`ironlaw list` lists all.",
        ),
        (
            machine.path(),
            "shced:*",
            ErrorKind::NotFound,
            "no event or metric matches 'shced:*'",
            "The nearest are sched:sched_switch",
        ),
        (
            bare.path(),
            "tracepoint",
            ErrorKind::Unsupported,
            "cannot list tracepoints: tracefs is not mounted",
            "Mount it: sudo mount",
        ),
        (
            bare.path(),
            "sched:*",
            ErrorKind::Unsupported,
            "cannot list tracepoints: tracefs is not mounted",
            "Mount it: sudo mount",
        ),
    ] {
        let error = events::list(root, &Selection::of(&words(line))).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message), "{line}");
        assert!(error.remedy().unwrap().starts_with(hint), "{line}: {:?}", error.remedy());
    }
    let notes = listed(bare.path(), "").notes;
    assert!(notes.iter().any(|note| note.contains("mount -t tracefs")), "{notes:?}");
}

#[test]
fn control_groups_are_listed_with_their_use_and_found_by_their_paths() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "web\u{1b}[2J/cgroup.procs", "7\n");
    write(root.path(), "db/cgroup.procs", "8\n9\n");
    write(root.path(), "db/cpu.stat", "usage_usec 1500000\nuser_usec 1\nsystem_usec 1\n");
    let mount = root.path().to_path_buf();
    let fs = CgroupFs { hierarchies: vec![Hierarchy { version: 2, controllers: vec![], mount, root: "/".into() }] };
    let shown = String::from_utf8(text::cgroups(&cgroups::list(&fs, &[]).unwrap().cgroups)).unwrap();
    assert_eq!(
        shown,
        "  CPU time  processes  control group\n    1.50 s          2  /db\n         -          1  /web\u{241b}[2J\n"
    );
    assert_eq!(cgroups::list(&fs, &words("/d?")).unwrap().cgroups.len(), 1);
    let value: serde_json::Value =
        serde_json::from_slice(&json(&cgroups::list(&fs, &words("db")).unwrap()).unwrap()).unwrap();
    assert_eq!(value["cgroups"][0]["cpu_ns"], 1_500_000_000_u64);
    assert_eq!(cgroups::list(&fs, &words("nothing")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(cgroups::list(&CgroupFs::default(), &[]).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(super::selection::of_cgroups(&words("cgroups web")), Some(words("web").as_slice()));
    assert_eq!(super::selection::of_cgroups(&words("sw cgroups")), None);
}

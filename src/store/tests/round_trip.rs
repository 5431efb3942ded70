//! Reading returns what was written.

use super::events::{chunks, streams};
use super::{by_kind, meta, read, record, unfinished};
use crate::error::ErrorKind;
use crate::model::{Definition, Event, Meta};
use crate::store::{FORMAT, Recording, Writer};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_reads_back_kind_by_kind_as_it_was_written(chunks in streams(), finish: bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.ironlaw");
        if finish { record(&path, &chunks) } else { drop(unfinished(&path, &chunks)) }
        let recording = Recording::open(&path).unwrap();
        prop_assert_eq!(read(&recording), by_kind(chunks.concat()));
        prop_assert_eq!(recording.damage(), &[]);
        prop_assert_eq!(recording.finished(), finish);
    }
}

#[test]
fn meta_reads_back_with_the_format_written() {
    let dir = tempfile::tempdir().unwrap();
    record(&dir.path().join("x.ironlaw"), &chunks(1));
    let recording = Recording::open(&dir.path().join("x")).unwrap();
    assert_eq!(recording.meta(), &Meta { format: FORMAT, duration_ns: Some(9), ..meta() });
}

#[test]
fn a_recording_is_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.ironlaw");
    record(&path, &chunks(1));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&path.join("meta.json"))), (0o700, 0o600));
}

#[test]
fn finishing_leaves_one_part_of_each_table() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(5));
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 20, "{names:?}");
    assert!(names.contains(&"samples-000000-000004.parquet".into()), "{names:?}");
}

#[test]
fn a_long_recording_merges_as_it_goes_and_reads_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let marks = |events: Vec<Event>| events.into_iter().filter(|event| matches!(event, Event::Mark(_))).collect();
    let chunks: Vec<Vec<Event>> = chunks(130).into_iter().map(marks).collect();
    drop(unfinished(dir.path(), &chunks));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "meta.json, 128 parts merged, and two");
    let recording = Recording::open(dir.path()).unwrap();
    assert_eq!(read(&recording), by_kind(chunks.concat()));
    assert_eq!(recording.damage(), []);
}

#[test]
fn being_killed_in_the_middle_of_a_merge_neither_loses_nor_doubles_a_row() {
    let (whole, merged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(unfinished(whole.path(), &chunks(4)));
    record(merged.path(), &chunks(4));
    let name = "samples-000000-000003.parquet";
    fs::copy(merged.path().join(name), whole.path().join(name)).unwrap();
    fs::remove_file(whole.path().join("samples-000001.parquet")).unwrap();
    let recording = Recording::open(whole.path()).unwrap();
    assert_eq!(read(&recording), by_kind(chunks(4).concat()));
    assert_eq!(recording.damage(), []);
}

#[test]
fn a_module_may_be_defined_again_with_its_build_id() {
    let dir = tempfile::tempdir().unwrap();
    let [first, ..] = &chunks(1)[0][..] else { panic!("a chunk begins with a module") };
    let Event::Define(Definition::Module(module)) = first.clone() else { panic!("a chunk begins with a module") };
    let without = Event::Define(Definition::Module(crate::model::ModuleDef { build_id: None, ..module }));
    let events = vec![without, first.clone()];
    record(dir.path(), std::slice::from_ref(&events));
    assert_eq!(read(&Recording::open(dir.path()).unwrap()), events);
}

#[test]
fn nothing_but_an_older_recording_is_ever_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("file"), "precious").unwrap();
    fs::create_dir(path("home")).unwrap();
    fs::write(path("home/precious"), "precious").unwrap();
    fs::create_dir(path("empty")).unwrap();
    symlink(path("empty"), path("link")).unwrap();
    record(&path("old"), &chunks(2));
    fs::write(path("old/mine.txt"), "precious").unwrap();
    for (name, overwrite, allowed) in [
        ("file", true, false),
        ("home", true, false),
        ("link", true, false),
        ("old", false, false),
        ("old", true, true),
        ("empty", false, true),
        ("no/such/parent", true, false),
    ] {
        let created = Writer::create(&path(name), &meta(), overwrite);
        assert_eq!(created.is_ok(), allowed, "{name}: {created:?}");
    }
    assert_eq!(read(&Recording::open(&path("old")).unwrap()), []);
    for kept in ["file", "home/precious", "old/mine.txt"] {
        assert_eq!(fs::read_to_string(path(kept)).unwrap(), "precious");
    }
}

#[test]
fn a_link_planted_where_a_file_will_be_written_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, victim) = (dir.path().join("x.ironlaw"), dir.path().join("victim"));
    fs::write(&victim, "precious").unwrap();
    let mut writer = Writer::create(&path, &meta(), false).unwrap();
    symlink(&victim, path.join(".samples-000000.parquet.tmp")).unwrap();
    symlink(&victim, path.join("stacks-000000.parquet")).unwrap();
    writer.write(&chunks(1)[0]).unwrap();
    writer.flush().unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(read(&Recording::open(&path).unwrap()), by_kind(chunks(1).concat()));
}

#[test]
fn a_newer_major_format_is_refused_and_a_newer_minor_one_read() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    let json = fs::read_to_string(dir.path().join("meta.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut rewrite = |format: [u16; 2]| {
        value["format"] = serde_json::json!(format);
        value["colour"] = serde_json::json!({"of the": "future"});
        fs::write(dir.path().join("meta.json"), value.to_string()).unwrap();
        Recording::open(dir.path())
    };
    assert_eq!(rewrite([1, 7]).unwrap().meta().format, (1, 7));
    let error = rewrite([2, 0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("format 2.0; this version reads up to 1.x"), "{error}");
}

#[test]
fn what_is_no_recording_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("nothing", "nothing.ironlaw exists"), ("", "is not a recording")] {
        let error = Recording::open(&dir.path().join(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(text), "{error}");
    }
}

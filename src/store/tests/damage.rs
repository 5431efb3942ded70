//! Damage to single files: the rest is read and the loss is reported.

use super::events::{chunk, chunks};
use super::{by_kind, meta, read, record, unfinished};
use crate::model::{Definition, Event};
use crate::store::part::TABLES;
use crate::store::{Recording, Writer};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn parts(dir: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    parts.sort();
    parts
}

/// Opens, reads and builds a profile; the builder must have refused nothing.
fn open(dir: &Path) -> (Vec<Event>, Vec<String>) {
    let recording = Recording::open(dir).unwrap();
    let profile = recording.profile();
    let events = read(&recording);
    let samples = events.iter().filter(|event| matches!(event, Event::Sample(_))).count();
    assert_eq!(profile.samples.len(), samples, "a sample was refused");
    (events, recording.damage().iter().map(ToString::to_string).collect())
}

#[test]
fn a_recorder_killed_after_any_flush_leaves_all_that_was_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), &meta(), false).unwrap();
    for flushes in 0..4 {
        let recording = Recording::open(dir.path()).unwrap();
        assert_eq!(read(&recording), by_kind(chunks(flushes).concat()));
        assert!(!recording.finished());
        writer.write(&chunk(flushes)).unwrap();
        writer.flush().unwrap();
    }
}

#[test]
fn a_missing_part_of_any_table_is_told_and_all_else_is_read() {
    for finish in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        if finish {
            record(dir.path(), &chunks(3))
        } else {
            drop(unfinished(dir.path(), &chunks(3)))
        }
        for table in TABLES {
            let name =
                if finish { format!("{table}-000000-000002.parquet") } else { format!("{table}-000001.parquet") };
            let (part, elsewhere) = (dir.path().join(&name), dir.path().with_extension("elsewhere"));
            fs::rename(&part, &elsewhere).unwrap();
            let (events, damage) = open(dir.path());
            fs::rename(&elsewhere, &part).unwrap();
            assert!(damage.iter().any(|damage| damage.starts_with(table)), "{table}: {damage:?}");
            let marks = events.iter().filter(|event| matches!(event, Event::Mark(_))).count();
            let expected = match (table, finish) {
                ("marks", true) => 0,
                ("marks", false) => 2,
                _ => 3,
            };
            assert_eq!(marks, expected, "{table}");
        }
        assert_eq!(open(dir.path()).1, [""; 0], "everything is back");
    }
}

#[test]
fn stacks_after_a_lost_part_keep_their_own_call_path() {
    for lost in ["stacks", "frames"] {
        let dir = tempfile::tempdir().unwrap();
        drop(unfinished(dir.path(), &chunks(3)));
        fs::remove_file(dir.path().join(format!("{lost}-000001.parquet"))).unwrap();
        let profile = Recording::open(dir.path()).unwrap().profile();
        let path = |sample: usize| {
            let frames = profile.walk(profile.samples.stack[sample]);
            let names = frames.map(|id| (profile.frames[id.0 as usize].address >> 12, profile.names_at(id).len()));
            names.collect::<Vec<_>>()
        };
        assert_eq!(path(0), [(1, 0), (0, 2)], "before the hole");
        assert!(path(2).starts_with(&[(5, 0), (4, 2), (0, 1)]), "behind the hole, down to it: {:?}", path(2));
    }
}

#[test]
fn samples_whose_stack_is_lost_stay_in_time_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    drop(unfinished(dir.path(), &chunks(2)));
    fs::remove_file(dir.path().join("stacks-000001.parquet")).unwrap();
    let (events, damage) = open(dir.path());
    let stacks: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Sample(sample) => Some(sample.stack.map(|id| id.0)),
            _ => None,
        })
        .collect();
    assert_eq!(stacks, [Some(1), None]);
    assert_eq!(
        damage,
        ["stacks: 3 samples or spans refer to a stack that is lost; some samples have lost their call path"]
    );
}

#[test]
fn a_truncated_part_of_any_table_is_told_and_all_else_is_read() {
    let dir = tempfile::tempdir().unwrap();
    drop(unfinished(dir.path(), &chunks(2)));
    for part in parts(dir.path()) {
        let whole = fs::read(&part).unwrap();
        let name = part.file_name().unwrap().to_string_lossy().into_owned();
        for length in [0, 3, 4, 12, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            fs::write(&part, &whole[..length]).unwrap();
            let (_, damage) = open(dir.path());
            assert!(damage.iter().any(|damage| damage.starts_with(&name)), "{name} cut at {length}: {damage:?}");
        }
        fs::write(&part, whole).unwrap();
    }
    assert_eq!(open(dir.path()).1, [""; 0]);
}

#[test]
fn flipped_bytes_anywhere_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(2));
    for part in parts(dir.path()) {
        let whole = fs::read(&part).unwrap();
        for at in (0..whole.len()).step_by(211) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            fs::write(&part, damaged).unwrap();
            open(dir.path());
        }
        fs::write(&part, whole).unwrap();
    }
}

#[test]
fn what_is_no_part_is_ignored_or_told() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    fs::write(dir.path().join("visitors-000000.parquet"), "of a later version").unwrap();
    fs::create_dir(dir.path().join("figures")).unwrap();
    assert_eq!(open(dir.path()), (by_kind(chunks(1).concat()), vec![]));
    fs::write(dir.path().join(".samples-000001.parquet.tmp"), "PAR1").unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("lost-000001.parquet")).unwrap();
    let (events, damage) = open(dir.path());
    assert_eq!(events, by_kind(chunks(1).concat()));
    assert!(damage[0].starts_with(".samples-000001.parquet.tmp: the recorder was killed"), "{damage:?}");
    assert!(damage[1].starts_with("lost-000001.parquet: not a regular file"), "{damage:?}");
    assert_eq!(damage.len(), 2);
}

#[test]
fn a_forged_number_does_not_fill_the_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut events = chunk(0);
    for event in &mut events {
        match event {
            Event::Define(Definition::Stack(stack)) => stack.id.0 = u32::MAX - stack.id.0,
            Event::Define(Definition::Frame(frame)) => frame.id.0 += 1 << 30,
            Event::Define(Definition::Module(module)) => module.id.0 = 3_000_000_000,
            _ => {}
        }
    }
    record(dir.path(), &[events]);
    let (events, damage) = open(dir.path());
    assert!(events.len() < 20);
    assert!(damage.iter().any(|damage| damage.contains("6 definitions have an impossible number")), "{damage:?}");
}

/// As a crash of the machine leaves it: the file that describes a recording ends anywhere.
#[test]
fn a_description_cut_at_any_byte_is_refused_with_the_files_name_and_never_half_believed() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    let about = dir.path().join("meta.json");
    let whole = fs::read(&about).unwrap();
    let complete = whole.len() - 1;
    for length in 0..complete {
        fs::write(&about, &whole[..length]).unwrap();
        let error = Recording::open(dir.path()).expect_err("half a description");
        assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt, "cut at {length}: {error}");
        assert!(error.to_string().contains("meta.json"), "cut at {length}: {error}");
    }
    // Without the last line end all of it is there.
    fs::write(&about, &whole[..complete]).unwrap();
    assert_eq!(open(dir.path()), (by_kind(chunks(1).concat()), vec![]));
}

/// A bit that turned may make other text of it, but never a panic, and never rows that are not there.
#[test]
fn a_turned_bit_in_the_description_is_refused_or_changes_no_row() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    let about = dir.path().join("meta.json");
    let whole = fs::read(&about).unwrap();
    let (mut refused, mut read_anyway) = (0, 0);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&about, &damaged).unwrap();
        match Recording::open(dir.path()) {
            Err(_) => refused += 1,
            Ok(recording) if at % 16 == 0 => {
                assert_eq!(read(&recording).len(), by_kind(chunks(1).concat()).len(), "bit {} of byte {at}", at % 8);
                read_anyway += 1;
            }
            Ok(_) => read_anyway += 1,
        }
    }
    assert!(refused > 100 && read_anyway > 100, "{refused} refused, {read_anyway} read");
}

#[test]
fn a_recording_without_its_description_is_no_recording() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    let about = dir.path().join("meta.json");
    let whole = fs::read(&about).unwrap();
    fs::remove_file(&about).unwrap();
    assert!(Recording::open(dir.path()).is_err());
    fs::create_dir(&about).unwrap();
    assert!(Recording::open(dir.path()).is_err(), "a folder describes nothing");
    fs::remove_dir(&about).unwrap();
    for text in ["", "{}", "[]", "null", "7", "\"meta\"", "{\"format\": 1}", "{\"format\": [1]}", "\u{feff}{}"] {
        fs::write(&about, text).unwrap();
        assert!(Recording::open(dir.path()).is_err(), "{text:?}");
    }
    fs::write(&about, whole).unwrap();
    assert_eq!(open(dir.path()).1, [""; 0]);
}

#[test]
fn a_format_of_the_future_is_refused_by_its_number_and_an_older_minor_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &chunks(1));
    let about = dir.path().join("meta.json");
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&about).unwrap()).unwrap();
    for (format, opens) in [([1, 0], true), ([1, 60_000], true), ([2, 0], false), ([60_000, 1], false)] {
        value["format"] = serde_json::json!(format);
        fs::write(&about, value.to_string()).unwrap();
        match Recording::open(dir.path()) {
            Ok(_) => assert!(opens, "{format:?}"),
            Err(error) => {
                assert!(!opens && error.kind() == crate::error::ErrorKind::Unsupported, "{format:?}: {error}");
                assert!(error.to_string().contains(&format!("{}.{}", format[0], format[1])), "{error}");
            }
        }
    }
}

/// The merge writes a new part under a hidden name, then renames it, then removes the old ones: it may die between any two.
#[test]
fn a_merge_that_died_at_any_step_loses_and_doubles_nothing() {
    let (apart, merged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(unfinished(apart.path(), &chunks(3)));
    record(merged.path(), &chunks(3));
    let expected = by_kind(chunks(3).concat());
    for table in TABLES {
        let (old, new) = (format!("{table}-000001.parquet"), format!("{table}-000000-000002.parquet"));
        // Died while it wrote.
        let half = fs::read(merged.path().join(&new)).unwrap();
        let hidden = apart.path().join(format!(".{new}.tmp"));
        fs::write(&hidden, &half[..half.len() / 2]).unwrap();
        let (events, damage) = open(apart.path());
        assert_eq!(events, expected, "{table}: half a new part");
        assert_eq!(damage.len(), 1, "{table}: {damage:?}");
        // Died before it removed the parts that it had merged.
        fs::remove_file(&hidden).unwrap();
        fs::write(apart.path().join(&new), &half).unwrap();
        assert_eq!(open(apart.path()), (expected.clone(), vec![]), "{table}: the new part beside all old ones");
        // Died after it had removed some.
        let kept = fs::read(apart.path().join(&old)).unwrap();
        fs::remove_file(apart.path().join(&old)).unwrap();
        assert_eq!(open(apart.path()), (expected.clone(), vec![]), "{table}: one old part is gone");
        fs::write(apart.path().join(&old), kept).unwrap();
        fs::remove_file(apart.path().join(&new)).unwrap();
    }
    assert_eq!(open(apart.path()), (expected, vec![]), "all is as it was");
}

#[test]
fn damage_reaches_the_profile_as_a_note() {
    let dir = tempfile::tempdir().unwrap();
    drop(unfinished(dir.path(), &chunks(2)));
    fs::remove_file(dir.path().join("tasks-000000.parquet")).unwrap();
    let notes = Recording::open(dir.path()).unwrap().profile().meta.notes;
    let topics: Vec<_> = notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!(topics, ["recording-damaged", "recording-unfinished"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_meta_json_panics(cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), length: prop::sample::Index) {
        let meta_file = crate::store::meta_file::MetaFile::new(meta(), None);
        let mut bytes = crate::store::meta_file::to_json(meta_file).unwrap();
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(length.index(bytes.len()).max(200));
        let _ = crate::store::meta_file::parse(&bytes);
    }
}

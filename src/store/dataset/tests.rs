//! Data sets on a disk: what readers find at each moment, and whose files they are.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::layout::DAY_S;
use super::reading::files;
use super::*;
use crate::error::ErrorKind;
use crate::model::{AlarmRow, DatasetRows, FunctionRow, NeighbourRow, WindowRow};
use crate::tables::from_foreign_parquet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const DAY: i64 = 20_000 * DAY_S;

fn origin(host: &str, id: u64) -> Origin {
    Origin { job: "web/api".into(), host: host.into(), id }
}

/// A minute of everything.
fn minute(start_s: i64) -> DatasetRows {
    let window = WindowRow { start_s, length_s: 60.0, platform: "X".into(), cpu_s: Some(1.5), ..WindowRow::default() };
    let function =
        FunctionRow { start_s, length_s: 60.0, function: "f".into(), cpu_s: 1.5, samples: 3, ..FunctionRow::default() };
    let neighbour = NeighbourRow { start_s, length_s: 60.0, neighbour: "n".into(), cpu_s: 0.5 };
    DatasetRows { windows: vec![window], functions: vec![function], neighbours: vec![neighbour], alarms: vec![] }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return vec![] };
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The numbers of a column in all files of a table.
fn column(dir: &Path, table: TableKind, name: &str) -> Vec<f64> {
    let frames = files_below(&dir.join(table.name())).into_iter().map(|path| {
        let table = from_foreign_parquet(&fs::read(path).unwrap()).unwrap();
        let integers = || Some(table.i64(name).ok()?.iter().map(|value| *value as f64).collect());
        let numbers = || table.opt_f64(name).unwrap().into_iter().map(Option::unwrap).collect::<Vec<_>>();
        integers().unwrap_or_else(numbers)
    });
    frames.flatten().collect()
}

#[test]
fn a_flush_replaces_a_days_files_and_midnight_begins_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("set");
    let mut writer = DatasetWriter::open(&root, &origin("h-1", 7), None).unwrap();
    let start = DAY + DAY_S - 180;
    for at in 0..6 {
        writer.add(minute(start + 60 * at));
        writer.flush().unwrap();
        let starts = column(&root, TableKind::Windows, "start_s");
        assert_eq!(starts, (0..=at).map(|at| (start + 60 * at) as f64).collect::<Vec<_>>());
    }
    let names: Vec<_> =
        files_below(&root).iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect();
    let windows: Vec<_> = names.iter().filter(|name| name.starts_with("windows")).collect();
    assert_eq!(
        windows,
        [
            "windows/job=web%2Fapi/day=2024-10-04/host=h-1/1728086220-0000000000000007.parquet",
            "windows/job=web%2Fapi/day=2024-10-05/host=h-1/1728086400-0000000000000007.parquet",
        ]
    );
    assert_eq!(names.len(), 1 + 3 * 2, "{names:?}");
    let cpu: f64 = column(&root, TableKind::Functions, "cpu_s").iter().sum();
    assert_eq!((cpu, column(&root, TableKind::Functions, "samples").len()), (9.0, 2), "one row an hour");
    for path in files_below(&root) {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
        let folder = path.parent().unwrap();
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700, "{folder:?}");
    }
    let opened = open(&root).unwrap();
    assert_eq!(opened.tables, [TableKind::Windows, TableKind::Functions, TableKind::Neighbours]);
    assert_eq!(opened.format, crate::model::DATASET_FORMAT);
    // A day that is over is not in memory any more: what comes late has a file of its own.
    writer.add(minute(start + 1));
    writer.flush().unwrap();
    assert_eq!(column(&root, TableKind::Windows, "start_s").len(), 7);
}

#[test]
fn alarms_are_replaced_when_more_is_known_and_writers_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    let alarm =
        |cause: &str, start_s| AlarmRow { start_s, cause: cause.into(), ratio: Some(1.5), ..AlarmRow::default() };
    let alarms = |alarms: Vec<AlarmRow>| DatasetRows { alarms, ..DatasetRows::default() };
    for (host, id) in [("a", 1), ("a", 2), ("b", 1)] {
        let mut writer = DatasetWriter::open(dir.path(), &origin(host, id), None).unwrap();
        writer.add(alarms(vec![alarm("unknown", DAY), alarm("steal", DAY + 60)]));
        writer.flush().unwrap();
        writer.add(alarms(vec![alarm("run_queue", DAY)]));
        writer.flush().unwrap();
    }
    assert_eq!(files_below(&dir.path().join("alarms")).len(), 3);
    assert_eq!(column(dir.path(), TableKind::Alarms, "ratio").len(), 6);
}

#[test]
fn a_folder_that_is_full_or_closed_keeps_the_rows_for_later() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("set");
    let mut writer = DatasetWriter::open(&root, &origin("h", 1), None).unwrap();
    fs::write(root.join("windows"), "in the way").unwrap();
    writer.add(minute(DAY));
    assert!(writer.flush().is_err());
    assert_eq!(column(&root, TableKind::Neighbours, "cpu_s"), [0.5], "what can be written is");
    writer.add(minute(DAY + 60));
    fs::remove_file(root.join("windows")).unwrap();
    writer.flush().unwrap();
    assert_eq!(column(&root, TableKind::Windows, "cpu_s"), [1.5, 1.5]);
    assert_eq!(writer.take_dropped(), 0);
    let many = (0..300_000).map(|at| NeighbourRow { start_s: DAY + at, ..NeighbourRow::default() }).collect();
    writer.add(DatasetRows { neighbours: many, ..DatasetRows::default() });
    assert_eq!(writer.take_dropped(), 300_000 - (1 << 18) + 4);
    assert_eq!(writer.take_dropped(), 0, "told once");
}

#[test]
fn old_days_of_this_host_and_job_alone_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    for host in ["mine", "other"] {
        let mut writer = DatasetWriter::open(dir.path(), &origin(host, 1), (host == "mine").then_some(2)).unwrap();
        for day in 0..4 {
            writer.add(minute(DAY + day * DAY_S));
            writer.flush().unwrap();
        }
    }
    let days = |host: &str| {
        let names = files_below(&dir.path().join("windows"));
        names.into_iter().filter(|path| path.display().to_string().contains(host)).count()
    };
    assert_eq!((days("host=mine"), days("host=other")), (2, 4));
}

#[test]
fn files_hold_what_matters_of_a_number_and_no_neighbour_without_cpu_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::open(dir.path(), &origin("h", 1), None).unwrap();
    let mut rows = minute(DAY);
    let exact = [60.000_123_456_7, 15.123_456_789, 123_456_789_012_345.0, 16_777_217.0, 0.000_05];
    let window = &mut rows.windows[0];
    (window.length_s, window.cpu_s, window.cycles) = (exact[0], Some(exact[1]), Some(exact[2]));
    window.operations = Some(exact[3]);
    rows.neighbours.push(NeighbourRow { cpu_s: exact[4], ..rows.neighbours[0].clone() });
    writer.add(rows);
    writer.flush().unwrap();
    let written = |name| column(dir.path(), TableKind::Windows, name);
    for (name, exact, most) in [
        ("length_s", exact[0], 1.0 / 8192.0),
        ("cpu_s", exact[1], 1.0 / 8192.0),
        ("cycles", exact[2], exact[2] / 1.6e7),
    ] {
        let [written] = written(name)[..] else { panic!("{name}") };
        assert!((written - exact).abs() <= most && written != exact, "{name}: {written} of {exact}");
    }
    assert_eq!(written("operations"), [exact[3]], "operations are exact");
    assert_eq!(column(dir.path(), TableKind::Neighbours, "cpu_s"), [0.5]);
}

#[test]
fn what_is_no_table_is_not_read_and_a_truncated_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::open(dir.path(), &origin("h", 1), None).unwrap();
    writer.add(minute(DAY));
    writer.flush().unwrap();
    let opened = open(dir.path()).unwrap();
    let windows = dir.path().join("windows");
    let whole = files(&windows).unwrap();
    let [file] = &whole[..] else { panic!("{whole:?}") };
    let folder = file.parent().unwrap();
    for other in [".half.parquet.tmp", ".half.parquet", "notes.txt", "copy.parquet.part"] {
        fs::write(folder.join(other), "PAR1").unwrap();
    }
    assert_eq!(files(&windows).unwrap(), whole);
    assert_eq!(checked(opened.clone()).unwrap(), opened);
    let bytes = fs::read(file).unwrap();
    for damaged in [&bytes[..bytes.len() - 1], &bytes[..3], &[], b"not a table"] {
        fs::write(file, damaged).unwrap();
        let error = checked(opened.clone()).unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains("host=h"), "{error}");
    }
    for at in 0..4 {
        fs::write(folder.join(format!("{at}.parquet")), "").unwrap();
    }
    let text = checked(opened.clone()).unwrap_err().to_string();
    assert!(text.starts_with("5 files") && text.ends_with(" and 2 more"), "{text}");
    files(&windows).unwrap().iter().for_each(|path| fs::remove_file(path).unwrap());
    assert_eq!(checked(opened).unwrap().tables, [TableKind::Functions, TableKind::Neighbours]);
}

#[test]
fn what_is_no_data_set_or_of_a_later_format_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let error = open(dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.remedy().unwrap().contains("--dataset") && error.to_string().ends_with("it has no dataset.json"));
    let error = open(&dir.path().join("gone")).unwrap_err();
    assert!(error.kind() == ErrorKind::NotFound && error.to_string().ends_with("gone does not exist"), "{error}");
    fs::write(dir.path().join("notes.txt"), "").unwrap();
    let error = create(dir.path()).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.to_string().ends_with("exists and is not a data set"), "{error}");
    fs::remove_file(dir.path().join("notes.txt")).unwrap();
    create(dir.path()).unwrap();
    create(dir.path()).unwrap();
    for (text, kind) in [
        ("{\"format\":[1,7],\"more\":1}", None),
        ("{\"format\":[2,0]}", Some(ErrorKind::Corrupt)),
        ("{}", Some(ErrorKind::Corrupt)),
        ("", Some(ErrorKind::Corrupt)),
    ] {
        fs::write(dir.path().join("dataset.json"), text).unwrap();
        assert_eq!(open(dir.path()).err().map(|error| error.kind()), kind, "{text}");
        assert_eq!(create(dir.path()).err().map(|error| error.kind()), kind, "{text}");
    }
}

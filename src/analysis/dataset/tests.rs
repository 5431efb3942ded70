//! Rows of profiles written by hand: minutes, sums, and what is missing.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::{
    DatasetRows, FunctionRow, NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse, Scope, Tick, Unit,
};
use crate::units::{Nanos, Ops};

const MINUTE_NS: u64 = 60_000_000_000;

fn ticks(seconds: impl Iterator<Item = u64>) -> Vec<Tick> {
    seconds.map(|at| Tick { at: ms(1000 * at), span: ms(1000) }).collect()
}

fn starts_and_ends(found: &[Span]) -> Vec<(i64, u64, u64)> {
    found.iter().map(|span| (span.start_s, span.window.from.0 / 1_000_000, span.window.to.0 / 1_000_000)).collect()
}

#[test]
fn parts_begin_with_the_last_reading_before_each_whole_minute() {
    let whole = |to| Window { from: Nanos(0), to: ms(to) };
    // Begins at 00:00:30.5, so whole minutes lie at 29.5 s, 89.5 s and 149.5 s of the session.
    let at = |unix_ms: u64| unix_ms * 1_000_000;
    let found = spans(&ticks(1..=120), at(30_500), whole(120_000), 60, None);
    assert_eq!(starts_and_ends(&found), [(30, 0, 29_000), (60, 29_000, 89_000), (120, 89_000, 120_000)]);
    // On the minute, and a reading at each.
    let found = spans(&ticks(1..=120), 2 * MINUTE_NS, whole(120_000), 60, None);
    assert_eq!(starts_and_ends(&found), [(120, 0, 60_000), (180, 60_000, 120_000)]);
    // Windows longer than a minute.
    let slow = ticks([90, 250].into_iter());
    assert_eq!(starts_and_ends(&spans(&slow, 0, whole(250_000), 60, None)), [(0, 0, 90_000), (120, 90_000, 250_000)]);
    // A clock that was set back does not repeat a start.
    let found = spans(&ticks(1..=30), at(1000), whole(30_000), 10, Some(500));
    assert_eq!(found.iter().map(|span| span.start_s).collect::<Vec<_>>(), [501, 502, 503, 504]);
    assert_eq!(spans(&[], 0, whole(5_000), 60, None).len(), 1, "without readings, one part");
}

/// Three and a half minutes from half past a minute of a program that takes ever more.
fn recording() -> Profile {
    let mut synthetic = Synthetic::new();
    synthetic.meta.started_unix_ns = 1_767_225_630_000_000_000;
    synthetic.meta.duration_ns = Some(210_000_000_000);
    let groups = [("cycles", Some(0)), ("instructions", Some(0)), ("llc-miss", Some(0))];
    for (name, group) in groups {
        synthetic.defined(name, Unit::Count, group);
    }
    for second in 0..=210_u64 {
        let (at, used) = (1000 * second, second * (second + 1) / 2);
        if second > 0 {
            synthetic.tick(at, 1000);
        }
        synthetic.reading("task-clock", Scope::Target, at, used * 1_000_000);
        synthetic.reading("system-time", Scope::Target, at, used * 250_000);
        synthetic.reading("minor-faults", Scope::Target, at, used);
        synthetic.reading("major-faults", Scope::Target, at, second);
        synthetic.reading("host-busy", Scope::Host, at, used * 3_000_000);
        for (name, factor) in [("cycles", 3000), ("instructions", 1000), ("llc-miss", 7)] {
            synthetic.multiplexed(name, Scope::Target, at, used * factor, (at, at));
        }
        synthetic.samples(at, 41, if second % 3 == 0 { "/bin/app!main;/bin/app!parse" } else { "/bin/app!main" }, 1);
    }
    synthetic.finish()
}

fn rows_of(profile: &Profile) -> DatasetRows {
    let whole = crate::analysis::TimeRange::default().window(&profile.ticks, profile.duration());
    let parts = spans(&profile.ticks, profile.meta.started_unix_ns, whole, WINDOW_S, None);
    let labels = DatasetLabels { version: Some("v2".into()), config: None };
    dataset_rows(profile, &parts, &labels)
}

#[test]
fn minutes_add_up_to_the_recording_and_what_was_not_measured_is_missing() {
    let mut profile = recording();
    profile.ops = (0..=210).map(|second| (ms(1000 * second), Ops(10 * second))).collect();
    profile.meta.plan.ops = Some(crate::model::OpsSpec::Rate { per_second: 10.0 });
    let rows = rows_of(&profile);
    let starts: Vec<i64> = rows.windows.iter().map(|row| row.start_s % 3600).collect();
    assert_eq!(starts, [30, 60, 120, 180]);
    assert_eq!(rows.windows.iter().map(|row| row.length_s).collect::<Vec<_>>(), [30.0, 60.0, 60.0, 60.0]);
    let used = 210.0 * 211.0 / 2.0;
    type Value = fn(&crate::model::WindowRow) -> Option<f64>;
    let expected: [(&str, Value, f64); 9] = [
        ("cpu_s", |row| row.cpu_s, used * 1e-3),
        ("kernel_cpu_s", |row| row.kernel_cpu_s, used * 2.5e-4),
        ("cycles", |row| row.cycles, used * 3000.0),
        ("instructions", |row| row.instructions, used * 1000.0),
        ("operations", |row| row.operations, 2100.0),
        ("page_faults", |row| row.page_faults, used + 210.0),
        ("neighbour_cpu_s", |row| row.neighbour_cpu_s, used * 2e-3),
        ("length_s", |row| Some(row.length_s), 210.0),
        ("host_cpus", |row| Some(row.host_cpus as f64), 8.0),
    ];
    for (name, value, total) in expected {
        let sum: f64 = rows.windows.iter().map(|row| value(row).unwrap_or(f64::NAN)).sum();
        assert!((sum / total - 1.0).abs() < 1e-9, "{name}: {sum} of {total}");
    }
    let row = &rows.windows[1];
    assert_eq!((row.platform.as_str(), row.version.as_deref()), ("Xeon Platinum 8383C", Some("v2")));
    assert_eq!((row.memory_bytes, row.throttled_s, row.run_queue_s, &row.config), (None, None, None, &None));
    assert!(rows.neighbours.is_empty());
}

#[test]
fn functions_share_the_cpu_time_of_their_hour() {
    let rows = rows_of(&recording());
    let names: Vec<_> = rows.functions.iter().map(|row| (row.function.as_str(), row.samples)).collect();
    assert_eq!(names, [("main", 140), ("parse", 70)], "the sample at the end belongs to no window");
    let cpu: f64 = rows.functions.iter().map(|row| row.cpu_s).sum();
    assert!((cpu - 210.0 * 211.0 / 2e3).abs() < 1e-9, "{cpu}");
    assert!(rows.functions.iter().all(|row| row.module == "/bin/app" && row.length_s == 210.0));
}

#[test]
fn neighbours_are_told_apart_by_name_and_the_least_count_together() {
    let mut profile = recording();
    for number in 0..40_u32 {
        let name = if number < 2 { "noisy".to_string() } else { format!("n{number}") };
        let (id, kind) = (NeighbourId(number), NeighbourKind::Process);
        profile.neighbours.push(NeighbourDef { id, kind, name, pid: Some(number + 100), cgroup: None });
    }
    let cgroup =
        NeighbourDef { id: NeighbourId(99), kind: NeighbourKind::Cgroup, name: "/".into(), pid: None, cgroup: None };
    profile.neighbours.push(cgroup);
    for second in 1..=210 {
        for number in (0..40).chain([99]) {
            let cpu = Nanos(second * 1_000_000 * (1 + u64::from(number)));
            let (neighbour, at) = (NeighbourId(number), ms(1000 * second));
            let none = (None, None, None, None);
            let (on_cpu, io_bytes, llc_bytes, memory_bytes) = none;
            profile.neighbour_uses.push(NeighbourUse { neighbour, at, cpu, on_cpu, io_bytes, llc_bytes, memory_bytes });
        }
    }
    let rows = rows_of(&profile);
    let minute = rows.windows[1].start_s;
    let first: Vec<_> = rows.neighbours.iter().filter(|row| row.start_s == minute).collect();
    assert_eq!((first.len(), first[0].neighbour.as_str(), first[20].neighbour.as_str()), (21, "n39", "[others]"));
    for window in &rows.windows {
        let of = rows.neighbours.iter().filter(|row| row.start_s == window.start_s);
        let sum: f64 = of.map(|row| row.cpu_s).sum();
        assert!((sum - window.neighbour_cpu_s.unwrap()).abs() < 1e-9, "{sum} {window:?}");
    }
    let all: f64 = rows.neighbours.iter().map(|row| row.cpu_s).sum();
    assert!((all - 0.21 * 820.0).abs() < 1e-9, "each process once: {all}");
    let noisy = rows.neighbours.iter().filter(|row| row.neighbour == "noisy").count();
    assert_eq!(noisy, 0, "1 and 2 ms a second are among the least");
}

#[test]
fn the_least_functions_are_one_row_for_each_version() {
    let row = |function: &str, version: &str, cpu_s: f64| FunctionRow {
        function: function.into(),
        version: Some(version.into()),
        cpu_s,
        samples: 1,
        ..FunctionRow::default()
    };
    let all = vec![row("a", "1", 3.0), row("b", "1", 1.0), row("c", "2", 2.0), row("[others]", "1", 9.0)];
    let kept: Vec<_> = FunctionRow::most(all.clone(), 2).into_iter().map(|row| (row.function, row.cpu_s)).collect();
    assert_eq!(kept, [("a".to_string(), 3.0), ("c".to_string(), 2.0), ("[others]".to_string(), 10.0)]);
    assert_eq!(FunctionRow::most(all, 100).len(), 4);
}

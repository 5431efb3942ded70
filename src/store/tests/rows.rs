//! Tables as another version or a damaged disk leaves them: rows with unknown words, columns that are missing, holes.

use crate::error::{ErrorKind, Result};
use crate::model::{
    BuildId, CounterDef, CounterId, CounterReading, FrameDef, FrameId, LossKind, Lost, Mark, ModuleDef, ModuleId,
    ModuleKind, NeighbourDef, NeighbourKind, NeighbourUse, OffCpu, Sample, Scope, StackDef, StackEnd, StackId, Symbol,
    TaskChange, TaskEvent, Tick, Unit,
};
use crate::store::rows::{NamesDef, OpsTotal, Rows, Window};
use crate::tables::Table;
use crate::units::Nanos;

/// The rows that were read, and the number of those left out.
fn decoded<R: Rows>(table: &Table) -> (Vec<R>, u64) {
    let mut rows = Vec::new();
    let unknown = R::decode(table, &mut |row| rows.push(row)).unwrap();
    (rows, unknown)
}

/// The columns of a table, each with its values as text or numbers.
enum Values<'a> {
    Numbers(&'a [u64]),
    Narrow(&'a [u32]),
    Maybe(&'a [Option<u32>]),
    MaybeWide(&'a [Option<u64>]),
    Words(&'a [&'a str]),
    MaybeWords(&'a [Option<&'a str>]),
    Flags(&'a [bool]),
}

/// A table of these columns, without the one that is named.
fn table(columns: &[(&str, Values<'_>)], without: &str) -> Result<Table> {
    let rows = match &columns[0].1 {
        Values::Numbers(values) => values.len(),
        Values::Narrow(values) => values.len(),
        _ => panic!("the first column tells the number of rows"),
    };
    let mut builder = Table::builder(rows);
    for (name, values) in columns.iter().filter(|(name, _)| *name != without) {
        builder = match values {
            Values::Numbers(values) => builder.u64(name, values.iter().copied()),
            Values::Narrow(values) => builder.u32(name, values.iter().copied()),
            Values::Maybe(values) => builder.opt_u32(name, values.iter().copied()),
            Values::MaybeWide(values) => builder.opt_u64(name, values.iter().copied()),
            Values::Words(values) => builder.text(name, values.iter()),
            Values::MaybeWords(values) => builder.opt_text(name, values.iter().copied()),
            Values::Flags(values) => builder.bool(name, values.iter().copied()),
        };
    }
    builder.build()
}

/// Asserts that without each required column the table is refused by that column's name before a row is read, and that
/// without each optional one all rows are.
fn columns_are_required<R: Rows>(columns: &[(&str, Values<'_>)], optional: &[&str]) {
    for (name, _) in columns {
        let mut rows = 0;
        let found = R::decode(&table(columns, name).unwrap(), &mut |_| rows += 1);
        if optional.contains(name) {
            assert!(found.is_ok(), "{}: {name} is optional", R::TABLE);
            continue;
        }
        let error = found.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{}: {name}", R::TABLE);
        assert!(error.to_string().contains(name), "{}: {error}", R::TABLE);
        assert_eq!(rows, 0, "{}: rows without {name}", R::TABLE);
    }
}

#[test]
fn a_sample_of_an_unknown_kind_is_left_out_and_counted_and_the_others_stay() {
    let columns = [
        ("at_ns", Values::Numbers(&[1, 2, 3, 4])),
        ("pid", Values::Narrow(&[41; 4])),
        ("tid", Values::Narrow(&[u32::MAX; 4])),
        ("cpu", Values::Narrow(&[0; 4])),
        ("event", Values::Narrow(&[0, 65_535, 65_536, 0])),
        ("weight", Values::Numbers(&[u64::MAX; 4])),
        ("stack", Values::Maybe(&[Some(0), None, Some(1), Some(u32::MAX)])),
        ("end", Values::Words(&["whole", "broken", "whole", "of a later version"])),
        ("kernel", Values::Flags(&[false, true, false, false])),
    ];
    let (rows, unknown) = decoded::<Sample>(&table(&columns, "").unwrap());
    assert_eq!(unknown, 2, "an event beyond 16 bits, and a word of a later version");
    let shown: Vec<_> = rows.iter().map(|row| (row.at.0, row.event, row.stack, row.end, row.kernel)).collect();
    assert_eq!(shown, [(1, 0, Some(StackId(0)), StackEnd::Whole, false), (2, 65_535, None, StackEnd::Broken, true)]);
    assert_eq!((rows[0].tid, rows[0].weight), (u32::MAX, u64::MAX));
    columns_are_required::<Sample>(&columns, &["stack"]);
}

#[test]
fn a_wait_keeps_what_is_unknown_about_it_unknown() {
    let columns = [
        ("at_ns", Values::Numbers(&[1, 2, 3])),
        ("pid", Values::Narrow(&[41; 3])),
        ("tid", Values::Narrow(&[42; 3])),
        ("state", Values::Words(&["sleeping", "disk_sleep", "dreaming"])),
        ("blocked_ns", Values::Numbers(&[u64::MAX, 0, 1])),
        ("queued_ns", Values::MaybeWide(&[None, Some(u64::MAX), None])),
        ("stack", Values::Maybe(&[None, Some(3), None])),
        ("end", Values::Words(&["whole", "truncated", "whole"])),
        ("estimated", Values::Flags(&[true, false, false])),
    ];
    let (rows, unknown) = decoded::<OffCpu>(&table(&columns, "").unwrap());
    assert_eq!((rows.len(), unknown), (2, 1));
    assert_eq!((rows[0].blocked, rows[0].queued, rows[0].estimated), (Nanos(u64::MAX), None, true));
    assert_eq!((rows[1].blocked, rows[1].queued, rows[1].stack), (Nanos(0), Some(Nanos(u64::MAX)), Some(StackId(3))));
}

#[test]
fn a_reading_with_a_hole_is_no_reading_of_zero() {
    let scopes = [Some("target"), Some("thread"), Some("cpu"), Some("host"), Some("tool")];
    let many = |value: u64| vec![Some(value); 5];
    let columns = |scope_id: &'static [Option<u32>], value: &'static [Option<u64>]| {
        Table::builder(5)
            .u64("at_ns", 0..5)
            .opt_u32("counter", [Some(7); 5].into_iter())
            .opt_text("scope", scopes.into_iter())
            .opt_u32("scope_id", scope_id.iter().copied())
            .opt_u64("value", value.iter().copied())
            .opt_u64("enabled_ns", many(3).into_iter())
            .opt_u64("running_ns", many(2).into_iter())
            .opt_u64("span_ns", [None; 5].into_iter())
            .build()
            .unwrap()
    };
    let scopes_of = |table: &Table| {
        let (rows, unknown) = decoded::<Window>(table);
        let scope = |row: &Window| match row {
            Window::Reading(CounterReading { scope, .. }) => *scope,
            Window::End(_) => panic!("no row ends a window"),
        };
        (rows.iter().map(scope).collect::<Vec<_>>(), unknown)
    };
    let ids: &[Option<u32>] = &[None, Some(41), Some(3), None, None];
    let whole = columns(ids, &[Some(1), Some(2), Some(0), Some(4), Some(5)]);
    let all = [Scope::Target, Scope::Thread(41), Scope::Cpu(3), Scope::Host, Scope::Tool];
    assert_eq!(scopes_of(&whole), (all.to_vec(), 0));
    let nobody = columns(&[None; 5], &[Some(1), Some(2), Some(3), Some(4), Some(5)]);
    assert_eq!(scopes_of(&nobody), (vec![Scope::Target, Scope::Host, Scope::Tool], 2), "whose thread, and which CPU?");
    let holes = columns(ids, &[None, Some(2), None, Some(4), None]);
    assert_eq!(scopes_of(&holes), (vec![Scope::Thread(41), Scope::Host], 3), "a value that is missing");
}

#[test]
fn a_row_with_a_length_ends_a_window_whatever_else_it_holds() {
    let built = Table::builder(2)
        .u64("at_ns", [5, 6].into_iter())
        .opt_u32("counter", [None, Some(70_000)].into_iter())
        .opt_text("scope", [None, Some("nonsense")].into_iter())
        .opt_u64("span_ns", [Some(u64::MAX), Some(0)].into_iter())
        .build()
        .unwrap();
    let (rows, unknown) = decoded::<Window>(&built);
    let ends: Vec<_> = rows.iter().map(|row| matches!(row, Window::End(Tick { .. }))).collect();
    assert_eq!((ends, unknown), (vec![true, true], 0));
    let Window::End(tick) = &rows[0] else { panic!("{rows:?}") };
    assert_eq!((tick.at, tick.span), (Nanos(5), Nanos(u64::MAX)));
}

#[test]
fn names_are_sets_that_begin_at_depth_zero_or_with_another_frame() {
    let columns = [
        ("frame", Values::Narrow(&[1, 1, 1, 2, 3, 3])),
        ("depth", Values::Narrow(&[0, 1, 0, 5, 0, 1])),
        ("function", Values::Words(&["a", "b", "again", "without its start", "", "\u{1b}[2J"])),
        ("file", Values::MaybeWords(&[Some("a.rs"), None, None, None, Some(""), None])),
        ("line", Values::Maybe(&[Some(u32::MAX), Some(0), None, None, None, None])),
        ("inlined", Values::Flags(&[true, false, false, false, true, false])),
    ];
    let (sets, unknown) = decoded::<NamesDef>(&table(&columns, "").unwrap());
    let shown: Vec<(u32, Vec<&str>)> = sets
        .iter()
        .map(|set| (set.frame.0, set.symbols.iter().map(|symbol| symbol.function.as_str()).collect()))
        .collect();
    let expected =
        [(1, vec!["a", "b"]), (1, vec!["again"]), (2, vec!["without its start"]), (3, vec!["", "\u{1b}[2J"])];
    assert_eq!((shown, unknown), (expected.to_vec(), 0));
    assert_eq!((sets[0].symbols[0].line, sets[0].symbols[1].line), (Some(u32::MAX), Some(0)));
    assert_eq!((sets[3].symbols[0].file.as_deref(), sets[3].symbols[1].file.as_deref()), (Some(""), None));
    columns_are_required::<NamesDef>(&columns, &["file", "line"]);
    assert_eq!(decoded::<NamesDef>(&NamesDef::encode(&[]).unwrap()).0.len(), 0);
}

#[test]
fn a_set_of_names_counts_as_its_rows_and_an_empty_one_leaves_none() {
    let sets = [
        NamesDef { frame: FrameId(1), symbols: ["x", "y"].map(Symbol::named).to_vec() },
        NamesDef { frame: FrameId(2), symbols: vec![] },
    ];
    assert_eq!(sets.iter().map(Rows::height).collect::<Vec<_>>(), [2, 0]);
    let (read, _) = decoded::<NamesDef>(&NamesDef::encode(&sets).unwrap());
    assert_eq!(read.len(), 1, "a frame without a name has no row");
}

#[test]
fn a_change_of_a_task_needs_what_its_word_says() {
    let columns = [
        ("at_ns", Values::Numbers(&[1, 2, 3, 4, 5, 6, 7])),
        ("pid", Values::Narrow(&[41; 7])),
        ("tid", Values::Narrow(&[42; 7])),
        ("change", Values::Words(&["alive", "born", "born", "renamed", "exec", "ended", "reborn"])),
        ("comm", Values::MaybeWords(&[None, Some("x"), Some("x"), Some(""), Some("y"), None, Some("z")])),
        ("parent", Values::Maybe(&[None, None, Some(1), None, None, None, None])),
    ];
    let (rows, unknown) = decoded::<TaskEvent>(&table(&columns, "").unwrap());
    assert_eq!(unknown, 3, "alive without a name, born of nobody, and a word of a later version");
    let changes: Vec<TaskChange> = rows.into_iter().map(|row| row.change).collect();
    assert_eq!(
        changes,
        [
            TaskChange::Born { parent: 1, comm: "x".into() },
            TaskChange::Renamed { comm: String::new(), exec: false },
            TaskChange::Renamed { comm: "y".into(), exec: true },
            TaskChange::Ended,
        ]
    );
}

#[test]
fn definitions_with_unknown_words_or_impossible_numbers_are_left_out() {
    let counters = [
        ("counter", Values::Narrow(&[0, 65_535, 65_536, 3])),
        ("name", Values::Words(&["a", "", "c", "d"])),
        ("unit", Values::Words(&["count", "1/kinstr", "count", "parsecs"])),
        ("group", Values::Maybe(&[Some(70_000), Some(65_535), None, None])),
    ];
    let (rows, unknown) = decoded::<CounterDef>(&table(&counters, "").unwrap());
    assert_eq!(unknown, 2);
    let shown: Vec<_> = rows.iter().map(|row| (row.id, row.unit, row.group)).collect();
    assert_eq!(
        shown,
        [(CounterId(0), Unit::Count, None), (CounterId(65_535), Unit::PerKiloInstructions, Some(65_535))],
        "a group beyond 16 bits is no group"
    );
    let modules = [
        ("module", Values::Narrow(&[0, 1, 2, 3])),
        ("kind", Values::Words(&["file", "kernel", "jit", "cloud"])),
        ("path", Values::Words(&["/usr/bin/x", "", "/tmp/\n\u{202e}", "x"])),
        ("build_id", Values::MaybeWords(&[Some("0aff"), Some("not hexadecimal"), None, None])),
        ("pid", Values::Narrow(&[0, u32::MAX, 1, 1])),
    ];
    let (rows, unknown) = decoded::<ModuleDef>(&table(&modules, "").unwrap());
    assert_eq!((rows.len(), unknown), (3, 1));
    assert_eq!(rows[0].build_id, Some(BuildId(vec![0x0a, 0xff])));
    assert_eq!((rows[1].kind, &rows[1].build_id), (ModuleKind::Kernel, &None), "a build-id that is none");
    columns_are_required::<ModuleDef>(&modules, &["build_id"]);
}

#[test]
fn references_at_the_end_of_their_type_are_kept_for_the_reader_to_judge() {
    let stacks = [StackDef { id: StackId(u32::MAX), parent: Some(StackId(u32::MAX)), frame: FrameId(u32::MAX) }];
    assert_eq!(decoded::<StackDef>(&StackDef::encode(&stacks).unwrap()), (stacks.to_vec(), 0));
    let frames = [FrameDef { id: FrameId(0), module: Some(ModuleId(u32::MAX)), address: u64::MAX }];
    assert_eq!(decoded::<FrameDef>(&FrameDef::encode(&frames).unwrap()), (frames.to_vec(), 0));
}

#[test]
fn a_text_that_is_too_long_is_cut_in_both_directions() {
    let long = "é".repeat(5000);
    let (marks, _) = decoded::<Mark>(&Mark::encode(&[Mark { at: Nanos(1), label: long.clone() }]).unwrap());
    assert!(marks[0].label.len() <= 4096 && marks[0].label.ends_with('…'), "{}", marks[0].label.len());
    // Another program may have written it.
    let foreign = Table::builder(1).u64("at_ns", 0..1).text("label", [&long].into_iter()).build().unwrap();
    let (marks, _) = decoded::<Mark>(&foreign);
    assert!(marks[0].label.len() <= 4096, "{}", marks[0].label.len());
}

#[test]
fn neighbours_and_losses_of_unknown_kinds_are_left_out() {
    let neighbours = [
        ("neighbour", Values::Narrow(&[0, 1])),
        ("kind", Values::Words(&["resctrl", "alien"])),
        ("name", Values::Words(&["</g>", "x"])),
        ("pid", Values::Maybe(&[None, Some(1)])),
        ("cgroup", Values::MaybeWords(&[None, Some("/a")])),
    ];
    let (rows, unknown) = decoded::<NeighbourDef>(&table(&neighbours, "").unwrap());
    assert_eq!((rows.len(), unknown, rows[0].kind), (1, 1, NeighbourKind::Resctrl));
    let losses = [
        ("at_ns", Values::Numbers(&[1, 2])),
        ("cpu", Values::Narrow(&[u32::MAX, 0])),
        ("kind", Values::Words(&["throttled", "misplaced"])),
        ("count", Values::Numbers(&[u64::MAX, 1])),
    ];
    let (rows, unknown) = decoded::<Lost>(&table(&losses, "").unwrap());
    assert_eq!((rows.len(), unknown, rows[0].kind, rows[0].count), (1, 1, LossKind::Throttled, u64::MAX));
    let uses = [
        ("at_ns", Values::Numbers(&[1])),
        ("neighbour", Values::Narrow(&[0])),
        ("cpu_ns", Values::Numbers(&[0])),
        ("on_cpu", Values::Maybe(&[None])),
        ("io_bytes", Values::MaybeWide(&[Some(0)])),
    ];
    let (rows, _) = decoded::<NeighbourUse>(&table(&uses, "").unwrap());
    assert_eq!((rows[0].io_bytes, rows[0].llc_bytes, rows[0].on_cpu), (Some(0), None, None), "zero is not unknown");
    columns_are_required::<NeighbourUse>(&uses, &["on_cpu", "io_bytes"]);
    let totals = [("at_ns", Values::Numbers(&[1, 0])), ("total", Values::Numbers(&[u64::MAX, 0]))];
    columns_are_required::<OpsTotal>(&totals, &[]);
    let (rows, _) = decoded::<OpsTotal>(&table(&totals, "").unwrap());
    assert_eq!((rows[0].total.0, rows[1].at), (u64::MAX, Nanos(0)), "the order of the file is kept");
}

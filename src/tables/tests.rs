//! Tables at the edges of their types, with hostile names, in files of many row groups, and damaged files.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::{Stream, Table, from_foreign_parquet, from_parquet, to_parquet};
use crate::error::ErrorKind;
use proptest::prelude::*;

/// Texts that a file, a terminal or a reader could take for something else.
const HOSTILE: [&str; 8] =
    ["", "\0", "PAR1", "ironlaw.crc32\u{18}\u{8}00000000", "\u{1b}[2J\r\n", "\u{202e}drowssap", "😀 \u{0301}e", "null"];

fn numbers(values: &[u64]) -> Table {
    Table::builder(values.len()).u64("n", values.iter().copied()).build().unwrap()
}

fn stored(table: &Table) -> Table {
    from_parquet(&to_parquet(table).unwrap()).unwrap()
}

/// A column of numbers of a file without a checksum.
fn unsealed(bytes: &[u8], column: &str) -> Vec<u64> {
    from_foreign_parquet(bytes).unwrap().u64(column).unwrap().to_vec()
}

#[test]
fn numbers_read_back_at_the_ends_of_their_types_however_they_are_encoded() {
    for (case, values) in [
        ("the ends", vec![0, u64::MAX, 0, u64::MAX]),
        ("rising to the end", (0..100).map(|at| u64::MAX - 99 + at).collect()),
        ("rising over the whole range", (0..64).map(|bit| u64::MAX >> (63 - bit)).collect()),
        ("falling", (0..100).map(|at| u64::MAX - at).collect()),
        ("around the sign bit", vec![(1 << 63) - 1, 1 << 63, (1 << 63) + 1]),
        ("one value", vec![u64::MAX]),
        ("all alike", vec![u64::MAX; 300]),
    ] {
        assert_eq!(stored(&numbers(&values)).u64("n").unwrap(), values, "{case}");
        let narrow: Vec<u32> = values.iter().map(|value| *value as u32).collect();
        let table = Table::builder(narrow.len()).u32("n", narrow.iter().copied()).build().unwrap();
        assert_eq!(stored(&table).u32("n").unwrap(), narrow, "{case}, 32 bits");
        let holes: Vec<Option<u64>> = values.iter().enumerate().map(|(at, v)| (at % 2 == 0).then_some(*v)).collect();
        let table = Table::builder(holes.len()).opt_u64("n", holes.iter().copied()).build().unwrap();
        assert_eq!(stored(&table).opt_u64("n").unwrap(), holes, "{case}, with holes");
    }
}

#[test]
fn signed_and_floating_point_numbers_read_back_as_they_were() {
    let signed = [0, i64::MIN, i64::MAX, -1];
    let floats = [0.0, -0.0, f64::MAX, 1e-300];
    let some = |at: usize| at.is_multiple_of(2).then_some(floats[at]);
    let table = Table::builder(4)
        .i64("start_s", signed.into_iter())
        .f64("cpu_s", floats.into_iter())
        .opt_i64("count", [Some(-7), None, None, Some(7)].into_iter())
        .opt_f64("cycles", (0..4).map(some))
        .opt_f64("nothing", [None; 4].into_iter())
        .build()
        .unwrap();
    let read = stored(&table);
    assert_eq!(read.i64("start_s").unwrap(), signed);
    assert_eq!(read.f64("cpu_s").unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>(), floats.map(f64::to_bits));
    assert_eq!(read.opt_i64("count").unwrap(), [Some(-7), None, None, Some(7)]);
    assert_eq!(read.opt_f64("cycles").unwrap(), [Some(0.0), None, Some(f64::MAX), None]);
    assert_eq!(read.opt_f64("nothing").unwrap(), [None; 4]);
    let rising: Vec<i64> = (0..1440).map(|minute| 1_700_000_000 + 60 * minute).collect();
    let bytes = to_parquet(&Table::builder(1440).i64("start_s", rising.iter().copied()).build().unwrap()).unwrap();
    assert_eq!(from_parquet(&bytes).unwrap().i64("start_s").unwrap(), rising);
    assert!(bytes.len() < 600, "{} bytes for times that rise evenly", bytes.len());
}

#[test]
fn a_column_in_which_nothing_was_measured_stays_empty_and_never_reads_as_zero() {
    let table = Table::builder(3)
        .opt_u64("wide", [None; 3].into_iter())
        .opt_u32("narrow", [None; 3].into_iter())
        .opt_text("text", [None::<&str>; 3].into_iter())
        .build()
        .unwrap();
    let read = stored(&table);
    assert_eq!(read.opt_u64("wide").unwrap(), [None; 3]);
    assert_eq!(read.opt_u32("narrow").unwrap(), [None; 3]);
    assert_eq!(read.opt_text("text").unwrap(), [None; 3]);
    assert!(read.u64("wide").is_err() && read.u32("narrow").is_err() && read.text("text").is_err());
}

#[test]
fn hostile_texts_read_back_as_they_were_as_values_and_as_names_of_columns() {
    let table = Table::builder(HOSTILE.len()).text("text", HOSTILE.iter()).build().unwrap();
    assert_eq!(stored(&table).text("text").unwrap(), HOSTILE);
    for name in HOSTILE {
        let table = Table::builder(1).text(name, ["x"].iter()).build().unwrap();
        let read = stored(&table);
        assert_eq!(read.text(name).unwrap(), ["x"], "{name:?}");
        let error = read.text("missing").unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Corrupt, "column missing is missing"));
    }
}

#[test]
fn an_error_names_the_column_and_what_is_wrong_with_it() {
    let table = Table::builder(2)
        .u64("at_ns", 0..2)
        .bool("kernel", [true, false].into_iter())
        .text("end", ["whole", "broken"].iter())
        .opt_text("file", [None, Some("a.rs")].into_iter())
        .build()
        .unwrap();
    let rows = [
        ("a number read as a narrow one", "at_ns", table.u32("at_ns").map(|_| ()).unwrap_err()),
        ("a number read as a text", "at_ns", table.text("at_ns").map(|_| ()).unwrap_err()),
        ("a number read as an optional text", "at_ns", table.opt_text("at_ns").map(|_| ()).unwrap_err()),
        ("a number read as true or false", "at_ns", table.bool("at_ns").map(|_| ()).unwrap_err()),
        ("a text read as a number", "end", table.opt_u32("end").map(|_| ()).unwrap_err()),
        ("a text read as true or false", "end", table.opt_bool("end").map(|_| ()).unwrap_err()),
        ("true or false read as a number", "kernel", table.u64("kernel").map(|_| ()).unwrap_err()),
        ("a text that has holes", "file", table.text("file").map(|_| ()).unwrap_err()),
        ("a column that is not there", "cpu", table.bool("cpu").map(|_| ()).unwrap_err()),
    ];
    for (case, column, error) in rows {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{case}: {error}");
        assert!(error.to_string().starts_with(&format!("column {column}")), "{case}: {error}");
    }
    assert_eq!(table.opt_bool("kernel").unwrap(), [Some(true), Some(false)]);
    assert_eq!(table.opt_bool("cpu").unwrap(), [None, None], "an optional column may be missing");
}

#[test]
fn columns_of_one_name_or_of_other_lengths_make_no_table() {
    assert!(Table::builder(1).u64("a", 0..1).u32("a", 0..1).build().is_err(), "a name twice");
    for (case, rows, values) in [("fewer", 3, 2), ("more", 2, 3), ("none", 1, 0)] {
        assert!(Table::builder(rows).u64("a", 0..values).build().is_err(), "{case} values than rows");
    }
}

#[test]
fn a_file_written_in_pieces_reads_back_in_order_and_pieces_without_rows_leave_nothing() {
    let mut bytes = Vec::new();
    let mut stream = Stream::start(&mut bytes, &numbers(&[99])).unwrap();
    for piece in [&[1, 2][..], &[], &[3], &[u64::MAX, 0]] {
        stream.add(&numbers(piece)).unwrap();
    }
    stream.finish().unwrap();
    assert_eq!(unsealed(&bytes, "n"), [1, 2, 3, u64::MAX, 0]);
    // A file for other tools holds no checksum, so our own reader refuses it with that reason.
    let error = from_parquet(&bytes).unwrap_err();
    assert!(error.to_string().contains("has no checksum"), "{error}");
}

#[test]
fn a_piece_with_other_columns_is_refused_and_the_pieces_before_it_stay() {
    let mut bytes = Vec::new();
    let mut stream = Stream::start(&mut bytes, &numbers(&[])).unwrap();
    stream.add(&numbers(&[7])).unwrap();
    let wider = Table::builder(1).u64("n", 0..1).u64("m", 0..1).build().unwrap();
    let error = stream.add(&wider).unwrap_err();
    assert!(error.to_string().contains("other columns"), "{error}");
    stream.finish().unwrap();
    assert_eq!(unsealed(&bytes, "n"), [7]);
}

/// A writer that fails after a number of bytes, as a full disk does.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = self.0.min(bytes.len());
        self.0 -= room;
        if room == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(room) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_at_any_point_is_an_error_and_no_panic() {
    let table = numbers(&(0..50).map(|at| at * 7919).collect::<Vec<_>>());
    let write = |room: usize| -> crate::error::Result<()> {
        let mut stream = Stream::start(Full(room), &table)?;
        stream.add(&table)?;
        stream.finish()
    };
    assert!(write(100_000).is_ok());
    for room in (0..300).step_by(7) {
        let error = write(room).unwrap_err();
        assert!(!error.to_string().is_empty(), "{room} bytes");
    }
}

#[test]
fn joined_tables_keep_their_order_and_their_holes_through_a_file() {
    let part = |values: [Option<u32>; 2]| Table::builder(2).opt_u32("stack", values.into_iter()).build().unwrap();
    let mut joined = part([Some(1), None]);
    for values in [[None, None], [Some(u32::MAX), Some(0)]] {
        joined.append(&part(values)).unwrap();
    }
    let expected = [Some(1), None, None, None, Some(u32::MAX), Some(0)];
    assert_eq!(stored(&joined).opt_u32("stack").unwrap(), expected);
    let renamed = Table::builder(1).opt_u32("frame", [Some(1)].into_iter()).build().unwrap();
    assert!(joined.append(&renamed).is_err(), "the same type under another name");
    assert_eq!(joined.rows(), 6, "a refused table adds nothing");
}

#[test]
fn bytes_that_are_no_table_are_refused_with_a_reason() {
    let whole = to_parquet(&numbers(&[1, 2, 3])).unwrap();
    let doubled = [&whole[..], &whole[..]].concat();
    for (case, bytes) in [
        ("nothing", Vec::new()),
        ("only the mark", b"PAR1".to_vec()),
        ("the mark twice", b"PAR1PAR1".to_vec()),
        ("text", b"at_ns,pid\n1,2\n".to_vec()),
        ("zeros", vec![0; 4096]),
        ("the whole file twice", doubled),
        ("a byte too many at its end", [&whole[..], b"x"].concat()),
        ("a byte too many at its start", [b"x", &whole[..]].concat()),
    ] {
        let error = from_parquet(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{case}: {error}");
        assert!(error.to_string().len() > 20, "{case}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_reads_back_from_its_file(
        rows in proptest::collection::vec((any::<u64>(), any::<Option<u32>>(), any::<bool>(), "\\PC{0,12}"), 0..40),
    ) {
        let table = Table::builder(rows.len())
            .u64("a", rows.iter().map(|row| row.0))
            .opt_u32("b", rows.iter().map(|row| row.1))
            .bool("c", rows.iter().map(|row| row.2))
            .text("d", rows.iter().map(|row| &row.3))
            .build()
            .unwrap();
        let read = stored(&table);
        prop_assert_eq!(read.u64("a").unwrap(), rows.iter().map(|row| row.0).collect::<Vec<_>>());
        prop_assert_eq!(read.opt_u32("b").unwrap(), rows.iter().map(|row| row.1).collect::<Vec<_>>());
        prop_assert_eq!(read.bool("c").unwrap(), rows.iter().map(|row| row.2).collect::<Vec<_>>());
        prop_assert_eq!(read.text("d").unwrap(), rows.iter().map(|row| row.3.as_str()).collect::<Vec<_>>());
    }
}

//! The tables of recordings, as queries name them.

use super::sql_table::{SqlRows, SqlTable};
use crate::analysis::{GroupBy, Names, Selection, SortBy, StackCounts, Tasks, rank};
use crate::error::Result;
use crate::store::{Damage, Recording, TABLES};
use crate::tables::Table;

/// The functions of a recording with their costs, which no table of the format has.
const FUNCTIONS: &str = "functions";

/// The tables that the text of a query names, of all recordings, each row with its recording's name; and what is damaged.
/// A word that only looks like the name of a table costs reading it.
///
/// # Errors
/// If the samples of a recording cannot be counted.
pub fn recording_tables(recordings: &[(String, Recording)], sql: &str) -> Result<(Vec<SqlTable>, Vec<Damage>)> {
    let words: Vec<String> = sql.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect();
    let named = |table: &str| words.iter().any(|word| word == table);
    let (mut tables, mut damage) = (Vec::new(), Vec::new());
    for table in TABLES.iter().filter(|table| named(table)) {
        let mut rows = Vec::new();
        for (name, recording) in recordings {
            let (parts, damaged) = recording.table(table);
            rows.extend(parts.into_iter().map(|part| (name.clone(), part)));
            damage.extend(damaged);
        }
        tables.push(SqlTable { name: (*table).to_string(), rows: SqlRows::Memory(rows) });
    }
    if named(FUNCTIONS) {
        let rows = recordings.iter().map(|(name, recording)| Ok((name.clone(), functions(recording)?)));
        let rows = rows.collect::<Result<_>>()?;
        tables.push(SqlTable { name: FUNCTIONS.to_string(), rows: SqlRows::Memory(rows) });
    }
    // A table without parts has no columns either: the engine says that it does not exist.
    tables.retain(|table| !matches!(&table.rows, SqlRows::Memory(parts) if parts.is_empty()));
    Ok((tables, damage))
}

/// By the first sampled event; the heaviest first.
fn functions(recording: &Recording) -> Result<Table> {
    let (profile, selection) = (recording.profile(), Selection::default());
    let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
    let counts = StackCounts::of(&profile, &tasks, &selection);
    let rows = rank(&profile, &names, &tasks, &counts, GroupBy::Function, SortBy::SelfWeight).rows;
    Table::builder(rows.len())
        .text("function", rows.iter().map(|row| &row.name))
        .text("module", rows.iter().map(|row| &row.module))
        .u64("self_weight", rows.iter().map(|row| row.self_weight))
        .u64("total_weight", rows.iter().map(|row| row.total_weight))
        .u64("self_samples", rows.iter().map(|row| row.self_samples))
        .u64("total_samples", rows.iter().map(|row| row.total_samples))
        .build()
}

//! The table of the control groups that tasks were found in.

use super::{Rows, bounded};
use crate::error::Result;
use crate::model::Membership;
use crate::store::words::Word;
use crate::tables::Table;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Rows for Membership {
    const TABLE: &'static str = "memberships";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|it| it.at.0))
            .u32("pid", events.iter().map(|it| it.pid))
            .u32("tid", events.iter().map(|it| it.tid))
            .text("cgroup", events.iter().map(|it| bounded(&it.cgroup)))
            .text("source", events.iter().map(|it| it.source.word()))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (cgroup, source) = (table.text("cgroup")?, table.text("source")?);
        // A part has few groups and many threads.
        let mut paths: FxHashMap<&str, Arc<str>> = FxHashMap::default();
        let mut unknown = 0;
        for row in 0..table.rows() {
            let Some(source) = Word::from_word(source[row]) else {
                unknown += 1;
                continue;
            };
            let path = paths.entry(cgroup[row]).or_insert_with(|| bounded(cgroup[row]).into());
            emit(Membership { at: Nanos(at[row]), pid: pid[row], tid: tid[row], cgroup: Arc::clone(path), source });
        }
        Ok(unknown)
    }
}

//! The table of the memory of processes by NUMA node.

use super::Rows;
use crate::error::Result;
use crate::model::NodeMemory;
use crate::store::words::Word;
use crate::tables::Table;
use crate::units::Nanos;

impl Rows for NodeMemory {
    const TABLE: &'static str = "pages";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|it| it.at.0))
            .u32("pid", events.iter().map(|it| it.pid))
            .u32("node", events.iter().map(|it| it.node))
            .text("kind", events.iter().map(|it| it.kind.word()))
            .u64("bytes", events.iter().map(|it| it.bytes))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, node) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("node")?);
        let (kind, bytes) = (table.text("kind")?, table.u64("bytes")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            match Word::from_word(kind[row]) {
                Some(kind) => {
                    emit(NodeMemory { at: Nanos(at[row]), pid: pid[row], node: node[row], kind, bytes: bytes[row] });
                }
                None => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

//! The table of memory accesses that the hardware sampled.

use super::Rows;
use crate::error::Result;
use crate::model::{MemoryAccess, StackId};
use crate::store::words::Word;
use crate::tables::Table;
use crate::units::Nanos;

impl Rows for MemoryAccess {
    const TABLE: &'static str = "accesses";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|it| it.at.0))
            .u32("pid", events.iter().map(|it| it.pid))
            .u32("tid", events.iter().map(|it| it.tid))
            .u32("cpu", events.iter().map(|it| it.cpu))
            .u32("event", events.iter().map(|it| u32::from(it.event)))
            .opt_u32("stack", events.iter().map(|it| it.stack.map(|id| id.0)))
            .opt_u64("address", events.iter().map(|it| it.address))
            .text("kind", events.iter().map(|it| it.kind.word()))
            .text("level", events.iter().map(|it| it.level.word()))
            .bool("missed", events.iter().map(|it| it.missed))
            .text("snoop", events.iter().map(|it| it.snoop.word()))
            .text("tlb", events.iter().map(|it| it.tlb.word()))
            .bool("locked", events.iter().map(|it| it.locked))
            .opt_u64("latency_cycles", events.iter().map(|it| it.latency))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (cpu, event, stack) = (table.u32("cpu")?, table.u32("event")?, table.opt_u32("stack")?);
        let (address, latency) = (table.opt_u64("address")?, table.opt_u64("latency_cycles")?);
        let (kind, level, missed) = (table.text("kind")?, table.text("level")?, table.bool("missed")?);
        let (snoop, tlb, locked) = (table.text("snoop")?, table.text("tlb")?, table.bool("locked")?);
        let decoded = |row: usize| {
            Some(MemoryAccess {
                at: Nanos(at[row]),
                pid: pid[row],
                tid: tid[row],
                cpu: cpu[row],
                event: u16::try_from(event[row]).ok()?,
                stack: stack[row].map(StackId),
                address: address[row],
                kind: Word::from_word(kind[row])?,
                level: Word::from_word(level[row])?,
                missed: missed[row],
                snoop: Word::from_word(snoop[row])?,
                tlb: Word::from_word(tlb[row])?,
                locked: locked[row],
                latency: latency[row],
            })
        };
        let mut unknown = 0;
        for row in 0..table.rows() {
            match decoded(row) {
                Some(access) => emit(access),
                None => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

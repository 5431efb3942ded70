//! Tables of other users of the machine: `neighbours` identifies them, `neighbour_uses` holds what they used.
//! Values are stored as raw sums, not as differences.

use super::{Rows, bounded};
use crate::error::Result;
use crate::model::{NeighbourDef, NeighbourId, NeighbourUse};
use crate::store::words::Word;
use crate::tables::Table;
use crate::units::Nanos;

impl Rows for NeighbourDef {
    const TABLE: &'static str = "neighbours";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u32("neighbour", events.iter().map(|def| def.id.0))
            .text("kind", events.iter().map(|def| def.kind.word()))
            .text("name", events.iter().map(|def| bounded(&def.name)))
            .opt_u32("pid", events.iter().map(|def| def.pid))
            .opt_text("cgroup", events.iter().map(|def| def.cgroup.as_deref().map(bounded)))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (id, kind, name) = (table.u32("neighbour")?, table.text("kind")?, table.text("name")?);
        let (pid, cgroup) = (table.opt_u32("pid")?, table.opt_text("cgroup")?);
        let def = |row: usize| {
            Some(NeighbourDef {
                id: NeighbourId(id[row]),
                kind: Word::from_word(kind[row])?,
                name: bounded(name[row]).into_owned(),
                pid: pid[row],
                cgroup: cgroup[row].map(|cgroup| bounded(cgroup).into_owned()),
            })
        };
        let known = (0..table.rows()).filter_map(def).map(emit).count();
        Ok((table.rows() - known) as u64)
    }
}

impl Rows for NeighbourUse {
    const TABLE: &'static str = "neighbour_uses";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|used| used.at.0))
            .u32("neighbour", events.iter().map(|used| used.neighbour.0))
            .u64("cpu_ns", events.iter().map(|used| used.cpu.0))
            .opt_u32("on_cpu", events.iter().map(|used| used.on_cpu))
            .opt_u64("io_bytes", events.iter().map(|used| used.io_bytes))
            .opt_u64("llc_bytes", events.iter().map(|used| used.llc_bytes))
            .opt_u64("memory_bytes", events.iter().map(|used| used.memory_bytes))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, neighbour, cpu) = (table.u64("at_ns")?, table.u32("neighbour")?, table.u64("cpu_ns")?);
        let (on_cpu, io) = (table.opt_u32("on_cpu")?, table.opt_u64("io_bytes")?);
        let (llc, memory) = (table.opt_u64("llc_bytes")?, table.opt_u64("memory_bytes")?);
        for row in 0..table.rows() {
            emit(NeighbourUse {
                neighbour: NeighbourId(neighbour[row]),
                at: Nanos(at[row]),
                cpu: Nanos(cpu[row]),
                on_cpu: on_cpu[row],
                io_bytes: io[row],
                llc_bytes: llc[row],
                memory_bytes: memory[row],
            });
        }
        Ok(0)
    }
}

//! Tables of events on and off the CPU: `samples`, `off_cpu`, `lost`.
//! Times are absolute: compression removes their high bytes, so differences would only make queries harder.

use super::Rows;
use crate::error::Result;
use crate::model::{Lost, OffCpu, Sample, StackId, WaitBegan};
use crate::store::words::Word;
use crate::tables::Table;
use crate::units::Nanos;

impl Rows for Sample {
    const TABLE: &'static str = "samples";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|sample| sample.at.0))
            .u32("pid", events.iter().map(|sample| sample.pid))
            .u32("tid", events.iter().map(|sample| sample.tid))
            .u32("cpu", events.iter().map(|sample| sample.cpu))
            .u32("event", events.iter().map(|sample| u32::from(sample.event)))
            .u64("weight", events.iter().map(|sample| sample.weight))
            .opt_u32("stack", events.iter().map(|sample| sample.stack.map(|id| id.0)))
            .text("end", events.iter().map(|sample| sample.end.word()))
            .bool("kernel", events.iter().map(|sample| sample.kernel))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (cpu, event, weight) = (table.u32("cpu")?, table.u32("event")?, table.u64("weight")?);
        let (stack, end, kernel) = (table.opt_u32("stack")?, table.text("end")?, table.bool("kernel")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            match (u16::try_from(event[row]), Word::from_word(end[row])) {
                (Ok(event), Some(end)) => emit(Sample {
                    at: Nanos(at[row]),
                    pid: pid[row],
                    tid: tid[row],
                    cpu: cpu[row],
                    event,
                    weight: weight[row],
                    stack: stack[row].map(StackId),
                    end,
                    kernel: kernel[row],
                }),
                _ => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

impl Rows for OffCpu {
    const TABLE: &'static str = "off_cpu";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|span| span.at.0))
            .u32("pid", events.iter().map(|span| span.pid))
            .u32("tid", events.iter().map(|span| span.tid))
            .text("state", events.iter().map(|span| span.state.word()))
            .u64("blocked_ns", events.iter().map(|span| span.blocked.0))
            .opt_u64("queued_ns", events.iter().map(|span| span.queued.map(|queued| queued.0)))
            .opt_u32("stack", events.iter().map(|span| span.stack.map(|id| id.0)))
            .text("end", events.iter().map(|span| span.end.word()))
            .bool("estimated", events.iter().map(|span| span.estimated))
            .u64("count", events.iter().map(|span| span.count))
            .u64("longest_ns", events.iter().map(|span| span.longest.0))
            .text("began", events.iter().map(|span| span.began.word()))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (state, blocked, queued) = (table.text("state")?, table.u64("blocked_ns")?, table.opt_u64("queued_ns")?);
        let (stack, end, estimated) = (table.opt_u32("stack")?, table.text("end")?, table.opt_bool("estimated")?);
        let (count, longest) = (table.opt_u64("count")?, table.opt_u64("longest_ns")?);
        let began = table.opt_text("began")?;
        let mut unknown = 0;
        for row in 0..table.rows() {
            match (Word::from_word(state[row]), Word::from_word(end[row])) {
                (Some(state), Some(end)) => emit(OffCpu {
                    at: Nanos(at[row]),
                    pid: pid[row],
                    tid: tid[row],
                    state,
                    blocked: Nanos(blocked[row]),
                    queued: queued[row].map(Nanos),
                    stack: stack[row].map(StackId),
                    end,
                    estimated: estimated[row].unwrap_or(false),
                    count: count[row].unwrap_or(1),
                    longest: Nanos(
                        longest[row].unwrap_or(blocked[row].saturating_add(queued[row].unwrap_or_default())),
                    ),
                    began: began[row].and_then(WaitBegan::from_word).unwrap_or_default(),
                }),
                _ => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

impl Rows for Lost {
    const TABLE: &'static str = "lost";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|lost| lost.at.0))
            .u32("cpu", events.iter().map(|lost| lost.cpu))
            .text("kind", events.iter().map(|lost| lost.kind.word()))
            .u64("count", events.iter().map(|lost| lost.count))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, cpu) = (table.u64("at_ns")?, table.u32("cpu")?);
        let (kind, count) = (table.text("kind")?, table.u64("count")?);
        let mut unknown = 0;
        for row in 0..table.rows() {
            match Word::from_word(kind[row]) {
                Some(kind) => emit(Lost { at: Nanos(at[row]), cpu: cpu[row], kind, count: count[row] }),
                None => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

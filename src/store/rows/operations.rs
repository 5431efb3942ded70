//! The table of operations that were recorded one by one.

use super::Rows;
use crate::error::Result;
use crate::model::TimedOperation;
use crate::tables::Table;
use crate::units::Nanos;

impl Rows for TimedOperation {
    const TABLE: &'static str = "operations";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|it| it.at.0))
            .u32("pid", events.iter().map(|it| it.pid))
            .u32("tid", events.iter().map(|it| it.tid))
            .u64("latency_ns", events.iter().map(|it| it.latency.0))
            .opt_u64("blocked_ns", events.iter().map(|it| it.blocked.map(|time| time.0)))
            .opt_u64("queued_ns", events.iter().map(|it| it.queued.map(|time| time.0)))
            .opt_u64("interrupted_ns", events.iter().map(|it| it.interrupted.map(|time| time.0)))
            .opt_u64("minor_faults", events.iter().map(|it| it.minor_faults))
            .opt_u64("major_faults", events.iter().map(|it| it.major_faults))
            .u64("weight", events.iter().map(|it| it.weight))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, pid, tid) = (table.u64("at_ns")?, table.u32("pid")?, table.u32("tid")?);
        let (latency, blocked) = (table.u64("latency_ns")?, table.opt_u64("blocked_ns")?);
        let (queued, interrupted) = (table.opt_u64("queued_ns")?, table.opt_u64("interrupted_ns")?);
        let (minor, major) = (table.opt_u64("minor_faults")?, table.opt_u64("major_faults")?);
        let weight = table.u64("weight")?;
        for row in 0..table.rows() {
            emit(TimedOperation {
                at: Nanos(at[row]),
                pid: pid[row],
                tid: tid[row],
                latency: Nanos(latency[row]),
                blocked: blocked[row].map(Nanos),
                queued: queued[row].map(Nanos),
                interrupted: interrupted[row].map(Nanos),
                minor_faults: minor[row],
                major_faults: major[row],
                weight: weight[row],
            });
        }
        Ok(0)
    }
}

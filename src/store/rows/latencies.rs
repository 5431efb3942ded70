//! The table of operations by their latency.

use super::Rows;
use crate::error::Result;
use crate::model::LatencyCount;
use crate::tables::Table;
use crate::units::Nanos;

/// Stands for an interval that nothing bounds.
const UNBOUNDED: u64 = u64::MAX;

impl Rows for LatencyCount {
    const TABLE: &'static str = "latencies";

    fn encode(events: &[Self]) -> Result<Table> {
        Table::builder(events.len())
            .u64("at_ns", events.iter().map(|it| it.at.0))
            .u64("low_ns", events.iter().map(|it| it.low.0))
            .u64("high_ns", events.iter().map(|it| it.high.map_or(UNBOUNDED, |high| high.0)))
            .u64("count", events.iter().map(|it| it.count))
            .build()
    }

    fn decode(table: &Table, emit: &mut dyn FnMut(Self)) -> Result<u64> {
        let (at, low) = (table.u64("at_ns")?, table.u64("low_ns")?);
        let (high, count) = (table.u64("high_ns")?, table.u64("count")?);
        for row in 0..table.rows() {
            let high = Some(high[row]).filter(|high| *high != UNBOUNDED).map(Nanos);
            emit(LatencyCount { at: Nanos(at[row]), low: Nanos(low[row]), high, count: count[row] });
        }
        Ok(0)
    }
}

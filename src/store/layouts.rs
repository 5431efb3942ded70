//! The columns of each table, for the tests of what reads them.

use super::rows::{NamesDef, OpsTotal, Rows, Window};
use crate::error::Result;
use crate::model::{
    CounterDef, FrameDef, LatencyCount, Lost, Mark, Membership, MemoryAccess, ModuleDef, NeighbourDef, NeighbourUse,
    NodeMemory, OffCpu, Sample, StackDef, TaskEvent, TimedOperation,
};
use crate::tables::Table;

/// A table without rows of each kind, in the order of [`super::part::TABLES`].
///
/// # Errors
/// As the encoder, which would be a defect.
pub(crate) fn layouts() -> Result<Vec<(&'static str, Table)>> {
    fn of<R: Rows>() -> Result<(&'static str, Table)> {
        Ok((R::TABLE, R::encode(&[])?))
    }
    [
        of::<CounterDef>,
        of::<ModuleDef>,
        of::<FrameDef>,
        of::<NamesDef>,
        of::<StackDef>,
        of::<NeighbourDef>,
        of::<TaskEvent>,
        of::<Membership>,
        of::<Sample>,
        of::<MemoryAccess>,
        of::<OffCpu>,
        of::<Window>,
        of::<NeighbourUse>,
        of::<NodeMemory>,
        of::<Lost>,
        of::<OpsTotal>,
        of::<LatencyCount>,
        of::<TimedOperation>,
        of::<Mark>,
    ]
    .into_iter()
    .map(|layout| layout())
    .collect()
}

//! The vocabulary shared by all layers: plain data about targets, events, stacks, counters and hosts.

mod baseline;
mod choices;
mod counter;
mod event;
mod event_spec;
mod file_stamp;
mod formula;
mod hardware;
mod health;
mod host;
pub mod limits;
mod mapping;
mod measure;
mod meta;
mod metric;
mod metric_def;
mod neighbour;
mod object_file;
mod ops;
mod plan;
pub mod profile;
mod sources;
mod stack;
mod sweep;
mod target;
mod task;
mod unit;

#[cfg(test)]
mod tests;

pub use baseline::{BASELINE_FORMAT, Baseline, BaselineKey, BaselineSource, BaselineStack, BaselineWindow};
pub use choices::{CgroupChoice, MachineChoice, ProcessChoice};
pub use counter::{CounterDef, CounterId, CounterReading, Scope};
pub use event::{Definition, Event, LossKind, Lost, Mark, OffCpu, Sample, TaskState, Tick};
pub use event_spec::{EventKind, EventSpec};
pub use file_stamp::{FileStamp, Identity};
pub use formula::{Formula, Sign};
pub use hardware::{AbsentMetric, HardwareEvent, HardwareGroup, HardwarePlan, KIND_MARK, unit_of_role};
pub use health::{BandwidthRow, CacheHealth, CurvePoint, Health, LatencyRow, NodeRow};
pub use host::{CpuTopology, HostFacts};
pub use mapping::{BuildId, Bytes, ModuleDef, ModuleId, ModuleKind};
pub use measure::{Measure, Quality, Why};
pub use meta::{Coverage, Meta, Note};
pub use metric::MetricId;
pub use metric_def::{Better, Computation, MetricDef, MetricSet, Readings, Role, Section, per_operation_text};
pub use neighbour::{NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
pub use object_file::{ObjectFile, ObjectReader, ReadAt};
pub use ops::{NumberKind, OpsSpec};
pub use plan::{CallGraph, Plan, Rate};
pub use sources::{RecordCount, SampleSource, WaitSource};
pub use stack::{FrameDef, FrameId, StackDef, StackEnd, StackId, Symbol};
pub use sweep::{Placement, Region, RunMeta, RunState, SweepMeta, Width};
pub use target::{Alias, Target, TargetFacts};
pub use task::{TaskChange, TaskEvent};
pub use unit::Unit;

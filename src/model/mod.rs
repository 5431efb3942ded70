//! The vocabulary shared by all layers: plain data about targets, events, stacks, counters and hosts.

mod access;
mod baseline;
mod choices;
mod colocate;
mod coordinated_omission;
mod counter;
mod dataset;
mod event;
mod event_spec;
mod file_stamp;
mod formula;
pub mod glob;
mod hardware;
mod health;
mod host;
mod instruction;
mod latency_count;
mod latency_spec;
pub mod limits;
mod load_generator;
mod mapping;
mod measure;
mod membership;
mod meta;
mod metric;
mod metric_def;
mod neighbour;
mod object_file;
mod object_parts;
mod ops;
mod pages;
mod plan;
mod planted;
mod process_conditions;
pub mod profile;
mod progress;
mod result_table;
mod runtime;
mod short_text;
mod sources;
mod stack;
mod sweep;
mod target;
mod task;
mod timed_operation;
mod unit;

#[cfg(test)]
mod tests;

pub use access::{AccessKind, AccessPlace, MemoryAccess, MemoryLevel, Snoop, TlbResult};
pub use baseline::{BASELINE_FORMAT, Baseline, BaselineKey, BaselineSource, BaselineStack, BaselineWindow};
pub use choices::{CgroupChoice, MachineChoice, ProcessChoice};
pub use colocate::{ColocateMeta, ColocateRun, ColocatedProgram, Control, Imposed, RunPurpose, SlowdownMeasure};
pub use coordinated_omission::CoordinatedOmission;
pub use counter::{CounterDef, CounterId, CounterReading, Scope};
pub use dataset::{AlarmRow, DatasetRows, FORMAT as DATASET_FORMAT, FunctionRow, NeighbourRow, WindowRow};
pub use event::{Definition, Event, LossKind, Lost, Mark, OffCpu, Sample, TaskState, Tick, WaitBegan};
pub use event_spec::{AccessSampling, EventKind, EventSpec};
pub use file_stamp::{FileStamp, Identity};
pub use formula::{Formula, Sign};
pub use hardware::{AbsentMetric, HardwareEvent, HardwareGroup, HardwarePlan, KIND_MARK, unit_of_role};
pub use health::{BandwidthRow, CacheHealth, CurvePoint, Health, LatencyRow, NodeRow};
pub use host::{CpuTopology, HostFacts};
pub use instruction::{
    Architecture, DecodedInstruction, FunctionCode, InstructionClass, LockCode, LockRole, ReadCode, SampledCode,
    SampledInstruction, Syntax,
};
pub use latency_count::LatencyCount;
pub use latency_spec::{LatencySpec, TimeUnit};
pub use load_generator::{LoadGenerator, option};
pub use mapping::{BuildId, Bytes, ModuleDef, ModuleId, ModuleKind};
pub use measure::{Measure, Quality, Why};
pub use membership::{Membership, MembershipSource};
pub use meta::{Coverage, Meta, Note};
pub use metric::MetricId;
pub use metric_def::{
    Better, Computation, LatencyMeasure, MetricDef, MetricSet, Readings, Role, Section, per_operation_text,
};
pub use neighbour::{NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
pub use object_file::{ObjectFile, ObjectReader, ReadAt};
pub use object_parts::ObjectParts;
pub use ops::{NumberKind, OpsSpec};
pub use pages::{NodeMemory, PageKind};
pub use plan::{CallGraph, OnlyCode, Plan, Rate};
pub use planted::{PlantedCause, PlantedKind, PlantedTruth};
pub use process_conditions::{Bound, GroupLimits, PipeReader, ProcessConditions, Scheduling};
pub use progress::{Progress, ProgressState, ProgressUnit};
pub use result_table::{ResultColumn, ResultTable};
pub use runtime::Runtime;
pub use short_text::ShortText;
pub use sources::{RecordCount, SampleSource, WaitSource};
pub use stack::{FrameDef, FrameId, StackDef, StackEnd, StackId, Symbol};
pub use sweep::{Placement, Region, RunMeta, RunState, SweepMeta, Width};
pub use target::{Alias, Target, TargetFacts};
pub use task::{TaskChange, TaskEvent};
pub use timed_operation::TimedOperation;
pub use unit::{MICROSAMPLES, Unit};

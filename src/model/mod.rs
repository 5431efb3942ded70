//! The vocabulary every layer shares: plain data about targets, events, stacks, counters and hosts.
//! It never does any I/O, reads no clock and knows no file format.

mod baseline;
mod counter;
mod event;
mod formula;
mod hardware;
mod hardware_metric;
mod health;
mod host;
mod mapping;
mod measure;
mod meta;
mod neighbour;
mod ops;
mod plan;
pub mod profile;
mod region;
mod samples;
mod stack;
mod sweep;
mod target;
mod task;
mod waits;

pub use baseline::{BASELINE_FORMAT, Baseline, BaselineKey, BaselineSource, BaselineStack, BaselineWindow};
pub use counter::{CounterDef, CounterId, CounterReading, Scope, Unit};
pub use event::{Definition, Event, LossKind, Lost, Mark, OffCpu, Sample, TaskState, Tick};
pub use formula::{Formula, Sign};
pub use hardware::{AbsentMetric, HardwareEvent, HardwareGroup, HardwarePlan, KIND_MARK};
pub use hardware_metric::{HARDWARE_METRICS, HardwareMetric, MetricKind};
pub use health::{BandwidthRow, CacheHealth, CurvePoint, Health, LatencyRow, NodeRow};
pub use host::{CpuTopology, HostFacts};
pub use mapping::{BuildId, Bytes, ModuleDef, ModuleId, ModuleKind};
pub use measure::{Measure, Quality, Why};
pub use meta::{Coverage, Meta, Note};
pub use neighbour::{NeighbourDef, NeighbourId, NeighbourKind, NeighbourUse};
pub use ops::{OpsSpec, Reads};
pub use plan::{CallGraph, EventKind, EventSpec, Plan, Rate};
pub use region::Region;
pub use samples::{RecordCount, SampleSource};
pub use stack::{FrameDef, FrameId, StackDef, StackEnd, StackId, Symbol};
pub use sweep::{Placement, RunMeta, RunState, SweepMeta, Width};
pub use target::{Alias, Target, TargetFacts};
pub use task::{TaskChange, TaskEvent};
pub use waits::WaitSource;

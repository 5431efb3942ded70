//! What the user may type, and nothing more: each field holds what was typed, read into its type.
//! It never looks at the machine; `plan` checks what the values mean together.

mod annotate;
mod baseline;
mod capture;
mod colocate;
mod command_line;
mod diff;
mod engine;
mod export;
mod first_guess;
mod fleet;
mod fleet_report;
mod generate;
mod import;
mod list;
mod metrics;
mod ops;
mod query;
mod readers;
mod remote;
mod session;
mod stat;
mod sweep;
mod tools;
mod values;
mod watch;

pub use annotate::{AnnotateArgs, AnnotateFormat};
pub use baseline::{BaselineArgs, BaselineCommand, BaselineFormat, BuildArgs, ShowArgs};
pub use capture::{CaptureArgs, RecordArgs, TargetArgs};
pub use colocate::{ColocateArgs, ColocateFormat, ControlArg, FullRate, MeasureArg};
pub use command_line::{Cli, ColorArg, Command, GlobalArgs};
pub use diff::{DiffArgs, DiffFormat, LoadArg, NormalizeArg};
pub use engine::EngineArgs;
pub use export::{ExportArgs, ScriptArgs};
pub use first_guess::{answer, parse, refuse, typed_elsewhere};
pub use fleet::{ConvertArgs, DatasetArgs, FleetAddArgs, FleetArgs, FleetCommand, LabelArgs, SimulateArgs};
pub use fleet_report::{FleetCheckArgs, FleetFormat, FleetReportArgs, FleetSqlArgs};
pub use generate::{help_text, man_page};
pub use import::{ImportArgs, ImportFormat};
pub use list::ListArgs;
pub use metrics::{HardwareArgs, MetricsArgs, MetricsFormat};
pub use ops::OpsArgs;
pub use query::{QueryArgs, QueryFormat};
pub use readers::{FlameFormat, FlamegraphArgs, ReportArgs, ReportFormat, SelectionArgs, SortArg};
pub use remote::{RemoteArgs, StreamArgs};
pub use session::{TopArgs, ViewArgs};
pub use stat::StatArgs;
pub use sweep::{PlaceArg, SweepArgs, SweepFormat, WarmUp, Widths, widths as sweep_widths};
pub use tools::{
    CompletionsArgs, ConfigArgs, DemoArg, DemoArgs, DoctorArgs, DoctorFormat, HelpArgs, ManArgs, WorkloadArgs,
};
pub use values::{CpuList, FrequencyArg, ThreadFilter};
pub use watch::{Collector, Listen, METRICS_PORT, OnAlarm, WatchArgs, WatchFormat, WatchRate};

#[cfg(test)]
mod tests;

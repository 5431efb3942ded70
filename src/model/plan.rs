//! What to capture and how: the validated request that `collect` carries out.

use super::{EventSpec, HardwarePlan, LatencySpec, LoadGenerator, OpsSpec, Target};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// How call stacks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallGraph {
    /// Whole stacks without a choice of method by the user. Currently the same as `Dwarf` with the default size.
    Auto,
    /// The kernel walks frame pointers.
    FramePointer,
    /// Registers and stack bytes are copied per sample and unwound in this process.
    Dwarf {
        /// Stack bytes copied per sample; a multiple of 8, at most 65,528.
        stack_bytes: u32,
    },
    /// The CPU's last-branch records.
    Lbr,
    /// No stacks: only the sampled address.
    None,
}

/// How often samples are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Samples per second of running time and CPU.
    Frequency(u64),
    /// One sample every N events.
    Period(u64),
}

/// The only code that is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnlyCode {
    /// That of programs.
    User,
    /// That of the kernel.
    Kernel,
}

/// A capture, ready to be carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What to profile.
    pub target: Target,
    /// Events to sample; empty means `cycles` if there is a PMU, else `cpu-clock`.
    pub events: Vec<EventSpec>,
    /// Events that sample memory accesses besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<EventSpec>,
    /// The only code that is sampled, whatever the events say; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<OnlyCode>,
    /// How often.
    pub rate: Rate,
    /// How stacks are taken.
    pub call_graph: CallGraph,
    /// Whether off-CPU time is recorded as well.
    pub off_cpu: bool,
    /// The length of one counter window.
    pub interval: Nanos,
    /// Stop after this time; `None` means when the target ends or the user stops.
    pub duration: Option<Nanos>,
    /// Wait this long before the first sample.
    pub delay: Nanos,
    /// How operations are counted, if at all.
    #[serde(default)]
    pub ops: Option<OpsSpec>,
    /// How the latency of operations is measured, if at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencySpec>,
    /// The command that runs beside the target for as long as it is captured, e.g. a load generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Vec<String>>,
    /// The service-level objective: the p99 of a window's latency should not exceed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<Nanos>,
    /// Whether the usage of neighbours is recorded.
    #[serde(default)]
    pub neighbours: bool,
    /// Whether memory is probed periodically, which costs at most 0.5% of one CPU.
    #[serde(default)]
    pub probe: bool,
    /// What counting hardware events may cost the target, in percent of its CPU time, or of one CPU if it uses less;
    /// `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_overhead: Option<f64>,
    /// What sampling may cost the target and ironlaw together, in percent of the target's CPU time, or of one CPU if it
    /// uses less; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sampling: Option<f64>,
    /// The hardware counters, one plan per core type; empty means cycles and instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardware: Vec<HardwarePlan>,
}

impl Plan {
    /// A capture of default events in windows of a second, until the target ends, with nothing else recorded.
    #[must_use]
    pub fn new(target: Target, rate: Rate, call_graph: CallGraph) -> Plan {
        Plan {
            target,
            events: Vec::new(),
            accesses: Vec::new(),
            only: None,
            rate,
            call_graph,
            off_cpu: false,
            interval: Nanos(1_000_000_000),
            duration: None,
            delay: Nanos(0),
            ops: None,
            latency: None,
            beside: None,
            slo: None,
            neighbours: false,
            probe: false,
            max_overhead: None,
            max_sampling: None,
            hardware: Vec::new(),
        }
    }

    /// Names the load generator whose output is read, if its command does.
    pub fn name_generator(&mut self) {
        let found = self.command().and_then(LoadGenerator::of_command).map(|(generator, _)| generator);
        if let Some(LatencySpec::Output { generator }) = &mut self.latency {
            *generator = generator.or(found);
        }
    }

    /// The command that is started: the target, or what runs beside it.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        match &self.target {
            Target::Command { argv } => Some(argv),
            _ => self.beside.as_deref(),
        }
    }
}

//! What `colocate` runs, and what became of each run: `colocate.json` in its folder, next to the recordings.
//! The format only gains fields. Readers accept unknown fields and missing optional ones.

use super::{HostFacts, LatencySpec, Note, OpsSpec, RunState};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// All runs of victims alone and beside their neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColocateMeta {
    /// Format version. Readers reject a higher major number.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// The machine.
    pub host: HostFacts,
    /// The programs whose slowdown is measured.
    pub victims: Vec<ColocatedProgram>,
    /// The programs that run beside them.
    pub neighbours: Vec<ColocatedProgram>,
    /// Shares of full load, 0 to 1.
    pub loads: Vec<f64>,
    /// Runs of each cell.
    pub repeats: u32,
    /// The seed of the random order.
    pub seed: u64,
    /// A victim is measured for this long, or until it ends.
    pub duration: Nanos,
    /// A neighbour runs this long before the victim starts.
    pub settle: Nanos,
    /// Length of the unmeasured beginning of each run.
    #[serde(default)]
    pub leave_out: Nanos,
    /// What a cell leads with; `None` to choose it for each victim.
    #[serde(default)]
    pub measure: Option<SlowdownMeasure>,
    /// The controls to try where a cell is slower.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// The runs in order of execution.
    pub runs: Vec<ColocateRun>,
    /// Fallbacks taken and limits reached.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Whether it was stopped before its last run.
    #[serde(default)]
    pub stopped: bool,
}

/// A victim or a neighbour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColocatedProgram {
    /// Its name in the matrix.
    pub name: String,
    /// Command and arguments as typed, including `{load}` and `{rate}`.
    pub command: Vec<String>,
    /// How its operations are counted.
    #[serde(default)]
    pub ops: Option<OpsSpec>,
    /// How the latency of its operations is measured.
    #[serde(default)]
    pub latency: Option<LatencySpec>,
    /// Operations per second at full load, for `{rate}`, once known.
    #[serde(default)]
    pub full_rate: Option<f64>,
    /// CPUs that a neighbour kept busy alone, once known.
    #[serde(default)]
    pub busy_cpus: Option<f64>,
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPurpose {
    /// A neighbour alone at full load, for its profile.
    Profile,
    /// A victim alone as fast as it can, for `{rate}`.
    FullRate,
    /// A victim alone, or beside a neighbour.
    Cell,
    /// The same again for a slow cell, with and without a control.
    WhatIf,
}

/// A setting of the kernel that keeps a neighbour from a victim's resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Control {
    /// The neighbour runs on half of the CPUs only.
    #[serde(rename = "cpuset")]
    Cpuset,
    /// A quota gives the neighbour half of the CPU time that it takes alone.
    #[serde(rename = "cpu.max")]
    CpuMax,
    /// Intel RDT, AMD QoS or Arm MPAM: a quarter of the cache and a fraction of the memory bandwidth.
    #[serde(rename = "resctrl")]
    Resctrl,
}

/// How a load below full was imposed on a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Imposed {
    /// Its command has `{load}`.
    Command,
    /// A control group with a quota of this many CPUs.
    Quota {
        /// The limit.
        cpus: f64,
    },
    /// It was stopped for the rest of each tenth of a second.
    DutyCycle {
        /// The share of the time that it could run.
        share: f64,
    },
}

/// What a slowdown is a ratio of; above 1 is worse for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowdownMeasure {
    /// Time per operation: operations per second alone over those beside the neighbour.
    Throughput,
    /// CPU time per operation, or of the whole piece of work.
    Cost,
    /// Time of a piece of work that ends by itself.
    Wall,
    /// Median latency of operations.
    P50,
    /// 99th percentile of the latency of operations.
    P99,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColocateRun {
    /// What it is for.
    pub purpose: RunPurpose,
    /// The place of the victim among [`ColocateMeta::victims`]; `None` if a neighbour is measured.
    pub victim: Option<usize>,
    /// The place of the neighbour among [`ColocateMeta::neighbours`]; `None` if the victim runs alone.
    pub neighbour: Option<usize>,
    /// The share of full load of all of its programs that can take one.
    pub load: f64,
    /// Runs of one victim that followed each other and are compared with each other.
    pub block: u32,
    /// The control that held the neighbour.
    #[serde(default)]
    pub control: Option<Control>,
    /// Its recording, relative to the folder.
    pub recording: String,
    /// Its state.
    pub state: RunState,
    /// Whether the measured program ended by itself.
    #[serde(default)]
    pub ended_itself: bool,
    /// How often the neighbour ended and was started again.
    #[serde(default)]
    pub restarts: u32,
    /// How the load was imposed on the neighbour.
    #[serde(default)]
    pub imposed: Option<Imposed>,
}

/// The placeholder for the share of full load.
pub const LOAD: &str = "{load}";
/// The placeholder for operations per second.
pub const RATE: &str = "{rate}";

impl ColocatedProgram {
    /// Whether its command takes a load.
    #[must_use]
    pub fn takes_load(&self) -> bool {
        self.command.iter().any(|word| word.contains(LOAD) || word.contains(RATE))
    }

    /// Whether its command takes a rate.
    #[must_use]
    pub fn takes_rate(&self) -> bool {
        self.command.iter().any(|word| word.contains(RATE))
    }

    /// Its command with the placeholders filled in; a rate that is not known stays as typed.
    #[must_use]
    pub fn filled(&self, load: f64, rate: Option<f64>) -> Vec<String> {
        let fill = |word: &String| {
            let word = word.replace(LOAD, &load.to_string());
            rate.map_or(word.clone(), |rate| word.replace(RATE, &format!("{rate:.0}")))
        };
        self.command.iter().map(fill).collect()
    }
}

impl ColocateMeta {
    /// Number of finished runs, whether they count or not.
    #[must_use]
    pub fn over(&self) -> usize {
        self.runs.iter().filter(|run| matches!(run.state, RunState::Done { .. } | RunState::Failed { .. })).count()
    }

    /// Whether the run alone is the one that `run` is compared with: of its block, and at its load if the victim takes one.
    #[must_use]
    pub fn is_base_of(&self, alone: &ColocateRun, run: &ColocateRun) -> bool {
        let takes_load = run.victim.and_then(|at| self.victims.get(at)).is_some_and(ColocatedProgram::takes_load);
        alone.victim == run.victim
            && (alone.block, alone.purpose) == (run.block, run.purpose)
            && alone.neighbour.is_none()
            && (!takes_load || alone.load == run.load)
    }
}

impl Control {
    /// All controls.
    pub const ALL: [Control; 3] = [Control::Cpuset, Control::CpuMax, Control::Resctrl];

    /// Its stable name, as on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Control::Cpuset => "cpuset",
            Control::CpuMax => "cpu.max",
            Control::Resctrl => "resctrl",
        }
    }
}

impl SlowdownMeasure {
    /// All measures, in the order of reports.
    pub const ALL: [SlowdownMeasure; 5] = [
        SlowdownMeasure::Throughput,
        SlowdownMeasure::Cost,
        SlowdownMeasure::Wall,
        SlowdownMeasure::P50,
        SlowdownMeasure::P99,
    ];

    /// Its stable name, as on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SlowdownMeasure::Throughput => "throughput",
            SlowdownMeasure::Cost => "cost",
            SlowdownMeasure::Wall => "wall",
            SlowdownMeasure::P50 => "p50",
            SlowdownMeasure::P99 => "p99",
        }
    }

    /// A short description.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            SlowdownMeasure::Throughput => "time per operation",
            SlowdownMeasure::Cost => "CPU time per operation",
            SlowdownMeasure::Wall => "time of the whole work",
            SlowdownMeasure::P50 => "median latency",
            SlowdownMeasure::P99 => "p99 latency",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_every_word() {
        let words = ["app", "--rps={rate}", "{load}", "{other}"].map(String::from).to_vec();
        let program = ColocatedProgram {
            name: "a".to_string(),
            command: words,
            ops: None,
            latency: None,
            full_rate: None,
            busy_cpus: None,
        };
        assert!(program.takes_load() && program.takes_rate());
        assert_eq!(program.filled(0.5, Some(1234.6)), ["app", "--rps=1235", "0.5", "{other}"]);
        assert_eq!(program.filled(1.0, None)[1..3], ["--rps={rate}", "1"]);
    }

    #[test]
    fn names_are_those_of_the_json() {
        for control in Control::ALL {
            assert_eq!(serde_json::to_value(control).unwrap_or_default(), control.name());
        }
        for measure in SlowdownMeasure::ALL {
            assert_eq!(serde_json::to_value(measure).unwrap_or_default(), measure.name());
        }
    }
}

//! Plain data of the view.

use crate::analysis::fleet::{
    AlarmCount, ClusterComparison, ClusterSettings, ContentionLevel, Estimate, ExpensiveHosts, Extent, FunctionCost,
    NeighbourInfluence, OutlierChance, OutlierHost, PlatformCheck, PooledChange, Season, Suspect, Usual,
    VersionComparison,
};
use crate::model::{Measure, Note};
use serde::Serialize;
use std::collections::BTreeSet;

/// Version of the JSON form.
pub const SCHEMA_VERSION: u32 = 1;

/// What the user may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetSettings {
    /// How configurations are compared.
    pub clusters: ClusterSettings,
    /// The version that others are compared with; by default each with the one before it.
    pub base_version: Option<String>,
    /// Standard deviations from a component's mean to the fence of contention: 3 in Intel PRM.
    pub fence_span: f64,
}

impl Default for FleetSettings {
    fn default() -> FleetSettings {
        FleetSettings { clusters: ClusterSettings::default(), base_version: None, fence_span: 3.0 }
    }
}

/// Where the answers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetFacts {
    /// Version of the program that answered.
    pub tool: String,
    /// The folder of the data set.
    pub dataset: String,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetView {
    /// Version of this form.
    pub schema_version: u32,
    /// Where they come from.
    #[serde(flatten)]
    pub facts: FleetFacts,
    /// How much there is.
    pub extent: Extent,
    /// Jobs on platforms, the most CPU time first.
    pub jobs: Vec<FleetJob>,
    /// How many unusual hosts chance alone would make.
    pub chance: Vec<OutlierChance>,
    /// Hosts on which most of their jobs cost more than elsewhere, over the whole time.
    pub hosts: ExpensiveHosts,
    /// Pairs of a job and a neighbour that were tested.
    pub pairs_tested: u64,
    /// Versions of jobs compared.
    pub versions: Vec<VersionComparison>,
    /// Their changes over all platforms together.
    pub pooled_versions: Vec<PooledChange>,
    /// Their changes over all platforms beside those on each.
    pub platform_checks: Vec<PlatformCheck>,
    /// Configurations compared.
    pub configs: Vec<ClusterComparison>,
    /// How jobs follow the hour of the day.
    pub seasons: Vec<Season>,
    /// Classes of contention.
    pub contention: Vec<ContentionLevel>,
    /// How jobs follow their neighbours.
    pub influences: Vec<NeighbourInfluence>,
    /// The functions that cost the most.
    pub functions: Vec<FunctionCost>,
    /// Alarms.
    pub alarms: Vec<AlarmCount>,
    /// What could not be answered.
    pub notes: Vec<Note>,
}

/// A job on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetJob {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// Hosts that it ran on.
    pub hosts: u64,
    /// Its windows.
    pub windows: u64,
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// Its share of the fleet's CPU time.
    pub share: f64,
    /// CPU seconds per operation.
    pub cost: Measure<Estimate>,
    /// Cycles per instruction.
    pub cpi: Measure<Estimate>,
    /// Instructions per operation.
    pub instructions_per_op: Measure<Estimate>,
    /// Last-level-cache misses per 1,000 instructions.
    pub llc_mpki: Measure<Estimate>,
    /// What is usual for its CPI.
    pub cpi_spec: Option<Usual>,
    /// What is usual for its CPU time per operation.
    pub cost_spec: Option<Usual>,
    /// Hosts on which it is unusually expensive.
    pub outliers: Vec<OutlierHost>,
    /// Neighbours whose use moves with its cost, beyond chance.
    pub suspects: Vec<Suspect>,
    /// Its neighbours that were tested, once for each quantity.
    pub pairs_tested: u64,
}

impl FleetJob {
    /// Number of hosts on which it is unusually expensive, by any quantity; `None` if its hosts cannot be compared.
    #[must_use]
    pub fn unusual_hosts(&self) -> Option<usize> {
        let unusual = self.outliers.iter().filter(|host| host.beyond_others).map(|host| host.host.as_str());
        self.why_no_comparison().is_none().then(|| unusual.collect::<BTreeSet<_>>().len())
    }

    /// Number of neighbours under suspicion, by any quantity; `None` if none could be tested.
    #[must_use]
    pub fn neighbours(&self) -> Option<usize> {
        let names = self.suspects.iter().map(|suspect| suspect.neighbour.as_str());
        (self.pairs_tested > 0).then(|| names.collect::<BTreeSet<_>>().len())
    }

    /// Why no host of the job can stand out.
    #[must_use]
    pub fn why_no_comparison(&self) -> Option<&'static str> {
        let mut specs = self.specs().peekable();
        if specs.peek().is_none() {
            return Some(self.why_no_cost());
        }
        match specs.any(Usual::has_enough) {
            true => None,
            false if self.hosts < 5 => Some("fewer than 5 hosts"),
            false => Some("fewer than 100 windows, or 5 hosts, at a quarter of a CPU or more"),
        }
    }

    /// Why no neighbour of the job can be a suspect.
    #[must_use]
    pub fn why_no_suspects(&self) -> Option<&'static str> {
        match (self.pairs_tested, self.specs().next()) {
            (1.., _) => None,
            (0, None) => Some(self.why_no_cost()),
            (0, Some(_)) if self.hosts < 2 => Some("a single host"),
            (0, Some(_)) => Some("no neighbour was measured with it on two hosts"),
        }
    }

    fn specs(&self) -> impl Iterator<Item = &Usual> {
        [&self.cpi_spec, &self.cost_spec].into_iter().flatten()
    }

    /// Why there is no window whose cost could be compared.
    fn why_no_cost(&self) -> &'static str {
        match (self.cost.value(), self.cpi.value()) {
            (None, None) => "neither operations nor CPI were measured",
            _ => "it never used a quarter of a CPU",
        }
    }
}

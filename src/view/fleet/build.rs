//! The view from the small results of the queries.

use super::types::{FleetFacts, FleetJob, FleetSettings, FleetView, SCHEMA_VERSION};
use crate::analysis::fleet::{self, Extent, JobCost, OutlierHost, Suspect, Usual, VersionAnswer};
use crate::error::Result;
use crate::model::{Note, ResultTable};
use std::collections::BTreeMap;

impl FleetView {
    /// Builds the view from the answers by the names of their queries. What was not asked is empty, with a note.
    ///
    /// # Errors
    /// If an answer lacks a column.
    pub fn of(facts: FleetFacts, answers: &BTreeMap<&str, ResultTable>, settings: &FleetSettings) -> Result<FleetView> {
        let all = Answers { answers };
        let usual = all.list("distribution", fleet::usual)?;
        let outliers = match answers.get("outliers") {
            Some(table) => fleet::outliers(table, &usual)?,
            None => fleet::Outliers::default(),
        };
        let suspects = all.list("suspects", fleet::suspects)?;
        let versions = match answers.get("versions") {
            Some(table) => fleet::versions(table, settings.base_version.as_deref())?,
            None => VersionAnswer::default(),
        };
        let jobs = all.list("jobs", fleet::jobs)?;
        Ok(FleetView {
            schema_version: SCHEMA_VERSION,
            facts,
            extent: answers.get("extent").map(fleet::extent).transpose()?.unwrap_or_default(),
            jobs: jobs.into_iter().map(|job| of_job(job, &usual, &outliers.hosts, &suspects)).collect(),
            chance: outliers.chance,
            hosts: answers.get("hosts").map(fleet::expensive_hosts).transpose()?.unwrap_or_default(),
            pairs_tested: suspects.iter().filter(|suspect| suspect.p.value().is_some()).count() as u64,
            versions: versions.comparisons,
            pooled_versions: versions.pooled,
            platform_checks: versions.checks,
            configs: all.list("configs", |table| fleet::clusters(table, &settings.clusters))?,
            seasons: all.list("hours", fleet::seasons)?,
            contention: all.list("contention", |table| fleet::contention(table, settings.fence_span))?,
            influences: all.list("influences", fleet::influences)?,
            functions: all.list("functions", fleet::functions)?,
            alarms: all.list("alarms", fleet::alarms)?,
            notes: Vec::new(),
        }
        .with_notes())
    }

    fn with_notes(mut self) -> FleetView {
        let mut note = |text: &str, fix: &str| {
            self.notes.push(Note { topic: "fleet".into(), text: text.into(), fix: Some(fix.into()) });
        };
        let none = |found: fn(&FleetJob) -> bool| !self.jobs.iter().any(found);
        let no_cost = none(|job| job.cost.value().is_some());
        let no_cpi = none(|job| job.cpi.value().is_some());
        if self.extent == Extent::default() {
            note("the data set has no windows", "Collect some with `ironlaw watch --dataset DIR`.");
            return self;
        }
        match (no_cost, no_cpi) {
            (true, true) => note(
                "no job has operations and no host counts instructions and cycles: the data set says what used the CPUs, \
                 and nothing about what it cost, so no host, neighbour or version can be found dear",
                "Give each watch an operation source (--ops); hosts without a hardware PMU need nothing more.",
            ),
            (true, false) => note(
                "no job has operations: there is no cost per operation, and versions and configurations cannot be compared",
                "Give each watch an operation source: --ops.",
            ),
            (false, true) => note(
                "no host counts instructions and cycles: costs are CPU time per operation, without CPI",
                "Hosts without a hardware PMU cannot tell the code from the machine.",
            ),
            (false, false) => {}
        }
        if none(|job| job.why_no_comparison().is_none()) && !(no_cost && no_cpi) {
            note(
                "no job ran on five hosts of one platform for 100 windows: which hosts are unusual is unknown",
                "Add the data of more hosts, or wait for more minutes.",
            );
        }
        self
    }
}

/// Answers by name.
struct Answers<'a> {
    answers: &'a BTreeMap<&'a str, ResultTable>,
}

impl Answers<'_> {
    fn list<T>(&self, name: &str, read: impl FnOnce(&ResultTable) -> Result<Vec<T>>) -> Result<Vec<T>> {
        self.answers.get(name).map_or(Ok(Vec::new()), read)
    }
}

fn of_job(cost: JobCost, usual: &[Usual], outliers: &[OutlierHost], suspects: &[Suspect]) -> FleetJob {
    let spec = |measure: &str| {
        let is = |spec: &&Usual| spec.job == cost.job && spec.platform == cost.platform && spec.measure == measure;
        usual.iter().find(is).cloned()
    };
    FleetJob {
        cpi_spec: spec("cpi"),
        cost_spec: spec("cpu_s_per_op"),
        outliers: outliers
            .iter()
            .filter(|host| host.job == cost.job && host.platform == cost.platform)
            .cloned()
            .collect(),
        suspects: suspects
            .iter()
            .filter(|suspect| suspect.job == cost.job && suspect.is_beyond_chance())
            .cloned()
            .collect(),
        pairs_tested: suspects.iter().filter(|pair| pair.job == cost.job && pair.p.value().is_some()).count() as u64,
        job: cost.job,
        platform: cost.platform,
        hosts: cost.hosts,
        windows: cost.windows,
        cpu_s: cost.cpu_s,
        share: cost.share,
        cost: cost.cpu_s_per_op,
        cpi: cost.cpi,
        instructions_per_op: cost.instructions_per_op,
        llc_mpki: cost.llc_mpki,
    }
}

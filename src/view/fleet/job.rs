//! What the tables say of one job.

use super::section::{Section, SectionId};
use super::sections::whole;
use super::types::{FleetJob, FleetView};
use super::words::{counted, cpu_time};
use crate::analysis::fleet::ExpensiveHosts;
use crate::view::number::percent;

/// The tables with the rows of a job on its platform, without the columns that name it; those without rows are left out.
#[must_use]
pub fn job_sections(view: &FleetView, job: &FleetJob) -> Vec<Section> {
    let mut sections = whole(&of_job(view, job));
    sections.retain(|section| section.id != SectionId::Jobs && section.speaks());
    for section in &mut sections {
        section.drop_column("job");
        section.drop_column("platform");
        // Their rows do not say on which platform.
        let of_all = matches!(section.id, SectionId::Suspects | SectionId::Alarms | SectionId::Seasons);
        if of_all && view.extent.platforms > 1 {
            section.about = format!("on all platforms; {}", section.about);
        }
    }
    sections
}

/// How much it costs and what is unusual about it, in a line without its name.
#[must_use]
pub fn job_summary(job: &FleetJob) -> String {
    let known = |number: Option<usize>, what: &str, why: Option<&str>| match number {
        Some(number) => counted(number as u64, what),
        None => format!("{what}s unknown ({})", why.unwrap_or("not asked")),
    };
    format!(
        "{}, {}, {} of CPU time ({}), {}, {}",
        counted(job.hosts, "host"),
        counted(job.windows, "window"),
        cpu_time(job.cpu_s),
        percent(job.share).joined(),
        known(job.unusual_hosts(), "unusual host", job.why_no_comparison()),
        known(job.neighbours(), "suspect", job.why_no_suspects())
    )
}

/// The view with the job alone.
fn of_job(view: &FleetView, job: &FleetJob) -> FleetView {
    let here = |name: &str, platform: &str| name == job.job && platform == job.platform;
    let expensive =
        view.hosts.expensive.iter().filter(|host| host.platform == job.platform && host.jobs.contains(&job.job));
    FleetView {
        jobs: vec![job.clone()],
        configs: Vec::new(),
        functions: Vec::new(),
        notes: Vec::new(),
        chance: view.chance.iter().filter(|row| here(&row.job, &row.platform)).cloned().collect(),
        hosts: ExpensiveHosts { expensive: expensive.cloned().collect(), compared: view.hosts.compared },
        versions: view.versions.iter().filter(|row| here(&row.job, &row.platform)).cloned().collect(),
        contention: view.contention.iter().filter(|row| here(&row.job, &row.platform)).cloned().collect(),
        influences: view.influences.iter().filter(|row| here(&row.job, &row.platform)).cloned().collect(),
        pooled_versions: Vec::new(),
        platform_checks: view.platform_checks.iter().filter(|row| row.job == job.job).cloned().collect(),
        seasons: view.seasons.iter().filter(|row| row.job == job.job).cloned().collect(),
        alarms: view.alarms.iter().filter(|row| row.job == job.job).cloned().collect(),
        schema_version: view.schema_version,
        facts: view.facts.clone(),
        extent: view.extent,
        pairs_tested: view.pairs_tested,
    }
}

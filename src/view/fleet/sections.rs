//! The view's tables in words.

use super::section::{Section, SectionId};
use super::types::{FleetJob, FleetView};
use super::words::{
    MISSING, counted, cpu_time, day_share, effect, estimate, interference, measure, minute, of_measure, plain,
    probability, ratio, signed,
};
use crate::analysis::fleet::{ClusterComparison, ContentionCounts, FactorChange, Season, Usual};
use crate::model::{Measure, Unit};
use crate::view::number::{count, percent, three_digits};
use std::collections::BTreeMap;

/// All tables that have something to say, each with at most `limit` rows (0: all).
#[must_use]
pub fn sections(view: &FleetView, limit: usize) -> Vec<Section> {
    let mut kept = whole(view);
    kept.retain(Section::speaks);
    for section in kept.iter_mut().filter(|section| limit > 0 && section.rows.len() > limit) {
        section.left_out = section.rows.len() - limit;
        section.rows.truncate(limit);
    }
    kept
}

/// All tables with all rows, empty ones included: what asks for action first, what is usual last.
pub(super) fn whole(view: &FleetView) -> Vec<Section> {
    let mut all = vec![
        jobs(view),
        outliers(view),
        expensive_hosts(view),
        suspects(view),
        alarms(view),
        versions(view),
        configs(view),
        contention(view),
        influences(view),
        functions(view),
        usual(view),
        seasons(view),
    ];
    // All platforms are the same one.
    if view.extent.platforms == 1 {
        all.iter_mut().for_each(|section| section.drop_column("platform"));
    }
    all
}

/// What the data set holds, in a line.
#[must_use]
pub fn headline(view: &FleetView) -> String {
    let extent = &view.extent;
    if extent.windows == 0 {
        return "no windows".to_string();
    }
    let platform = match (extent.platforms, view.jobs.first()) {
        (1, Some(job)) => format!(" ({})", job.platform),
        (several, _) => format!(", {} platforms", count(several)),
    };
    format!(
        "{} of {} on {}{platform}, {}",
        counted(extent.windows, "window"),
        counted(extent.jobs, "job"),
        counted(extent.hosts, "host"),
        covered(view)
    )
}

/// The time that the data set covers, and the CPU time in it.
#[must_use]
pub fn covered(view: &FleetView) -> String {
    let extent = &view.extent;
    if extent.windows == 0 {
        return "no windows".to_string();
    }
    let (from, to) = (minute(extent.first_s), minute(extent.last_s));
    format!("{from} to {to} UTC, {} of CPU time", cpu_time(extent.cpu_s))
}

fn jobs(view: &FleetView) -> Section {
    let head =
        ["job", "platform", "hosts", "unusual", "CPU time", "share", "CPU/op", "CPI", "instructions/op", "suspects"];
    let rows = view.jobs.iter().map(|job| {
        vec![
            job.job.clone(),
            job.platform.clone(),
            count(job.hosts),
            known(job.unusual_hosts()),
            cpu_time(job.cpu_s),
            percent(job.share).joined(),
            estimate(&job.cost, Unit::Seconds),
            estimate(&job.cpi, Unit::Ratio),
            estimate(&job.instructions_per_op, Unit::Instructions),
            known(job.neighbours()),
        ]
    });
    Section::new(SectionId::Jobs, "the most CPU time first; 95% intervals over hosts", &head, 2).with(rows)
}

fn known(number: Option<usize>) -> String {
    number.map_or_else(|| MISSING.to_string(), |number| count(number as u64))
}

fn usual(view: &FleetView) -> Section {
    let head = [
        "job",
        "platform",
        "of",
        "hosts",
        "windows",
        "mean",
        "sd",
        "1 in 1,000 exceeds",
        "GEV: location, scale, shape",
    ];
    let row = |job: &FleetJob, spec: &Usual| {
        let fit = spec.fit.value();
        let in_unit = |value: f64| of_measure(&spec.measure, value);
        vec![
            job.job.clone(),
            job.platform.clone(),
            measure(&spec.measure).to_string(),
            count(spec.hosts),
            count(spec.windows),
            spec.mean.value().map_or_else(|| MISSING.to_string(), |mean| in_unit(mean.value)),
            spec.sd.value().map_or_else(|| MISSING.to_string(), |sd| in_unit(*sd)),
            fit.map_or_else(|| MISSING.to_string(), |fit| in_unit(fit.quantile_999)),
            fit.map_or_else(
                || MISSING.to_string(),
                |fit| format!("{}, {}, {:.3}", in_unit(fit.location), in_unit(fit.scale), fit.shape),
            ),
        ]
    };
    let rows = view
        .jobs
        .iter()
        .flat_map(|job| [&job.cpi_spec, &job.cost_spec].into_iter().flatten().map(move |spec| (job, spec)));
    Section::new(SectionId::Usual, "over windows in which the job used a quarter of a CPU or more", &head, 3)
        .with(rows.map(|(job, spec)| row(job, spec)))
}

fn outliers(view: &FleetView) -> Section {
    let head = ["host", "job", "platform", "of", "host's mean", "usual", "dearer", "spans", "from", "to"];
    let all = || view.jobs.iter().flat_map(|job| &job.outliers);
    let mut hosts: Vec<_> = all().filter(|host| host.beyond_others).collect();
    hosts.sort_by(|a, b| b.spans.cmp(&a.spans).then_with(|| a.host.cmp(&b.host)));
    let rows = hosts.iter().map(|host| {
        vec![
            host.host.clone(),
            host.job.clone(),
            host.platform.clone(),
            measure(&host.measure).to_string(),
            of_measure(&host.measure, host.host_value),
            of_measure(&host.measure, host.mean),
            signed(host.host_dearer),
            format!("{} of {}", count(host.spans), count(host.host_spans)),
            minute(host.first_s),
            minute(host.last_s),
        ]
    });
    let about =
        "spans of five minutes with three windows above mean + 3 sd of the job, far more often than its other hosts";
    let mut section = Section::new(SectionId::Hosts, about, &head, 4).with(rows);
    let few = all().filter(|host| !host.beyond_others).count();
    if few > 0 {
        section.remarks.push(format!(
            "{} more have such spans about as often as other hosts of their job; the JSON has them.",
            count(few as u64)
        ));
    }
    section
}

fn expensive_hosts(view: &FleetView) -> Section {
    let head = ["host", "jobs", "platform", "of", "dearer", "sd of hosts", "deviations"];
    let rows = view.hosts.expensive.iter().map(|host| {
        vec![
            host.host.clone(),
            host.jobs.join(", "),
            host.platform.clone(),
            measure(&host.measure).to_string(),
            signed(host.dearer),
            percent(host.host_sd).joined(),
            three_digits(host.deviations),
        ]
    });
    let about = "at least half of the host's jobs cost this much more than on their other hosts, over the whole time";
    let mut section = Section::new(SectionId::ExpensiveHosts, about, &head, 4).with(rows);
    if !section.rows.is_empty() {
        section
            .remarks
            .push("Each host has its own load; on a host with one job, the job there may be what differs.".to_string());
    }
    section
}

fn suspects(view: &FleetView) -> Section {
    let head =
        ["neighbour", "job", "of", "hosts", "its use", "each CPU of it adds", "of the job's cost", "CPI2 score", "p"];
    // A job on several platforms has the same suspects.
    let mut found: Vec<_> = view.jobs.iter().flat_map(|job| &job.suspects).collect();
    found.sort_by(|a, b| {
        of_p(&a.p_corrected)
            .total_cmp(&of_p(&b.p_corrected))
            .then_with(|| (&a.job, &a.neighbour, &a.measure).cmp(&(&b.job, &b.neighbour, &b.measure)))
    });
    found.dedup_by(|a, b| a.job == b.job && a.neighbour == b.neighbour && a.measure == b.measure);
    let rows = found.iter().map(|suspect| {
        vec![
            suspect.neighbour.clone(),
            suspect.job.clone(),
            measure(&suspect.measure).to_string(),
            count(suspect.hosts),
            format!("{} CPUs", three_digits(suspect.used)),
            effect(&suspect.slope),
            effect(&suspect.share),
            plain(&suspect.score),
            probability(&suspect.p_corrected),
        ]
    });
    let about = format!(
        "neighbours whose use moves with a job's cost; {} pairs tested, p corrected for them",
        count(view.pairs_tested)
    );
    let mut section = Section::new(SectionId::Suspects, about, &head, 3).with(rows);
    if !section.rows.is_empty() {
        section.remarks.push("Moving together is not proof: compared within each hour and at the job's own intensity, a third job may still drive both.".to_string());
    }
    section
}

fn versions(view: &FleetView) -> Section {
    let head = [
        "job",
        "platform",
        "version",
        "against",
        "hosts",
        "cost",
        "path length",
        "CPI",
        "clock",
        "surely cheaper",
        "p",
    ];
    let factor = |change: &FactorChange| {
        change.ratio.value().map_or_else(|| MISSING.to_string(), |found| signed(found.value - 1.0))
    };
    let mut found: Vec<_> = view.versions.iter().collect();
    found.sort_by(|a, b| of_p(&a.p_corrected).total_cmp(&of_p(&b.p_corrected)));
    let on_platform = found.iter().map(|one| {
        let row = vec![
            one.job.clone(),
            one.platform.clone(),
            one.new.clone(),
            one.base.clone(),
            format!("{} and {}", count(one.hosts[0]), count(one.hosts[1])),
            effect(&one.cost_change),
            factor(&one.factors.path_length),
            factor(&one.factors.cpi),
            // Seconds per cycle: its inverse is the clock.
            one.factors
                .clock
                .ratio
                .value()
                .map_or_else(|| MISSING.to_string(), |found| signed(1.0 / found.value - 1.0)),
            one.confidence_cheaper.value().map_or_else(|| MISSING.to_string(), |share| percent(*share).joined()),
            probability(&one.p_corrected),
        ];
        (of_p(&one.p_corrected), row)
    });
    let together = view.pooled_versions.iter().map(|one| {
        let mut row = vec![
            one.job.clone(),
            format!("{} together", count(one.platforms)),
            one.new.clone(),
            one.base.clone(),
            format!("{} and {}", count(one.hosts[0]), count(one.hosts[1])),
            effect(&one.cost_change),
        ];
        row.resize(head.len() - 1, MISSING.to_string());
        row.push(probability(&one.p_corrected));
        (of_p(&one.p_corrected), row)
    });
    let mut rows: Vec<(f64, Vec<String>)> = together.chain(on_platform).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows = rows.into_iter().map(|(_, row)| row);
    let about = "CPU time per operation of the new version at the intensity of both; factors as they ran; p corrected";
    let mut section = Section::new(SectionId::Versions, about, &head, 4).with(rows);
    for one in found.iter().filter(|one| !one.left_out.is_empty()) {
        section.remarks.push(format!(
            "{} on {}, {} against {}: left out, for they cost far from all others: {}.",
            one.job,
            one.platform,
            one.new,
            one.base,
            one.left_out.join(", ")
        ));
    }
    for one in found.iter().filter(|one| one.extrapolated) {
        section.remarks.push(format!(
            "{} on {}: {} and {} ran at intensities that hardly overlap; only the fitted curve compares them.",
            one.job, one.platform, one.base, one.new
        ));
    }
    for one in view.pooled_versions.iter().filter(|one| one.differs_by_platform()) {
        section.remarks.push(format!(
            "{}: the change from {} to {} differs between platforms (p {}); their mean is the change on none of them.",
            one.job,
            one.base,
            one.new,
            probability(&one.p_alike)
        ));
    }
    for check in view.platform_checks.iter().filter(|check| check.disagrees) {
        section.remarks.push(format!(
            "{}: over all platforms {} against {} changes the other way than on each of them, for it runs on another mixture.",
            check.job, check.new, check.base
        ));
    }
    section
}

fn of_p(p: &Measure<f64>) -> f64 {
    p.value().copied().unwrap_or(1.0)
}

fn configs(view: &FleetView) -> Section {
    let head = ["configuration", "against", "operations per CPU time", "p", "hosts", "jobs", "of the weight"];
    let rows = view.configs.iter().map(|comparison: &ClusterComparison| {
        vec![
            comparison.new.clone(),
            comparison.base.clone(),
            ratio(&comparison.speed_up),
            probability(&comparison.p),
            comparison.speed_up.value().map_or_else(|| MISSING.to_string(), |found| count(found.hosts)),
            count(comparison.jobs.len() as u64),
            percent(comparison.covered).joined(),
        ]
    });
    let mut section =
        Section::new(SectionId::Configs, "speed-up of the cluster, jobs weighted by importance (WSMeter)", &head, 2)
            .with(rows);
    for comparison in &view.configs {
        let needed: Option<u64> = comparison.jobs.iter().map(|job| job.hosts_needed.value().copied()).sum();
        if let Some(needed) = needed.filter(|needed| *needed > 0) {
            section.remarks.push(format!(
                "{} against {}: {} hosts would tell the speed-up to {}.",
                comparison.new,
                comparison.base,
                count(needed),
                percent(comparison.precision).joined()
            ));
        }
    }
    section
}

/// The levels of use together; the JSON has each.
fn contention(view: &FleetView) -> Section {
    let head = ["job", "platform", "windows", "unusual", "last-level cache", "memory bandwidth", "unknown"];
    let mut sums: BTreeMap<(&str, &str), (u64, ContentionCounts)> = BTreeMap::new();
    for level in &view.contention {
        let Some(classes) = level.classes.value() else { continue };
        let (windows, sum) = sums.entry((&level.job, &level.platform)).or_default();
        *windows += level.windows;
        sum.unusual += classes.unusual;
        sum.last_level_cache += classes.last_level_cache;
        sum.memory_bandwidth += classes.memory_bandwidth;
        sum.unknown += classes.unknown + classes.not_measured;
    }
    let mut found: Vec<_> = sums.into_iter().filter(|(_, (_, sum))| sum.unusual > 0).collect();
    let explained = |sum: &ContentionCounts| sum.last_level_cache + sum.memory_bandwidth;
    found.sort_by_key(|(_, (_, sum))| std::cmp::Reverse((explained(sum), sum.unusual)));
    let rows = found.into_iter().map(|((job, platform), (windows, sum))| {
        let counts = [windows, sum.unusual, sum.last_level_cache, sum.memory_bandwidth, sum.unknown];
        [job, platform].into_iter().map(String::from).chain(counts.map(count)).collect()
    });
    Section::new(
        SectionId::Contention,
        "windows with unusual CPI at their level of use, by Intel PRM's classes",
        &head,
        2,
    )
    .with(rows)
}

fn influences(view: &FleetView) -> Section {
    let head = [
        "job",
        "platform",
        "hosts",
        "CPI, each own CPU",
        "CPI, each neighbours' CPU",
        "misses, each neighbours' CPU",
        "p",
        "interference",
    ];
    let mut found: Vec<_> = view.influences.iter().filter(|row| row.cpi.neighbours.value().is_some()).collect();
    found.sort_by(|a, b| of_p(&a.cpi.p_corrected).total_cmp(&of_p(&b.cpi.p_corrected)));
    let rows = found.into_iter().map(|row| {
        vec![
            row.job.clone(),
            row.platform.clone(),
            count(row.hosts),
            effect(&row.cpi.own),
            effect(&row.cpi.neighbours),
            effect(&row.llc_mpki.neighbours),
            probability(&row.cpi.p_corrected),
            interference(&row.interference).to_string(),
        ]
    });
    Section::new(
        SectionId::Influences,
        "how CPI and last-level-cache misses follow CPU use; p corrected for the jobs",
        &head,
        2,
    )
    .with(rows)
}

fn seasons(view: &FleetView) -> Section {
    let head = [
        "job",
        "load: season's share",
        "load: peak less trough",
        "at",
        "CPU/op: season's share",
        "CPU/op: peak less trough",
    ];
    let peak = |season: &Season| {
        let hours = season.operations_per_s.hours.iter();
        let most = hours.max_by(|a, b| a.mean.value.total_cmp(&b.mean.value));
        most.map_or_else(|| MISSING.to_string(), |hour| format!("{:02} h", hour.hour))
    };
    let rows = view.seasons.iter().filter(|season| !season.operations_per_s.hours.is_empty()).map(|season| {
        vec![
            season.job.clone(),
            day_share(&season.operations_per_s.seasonality),
            day_share(&season.operations_per_s.diurnal_inequality),
            peak(season),
            day_share(&season.cpu_s_per_op.seasonality),
            day_share(&season.cpu_s_per_op.diurnal_inequality),
        ]
    });
    let about = "by hour of the day (UTC): the share of the variance that it explains; peak less trough over the mean";
    Section::new(SectionId::Seasons, about, &head, 1).with(rows)
}

fn functions(view: &FleetView) -> Section {
    let head = ["function", "module", "jobs", "hosts", "CPU time", "share"];
    let rows = view.functions.iter().map(|function| {
        vec![
            function.function.clone(),
            function.module.clone(),
            count(function.jobs),
            count(function.hosts),
            cpu_time(function.cpu_s),
            function.share.value().map_or_else(|| MISSING.to_string(), |share| percent(share.value).joined()),
        ]
    });
    Section::new(SectionId::Functions, "their own CPU time, callees excluded, by samples", &head, 2).with(rows)
}

fn alarms(view: &FleetView) -> Section {
    let head = ["job", "cause", "alarms", "hosts", "first", "last"];
    let rows = view.alarms.iter().map(|alarm| {
        vec![
            alarm.job.clone(),
            alarm.cause.clone(),
            count(alarm.alarms),
            count(alarm.hosts),
            minute(alarm.first_s),
            minute(alarm.last_s),
        ]
    });
    Section::new(SectionId::Alarms, "of the watches", &head, 2).with(rows)
}

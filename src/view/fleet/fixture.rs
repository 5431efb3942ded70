//! Made-up answers for tests: two platforms, and something in every table.

use super::types::{FleetFacts, FleetJob, FleetView, SCHEMA_VERSION};
use crate::analysis::fleet::{
    AlarmCount, ClusterComparison, ContentionCounts, ContentionLevel, DailyCourse, DayEstimate, Estimate,
    ExpensiveHost, ExpensiveHosts, Extent, FactorChange, FactorSplit, Fences, FunctionCost, GevFit, HourOfDay,
    Intensity, Interference, JobSpeedUp, LeftOut, NeighbourInfluence, OutlierChance, OutlierHost, PlatformCheck,
    PlatformCost, PooledChange, Season, Sensitivity, Suspect, Usual, VersionComparison,
};
use crate::model::{Measure, Note, Why};

/// The platforms.
pub const PLATFORMS: [&str; 2] = ["Intel Xeon Platinum 8481C", "AMD EPYC 7B13"];

/// Names that would act on a terminal or a page if they were not escaped.
pub const HOSTILE: [&str; 3] =
    ["\x1b[2J\x1b]0;gone\x07<script>alert(1)</script>", "a\nb\tc|<b>&amp;\u{202e}gnp", "日本語の仕事\"'`"];

/// The start of the data set, seconds since the Unix epoch.
const START: i64 = 1_780_000_000;

/// An estimate with an interval of one twentieth on each side.
fn about(value: f64) -> Measure<Estimate> {
    Measure::exact(estimate(value))
}

fn estimate(value: f64) -> Estimate {
    let half = value.abs() / 20.0;
    Estimate { value, interval: Measure::exact((value - half, value + half)), hosts: 24 }
}

fn days(value: f64) -> DayEstimate {
    DayEstimate { value, interval: Measure::exact((value * 0.9, value * 1.1)), days: 7 }
}

fn usual(job: &str, platform: &str, measure: &str, mean: f64) -> Usual {
    Usual {
        job: job.into(),
        platform: platform.into(),
        measure: measure.into(),
        hosts: 24,
        windows: 40_320,
        mean: about(mean),
        sd: Measure::exact(mean / 12.0),
        fit: Measure::exact(GevFit {
            location: mean * 0.96,
            scale: mean / 15.0,
            shape: 0.042,
            errors: Measure::exact([mean / 200.0, mean / 400.0, 0.01]),
            quantile_999: mean * 1.5,
            deviation: 0.013,
        }),
    }
}

/// A host on which a job is unusually expensive.
pub fn outlier(host: &str, job: &str, platform: &str, measure: &str, mean: f64) -> OutlierHost {
    OutlierHost {
        job: job.into(),
        platform: platform.into(),
        measure: measure.into(),
        host: host.into(),
        spans: 31,
        host_spans: 2016,
        windows: 120,
        host_windows: 10_080,
        first_s: START + 3600,
        last_s: START + 90_000,
        value: mean * 1.6,
        host_value: mean * 1.22,
        mean,
        z: 4.2,
        dearer: 0.6,
        host_dearer: 0.22,
        beyond_others: true,
        expected_spans: Measure::exact(0.02),
    }
}

fn expensive_host(platform: &str) -> ExpensiveHost {
    ExpensiveHost {
        host: "host-0029".into(),
        platform: platform.into(),
        measure: "cpi".into(),
        jobs: vec!["frontend".into(), "search".into()],
        dearer: 0.39,
        host_sd: 0.021,
        deviations: 16.0,
    }
}

/// A neighbour whose use moves with a job's cost.
pub fn suspect(neighbour: &str, job: &str, measure: &str) -> Suspect {
    Suspect {
        job: job.into(),
        measure: measure.into(),
        neighbour: neighbour.into(),
        hosts: 12,
        windows: 20_160,
        used: 3.5,
        slope: about(0.041),
        share: about(0.14),
        correlation: Measure::exact(0.62),
        score: Measure::exact(0.47),
        p: Measure::exact(0.000_02),
        p_corrected: Measure::exact(0.000_3),
    }
}

/// A job without anything unusual.
pub fn job(name: &str, platform: &str, cpu_s: f64) -> FleetJob {
    FleetJob {
        job: name.into(),
        platform: platform.into(),
        hosts: 24,
        windows: 40_320,
        cpu_s,
        share: cpu_s / 4e6,
        cost: about(0.001_5),
        cpi: about(1.18),
        instructions_per_op: about(2.4e6),
        llc_mpki: about(1.7),
        cpi_spec: Some(usual(name, platform, "cpi", 1.18)),
        cost_spec: Some(usual(name, platform, "cpu_s_per_op", 0.001_5)),
        outliers: Vec::new(),
        suspects: Vec::new(),
        pairs_tested: 18,
    }
}

/// A job of which little was measured.
fn unmeasured(name: &str, platform: &str, cpu_s: f64) -> FleetJob {
    FleetJob {
        cost: Measure::Missing(Why::NoOpsSource),
        cpi: Measure::Missing(Why::NotSupported),
        instructions_per_op: Measure::Missing(Why::NoOpsSource),
        llc_mpki: Measure::Missing(Why::NotSupported),
        cpi_spec: None,
        cost_spec: None,
        pairs_tested: 0,
        ..job(name, platform, cpu_s)
    }
}

fn version(job: &str, platform: &str, change: f64) -> VersionComparison {
    let factor = |value: f64| FactorChange { ratio: Measure::exact(estimate(value)), share: Measure::exact(1.0 / 3.0) };
    VersionComparison {
        job: job.into(),
        platform: platform.into(),
        base: "v41".into(),
        new: "v42".into(),
        hosts: [11, 13],
        windows: [18_000, 22_000],
        left_out: if change < 0.0 { vec!["host-0007".into()] } else { Vec::new() },
        intensity: [Intensity { mean: 1200.0, sd: 300.0 }, Intensity { mean: 1350.0, sd: 310.0 }],
        cost: [about(0.001_5), about(0.001_5 * (1.0 + change))],
        cost_change: about(change),
        rue_change: about(-change / (1.0 + change)),
        raw_cost_change: about(change * 1.1),
        confidence_cheaper: Measure::exact(if change < 0.0 { 0.998 } else { 0.002 }),
        p: Measure::exact(0.000_8),
        p_corrected: Measure::exact(0.004),
        extrapolated: change > 0.0,
        factors: FactorSplit {
            whole: about(1.0 + change),
            path_length: factor(1.0 + change / 2.0),
            cpi: factor(1.0 + change / 2.0),
            clock: factor(1.0),
        },
    }
}

fn config(name: &str) -> ClusterComparison {
    ClusterComparison {
        base: "default".into(),
        new: name.into(),
        speed_up: about(1.042),
        p: Measure::exact(0.01),
        jobs: vec![JobSpeedUp {
            job: "frontend".into(),
            platform: PLATFORMS[0].into(),
            weight: 0.7,
            hosts: [12, 12],
            speed_up: estimate(1.05),
            hosts_needed: Measure::exact(48),
        }],
        left_out: vec![LeftOut { job: "batch".into(), platform: PLATFORMS[1].into(), why: Why::NoOpsSource }],
        covered: 0.86,
        precision: 0.01,
    }
}

fn season(job: &str, peak: u8) -> Season {
    let course = |mean: f64| DailyCourse {
        hours: (0..24)
            .map(|hour| {
                let value = mean * if hour == peak { 1.6 } else { 1.0 };
                HourOfDay { hour, mean: days(value), sd: Measure::exact(mean / 10.0), hosts: 24.0 }
            })
            .collect(),
        seasonality: Measure::exact(days(0.78)),
        diurnal_inequality: Measure::exact(days(0.6)),
    };
    Season { job: job.into(), operations_per_s: course(1200.0), cpu_s_per_op: course(0.001_5) }
}

fn level(job: &str, platform: &str, half_cpus: i64) -> ContentionLevel {
    ContentionLevel {
        job: job.into(),
        platform: platform.into(),
        half_cpus,
        hosts: 24,
        windows: 9_800,
        fences: Fences {
            cpi: Measure::exact(1.61),
            llc_mpki: Measure::exact(3.2),
            memory_bytes_per_s: Measure::Missing(Why::NotSupported),
        },
        classes: Measure::exact(ContentionCounts {
            unusual: 210,
            last_level_cache: 150,
            memory_bandwidth: 0,
            unknown: 0,
            not_measured: 60,
        }),
    }
}

fn influence(job: &str, platform: &str) -> NeighbourInfluence {
    let sensitivity = |neighbours: f64| Sensitivity {
        mean: Measure::exact(1.18),
        own: about(0.006),
        neighbours: about(neighbours),
        p: Measure::exact(0.000_1),
        p_corrected: Measure::exact(0.000_4),
    };
    NeighbourInfluence {
        job: job.into(),
        platform: platform.into(),
        hosts: 24,
        windows: 40_320,
        cpi: sensitivity(0.018),
        llc_mpki: sensitivity(0.09),
        interference: Measure::exact(Interference::LastLevelCache),
    }
}

fn function(name: &str, module: &str, share: f64) -> FunctionCost {
    FunctionCost {
        function: name.into(),
        module: module.into(),
        jobs: 3,
        hosts: 24,
        cpu_s: share * 4e6,
        samples: (share * 1e6) as u64,
        share: about(share),
    }
}

/// A data set with something in every table.
pub fn full() -> FleetView {
    let [intel, amd] = PLATFORMS;
    let mut frontend = job("frontend", intel, 1_900_000.0);
    frontend.outliers = vec![
        outlier("host-0017", "frontend", intel, "cpi", 1.18),
        outlier("host-0017", "frontend", intel, "cpu_s_per_op", 0.001_5),
        outlier("rack12-host-0203.cell-b.example.net", "frontend", intel, "cpi", 1.18),
    ];
    frontend.suspects = vec![suspect("batch-import", "frontend", "cpi"), suspect("video", "frontend", "cpu_s_per_op")];
    let search = FleetJob { suspects: vec![suspect("batch-import", "search", "cpi")], ..job("search", amd, 700_000.0) };
    FleetView {
        schema_version: SCHEMA_VERSION,
        facts: FleetFacts { tool: "1.0.0".into(), dataset: "/srv/fleet/2026-05".into() },
        extent: Extent {
            windows: 161_280,
            hosts: 48,
            jobs: 3,
            platforms: 2,
            first_s: START,
            last_s: START + 7 * 86_400,
            cpu_s: 4e6,
        },
        jobs: vec![frontend, job("frontend", amd, 900_000.0), search, unmeasured("batch-import", intel, 500_000.0)],
        chance: vec![OutlierChance {
            job: "frontend".into(),
            platform: intel.into(),
            measure: "cpi".into(),
            hosts: 24,
            outliers: 2,
            window: Measure::exact(0.002),
            span: Measure::exact(0.000_001),
            expected_hosts: Measure::exact(0.11),
        }],
        hosts: ExpensiveHosts { expensive: vec![expensive_host(amd)], compared: 90 },
        pairs_tested: 14,
        versions: vec![version("frontend", intel, -0.03), version("frontend", amd, 0.02)],
        pooled_versions: vec![PooledChange {
            job: "frontend".into(),
            base: "v41".into(),
            new: "v42".into(),
            platforms: 2,
            hosts: [22, 26],
            cost_change: about(-0.01),
            p: Measure::exact(0.002),
            p_corrected: Measure::exact(0.002),
            p_alike: Measure::exact(0.0004),
        }],
        platform_checks: vec![PlatformCheck {
            job: "frontend".into(),
            base: "v41".into(),
            new: "v42".into(),
            platforms: vec![PlatformCost { platform: intel.into(), share: [0.4, 0.6], cost: [0.001_5, 0.001_4] }],
            whole: [0.001_5, 0.001_6],
            standardised: 0.001_45,
            rate_effect: -0.000_05,
            mix_effect: 0.000_15,
            disagrees: true,
        }],
        configs: vec![config("huge-pages")],
        seasons: vec![season("frontend", 19), season("search", 11)],
        contention: vec![level("frontend", intel, 4), level("frontend", intel, 8)],
        influences: vec![influence("frontend", intel), influence("search", amd)],
        functions: vec![
            function("memcpy", "libc.so.6", 0.081),
            function("proto2::internal::TcParser::ParseLoop(char const*, proto2::ParseContext*)", "frontend", 0.052),
            function("copy_user_enhanced_fast_string", "[kernel]", 0.031),
        ],
        alarms: vec![AlarmCount {
            job: "frontend".into(),
            cause: "llc".into(),
            alarms: 5,
            hosts: 2,
            first_s: START + 7200,
            last_s: START + 80_000,
        }],
        notes: vec![Note {
            topic: "fleet".into(),
            text: "6 hosts count no instructions".into(),
            fix: Some("Hosts without a hardware PMU cannot tell the code from the machine.".into()),
        }],
    }
}

/// A data set without windows.
pub fn empty() -> FleetView {
    let facts = FleetFacts { tool: "1.0.0".into(), dataset: "/srv/fleet/new".into() };
    FleetView::of(facts, &Default::default(), &Default::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// One job on one platform, with nothing else.
pub fn one_job() -> FleetView {
    let mut view = empty();
    view.extent =
        Extent { windows: 1440, hosts: 3, jobs: 1, platforms: 1, first_s: START, last_s: START + 86_400, cpu_s: 9e4 };
    view.jobs = vec![FleetJob { share: 1.0, hosts: 3, windows: 1440, ..job("web", PLATFORMS[1], 9e4) }];
    view.notes.clear();
    view
}

/// 200 jobs with different numbers.
pub fn many_jobs() -> FleetView {
    let mut view = full();
    for at in 0..200_u32 {
        let mut job = job(&format!("job-{at:03}"), PLATFORMS[at as usize % 2], 300_000.0 / f64::from(at + 1));
        job.cost = about(0.000_1 * f64::from(at % 17 + 1));
        job.cpi = about(0.5 + f64::from(at % 23) / 10.0);
        if at % 40 == 7 {
            job.outliers = vec![outlier(&format!("host-{at:04}"), &job.job, &job.platform, "cpi", 1.0)];
        }
        view.jobs.push(job);
    }
    view.extent.jobs = 203;
    view
}

/// A data set all of whose names are hostile.
pub fn hostile() -> FleetView {
    let name = |at: usize| HOSTILE[at % HOSTILE.len()].to_string();
    let mut view = full();
    view.facts.dataset = name(0);
    for (at, job) in view.jobs.iter_mut().enumerate() {
        (job.job, job.platform) = (name(at), name(at + 1));
        for spec in [&mut job.cpi_spec, &mut job.cost_spec].into_iter().flatten() {
            (spec.job, spec.platform) = (name(at), name(at + 1));
        }
        for host in &mut job.outliers {
            (host.job, host.platform, host.host) = (name(at), name(at + 1), name(at + 2));
        }
        for suspect in &mut job.suspects {
            (suspect.job, suspect.neighbour) = (name(at), name(at + 2));
        }
    }
    for one in &mut view.hosts.expensive {
        (one.host, one.platform, one.jobs) = (name(0), name(1), vec![name(2)]);
    }
    for (at, one) in view.versions.iter_mut().enumerate() {
        (one.job, one.platform, one.base, one.new) = (name(at), name(at + 1), name(at + 2), name(at));
        one.left_out = vec![name(at)];
    }
    for one in &mut view.pooled_versions {
        (one.job, one.base, one.new) = (name(0), name(1), name(2));
    }
    for check in &mut view.platform_checks {
        (check.job, check.base, check.new) = (name(0), name(1), name(2));
    }
    for one in &mut view.configs {
        (one.base, one.new) = (name(0), name(1));
    }
    view.seasons.iter_mut().enumerate().for_each(|(at, one)| one.job = name(at));
    view.contention.iter_mut().for_each(|one| (one.job, one.platform) = (name(0), name(1)));
    view.influences.iter_mut().for_each(|one| (one.job, one.platform) = (name(0), name(1)));
    view.functions.iter_mut().enumerate().for_each(|(at, one)| (one.function, one.module) = (name(at), name(at + 1)));
    view.alarms.iter_mut().for_each(|one| (one.job, one.cause) = (name(0), name(1)));
    view.notes.iter_mut().for_each(|note| (note.text, note.fix) = (name(0), Some(name(1))));
    view
}

//! Versions of simulated hosts: coverage of intervals, a planted change, its factors, and Simpson's paradox.

use super::*;
use crate::analysis::fleet::testing::table;
use crate::analysis::stats::Random;
use crate::analysis::stats::simulate::{Autoregression, Frequency, trials};
use crate::model::Why;

const NUMBERS: [&str; 15] = [
    "first_s",
    "windows",
    "operations",
    "cpu_s",
    "law_operations",
    "law_cpu_s",
    "law_cycles",
    "law_instructions",
    "x",
    "x2",
    "x3",
    "x4",
    "y",
    "xy",
    "x2y",
];

struct Row {
    platform: &'static str,
    version: usize,
    host: String,
    sums: [f64; 15],
}

/// How a host runs a version: factors of path length, CPI and clock, and of its intensity.
#[derive(Clone, Copy)]
struct Behaviour {
    factors: [f64; 3],
    intensity: f64,
    windows: usize,
}

const SAME: Behaviour = Behaviour { factors: [1.0; 3], intensity: 1.0, windows: 25 };

/// A host whose cost is its own by 5%, bends with its intensity, and wanders from window to window.
fn run(random: &mut Random, level: f64, behaviour: Behaviour) -> [f64; 15] {
    let mut sums = [0.0; 15];
    let (mut load, mut noise) = (Autoregression::new(0.8, random), Autoregression::new(0.8, random));
    let own = 1e4 * behaviour.intensity * (1.0 + 0.1 * random.normal());
    for _ in 0..behaviour.windows {
        let x = own * (1.0 + 0.2 * load.next(random));
        let curve = 1e-4 * (1.0 + 0.3 * (x / 1e4) + 0.2 * (x / 1e4).powi(2));
        let [path, cpi, clock] = behaviour.factors;
        let y = level * curve * (1.0 + 0.03 * noise.next(random)) * path * cpi * clock;
        let operations = 60.0 * x;
        let cpu_s = y * operations;
        let cycles = cpu_s * 3e9 / clock;
        let instructions = operations * 2e5 * path;
        let add = [0.0, 1.0, operations, cpu_s, operations, cpu_s, cycles, instructions];
        let add = add.into_iter().chain([x, x * x, x.powi(3), x.powi(4), y, x * y, x * x * y]);
        add.enumerate().for_each(|(at, value)| sums[at] += value);
    }
    sums
}

/// Hosts of one platform: how many run the old version only, the new one only, and both.
fn platform(
    random: &mut Random,
    platform: &'static str,
    hosts: [usize; 3],
    behaviours: [Behaviour; 2],
    cost: f64,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for at in 0..hosts.iter().sum() {
        let level = cost * (1.0 + 0.05 * random.normal());
        let ran = [at < hosts[0] || at >= hosts[0] + hosts[1], at >= hosts[0]];
        for version in [0, 1].into_iter().filter(|version| ran[*version]) {
            let mut sums = run(random, level, behaviours[version]);
            sums[0] = version as f64;
            rows.push(Row { platform, version, host: format!("{platform}{at}"), sums });
        }
    }
    rows
}

fn answer(rows: &[Row]) -> ResultTable {
    let texts = [
        ("job", vec!["web"; rows.len()]),
        ("platform", rows.iter().map(|row| row.platform).collect()),
        // The later version comes first by its name.
        ("version", rows.iter().map(|row| ["v9", "v10"][row.version]).collect()),
        ("host", rows.iter().map(|row| row.host.as_str()).collect()),
    ];
    let column = |at: usize| rows.iter().map(|row| row.sums[at]).collect();
    let numbers: Vec<_> = NUMBERS.iter().enumerate().map(|(at, name)| (*name, column(at))).collect();
    table(&texts, &numbers)
}

fn judged(rows: &[Row]) -> VersionComparison {
    versions(&answer(rows), None).unwrap().comparisons.remove(0)
}

/// All hosts run one version, all run both, a canary of three, and some of each.
const ROLLOUTS: [([usize; 3], &str); 4] = [
    ([10, 10, 0], "10 hosts of each"),
    ([0, 0, 8], "8 hosts of both"),
    ([17, 3, 0], "a canary of 3 beside 17"),
    ([6, 4, 6], "6, 4 and 6 of both"),
];

/// How often the adjusted and the raw interval of a change of 4% cover it, and how often the same version is judged
/// cheaper at 95%.
fn by_chance(hosts: [usize; 3], trials: u32) -> [Frequency; 3] {
    let mut random = Random::new(hosts[0] as u64);
    let [mut covered, mut raw, mut cheaper] = [Frequency::default(); 3];
    let changed = Behaviour { factors: [1.04, 1.0, 1.0], ..SAME };
    for _ in 0..trials {
        let found = judged(&platform(&mut random, "p", hosts, [SAME, changed], 1.0));
        let (low, high) = *found.cost_change.value().unwrap().interval.value().unwrap();
        covered.count(low < 0.04 && 0.04 < high);
        let (low, high) = *found.raw_cost_change.value().unwrap().interval.value().unwrap();
        raw.count(low < 0.04 && 0.04 < high);
        let found = judged(&platform(&mut random, "p", hosts, [SAME, SAME], 1.0));
        cheaper.count(*found.confidence_cheaper.value().unwrap() > 0.95);
    }
    [covered, raw, cheaper]
}

#[test]
fn intervals_of_a_change_cover_it_whoever_runs_what() {
    for (hosts, _) in ROLLOUTS {
        let [covered, raw, cheaper] = by_chance(hosts, 60);
        assert!(covered.part() > 0.87 && raw.part() > 0.87, "{hosts:?} {covered:?} {raw:?}");
        assert!(cheaper.part() < 0.14, "{hosts:?} {cheaper:?}");
    }
}

#[test]
#[ignore = "a minute: cargo test --release -- --ignored calibration --nocapture"]
fn calibration_of_fleet_versions() {
    for (hosts, name) in ROLLOUTS {
        let [covered, raw, cheaper] = by_chance(hosts, trials() / 4);
        covered.report(&format!("fleet versions, {name}: interval at equal intensity holds the truth"), "95%");
        raw.report(&format!("fleet versions, {name}: interval as they ran holds the truth"), "95%");
        cheaper.report(&format!("fleet versions, {name}: the same version judged cheaper"), "at most 5%");
        assert!(covered.interval(0.01).1 > 0.94 && cheaper.interval(0.01).0 < 0.06, "{covered:?} {cheaper:?}");
    }
}

#[test]
fn a_change_is_found_at_equal_intensity_where_the_raw_one_misleads() {
    let mut random = Random::new(5);
    // 6% cheaper, but at 1.4 times the intensity, where the job is dearer.
    let new = Behaviour { factors: [0.94, 1.0, 1.0], intensity: 1.4, windows: 60 };
    let found = judged(&platform(&mut random, "p", [0, 0, 12], [SAME, new], 1.0));
    let change = found.cost_change.value().unwrap();
    assert!((change.value + 0.06).abs() < 0.03 && change.interval.value().unwrap().1 < 0.0, "{change:?}");
    assert!(found.raw_cost_change.value().unwrap().value > 0.05, "{:?}", found.raw_cost_change);
    assert!(*found.confidence_cheaper.value().unwrap() > 0.99 && *found.p_corrected.value().unwrap() < 0.02);
    let rue = found.rue_change.value().unwrap();
    assert!((rue.value - (1.0 / (1.0 + change.value) - 1.0)).abs() < 1e-12 && rue.interval.value().unwrap().0 > 0.0);
    assert_eq!((found.base.as_str(), found.new.as_str(), found.hosts), ("v9", "v10", [12, 12]));
}

#[test]
fn the_factors_multiply_to_the_whole_and_name_the_planted_one() {
    let mut random = Random::new(6);
    let new = Behaviour { factors: [1.2, 1.0, 0.95], windows: 60, ..SAME };
    let split = judged(&platform(&mut random, "p", [0, 0, 12], [Behaviour { windows: 60, ..SAME }, new], 1.0)).factors;
    let value = |measure: Measure<crate::analysis::fleet::Estimate>| measure.value().unwrap().value;
    let parts = [split.path_length, split.cpi, split.clock];
    let product: f64 = parts.iter().map(|part| value(part.ratio)).product();
    assert!((product / value(split.whole) - 1.0).abs() < 1e-9);
    assert!((parts.iter().map(|part| part.share.value().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!((value(split.path_length.ratio) - 1.2).abs() < 1e-9 && (value(split.clock.ratio) - 0.95).abs() < 1e-9);
    assert!((value(split.cpi.ratio) - 1.0).abs() < 0.03, "{split:?}");
    // Without cycles only the cost is known.
    let mut rows = platform(&mut random, "p", [0, 0, 4], [SAME, SAME], 1.0);
    rows.iter_mut().for_each(|row| row.sums[4..8].fill(0.0));
    let found = judged(&rows);
    assert!(found.factors.cpi.ratio == Measure::Missing(Why::NotRecorded) && found.cost_change.value().is_some());
}

#[test]
fn a_single_new_host_has_a_change_without_an_interval_and_steady_intensity_needs_no_curve() {
    let mut random = Random::new(7);
    let found = judged(&platform(&mut random, "p", [8, 1, 0], [SAME, SAME], 1.0));
    assert_eq!(found.cost_change.value().unwrap().interval, Measure::Missing(Why::TooFewHosts));
    assert_eq!((found.p, found.confidence_cheaper.why()), (Measure::Missing(Why::TooFewHosts), Some(Why::TooFewHosts)));
    let mut rows = platform(&mut random, "p", [0, 0, 4], [SAME, SAME], 1.0);
    for row in &mut rows {
        let (n, y) = (row.sums[1], row.sums[12]);
        row.sums[8..].copy_from_slice(&[100.0 * n, 1e4 * n, 1e6 * n, 1e8 * n, y, 100.0 * y, 1e4 * y]);
    }
    let means = [0, 1].map(|v| {
        let of = |at: usize| rows.iter().filter(|row| row.version == v).map(|row| row.sums[at]).sum::<f64>();
        of(12) / of(1)
    });
    let found = judged(&rows);
    assert!((found.cost_change.value().unwrap().value - (means[1] / means[0] - 1.0)).abs() < 1e-9);
    assert!(found.intensity[0].sd < 1e-6 && !found.extrapolated);
}

#[test]
fn one_bad_host_does_not_hide_a_change_and_is_named() {
    let mut random = Random::new(9);
    let dearer = Behaviour { factors: [1.1, 1.0, 1.0], ..SAME };
    let mut rows = platform(&mut random, "p", [10, 10, 0], [SAME, dearer], 1.0);
    // 2.5 times the CPU time at the same operations.
    for at in [3, 5, 7, 12, 13, 14] {
        rows[2].sums[at] *= 2.5;
    }
    let found = judged(&rows);
    assert_eq!((found.left_out.as_slice(), found.hosts), (&["p2".to_string()][..], [9, 10]));
    let change = found.cost_change.value().unwrap();
    assert!((change.value - 0.1).abs() < 0.06 && *found.p.value().unwrap() < 0.01, "{change:?}");
}

#[test]
fn a_version_that_runs_on_cheaper_platforms_is_not_taken_for_cheaper() {
    let mut random = Random::new(8);
    let dearer = Behaviour { factors: [1.05, 1.0, 1.0], ..SAME };
    let few = |behaviour: Behaviour| Behaviour { windows: 10, ..behaviour };
    let mut rows = platform(&mut random, "a", [0, 0, 6], [Behaviour { windows: 60, ..SAME }, few(dearer)], 3.0);
    rows.extend(platform(&mut random, "b", [0, 0, 6], [few(SAME), Behaviour { windows: 60, ..dearer }], 1.0));
    let found = versions(&answer(&rows), Some("v9")).unwrap();
    assert!(found.checks[0].disagrees && found.checks[0].whole[1] < found.checks[0].whole[0], "{:?}", found.checks);
    assert!(found.checks[0].standardised > found.checks[0].whole[0]);
    assert!(found.comparisons.iter().all(|one| one.cost_change.value().unwrap().value > 0.0));
    assert!(versions(&answer(&rows), Some("v8")).unwrap().comparisons.is_empty());
}

/// Shares and operations per CPU second of two configurations in three groups; costs are their inverses, but shares of
/// operations with these means give the published totals.
#[test]
fn the_published_table_of_simpsons_paradox_comes_out() {
    let table = [(0.501, 1289.0, 0.3, 1484.0), (0.315, 428.0, 0.4, 434.0), (0.174, 550.0, 0.3, 655.0)];
    // The check is over weighted means of any quantity: here of the published efficiency itself.
    let totals: Vec<_> = table
        .iter()
        .enumerate()
        .map(|(at, (a, value_a, b, value_b))| (at.to_string(), [[*a, a * value_a], [*b, b * value_b]]))
        .collect();
    let found = platforms::check("j", ["1", "2"], &totals).unwrap();
    assert!((found.whole[0] - 885.161).abs() < 5e-4 && (found.whole[1] - 815.3).abs() < 5e-4, "{found:?}");
    assert!((found.standardised - 1004.206).abs() < 5e-4);
    assert!((found.rate_effect - 105.723).abs() < 5e-4 && (found.mix_effect + 175.583).abs() < 2e-3, "{found:?}");
    assert!(found.disagrees);
}

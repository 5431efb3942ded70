//! Suspects of simulated fleets: how often chance alone accuses a neighbour, and whether a guilty one is found.

use super::*;
use crate::analysis::fleet::testing::table;
use crate::analysis::stats::Random;
use crate::analysis::stats::simulate::{Autoregression, Frequency, trials};

/// Windows of one host: use of the neighbour and relative cost of the victim, both with memory.
fn host(random: &mut Random, windows: usize, load: f64, slope: f64) -> Vec<(f64, f64)> {
    let (mut use_, mut noise) = (Autoregression::new(0.9, random), Autoregression::new(0.9, random));
    let level = 0.1 * random.normal();
    let window = |_| {
        let used = (load * (1.0 + 0.5 * use_.next(random))).max(0.0);
        (used, 1.0 + level + 0.1 * noise.next(random) + slope * used)
    };
    (0..windows).map(window).collect()
}

/// One row of `suspects.sql`: the sums of each column, as the query forms them.
fn row(hosts: &[Vec<(f64, f64)>]) -> [f64; 10] {
    let mut row = [0.0; 10];
    row[0] = hosts.len() as f64;
    for host in hosts {
        let count = host.len() as f64;
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| host.iter().map(of).sum::<f64>();
        let (x, y) = (sum(&|w| w.0), sum(&|w| w.1));
        let sxy = sum(&|w| w.0 * w.1) - x * y / count;
        let sxx = sum(&|w| w.0 * w.0) - x * x / count;
        let syy = sum(&|w| w.1 * w.1) - y * y / count;
        let add = [count, x, sxy, sxx, syy, sxy * sxy, sxy * sxx, sxx * sxx];
        for (at, add) in add.into_iter().enumerate() {
            row[at + 1] += add;
        }
    }
    row[2] /= row[1];
    row
}

fn judged(rows: &[[f64; 10]]) -> Vec<Suspect> {
    let names = ["hosts", "windows", "used", "sxy", "sxx", "syy", "sxy_sxy", "sxy_sxx", "sxx_sxx", "score"];
    let neighbours: Vec<String> = (0..rows.len()).map(|at| at.to_string()).collect();
    let numbers: Vec<_> =
        names.iter().enumerate().map(|(at, name)| (*name, rows.iter().map(|r| r[at]).collect())).collect();
    let same = |text| vec![text; rows.len()];
    let texts = [
        ("job", same("web")),
        ("measure", same("cpi")),
        ("neighbour", neighbours.iter().map(String::as_str).collect()),
    ];
    suspects(&table(&texts, &numbers)).unwrap()
}

/// Numbers of hosts, and whether some of them are longer and louder than others.
const FLEETS: [(usize, bool); 3] = [(5, false), (20, false), (12, true)];

/// How often an innocent neighbour is accused at 5%, and how often the interval of its slope covers 0.
fn by_chance((hosts, uneven): (usize, bool), trials: u32) -> [Frequency; 2] {
    let mut random = Random::new(hosts as u64);
    let [mut accused, mut covered] = [Frequency::default(); 2];
    for _ in 0..trials {
        let of = |at: usize| {
            if uneven { (40 + 20 * (at % 3), if at.is_multiple_of(4) { 3.0 } else { 1.0 }) } else { (60, 1.0) }
        };
        let hosts: Vec<_> = (0..hosts)
            .map(|at| {
                let (windows, load) = of(at);
                host(&mut random, windows, load, 0.0)
            })
            .collect();
        let found = &judged(&[row(&hosts)])[0];
        accused.count(*found.p.value().unwrap() < 0.05);
        let (low, high) = *found.slope.value().unwrap().interval.value().unwrap();
        covered.count(low <= 0.0 && 0.0 <= high);
    }
    [accused, covered]
}

#[test]
fn chance_accuses_one_in_twenty_whatever_the_hosts_size() {
    for fleet in FLEETS {
        let [accused, covered] = by_chance(fleet, 200);
        assert!(accused.part() < 0.09 && covered.part() > 0.91, "{fleet:?}: {accused:?} {covered:?}");
    }
    assert!(by_chance((20, false), 200)[0].part() > 0.015);
}

#[test]
#[ignore = "a minute: cargo test --release -- --ignored calibration --nocapture"]
fn calibration_of_fleet_suspects() {
    for fleet in FLEETS {
        let [accused, covered] = by_chance(fleet, trials());
        let hosts = format!("{} {} hosts", fleet.0, if fleet.1 { "uneven" } else { "equal" });
        accused.report(&format!("fleet suspects, {hosts}: innocent neighbours accused"), "at most 5%");
        covered.report(&format!("fleet suspects, {hosts}: interval of the slope holds the truth"), "95%");
        assert!(accused.interval(0.01).0 < 0.055 && covered.interval(0.01).1 > 0.94, "{accused:?} {covered:?}");
    }
}

#[test]
fn a_guilty_neighbour_is_found_with_its_share_and_innocent_ones_are_not() {
    let mut random = Random::new(4);
    let slopes = [0.05, 0.0, 0.0, 0.0, 0.0, 0.0];
    let rows: Vec<_> = slopes
        .iter()
        .map(|slope| row(&(0..20).map(|_| host(&mut random, 60, 2.0, *slope)).collect::<Vec<_>>()))
        .collect();
    let found = judged(&rows);
    let guilty = &found[0];
    assert_eq!(guilty.neighbour, "0");
    assert!(*guilty.p_corrected.value().unwrap() < 0.01 && *guilty.correlation.value().unwrap() > 0.3, "{guilty:?}");
    let share = guilty.share.value().unwrap();
    let (low, high) = *share.interval.value().unwrap();
    assert!(low < 0.1 && 0.1 < high && (share.value - 0.1).abs() < 0.05, "{share:?}");
    assert!(found[1..].iter().all(|one| *one.p_corrected.value().unwrap() > 0.05));
}

#[test]
fn one_host_or_a_steady_neighbour_accuses_nobody() {
    let mut random = Random::new(5);
    let one = row(&[host(&mut random, 60, 1.0, 0.5)]);
    let found = &judged(&[one])[0];
    assert_eq!(
        (found.p, found.slope.value().unwrap().interval.why()),
        (Measure::Missing(Why::TooFewHosts), Some(Why::TooFewHosts))
    );
    let steady: Vec<_> = (0..3).map(|_| vec![(1.0, 1.0), (1.0, 2.0), (1.0, 1.5)]).collect();
    let found = &judged(&[row(&steady)])[0];
    assert_eq!((found.slope, found.p), (Measure::Missing(Why::Unvarying), Measure::Missing(Why::Unvarying)));
}

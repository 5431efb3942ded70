//! Neighbours of simulated fleets that raise CPI, misses, both or nothing.

use super::*;
use crate::analysis::fleet::testing::table;
use crate::analysis::stats::Random;
use crate::analysis::stats::simulate::{Autoregression, Frequency, trials};

const NAMES: [&str; 11] =
    ["windows", "cpi", "mpki", "mpki_windows", "saa", "sab", "sbb", "sa_cpi", "sb_cpi", "sa_mpki", "sb_mpki"];

/// A row of `influences.sql`: 60 windows of a host whose own use follows the neighbours' by a half.
fn host(random: &mut Random, rises: [f64; 2], counted: bool) -> [f64; 11] {
    let mut walks = [0.9, 0.9, 0.9, 0.9].map(|memory| Autoregression::new(memory, random));
    let windows: Vec<[f64; 4]> = (0..60)
        .map(|_| {
            let [own, others, cpi, mpki] = walks.each_mut().map(|walk| walk.next(random));
            let (a, b) = (4.0 + own - 0.5 * others, 8.0 + 2.0 * others);
            [a, b, 1.5 + 0.05 * a + rises[0] * b + 0.1 * cpi, 3.0 + rises[1] * b + 0.3 * mpki]
        })
        .collect();
    let sum = |i: usize| windows.iter().map(|w| w[i]).sum::<f64>();
    let s = |i: usize, j: usize| windows.iter().map(|w| w[i] * w[j]).sum::<f64>() - sum(i) * sum(j) / 60.0;
    let mut row = [60.0, sum(2), sum(3), 60.0, s(0, 0), s(0, 1), s(1, 1), s(0, 2), s(1, 2), s(0, 3), s(1, 3)];
    if !counted {
        [2, 9, 10].into_iter().for_each(|at| row[at] = f64::NAN);
        row[3] = 0.0;
    }
    row
}

fn judged(jobs: &[(&str, Vec<[f64; 11]>)]) -> Vec<NeighbourInfluence> {
    let rows: Vec<_> = jobs.iter().flat_map(|(job, hosts)| hosts.iter().map(move |host| (*job, host))).collect();
    let column = |at: usize| rows.iter().map(|row| row.1[at]).collect();
    let numbers: Vec<_> = NAMES.iter().enumerate().map(|(at, name)| (*name, column(at))).collect();
    let texts = [("job", rows.iter().map(|row| row.0).collect()), ("platform", vec!["p"; rows.len()])];
    influences(&table(&texts, &numbers)).unwrap()
}

#[test]
fn what_rises_names_the_interference() {
    let mut random = Random::new(1);
    let mut hosts = |rises, counted| (0..12).map(|_| host(&mut random, rises, counted)).collect::<Vec<_>>();
    let found = judged(&[
        ("cache", hosts([0.06, 0.2], true)),
        ("elsewhere", hosts([0.06, 0.0], true)),
        ("none", hosts([0.0, 0.0], true)),
        ("uncounted", hosts([0.06, 0.0], false)),
    ]);
    let verdicts: Vec<_> = found.iter().map(|one| *one.interference.value().unwrap()).collect();
    assert_eq!(
        verdicts,
        [Interference::LastLevelCache, Interference::Elsewhere, Interference::NotFound, Interference::CacheNotCounted]
    );
    let rise = found[0].cpi.neighbours.value().unwrap();
    let mean = *found[0].cpi.mean.value().unwrap();
    assert!((rise.value * mean - 0.06).abs() < 0.015 && rise.hosts == 12, "{rise:?}");
    assert_eq!(found[3].llc_mpki.p, Measure::Missing(Why::NotRecorded));
}

/// How often CPI seems to rise with innocent neighbours.
fn by_chance(hosts: usize, trials: u32) -> Frequency {
    let mut random = Random::new(hosts as u64);
    let mut raised = Frequency::default();
    for _ in 0..trials {
        let hosts: Vec<_> = (0..hosts).map(|_| host(&mut random, [0.0, 0.0], true)).collect();
        raised.count(*judged(&[("web", hosts)])[0].cpi.p.value().unwrap() < 0.05);
    }
    raised
}

#[test]
fn chance_raises_cpi_in_one_of_twenty() {
    let raised = by_chance(12, 200);
    assert!((0.01..0.1).contains(&raised.part()), "{raised:?}");
}

#[test]
#[ignore = "a minute: cargo test --release -- --ignored calibration --nocapture"]
fn calibration_of_fleet_influences() {
    for hosts in [5, 15] {
        let raised = by_chance(hosts, trials());
        raised.report(&format!("fleet influences, {hosts} hosts: CPI rises with innocent neighbours"), "5%");
        assert!(raised.interval(0.01).0 < 0.06, "{raised:?}");
    }
}

//! Fences of simulated windows, some of which suffer.

use super::*;
use crate::analysis::fleet::testing::table;
use crate::analysis::stats::Random;
use std::collections::BTreeMap;

/// The answer of `contention.sql` for windows of CPI, misses and bandwidth.
fn answer(windows: &[[f64; 3]]) -> ResultTable {
    let bin = |value: f64| if value.is_nan() { f64::NAN } else { (20.0 * value.ln()).floor() };
    let mut counts: BTreeMap<(&str, [i64; 3]), f64> = BTreeMap::new();
    let mut count = |part, bins: [f64; 3]| {
        *counts.entry((part, bins.map(|bin| if bin.is_nan() { i64::MIN } else { bin as i64 }))).or_default() += 1.0;
    };
    let all: Vec<[f64; 3]> = windows.iter().map(|window| window.map(bin)).collect();
    // The least bin of the fifth with the highest values.
    let fifth = |values: Vec<f64>| {
        let at_or_above = |bin: f64| values.iter().filter(|value| **value >= bin).count();
        values.iter().copied().filter(|bin| 5 * at_or_above(*bin) <= values.len()).fold(f64::INFINITY, f64::min)
    };
    let of = |at: usize, sign: f64| fifth(all.iter().map(|bins| sign * bins[at]).filter(|bin| !bin.is_nan()).collect());
    let fifths = [of(0, 1.0), of(1, 1.0), of(2, -1.0)];
    for bins in &all {
        for (at, part) in ["cpi", "mpki", "bandwidth"].into_iter().enumerate().filter(|(at, _)| !bins[*at].is_nan()) {
            count(part, [0, 1, 2].map(|other| if other == at { bins[at] } else { f64::NAN }));
        }
        if bins[0] >= fifths[0] {
            let mpki = if bins[1] < fifths[1] { fifths[1] - 1.0 } else { bins[1] };
            let bandwidth = if -bins[2] < fifths[2] { 1.0 - fifths[2] } else { bins[2] };
            count("high", [bins[0], mpki, bandwidth]);
        }
    }
    let column = |at: usize| {
        let bins = counts.keys().map(|(_, bins)| bins[at]);
        bins.map(|bin| if bin == i64::MIN { f64::NAN } else { bin as f64 }).collect()
    };
    let same = |value: f64| vec![value; counts.len()];
    let texts = [
        ("job", vec!["web"; counts.len()]),
        ("platform", vec!["p"; counts.len()]),
        ("part", counts.keys().map(|(part, _)| *part).collect()),
    ];
    let numbers = [
        ("half_cpus", same(4.0)),
        ("hosts", same(7.0)),
        ("windows", counts.values().copied().collect()),
        ("cpi_bin", column(0)),
        ("mpki_bin", column(1)),
        ("bandwidth_bin", column(2)),
    ];
    table(&texts, &numbers)
}

fn judged(windows: &[[f64; 3]]) -> Vec<ContentionLevel> {
    contention(&answer(windows), 3.0).unwrap()
}

fn ordinary(random: &mut Random) -> [f64; 3] {
    [1.5 + 0.1 * random.normal(), 3.0 + 0.3 * random.normal(), 1e10 * (1.0 + 0.08 * random.normal())]
}

#[test]
fn windows_that_suffer_are_classed_by_what_else_is_unusual() {
    let mut random = Random::new(1);
    let mut windows: Vec<_> = (0..2000).map(|_| ordinary(&mut random)).collect();
    windows.extend((0..60).map(|_| [3.0 + 0.2 * random.normal(), 9.0 + 0.5 * random.normal(), 1e10]));
    windows.extend((0..40).map(|_| [3.0 + 0.2 * random.normal(), 3.0, 2e9]));
    windows.extend((0..20).map(|_| [3.0 + 0.2 * random.normal(), 3.0, 1e10]));
    let found = &judged(&windows)[0];
    assert_eq!((found.hosts, found.windows, found.half_cpus), (7, 2120, 4));
    let fences =
        [found.fences.cpi, found.fences.llc_mpki, found.fences.memory_bytes_per_s].map(|f| *f.value().unwrap());
    assert!((1.7..2.5).contains(&fences[0]) && (3.5..8.0).contains(&fences[1]), "{fences:?}");
    assert!((4e9..8e9).contains(&fences[2]), "{fences:?}");
    let counts = found.classes.value().unwrap();
    assert!((120..150).contains(&counts.unusual), "{counts:?}");
    assert!((58..63).contains(&counts.last_level_cache) && (38..43).contains(&counts.memory_bandwidth), "{counts:?}");
    assert!(counts.unknown >= 18 && counts.not_measured == 0, "{counts:?}");
}

#[test]
fn ordinary_windows_stay_inside_up_to_a_tenth() {
    let mut random = Random::new(2);
    for _ in 0..5 {
        let windows: Vec<_> = (0..500).map(|_| ordinary(&mut random)).collect();
        let counts = *judged(&windows)[0].classes.value().unwrap();
        assert!(counts.unusual <= 50, "{counts:?}");
    }
}

#[test]
fn without_misses_and_bandwidth_the_class_is_not_measured_and_few_windows_have_no_fence() {
    let mut random = Random::new(3);
    let bare = |cpi: f64| [cpi, f64::NAN, f64::NAN];
    let mut windows: Vec<_> = (0..500).map(|_| bare(1.5 + 0.1 * random.normal())).collect();
    windows.extend((0..10).map(|_| bare(3.0)));
    let found = &judged(&windows)[0];
    assert_eq!(found.fences.llc_mpki, Measure::Missing(Why::NotRecorded));
    let counts = *found.classes.value().unwrap();
    assert!(counts.not_measured >= 10 && counts.not_measured == counts.unusual, "{counts:?}");
    assert_eq!(judged(&windows[..10])[0].classes, Measure::Missing(Why::TooFewSamples));
}

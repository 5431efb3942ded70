//! Fences of simulated windows, some of which suffer.

use super::*;
use crate::analysis::fleet::testing::table;
use crate::analysis::stats::Random;

/// Columns of `contention.sql` for windows of CPI, misses and bandwidth.
fn judged(windows: &[[f64; 3]]) -> Vec<ContentionLevel> {
    let mut counts: BTreeMap<[i64; 3], f64> = BTreeMap::new();
    for window in windows {
        let bin = |value: f64| if value.is_nan() { i64::MIN } else { (20.0 * value.ln()).floor() as i64 };
        *counts.entry(window.map(bin)).or_default() += 1.0;
    }
    let column =
        |at: usize| counts.keys().map(|key| if key[at] == i64::MIN { f64::NAN } else { key[at] as f64 }).collect();
    let same = |value: f64| vec![value; counts.len()];
    let texts = [("job", vec!["web"; counts.len()]), ("platform", vec!["p"; counts.len()])];
    let numbers = [
        ("half_cpus", same(4.0)),
        ("hosts", same(7.0)),
        ("windows", counts.values().copied().collect()),
        ("cpi_bin", column(0)),
        ("mpki_bin", column(1)),
        ("bandwidth_bin", column(2)),
    ];
    contention(&table(&texts, &numbers), 3.0).unwrap()
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

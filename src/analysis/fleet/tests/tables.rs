//! Answers whose numbers follow by hand: jobs, functions, what is usual, and outliers.

use super::testing::{ratio_columns, table};
use super::*;
use crate::analysis::stats::Random;
use crate::model::{Measure, ResultTable, Why};

/// A table with one row from columns that are owned.
fn one_row(texts: &[(&str, &str)], numbers: &[(&str, f64)], ratios: &[(&str, &[(f64, f64)])]) -> ResultTable {
    let owned: Vec<(String, f64)> = ratios.iter().flat_map(|(name, hosts)| ratio_columns(name, hosts)).collect();
    let texts: Vec<_> = texts.iter().map(|(name, value)| (*name, vec![*value])).collect();
    let numbers = numbers.iter().map(|(name, value)| (*name, *value));
    let owned = owned.iter().map(|(name, value)| (name.as_str(), *value));
    let numbers: Vec<_> = numbers.chain(owned).map(|(name, value)| (name, vec![value])).collect();
    table(&texts, &numbers)
}

#[test]
fn a_job_has_its_cost_with_an_interval_and_what_nobody_counted_is_missing() {
    let answer = one_row(
        &[("job", "web"), ("platform", "p")],
        &[("hosts", 3.0), ("windows", 30.0), ("cpu_s", 12.0)],
        &[
            ("cost", &[(2.0, 2.0), (4.0, 2.0), (6.0, 2.0)]),
            ("cpi", &[(30.0, 20.0)]),
            ("path", &[]),
            ("misses", &[(2.0, 1e3)]),
        ],
    );
    let found = &jobs(&answer).unwrap()[0];
    let cost = found.cpu_s_per_op.value().unwrap();
    assert_eq!((cost.value, cost.hosts, found.share), (2.0, 3, 1.0));
    assert!(cost.interval.value().unwrap().0 < 0.0, "three hosts that differ that much say little");
    assert_eq!(found.cpi.value().unwrap().interval, Measure::Missing(Why::TooFewHosts));
    assert_eq!(found.instructions_per_op, Measure::Missing(Why::NotRecorded));
    assert_eq!(found.llc_mpki.value().unwrap().value, 2.0);
    assert!(jobs(&ResultTable::default()).is_err(), "a column is absent");
}

#[test]
fn a_function_has_its_share_of_all_functions() {
    let answer = one_row(
        &[("function", "parse"), ("module", "web")],
        &[("jobs", 1.0), ("hosts", 2.0), ("cpu_s", 3.0), ("samples", 300.0)],
        &[("share", &[(1.0, 10.0), (2.0, 10.0), (0.0, 10.0)])],
    );
    let share = functions(&answer).unwrap()[0].share;
    assert!((share.value().unwrap().value - 0.1).abs() < 1e-12);
    // A function that one host does not run has that host in its sample.
    assert_eq!(share.value().unwrap().hosts, 3);
}

/// The answer of `distribution.sql` for windows of this distribution on `hosts` hosts.
fn windows_of(gev: &Gev, hosts: usize, windows: usize) -> ResultTable {
    let mut bins = std::collections::BTreeMap::new();
    let mut sums = vec![(0.0, 0.0); hosts];
    for at in 0..windows {
        // Every quantile once, dealt to hosts in turn.
        let value = gev.quantile((at as f64 + 0.5) / windows as f64);
        let bin: &mut (f64, f64, f64) = bins.entry((50.0 * value.ln()).floor() as i64).or_default();
        *bin = (bin.0 + 1.0, bin.1 + value, bin.2 + value * value);
        let host = &mut sums[at % hosts];
        *host = (host.0 + value, host.1 + 1.0);
    }
    let same = |text| vec![text; bins.len()];
    let means = ratio_columns("mean", &sums);
    let mut numbers = vec![
        ("bin", bins.keys().map(|bin| *bin as f64).collect()),
        ("windows", bins.values().map(|bin| bin.0).collect()),
        ("total", bins.values().map(|bin| bin.1).collect()),
        ("squares", bins.values().map(|bin| bin.2).collect::<Vec<_>>()),
    ];
    numbers.extend(means.iter().map(|(name, value)| (name.as_str(), vec![*value; bins.len()])));
    table(&[("job", same("web")), ("platform", same("p")), ("measure", same("cpi"))], &numbers)
}

const WEB_SEARCH: Gev = Gev { location: 1.73, scale: 0.133, shape: -0.0534 };

#[test]
fn what_is_usual_has_the_published_mean_deviation_and_distribution() {
    let found = &usual(&windows_of(&WEB_SEARCH, 10, 20_000)).unwrap()[0];
    assert!(
        (found.mean.value().unwrap().value - 1.8).abs() < 0.001 && (found.sd.value().unwrap() - 0.16).abs() < 0.001
    );
    let fit = found.fit.value().unwrap();
    assert!((fit.location - 1.73).abs() < 0.002 && (fit.scale - 0.133).abs() < 0.002, "{fit:?}");
    assert!((fit.shape + 0.0534).abs() < 0.01 && fit.deviation < 0.01, "{fit:?}");
    assert!((fit.quantile_999 / WEB_SEARCH.quantile(0.999) - 1.0).abs() < 0.01);
    assert_eq!(usual(&windows_of(&WEB_SEARCH, 4, 400)).unwrap()[0].fit, Measure::Missing(Why::TooFewHosts));
    assert_eq!(usual(&windows_of(&WEB_SEARCH, 5, 90)).unwrap()[0].fit, Measure::Missing(Why::TooFewSamples));
}

#[test]
fn an_outlier_stands_with_what_chance_makes_of_it() {
    let usual = usual(&windows_of(&WEB_SEARCH, 10, 20_000)).unwrap();
    let answer = one_row(
        &[("job", "web"), ("platform", "p"), ("measure", "cpi"), ("host", "h7")],
        &[
            ("spans", 6.0),
            ("windows", 24.0),
            ("first_s", 300.0),
            ("last_s", 3000.0),
            ("host_spans", 400.0),
            ("host_windows", 2000.0),
            ("tested_hosts", 10.0),
            ("tested_spans", 4000.0),
            ("tested_windows", 20_000.0),
            ("value", 2.6),
            ("host_value", 1.9),
            ("mean", 1.8),
            ("sd", 0.16),
        ],
        &[],
    );
    let found = outliers(&answer, &usual).unwrap();
    let host = &found.hosts[0];
    assert!((host.z - 5.0).abs() < 1e-9 && (host.dearer - 0.8 / 1.8).abs() < 1e-9);
    assert!((host.host_dearer - 0.1 / 1.8).abs() < 1e-9);
    let chance = &found.chance[0];
    let p = *chance.window.value().unwrap();
    // Above 2.28: more than a normal distribution's 0.00135.
    assert!((p - WEB_SEARCH.above(2.28)).abs() < 0.001 && p > 0.003, "{p}");
    let span = 10.0 * p.powi(3) * (1.0 - p).powi(2) + 5.0 * p.powi(4) * (1.0 - p) + p.powi(5);
    assert!((chance.span.value().unwrap() - span).abs() < 1e-12);
    assert!((host.expected_spans.value().unwrap() - 400.0 * span).abs() < 1e-9);
    assert!((chance.expected_hosts.value().unwrap() - 10.0 * (1.0 - (1.0 - span).powi(400))).abs() < 1e-6);
    assert_eq!(outliers(&answer, &[]).unwrap().chance[0].span, Measure::Missing(Why::NotRecorded));
}

/// Independent windows of a heavy tail: as many hosts have three outliers in five windows as chance is said to make.
#[test]
fn chance_makes_as_many_outliers_as_expected() {
    const HOSTS: usize = 2000;
    const SPANS: usize = 100;
    let gev = Gev { shape: 0.3, ..WEB_SEARCH };
    let (mean, sd) = (gev.mean().unwrap(), gev.sd().unwrap());
    let mut random = Random::new(9);
    let mut is_above = || gev.quantile((random.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30)) > mean + 3.0 * sd;
    let mut is_outlier = || (0..SPANS).filter(|_| (0..5).filter(|_| is_above()).count() >= 3).count() > 0;
    let outlying = (0..HOSTS).filter(|_| is_outlier()).count() as f64;
    let fit = GevFit {
        location: gev.location,
        scale: gev.scale,
        shape: gev.shape,
        errors: Measure::Missing(Why::TooFewSamples),
        quantile_999: gev.quantile(0.999),
        deviation: 0.0,
    };
    let usual = Usual {
        job: "web".into(),
        platform: "p".into(),
        measure: "cpi".into(),
        hosts: HOSTS as u64,
        windows: (HOSTS * SPANS * 5) as u64,
        mean: Measure::Missing(Why::NotRecorded),
        sd: Measure::exact(sd),
        fit: Measure::exact(fit),
    };
    let (hosts, spans) = (HOSTS as f64, SPANS as f64);
    let answer = one_row(
        &[("job", "web"), ("platform", "p"), ("measure", "cpi"), ("host", "h")],
        &[
            ("spans", 1.0),
            ("windows", 3.0),
            ("first_s", 0.0),
            ("last_s", 0.0),
            ("host_spans", spans),
            ("host_windows", 5.0 * spans),
            ("tested_hosts", hosts),
            ("tested_spans", hosts * spans),
            ("tested_windows", 5.0 * hosts * spans),
            ("value", mean + 4.0 * sd),
            ("host_value", mean),
            ("mean", mean),
            ("sd", sd),
        ],
        &[],
    );
    let expected = *outliers(&answer, &[usual]).unwrap().chance[0].expected_hosts.value().unwrap();
    assert!(expected > 3.0 && (outlying - expected).abs() < 3.0 * expected.sqrt(), "{outlying} of {expected}");
}

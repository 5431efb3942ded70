//! Which level of load a window is compared with, what waits make of it, and how much of a growth matters.

use super::*;
use crate::analysis::attribution::alarm_criteria::{ALARM_CRITERIA, WorseDirection};
use crate::analysis::attribution::reference::{Scope, load_or_nothing, reference, value, wait_ratio};
use crate::analysis::attribution::score::{correlation, fit};

fn readings(all: &[(MetricId, f64)]) -> Vec<Reading> {
    let reading = |(id, value): &(MetricId, f64)| Reading {
        quantity: quantity(*id),
        value: Measure::exact(*value),
        cell: Some(RatioCell { numerator: *value, denominator: 1.0 }),
    };
    all.iter().map(reading).collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_value_that_is_missing_or_no_number_is_none() {
    let mut all = readings(&[(RATE, f64::NAN), (PRIMARY, f64::INFINITY), (MetricId::Cpi, 0.0)]);
    all.push(quantity(MetricId::Frequency).missing(Why::NotSupported));
    for (id, expected) in [
        (RATE, None),
        (PRIMARY, None),
        (MetricId::Cpi, Some(0.0)),
        (MetricId::Frequency, None),
        (MetricId::L2Mpki, None),
    ] {
        assert_eq!(value(&all, id), expected, "{id:?}");
    }
}

#[test]
fn waits_count_relative_to_the_time_that_was_spent_running() {
    let (ran, queue, io) = (MetricId::Utilisation, MetricId::RunQueueDelay, MetricId::BlockIoDelay);
    for (case, all, expected) in [
        ("no waits were counted", vec![(ran, 0.5)], Some(1.0)),
        ("a wait as long as it ran", vec![(ran, 0.25), (queue, 0.25)], Some(2.0)),
        ("two waits", vec![(ran, 0.25), (queue, 0.25), (io, 0.5)], Some(4.0)),
        ("a wait below zero is none", vec![(ran, 0.5), (queue, -0.5)], Some(1.0)),
        ("it did not run", vec![(ran, 0.0), (queue, 1.0)], None),
        ("running was not counted", vec![(queue, 0.5)], None),
    ] {
        let found = wait_ratio(&readings(&all), None).map(|found| found.now);
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn a_wait_that_the_baseline_does_not_know_is_not_compared() {
    let usual = levels(
        &[(RATE, 1000.0), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.05)],
        LoadAxis::OpsPerSecond,
    );
    let level = &usual.levels[0];
    let all =
        readings(&[(MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.25), (MetricId::BlockIoDelay, 0.25)]);
    let found = wait_ratio(&all, Some(level)).unwrap();
    close(found.now, 1.5);
    close(found.usual, 1.1);
    close(found.ratio(), 1.5 / 1.1);
    let without = levels(&[(RATE, 1000.0)], LoadAxis::OpsPerSecond);
    assert_eq!(wait_ratio(&all, Some(&without.levels[0])), None, "the baseline does not know how long it ran");
}

#[test]
fn no_operation_is_a_load_of_zero_only_where_operations_are_counted() {
    for (case, axis, load, rate, expected) in [
        ("a known load", LoadAxis::OpsPerSecond, Some(7.0), Some(0.0), Some(7.0)),
        ("nothing was completed", LoadAxis::OpsPerSecond, None, Some(0.0), Some(0.0)),
        ("a rate without a load", LoadAxis::OpsPerSecond, None, Some(5.0), None),
        ("operations were not counted", LoadAxis::OpsPerSecond, None, None, None),
        ("busy CPUs are not operations", LoadAxis::BusyCores, None, Some(0.0), None),
    ] {
        let all: Vec<(MetricId, f64)> = rate.into_iter().map(|rate| (RATE, rate)).collect();
        assert_eq!(load_or_nothing(axis, load, &readings(&all)), expected, "{case}");
    }
}

#[test]
fn a_drop_of_operations_is_a_lower_load_only_if_less_cpu_was_wanted_too() {
    let known = levels(&USUAL, LoadAxis::OpsPerSecond);
    let scope = |load: f64, cores: f64, queue: f64| {
        let all =
            readings(&[(WITHOUT_OPERATIONS, cores), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, queue)]);
        reference(&known, load, &all).map(|found| (found.level.from, found.scope))
    };
    let (low, high) = (known.levels[0].from, known.levels[1].from);
    assert_eq!(scope(1000.0, 0.5, 0.005), Some((low, Scope::Whole)), "a known load");
    assert_eq!(scope(2000.0, 1.0, 0.005), Some((high, Scope::Whole)), "the other known load");
    assert_eq!(scope(500.0, 0.5, 0.005), Some((low, Scope::Whole)), "half of the operations for as much CPU");
    let bounds = |demand, waits| Some((low, Scope::Bounds { demand, waits }));
    assert_eq!(scope(500.0, 0.25, 0.005), bounds(false, false), "half of both is half of the load");
    assert_eq!(scope(500.0, 0.25, 0.1), bounds(false, true), "and it waited longer in all");
    assert_eq!(scope(0.0, 0.5, 0.005), bounds(true, false), "nothing was completed, and as much was wanted");
    assert_eq!(scope(9000.0, 4.0, 0.005), None, "above every known load nothing is bounded");
}

#[test]
fn a_wait_for_cpus_is_demand_and_not_a_lower_load() {
    let usual = [(WITHOUT_OPERATIONS, 2.0), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.0)];
    let known = levels(&usual, LoadAxis::BusyCores);
    // It got one CPU and waited for as long: it wanted two.
    let all = readings(&[(WITHOUT_OPERATIONS, 1.0), (MetricId::Utilisation, 0.25), (MetricId::RunQueueDelay, 0.25)]);
    let found = reference(&known, 1.0, &all).unwrap();
    assert_eq!((found.level.from, found.scope), (known.levels[0].from, Scope::Whole));
    let idle = readings(&[(WITHOUT_OPERATIONS, 1.0), (MetricId::Utilisation, 0.25), (MetricId::RunQueueDelay, 0.0)]);
    assert!(matches!(reference(&known, 1.0, &idle).unwrap().scope, Scope::Bounds { demand: false, .. }));
}

#[test]
fn a_growth_matters_by_its_own_measure() {
    let settings = Settings::default();
    let of = |id| ALARM_CRITERIA.iter().find(|criterion| criterion.id == id).unwrap();
    let enough = 1.0 + settings.least_cost;
    for (case, id, now, usual, longer, expected) in [
        ("a cost just large enough", PRIMARY, 1000.0 * enough + 1e-6, 1000.0, false, true),
        ("a cost just too small", PRIMARY, 1000.0 * enough - 1.0, 1000.0, true, false),
        ("a cost that fell", PRIMARY, 500.0, 1000.0, true, false),
        ("a share by its difference", MetricId::StealShare, 0.021, 0.0, false, true),
        ("a share that hardly rose", MetricId::StealShare, 0.019, 0.0, true, false),
        ("a wait that makes work longer", MetricId::RunQueueDelay, 0.01, 0.0, true, true),
        ("a wait that does not", MetricId::RunQueueDelay, 0.9, 0.0, false, false),
        ("fewer operations, and longer waits", RATE, 500.0, 1000.0, true, true),
        ("fewer operations alone", RATE, 500.0, 1000.0, false, false),
        ("more operations", RATE, 2000.0, 1000.0, true, false),
    ] {
        assert_eq!(of(id).is_large(now, usual, longer, &settings), expected, "{case}");
    }
    let falls: Vec<_> = ALARM_CRITERIA.iter().filter(|criterion| criterion.worse == WorseDirection::Lower).collect();
    assert!(falls.len() == 1 && falls[0].id == RATE, "only throughput is worse when it falls");
}

#[test]
fn the_chance_allowed_to_one_test_is_a_days_share_of_the_false_alarms() {
    let settings = Settings::default();
    let level = |seconds: u64, quantities| settings.significance_level(ms(seconds * 1000), quantities);
    close(level(86_400, 1), settings.false_alarms_a_day);
    close(level(1, 8) * 86_400.0 * 8.0, settings.false_alarms_a_day);
    close(level(1, 0), level(1, 1));
    assert_eq!(level(0, 8), 0.0);
}

#[test]
fn scores_stay_in_their_range_whatever_comes_in() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0, 1e300];
    for excess in odd {
        for used in odd {
            let score = correlation(&[excess, 1.5], &[used, 1.0]);
            assert!((-1.0..=1.0).contains(&score), "{excess} {used}: {score}");
            let found = fit(&[excess.max(0.0), 1.5], &[used.max(0.0), 1.0], &[true, false]);
            assert!(
                (0.0..=1.0).contains(&found.fit) || found.fit.is_nan() == used.is_nan(),
                "{excess} {used}: {found:?}"
            );
        }
    }
    assert_eq!(fit(&[], &[], &[]).fit, 0.0);
    assert_eq!(fit(&[2.0; 9], &[0.0; 9], &[true; 9]).fit, 0.0, "who used nothing did nothing");
}

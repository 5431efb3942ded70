//! Changes on platforms whose hosts scatter, by chance and planted.

use super::*;
use crate::analysis::stats::simulate::Frequency;
use crate::analysis::stats::{Moments, Random};

/// Welch's difference of the means of hosts that scatter by 2%.
fn platform(random: &mut Random, change: f64, hosts: [usize; 2]) -> PlatformChange {
    let mut sample = |mean: f64, hosts: usize| {
        let values: Vec<f64> = (0..hosts).map(|_| mean + 0.02 * random.normal()).collect();
        let found = Moments::of(&values).unwrap();
        (found.mean, found.variance.unwrap() / hosts as f64, hosts as f64 - 1.0)
    };
    let (old, new) = (sample(0.0, hosts[0]), sample(change, hosts[1]));
    let (error, freedom) = combined(&[(old.1, old.2), (new.1, new.2)]).unwrap();
    let error = StandardError { error, freedom };
    PlatformChange { change: new.0 - old.0, error, hosts: hosts.map(|hosts| hosts as f64) }
}

const HOSTS: [[usize; 2]; 3] = [[4, 4], [3, 6], [8, 5]];

fn found(changes: &[PlatformChange]) -> PooledChange {
    pooled_changes(changes.iter().map(|change| (("web", "v1", "v2"), *change))).remove(0)
}

fn p(measure: Measure<f64>) -> f64 {
    *measure.value().unwrap()
}

#[test]
fn the_interval_covers_the_change_and_equal_platforms_seldom_differ() {
    let mut random = Random::new(1);
    let [mut covered, mut changed, mut differ] = [Frequency::default(); 3];
    for _ in 0..2000 {
        let one = found(&HOSTS.map(|hosts| platform(&mut random, 0.03, hosts)));
        let (low, high) = *one.cost_change.value().unwrap().interval.value().unwrap();
        covered.count(low < 0.03 && 0.03 < high);
        differ.count(p(one.p_alike) < 0.05);
        changed.count(p(found(&HOSTS.map(|hosts| platform(&mut random, 0.0, hosts))).p) < 0.05);
    }
    assert!((0.93..0.975).contains(&covered.part()), "{covered:?}");
    assert!(changed.part() < 0.07 && differ.part() < 0.08, "{changed:?} {differ:?}");
}

#[test]
fn platforms_together_find_what_each_is_too_small_for() {
    let mut random = Random::new(2);
    let [mut each, mut together, mut differ] = [Frequency::default(); 3];
    for _ in 0..300 {
        let changes = HOSTS.map(|hosts| platform(&mut random, 0.03, hosts));
        together.count(p(found(&changes).p) < 0.05);
        changes.iter().for_each(|one| each.count(p(two_sided(one.change, Some(one.error))) < 0.05));
        // One platform alone gets dearer.
        let [a, b] = [[20, 20], [18, 25]].map(|hosts| platform(&mut random, 0.0, hosts));
        differ.count(p(found(&[a, b, platform(&mut random, 0.06, [20, 20])]).p_alike) < 0.05);
    }
    assert!(together.part() > 0.9 && each.part() < 0.65, "{together:?} {each:?}");
    assert!(differ.part() > 0.99, "{differ:?}");
}

#[test]
fn one_platform_is_not_pooled_and_more_weigh_by_their_hosts() {
    let error = StandardError { error: 0.01, freedom: 5.0 };
    let one = |change, hosts| PlatformChange { change, error, hosts };
    assert!(pooled_changes([(("web", "v1", "v2"), one(0.1, [3.0, 3.0]))].into_iter()).is_empty());
    let both = found(&[one(0.1, [3.0, 3.0]), one(0.2, [9.0, 9.0])]);
    assert!((both.cost_change.value().unwrap().value - 0.175).abs() < 1e-12, "{both:?}");
    assert_eq!((both.platforms, both.hosts), (2, [12, 12]));
    let steady = StandardError { error: 0.0, freedom: 5.0 };
    let same = PlatformChange { error: steady, ..one(0.1, [3.0, 3.0]) };
    assert_eq!(found(&[same, same]).p_alike, Measure::Missing(Why::TooFewHosts));
}

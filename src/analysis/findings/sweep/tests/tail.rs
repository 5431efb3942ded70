//! Latency against width: found where the tail grows and throughput does not, with and without scatter.

use super::*;
use crate::analysis::finding::Verdict;
use crate::analysis::sweep::{Estimate, RunLatency};
use crate::analysis::{Bin, LatencyCounts, Quantile};
use crate::model::{Measure, Unit};
use crate::units::Nanos;

/// Latencies of a run: 2% of the operations take that long.
fn latency(slow_ns: f64) -> RunLatency {
    let bin = |ns: f64| Bin { low: Nanos(ns as u64), high: Some(Nanos(ns as u64 + 1)) };
    let mut counts = LatencyCounts::default();
    counts.add(bin(100_000.0), 9_800);
    counts.add(bin(slow_ns), 200);
    let within = |ns: f64| Some((ns * 0.98, Some(ns * 1.02)));
    let quantile = |share| Quantile { share, value: Measure::exact(slow_ns), interval: within(slow_ns) };
    RunLatency { counts, quantiles: [0.5, 0.9, 0.99, 0.999, 0.9999].map(quantile).to_vec() }
}

/// A width: its throughput with half its interval, and the 99th percentile of each run in microseconds.
type Row<'a> = (u32, f64, f64, &'a [f64]);

fn verdict(rows: &[Row<'_>]) -> Verdict {
    let sweep = locked().sweep();
    let point = |&(n, rate, half, tails): &Row<'_>| {
        let mut point = sweep.points[0].clone();
        let one = point.runs[0].clone();
        let run = |us: &f64| crate::analysis::sweep::Run { latency: Some(latency(us * 1e3)), ..one.clone() };
        (point.n, point.runs) = (n, tails.iter().map(run).collect());
        let runs = tails.len() as u32;
        point.numbers.ops_per_s = Measure::exact(Estimate { mean: rate, half: (runs > 1).then_some(half), runs });
        point
    };
    tail_latency::verdict(&rows.iter().map(point).collect::<Vec<_>>(), 0).unwrap()
}

#[test]
fn the_first_width_whose_tail_grows_without_throughput_is_named() {
    let steady = [1000.0, 1010.0, 990.0];
    let grown = [5000.0, 5100.0, 4900.0];
    let found =
        verdict(&[(1, 1e5, 2e3, &steady), (2, 2e5, 2e3, &steady), (4, 2.1e5, 2e3, &grown), (8, 2e5, 2e3, &grown)]);
    let Verdict::Found(finding) = found else { panic!("{found:?}") };
    assert_eq!((finding.rule, finding.confidence), ("tail-latency", Confidence::High));
    let claim = "At n=4: one of a hundred operations takes longer than 5.00 ms [4.76 ms, 5.25 ms], at n=2 than 1.00 ms \
                 [975 us, 1.03 ms], while throughput goes from 200,000/s to 210,000/s: the wider load waits.";
    assert_eq!(finding.claim, claim);
    assert_eq!((finding.evidence[0].value, finding.evidence[0].unit), (5.0, Unit::Ratio));
}

#[test]
fn a_tail_that_grows_with_throughput_or_not_at_all_is_clear() {
    let steady = [1000.0, 1010.0, 990.0];
    let grown = [5000.0, 5100.0, 4900.0];
    assert_eq!(verdict(&[(1, 1e5, 2e3, &steady), (2, 1.9e5, 2e3, &grown)]), Verdict::Clear);
    assert_eq!(verdict(&[(1, 1e5, 2e3, &steady), (2, 1e5, 2e3, &[1040.0, 1000.0, 980.0])]), Verdict::Clear);
}

#[test]
fn where_intervals_overlap_nothing_is_claimed() {
    let steady = [1000.0, 1010.0, 990.0];
    let scattered = verdict(&[(1, 1e5, 2e3, &steady), (2, 1e5, 2e3, &[900.0, 6000.0, 2000.0])]);
    assert_eq!(scattered, Verdict::Undecided(Why::RunsScatter));
    let grown = [5000.0, 5100.0, 4900.0];
    let throughput = verdict(&[(1, 1e5, 2e4, &steady), (2, 1.2e5, 4e4, &grown)]);
    assert_eq!(throughput, Verdict::Undecided(Why::RunsScatter));
    assert_eq!(verdict(&[(1, 1e5, 2e3, &steady)]), Verdict::Undecided(Why::TooFewSamples));
}

/// Runs of one program scatter, their operations do not: what differs between widths is chance alone.
#[test]
fn of_sweeps_without_any_growth_few_are_blamed_and_of_those_with_much_most() {
    let mut random = crate::analysis::stats::Random::new(5);
    let mut normal = move || (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
    let mut found = |factor: f64| {
        let mut sweep = || {
            let mut tails = |grown: f64| [(); 3].map(|()| 1000.0 * grown * (0.15 * normal()).exp());
            let widths = [tails(1.0), tails(1.0), tails(factor), tails(factor)];
            let rows: Vec<Row<'_>> =
                [1, 2, 4, 8].into_iter().zip(&widths).map(|(n, tails)| (n, 1e5, 2e3, &tails[..])).collect();
            matches!(verdict(&rows), Verdict::Found(_))
        };
        (0..200).filter(|_| sweep()).count()
    };
    let (without, with) = (found(1.0), found(8.0));
    assert!(without <= 10 && with >= 180, "{without} and {with} of 200");
}

#[test]
fn one_run_per_width_is_judged_with_low_confidence_and_without_latency_there_is_no_verdict() {
    let Verdict::Found(finding) = verdict(&[(1, 1e5, 0.0, &[1000.0]), (2, 1e5, 0.0, &[2000.0])]) else { panic!() };
    assert_eq!(finding.confidence, Confidence::Low);
    let plain = locked().sweep();
    assert!(tail_latency::verdict(&plain.points, 0).is_none() && tail_latency::verdict(&[], 3).is_none());
}

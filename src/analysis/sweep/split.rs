//! Splits the time of a run's workers into parts, so that what is lost at a width adds up to what is missing. Time that
//! several clocks measured counts once: parts are limited to the workers' time.

use super::types::Split;
use crate::analysis::Cause;
use crate::model::Measure;

/// Readings of clocks that are independent of each other, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clocks {
    /// CPU time of the whole target.
    pub cpu: Measure<f64>,
    /// Time its threads were runnable without a CPU, throttling included.
    pub delay: Measure<f64>,
    /// Time its control group was throttled, summed over CPUs and members.
    pub throttled: Measure<f64>,
}

/// Divides `whole` seconds of the workers' time. `blocked` is that of the workers alone.
///
/// Running time is the target's, not the workers': helpers work for them too. It may exceed the workers' time by that,
/// as may the run queue if there are more threads than workers, so each part gets what those before it left over.
/// Blocked time beyond that (more threads than swept CPUs) is scaled down as a whole; the causes keep their
/// proportions.
pub(super) fn split(whole: f64, clocks: &Clocks, blocked: &[(Cause, f64)]) -> Split {
    let mut left = if whole.is_finite() { whole.max(0.0) } else { 0.0 };
    let mut take = |wanted: Measure<f64>| {
        wanted.map(|wanted| {
            let taken = sane(wanted).min(left);
            left -= taken;
            taken
        })
    };
    let running = take(clocks.cpu);
    // A throttled thread is runnable all the while; throttling beyond the run queue's time hit other members of the
    // group.
    let throttled = take(match clocks.delay {
        Measure::Known { value, .. } => clocks.throttled.map(|time| time.min(value)),
        Measure::Missing(_) => clocks.throttled,
    });
    let throttled_time = clocks.throttled.value().copied().map_or(0.0, sane);
    let queued = take(clocks.delay.map(|delay| delay - throttled_time));
    let seen: f64 = blocked.iter().map(|(_, time)| sane(*time)).sum();
    let scale = if seen > left { left / seen } else { 1.0 };
    let blocked: Vec<_> = blocked.iter().map(|(cause, time)| (*cause, sane(*time) * scale)).collect();
    let seen: f64 = blocked.iter().map(|(_, time)| time).sum();
    Split { running, queued, throttled, blocked, unseen: clocks.cpu.map(|_| (left - seen).max(0.0)) }
}

/// A time as a clock can report it: negative and non-finite values count as zero.
fn sane(time: f64) -> f64 {
    if time.is_finite() { time.max(0.0) } else { 0.0 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Why;
    use proptest::prelude::*;

    fn clocks(cpu: f64, delay: f64, throttled: f64) -> Clocks {
        let [cpu, delay, throttled] = [cpu, delay, throttled].map(Measure::exact);
        Clocks { cpu, delay, throttled }
    }

    #[test]
    fn each_part_gets_what_those_before_it_left_over() {
        let lock = |time| vec![(Cause::Lock, time)];
        for (name, clocks, blocked, expected, unseen) in [
            ("all fits", clocks(4.0, 2.0, 0.5), 1.0, [4.0, 1.5, 0.5, 1.0], 3.0),
            ("helpers run too", clocks(11.0, 2.0, 0.5), 1.0, [10.0, 0.0, 0.0, 0.0], 0.0),
            ("a long queue", clocks(4.0, 99.0, 0.0), 1.0, [4.0, 6.0, 0.0, 0.0], 0.0),
            ("others throttled", clocks(4.0, 1.0, 90.0), 1.0, [4.0, 0.0, 1.0, 1.0], 4.0),
            ("more blocked than workers", clocks(4.0, 0.0, 0.0), 60.0, [4.0, 0.0, 0.0, 6.0], 0.0),
        ] {
            let found = split(10.0, &clocks, &lock(blocked));
            let parts = [found.running, found.queued, found.throttled].map(|part| *part.value().unwrap());
            assert_eq!((&parts[..], found.blocked[0].1), (&expected[..3], expected[3]), "{name}");
            assert_eq!(found.unseen, Measure::exact(unseen), "{name}");
        }
    }

    #[test]
    fn causes_that_are_cut_down_keep_their_proportions() {
        let found = split(3.0, &clocks(0.0, 0.0, 0.0), &[(Cause::Lock, 4.0), (Cause::Network, 2.0)]);
        assert_eq!(found.blocked, [(Cause::Lock, 2.0), (Cause::Network, 1.0)]);
    }

    #[test]
    fn what_no_clock_saw_is_missing_and_without_the_cpu_the_rest_is_unknown() {
        let none = Measure::Missing(Why::NotRecorded);
        let found = split(10.0, &Clocks { delay: none, ..clocks(4.0, 0.0, 1.0) }, &[]);
        assert_eq!((found.queued, found.throttled, found.unseen), (none, Measure::exact(1.0), Measure::exact(5.0)));
        let found = split(10.0, &Clocks { cpu: none, ..clocks(0.0, 2.0, 0.0) }, &[]);
        assert_eq!((found.running, found.queued, found.unseen), (none, Measure::exact(2.0), none));
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_workers_time(
            whole in 0.0..1e12_f64, [cpu, delay, throttled] in prop::array::uniform3(any::<f64>()),
            blocked in prop::collection::vec(any::<f64>(), 0..5),
        ) {
            let blocked: Vec<_> = Cause::ALL.into_iter().zip(blocked).collect();
            let found = split(whole, &clocks(cpu, delay, throttled), &blocked);
            let parts = [found.running, found.queued, found.throttled, found.unseen].map(|part| *part.value().unwrap());
            let all: Vec<_> = parts.into_iter().chain(found.blocked.iter().map(|(_, time)| *time)).collect();
            prop_assert!(all.iter().all(|part| part.is_finite() && *part >= 0.0), "{found:?}");
            prop_assert!((all.iter().sum::<f64>() - whole).abs() <= 1e-9 * whole, "{found:?}");
        }
    }
}

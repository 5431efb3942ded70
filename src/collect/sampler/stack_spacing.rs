//! Chooses how much waited time of a thread each stack stands for, so that taking stacks stays within its share of the
//! CPU time however many threads wait.

use crate::units::Nanos;

/// The spacing at first, and the least. Of a thread that always waits, 200 stacks a second are plenty.
pub const LEAST: Nanos = Nanos(5_000_000);
/// The spacing that the kernel can still multiply.
const MOST: Nanos = Nanos(4_000_000_000);
/// Share of one CPU that taking stacks of waits may cost the target, if sampling may cost as much again or more.
const BUDGET: f64 = 0.01;

/// What was known when the kernel's sums of waits were last read.
#[derive(Debug, Clone, Copy)]
pub struct LastRead {
    /// When that was.
    pub at: Nanos,
    /// The spacing since then.
    pub spacing: Nanos,
    /// What taking stacks had cost the target by then.
    pub cost: Nanos,
}

impl LastRead {
    /// Nothing has been read yet.
    pub const NEVER: LastRead = LastRead { at: Nanos(0), spacing: LEAST, cost: Nanos(0) };

    /// After a reading at this time, when stacks have cost this much altogether. They get half of the percent that all
    /// samples may cost.
    pub fn next(self, at: Nanos, cost: Nanos, percent: Option<f64>) -> LastRead {
        let budget = percent.map_or(BUDGET, |percent| BUDGET.min(percent / 200.0));
        let allowed = Nanos(((at - self.at).as_f64() * budget) as u64);
        LastRead { at, spacing: next(self.spacing, cost - self.cost, allowed), cost }
    }
}

/// The next spacing, if taking the stacks cost the threads `cost` where `allowed` would do. Falling takes several
/// windows: what comes in bursts should not be paid for at the beginning of each.
fn next(spacing: Nanos, cost: Nanos, allowed: Nanos) -> Nanos {
    let fitting =
        (u128::from(spacing.0) * u128::from(cost.0) / u128::from(allowed.0.max(1))).min(u128::from(MOST.0)) as u64;
    Nanos(fitting.max(spacing.0 / 2).clamp(LEAST.0, MOST.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spacing_grows_until_the_cost_fits_and_falls_step_by_step() {
        let millis = |millis: u64| Nanos(millis * 1_000_000);
        for (spacing, cost, expected) in
            [(5, 0, 5), (5, 9, 5), (5, 10, 5), (5, 40, 20), (20, 10, 20), (20, 1, 10), (20, 15, 30), (3_000, 99, 4_000)]
        {
            assert_eq!(next(millis(spacing), millis(cost), millis(10)), millis(expected), "{spacing} ms, {cost} ms");
        }
        assert_eq!(next(LEAST, Nanos(u64::MAX), Nanos(0)), MOST);
    }

    #[test]
    fn stacks_of_waits_get_a_hundredth_of_a_cpu_or_half_of_what_samples_may_cost() {
        let second = Nanos(1_000_000_000);
        for (percent, doubled) in [(None, 20), (Some(50.0), 20), (Some(2.0), 20), (Some(1.0), 10), (Some(0.1), 1)] {
            let next = LastRead::NEVER.next(second, Nanos(doubled * 1_000_000), percent);
            assert_eq!(next.spacing, Nanos(2 * LEAST.0), "{percent:?}");
        }
    }
}

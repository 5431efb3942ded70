//! The progress of a sweep, computed from its metadata.
//! The remaining time is estimated from the runs that are over, without a clock.

use super::Progress;
use crate::model::{RunState, SweepMeta};

impl Progress {
    /// The progress of a sweep.
    #[must_use]
    pub fn of(meta: &SweepMeta) -> Progress {
        let running = meta.runs.iter().find(|run| run.state == RunState::Running);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Progress {
            over: count(meta.over()),
            planned: count(meta.runs.len()),
            running: running.map(|run| run.n),
            eta_seconds: left(meta).map(|ns| (ns / 1e9).round() as u64),
        }
    }
}

/// Estimated nanoseconds left: each remaining run takes the mean of the finished runs of its width, or else of all.
fn left(meta: &SweepMeta) -> Option<f64> {
    let done = || {
        meta.runs.iter().filter_map(|run| match run.state {
            RunState::Done { wall_ns } => Some((run.n, wall_ns as f64)),
            _ => None,
        })
    };
    let mean = |of: &dyn Fn(u32) -> bool| {
        let (sum, count) =
            done().filter(|(n, _)| of(*n)).fold((0.0, 0_u32), |(sum, count), (_, ns)| (sum + ns, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let all = mean(&|_| true)?;
    let to_come = meta.runs.iter().filter(|run| matches!(run.state, RunState::Planned | RunState::Running));
    Some(to_come.map(|run| mean(&|n| n == run.n).unwrap_or(all)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sweep::fixture::{self, Machine};

    #[test]
    fn the_time_left_is_estimated_from_finished_runs() {
        let mut meta = fixture::meta(Machine::Clock);
        for (at, run) in meta.runs.iter_mut().enumerate() {
            run.state = match at {
                0 => RunState::Done { wall_ns: 30_000_000_000 },
                1 => RunState::Failed { reason: String::new() },
                3 => RunState::Done { wall_ns: 10_000_000_000 },
                4 => RunState::Running,
                _ => RunState::Planned,
            };
        }
        // Remaining: one run of n = 1 at 30 s, two of n = 2 at 10 s, fifteen others at 20 s.
        let expected = Progress { over: 3, planned: 21, running: Some(2), eta_seconds: Some(30 + 20 + 300) };
        assert_eq!(Progress::of(&meta), expected);
        meta.runs.iter_mut().for_each(|run| run.state = RunState::Planned);
        assert_eq!(Progress::of(&meta).eta_seconds, None, "no run is over");
    }
}

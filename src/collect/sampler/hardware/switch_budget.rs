//! Decides whether counting the target's threads is worth what it costs: each switch to one of them takes longer by the
//! measured cost.

use crate::model::Note;
use crate::sys::clock::monotonic_ns;
use crate::sys::procfs::{ProcFs, SchedStat, Scratch, TaskDir, sched_stat};
use crate::units::Nanos;
use std::path::Path;
use std::time::Duration;

/// How long switches are counted before counters are opened.
const LOOK: Duration = Duration::from_millis(50);
/// Of more threads, a part evenly spread over them is looked at.
const MOST_THREADS: usize = 512;

/// What the target did in some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activity {
    /// Switches to its threads.
    pub switches: f64,
    /// Its CPU time.
    pub ran: Nanos,
    /// The time.
    pub elapsed: Nanos,
}

/// The time that one switch may cost, and what it costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwitchBudget {
    /// Share of the target's CPU time, or of one CPU while it uses less than that, in percent. A thread that works and
    /// waits in turn then loses no more than this share of its speed, and an idle target does not count as expensive.
    pub percent: f64,
    /// Time that counting adds to a switch.
    pub cost: Nanos,
}

impl Activity {
    /// What these threads do in a short time; `None` if the kernel does not show it or they end.
    pub fn of(root: &Path, tids: &[u32]) -> Option<Activity> {
        activity(root, tids)
    }

    /// What switches cost if each takes so much longer, in percent of the CPU time, or of one CPU if less was used.
    pub fn percent(&self, cost: Nanos) -> f64 {
        let time = self.ran.max(self.elapsed).as_f64();
        if time > 0.0 { 100.0 * self.switches * cost.as_f64() / time } else { 0.0 }
    }

    /// Switches per second.
    pub fn rate(&self) -> f64 {
        self.switches / self.elapsed.seconds().max(f64::MIN_POSITIVE)
    }
}

impl SwitchBudget {
    /// A note on the reason, if counting costs more than allowed.
    pub fn exceeded(&self, activity: &Activity) -> Option<Note> {
        let (spent, rate) = (activity.percent(self.cost), activity.rate());
        (spent > self.percent).then(|| Note {
            topic: "counters-too-costly".to_string(),
            text: format!(
                "Hardware events are not counted: here they make each switch to a thread {:.1} us longer, and the target \
                 makes {rate:.0} switches a second: {spent:.1}% of its time, where {}% are allowed (--max-overhead).",
                self.cost.as_f64() / 1e3,
                self.percent
            ),
            fix: Some("To count nevertheless: --max-overhead 100.".to_string()),
        })
    }
}

/// What these threads do in a short time; `None` if the kernel does not tell or they end.
pub(super) fn activity(root: &Path, tids: &[u32]) -> Option<Activity> {
    let dir = TaskDir::of_machine(&ProcFs::new(root.join("proc"))).ok()?;
    let step = tids.len().div_ceil(MOST_THREADS).max(1);
    let mut scratch = Scratch::default();
    let mut read = |tid: u32| dir.read(tid, "schedstat", &mut scratch).and_then(sched_stat);
    let (begun, before) = (monotonic_ns(), tids.iter().step_by(step).map(|tid| (*tid, read(*tid))).collect::<Vec<_>>());
    std::thread::sleep(LOOK);
    let grown = before.into_iter().filter_map(|(tid, before)| Some((before?, read(tid)?))).collect::<Vec<_>>();
    let elapsed = Nanos(monotonic_ns() - begun);
    (!grown.is_empty()).then(|| grown_in(&grown, step, elapsed))
}

fn grown_in(grown: &[(SchedStat, SchedStat)], step: usize, elapsed: Nanos) -> Activity {
    let sum = |of: fn(&SchedStat) -> u64| {
        let sum: u64 = grown.iter().map(|(before, after)| of(after).saturating_sub(of(before))).sum();
        sum.saturating_mul(step as u64)
    };
    Activity { switches: sum(|stat| stat.timeslices) as f64, ran: Nanos(sum(|stat| stat.on_cpu_ns)), elapsed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    #[test]
    fn counting_is_left_out_where_switches_cost_more_than_allowed() {
        for (percent, cost_ns, switches, ran, elapsed, left_out) in [
            (2.0, 30_000, 13_000, 600, 1_000, true),
            (2.0, 30_000, 600, 600, 1_000, false),
            (2.0, 30_000, 700, 10, 1_000, true),
            (2.0, 30_000, 10, 1, 1_000, false),
            (2.0, 30_000, 13_000, 64_000, 1_000, false),
            (2.0, 1_000, 13_000, 600, 1_000, false),
            (40.0, 30_000, 13_000, 600, 1_000, false),
            (0.0, 1_000, 1, 1_000, 1_000, true),
            (0.0, 1_000, 0, 1_000, 1_000, false),
            (0.0, 1_000, 10, 0, 0, false),
        ] {
            let budget = SwitchBudget { percent, cost: Nanos(cost_ns) };
            let activity = Activity { switches: f64::from(switches), ran: ms(ran), elapsed: ms(elapsed) };
            let note = budget.exceeded(&activity);
            assert_eq!(note.is_some(), left_out, "{switches} switches, {ran} of {elapsed} ms, {percent}%");
        }
    }

    #[test]
    fn the_note_names_cost_rate_share_and_the_way_to_count() {
        let activity = Activity { switches: 650.0, ran: ms(20), elapsed: ms(50) };
        let note = SwitchBudget { percent: 2.0, cost: Nanos(30_000) }.exceeded(&activity);
        let note = note.unwrap_or_else(|| panic!("39% are too much"));
        let named = ["30.0 us", "13000 switches", "39.0%", "2% are allowed"];
        assert!(named.iter().all(|part| note.text.contains(part)), "{}", note.text);
        assert!(note.fix.is_some_and(|fix| fix.contains("--max-overhead 100")));
    }

    #[test]
    fn of_many_threads_a_part_stands_for_all() {
        let stat = |on_cpu_ns, timeslices| SchedStat { on_cpu_ns, run_delay_ns: 0, timeslices };
        let grown = [(stat(5, 1), stat(25, 4)), (stat(9, 2), stat(9, 2))];
        let expected = Activity { switches: 12.0, ran: Nanos(80), elapsed: ms(1) };
        assert_eq!(grown_in(&grown, 4, ms(1)), expected);
    }

    #[test]
    fn a_thread_that_sleeps_often_is_seen_to() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            let own = std::fs::read_link("/proc/thread-self").ok();
            let tid = own.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
            let _ = tell.send(tid);
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let tid = told.recv().ok().flatten();
        let seen = activity(Path::new("/"), &[tid.unwrap_or_else(|| panic!("the thread has no number"))]);
        drop(stop);
        let _ = sleeper.join();
        // A kernel without scheduler statistics has nothing to tell.
        if let Some(seen) = seen {
            assert!(seen.switches >= 3.0 && seen.elapsed >= ms(50), "{seen:?}");
        }
    }
}

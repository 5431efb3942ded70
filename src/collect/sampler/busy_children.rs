//! Whether the children of a process that was profiled alone worked while it did not: the master of a prefork server.

use crate::model::{Note, Target};
use crate::sys::clock::process_cpu_of;
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// Children that used more of one CPU than this work. [P]
const WORKS: f64 = 0.02;
/// They are worth a note if they used this many times what the target did. [P]
const MUCH_MORE: f64 = 10.0;
/// A target that used less of one CPU slept. [P]
const SLEPT: f64 = 0.005;

/// The topic of the note, which stands in the report instead of one on missing samples.
const TOPIC: &str = "children-not-profiled";

/// The end of a capture waits no longer for the second reading.
const PATIENCE: Duration = Duration::from_millis(200);

/// CPU times by process.
type CpuTimes = FxHashMap<u32, Nanos>;

/// CPU times of the target and of its children when the capture began.
#[derive(Debug)]
pub struct BusyChildren {
    pids: Vec<u32>,
    at: Nanos,
    before: Receiver<CpuTimes>,
}

impl BusyChildren {
    /// Reads them; `None` for a target whose children are profiled anyway.
    pub fn begin(target: &Target, at: Nanos) -> Option<BusyChildren> {
        let Target::Processes { pids, children: false } = target else { return None };
        Some(BusyChildren { pids: pids.clone(), at, before: read(pids.clone()) })
    }

    /// A note if they worked, and the target hardly did.
    pub fn note(&self, at: Nanos) -> Option<Note> {
        let before = self.before.try_recv().ok()?;
        let after = read(self.pids.clone()).recv_timeout(PATIENCE).ok()?;
        self.of(&before, &after, at)
    }

    fn of(&self, before: &CpuTimes, after: &CpuTimes, at: Nanos) -> Option<Note> {
        let span = (at - self.at).as_f64().max(1.0);
        let used = |pid: u32| {
            let after = after.get(&pid).copied().unwrap_or_default();
            (after - before.get(&pid).copied().unwrap_or_default()).as_f64() / span
        };
        let own: f64 = self.pids.iter().map(|pid| used(*pid)).sum();
        let children = after.keys().filter(|pid| !self.pids.contains(pid));
        let working: Vec<f64> = children.map(|pid| used(*pid)).filter(|used| *used > WORKS).collect();
        let all: f64 = working.iter().sum();
        if working.is_empty() || all < own * MUCH_MORE {
            return None;
        }
        let it = if self.pids.len() == 1 { ("It", "its") } else { ("They", "their") };
        let did = if own < SLEPT { "slept".to_string() } else { format!("used {:.1}% of a CPU", own * 100.0) };
        let who = match working.len() {
            1 => format!("{} child uses the CPU", it.1),
            count => format!("{} {count} children use the CPU", it.1),
        };
        Some(Note {
            topic: TOPIC.to_string(),
            text: format!(
                "{} {did}; {who} ({all:.2} CPUs), and only the processes that were named are profiled.",
                it.0
            ),
            fix: Some("Profile the children too: --children.".to_string()),
        })
    }
}

/// Reads the CPU times of these processes and their descendants on a thread of its own, as they may be many.
fn read(pids: Vec<u32>) -> Receiver<CpuTimes> {
    let (tell, told) = sync_channel(1);
    let there = move || {
        let all = ProcFs::new("/proc").with_descendants(&pids).into_iter();
        // Nobody may wait for it any more.
        let _ = tell.send(all.filter_map(|pid| Some((pid, process_cpu_of(pid)?))).collect());
    };
    // Without a thread, nothing comes.
    let _ = std::thread::Builder::new().name("children".into()).spawn(there);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note on processes 1, which is profiled, and its children, with the milliseconds that each used in a second.
    fn note(used: &[(u32, u64)]) -> Option<String> {
        let before = used.iter().filter(|(pid, _)| *pid < 9).map(|(pid, _)| (*pid, Nanos(7))).collect();
        let after = used.iter().map(|(pid, ms)| (*pid, Nanos(7 + ms * 1_000_000))).collect();
        let children = BusyChildren { pids: vec![1], at: Nanos(0), before: read(vec![]) };
        children.of(&before, &after, Nanos(1_000_000_000)).map(|note| note.text)
    }

    #[test]
    fn children_that_work_for_a_master_that_sleeps_are_counted() {
        for (used, expected) in [
            (&[(1, 0), (2, 900), (9, 1_000)][..], Some("It slept; its 2 children use the CPU (1.90 CPUs)")),
            (&[(1, 20), (2, 900), (3, 1)], Some("It used 2.0% of a CPU; its child uses the CPU (0.90 CPUs)")),
            (&[(1, 200), (2, 900)], None),
            (&[(1, 0), (2, 3)], None),
            (&[(1, 0)], None),
        ] {
            let found = note(used);
            assert_eq!(found.as_ref().map(|text| text.split(", and").next().unwrap_or("")), expected, "{used:?}");
        }
    }

    #[test]
    fn where_children_are_profiled_too_nothing_is_to_be_said() {
        let target = Target::Processes { pids: vec![std::process::id()], children: true };
        assert!(BusyChildren::begin(&target, Nanos(0)).is_none());
    }
}

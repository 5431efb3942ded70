//! The thread that runs the canaries' rounds: one round after another, each followed by a pause.

use super::layout::MemoryLevel;
use super::layout::{build, layouts};
use super::round::Sum;
use super::round::{Canary, seen_from};
use crate::error::{Context, Result};
use crate::model::Note;
use crate::sys::clock;
use crate::sys::memory_walks::{self, Pages};
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::{CacheSizes, SysFs};
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A round is followed by a pause of this many times its cost: 0.5% of one CPU at most.
const SPACING: u64 = 200;

/// More frequent rounds add no information to a window of one second.
const SHORTEST_PAUSE: Nanos = Nanos(200_000_000);

/// What the canaries have measured so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    sums: [Sum; MemoryLevel::ALL.len()],
    /// CPU time of their thread, setup included.
    pub cpu: Nanos,
    /// What could not be measured.
    pub notes: Vec<Note>,
}

impl Totals {
    /// The sum over the walks of one place; zero loads if there are none.
    #[must_use]
    pub fn of(&self, place: MemoryLevel) -> Sum {
        self.sums[place as usize]
    }
}

/// The canaries' thread; it ends when this is dropped.
#[derive(Debug)]
pub struct CanaryThread {
    totals: Arc<Mutex<Totals>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CanaryThread {
    /// Starts the thread, which sets up its memory before its first round: up to 150 MiB, most of it on machines with a
    /// large last-level cache.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(proc: ProcFs, sys: &SysFs) -> Result<CanaryThread> {
        let cpu = sys.online_cpus().ok().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
        let (sizes, nodes) = (CacheSizes::of(&sys.caches(cpu)), sys.nodes());
        let totals = Arc::new(Mutex::new(Totals::default()));
        let (stop, stopped) = channel();
        let shared = Arc::clone(&totals);
        let run = move || {
            let mut walker = Walker::open(&proc, sizes, nodes, &shared);
            walker.run(&shared, &stopped);
        };
        let thread = std::thread::Builder::new().name("probe".into()).spawn(run);
        let thread = thread.context(|| "cannot start a thread")?;
        Ok(CanaryThread { totals, stop: Some(stop), thread: Some(thread) })
    }

    /// What they have measured so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for CanaryThread {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked leaves nothing to collect.
            let _ = thread.join();
        }
    }
}

struct Walker {
    canaries: Vec<Canary>,
    nodes: Vec<u32>,
    turn: usize,
}

impl Walker {
    fn open(proc: &ProcFs, sizes: CacheSizes, nodes: Vec<u32>, shared: &Mutex<Totals>) -> Walker {
        let (layouts, missing) = layouts(sizes, &nodes);
        let mut notes: Vec<Note> = missing.into_iter().map(|(place, why)| note(place, why)).collect();
        let mut canaries = Vec::new();
        for layout in layouts {
            match build(&layout).and_then(|cycle| Canary::new(layout, cycle)) {
                Ok(canary) => canaries.push(canary),
                Err(error) => notes.push(note(layout.place, &error.to_string())),
            }
        }
        let smaps = proc.text("self/smaps").unwrap_or_default();
        let small = |canary: &Canary| canary.layout.pages == Pages::Huge && canary.has_huge_pages(&smaps) != Some(true);
        if canaries.iter().any(small) {
            notes.push(Note {
                topic: "probe-huge-pages".to_string(),
                text: "some of the canaries did not get huge pages: their times include address translation, which is \
                       not measured separately"
                    .to_string(),
                fix: Some("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_string()),
            });
            // Without huge pages there is nothing to compare the small ones with.
            canaries.retain(|canary| !matches!(canary.layout.place, MemoryLevel::HugePages | MemoryLevel::SmallPages));
        }
        let mut totals = shared.lock().unwrap_or_else(PoisonError::into_inner);
        (totals.notes, totals.cpu) = (notes, clock::thread_cpu());
        Walker { canaries, nodes, turn: 0 }
    }

    fn run(&mut self, shared: &Mutex<Totals>, stopped: &Receiver<()>) {
        let mut pause = SHORTEST_PAUSE;
        while !self.canaries.is_empty() {
            match stopped.recv_timeout(Duration::from_nanos(pause.0)) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => return,
            }
            let start = clock::thread_cpu();
            let rounds = self.round();
            let now = clock::thread_cpu();
            let mut totals = shared.lock().unwrap_or_else(PoisonError::into_inner);
            for (place, sum) in rounds {
                totals.sums[place as usize].add(sum);
            }
            totals.cpu = now;
            pause = Nanos((now - start).0.saturating_mul(SPACING)).max(SHORTEST_PAUSE);
        }
    }

    fn round(&mut self) -> Vec<(MemoryLevel, Sum)> {
        self.turn = self.turn.wrapping_add(1);
        let node = memory_walks::current_cpu().map(|(_, node)| node);
        let (nodes, turn) = (&self.nodes, self.turn);
        let seen = |canary: &mut Canary| {
            let place = seen_from(&canary.layout, node, nodes, turn)?;
            Some((place, canary.round()?))
        };
        self.canaries.iter_mut().filter_map(seen).collect()
    }
}

fn note(place: MemoryLevel, why: &str) -> Note {
    let what = match place {
        MemoryLevel::L2 => "the second-level cache",
        MemoryLevel::Llc => "the last-level cache",
        MemoryLevel::Dram => "memory",
        MemoryLevel::Remote => "memory of another node",
        MemoryLevel::SmallPages | MemoryLevel::HugePages => "address translation",
    };
    Note { topic: "probe".to_string(), text: format!("{what} is not probed: {why}"), fix: None }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn memory_is_walked_on_a_machine_that_says_nothing_and_the_thread_ends_when_dropped() {
        let root = tempfile::tempdir().unwrap();
        let probe = CanaryThread::start(ProcFs::new("/proc"), &SysFs::new(root.path())).unwrap();
        while cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
            && probe.totals().of(MemoryLevel::Dram).loads == 0
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let totals = probe.totals();
        assert!(totals.cpu > Nanos(0));
        assert_eq!(totals.of(MemoryLevel::Llc), Sum::default(), "of a size that is not known");
        assert!(totals.notes.iter().any(|note| note.text.starts_with("the last-level cache is not probed")));
        drop(probe);
    }
}

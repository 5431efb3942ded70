//! Reports the canaries' measurements as counters of the machine. The walks run on the canaries' own thread.

use super::cache::{ReadingCache, TickTiming};
use crate::collect::canaries::{CanaryThread, MemoryLevel, Totals};
use crate::collect::catalog::{
    PROBE_CPU, PROBE_DRAM_LOADS, PROBE_DRAM_TIME, PROBE_HUGE_PAGES_LOADS, PROBE_HUGE_PAGES_TIME, PROBE_L2_LOADS,
    PROBE_L2_TIME, PROBE_LLC_LOADS, PROBE_LLC_TIME, PROBE_REMOTE_LOADS, PROBE_REMOTE_TIME, PROBE_SMALL_PAGES_LOADS,
    PROBE_SMALL_PAGES_TIME,
};
use crate::model::{CounterId, Event, Note, Scope};

/// The canaries' counters.
#[derive(Debug)]
pub(super) struct Canaries {
    probe: CanaryThread,
    caches: [ReadingCache; 2],
    noted: bool,
}

impl Canaries {
    pub(super) fn new(probe: CanaryThread) -> Canaries {
        Canaries { probe, caches: Default::default(), noted: false }
    }

    /// Reports the values so far.
    pub(super) fn tick(&mut self, now: TickTiming, out: &mut Vec<Event>) {
        let totals = self.probe.totals();
        let [host, tool] = &mut self.caches;
        for (counter, value) in counters(&totals) {
            host.sum(Scope::Host, counter, value, now, out);
        }
        tool.sum(Scope::Tool, PROBE_CPU, totals.cpu.0, now, out);
    }

    /// What could not be measured, once it is known.
    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        let notes = if self.noted { Vec::new() } else { self.probe.totals().notes };
        self.noted |= !notes.is_empty();
        notes
    }
}

/// Only places that have been walked: zero loads do not mean zero latency.
fn counters(totals: &Totals) -> impl Iterator<Item = (CounterId, u64)> + '_ {
    let walked = MemoryLevel::ALL.into_iter().map(|place| (place, totals.of(place))).filter(|(_, sum)| sum.loads > 0);
    walked.flat_map(|(place, sum)| {
        let (time, loads) = match place {
            MemoryLevel::L2 => (PROBE_L2_TIME, PROBE_L2_LOADS),
            MemoryLevel::Llc => (PROBE_LLC_TIME, PROBE_LLC_LOADS),
            MemoryLevel::Dram => (PROBE_DRAM_TIME, PROBE_DRAM_LOADS),
            MemoryLevel::Remote => (PROBE_REMOTE_TIME, PROBE_REMOTE_LOADS),
            MemoryLevel::SmallPages => (PROBE_SMALL_PAGES_TIME, PROBE_SMALL_PAGES_LOADS),
            MemoryLevel::HugePages => (PROBE_HUGE_PAGES_TIME, PROBE_HUGE_PAGES_LOADS),
        };
        [(time, sum.nanos), (loads, sum.loads)]
    })
}

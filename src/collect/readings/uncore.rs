//! Reads the counters of memory controllers and of the links between sockets. They belong to no task: what they count is
//! all that the machine moves.

use super::cache::{ReadingCache, TickTiming};
use crate::collect::catalog::{MEMORY_READ, MEMORY_TRAFFIC, MEMORY_WRITTEN, SOCKET_LINK};
use crate::model::{CounterId, Event, EventKind, Note, Scope};
use crate::pmu::{UncoreCounter, UncoreTraffic};
use crate::sys::perf::event::{self, Counted, PerfEvent, Place, Request};
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::io;

/// The counters, by the CPU that they were opened on.
#[derive(Debug)]
pub(super) struct Uncore {
    counters: Vec<Opened>,
    caches: BTreeMap<Scope, ReadingCache>,
}

#[derive(Debug)]
struct Opened {
    traffic: UncoreTraffic,
    bytes: f64,
    cpu: u32,
    event: PerfEvent,
}

/// Raw and scaled bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    raw: f64,
    scaled: f64,
}

impl Uncore {
    /// Opens the counters of every unit, and starts them. The note says why there are none although the machine has the
    /// units: a sum without some of them would be too low.
    pub(super) fn open(counters: &[UncoreCounter]) -> Result<Uncore, Note> {
        let places = counters.iter().flat_map(|counter| counter.cpus.iter().map(move |cpu| (counter, *cpu)));
        let opened: Result<Vec<_>, Note> =
            places.map(|(counter, cpu)| open(counter, cpu).map_err(|error| refused(counter, &error))).collect();
        Ok(Uncore { counters: opened?, caches: BTreeMap::new() })
    }

    /// Reports the bytes moved so far.
    pub(super) fn tick(&mut self, now: TickTiming, out: &mut Vec<Event>) {
        let mut sums: BTreeMap<(Scope, CounterId), Option<Moved>> = BTreeMap::new();
        for counter in &self.counters {
            let moved = counter.event.read().ok().and_then(|counted| moved(counted, counter.bytes));
            for id in counters_of(counter.traffic) {
                for scope in [Scope::Host, Scope::Cpu(counter.cpu)] {
                    let sum = sums.entry((scope, *id)).or_insert(Some(Moved::default()));
                    *sum = sum.zip(moved).map(|(a, b)| Moved { raw: a.raw + b.raw, scaled: a.scaled + b.scaled });
                }
            }
        }
        for ((scope, id), sum) in sums {
            let Some(Moved { raw, scaled }) = sum else { continue };
            let share = if scaled > 0.0 { raw / scaled } else { 1.0 };
            let timing = TickTiming { running: Nanos((now.enabled.as_f64() * share) as u64), ..now };
            self.caches.entry(scope).or_default().sum(scope, id, raw as u64, timing, out);
        }
    }
}

fn open(counter: &UncoreCounter, cpu: u32) -> io::Result<Opened> {
    let EventKind::Raw { pmu, config, config1, config2 } = counter.kind else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let request = Request::counting(pmu, [config, config1, config2]);
    let event = event::open(&request, &[], Place::Cpu(cpu))?.pop().ok_or(io::ErrorKind::NotFound)?;
    event.enable()?;
    Ok(Opened { traffic: counter.traffic, bytes: counter.bytes, cpu, event })
}

/// `None` if it has not counted yet although it was to.
fn moved(counted: Counted, bytes: f64) -> Option<Moved> {
    let Counted { value, enabled_ns, running_ns } = counted;
    let raw = value as f64 * bytes;
    match (enabled_ns, running_ns) {
        (0, _) => Some(Moved { raw, scaled: raw }),
        (_, 0) => None,
        (enabled, running) => Some(Moved { raw, scaled: raw * enabled as f64 / running as f64 }),
    }
}

/// The sums that it is part of.
fn counters_of(traffic: UncoreTraffic) -> &'static [CounterId] {
    match traffic {
        UncoreTraffic::MemoryRead => &[MEMORY_READ, MEMORY_TRAFFIC],
        UncoreTraffic::MemoryWritten => &[MEMORY_WRITTEN, MEMORY_TRAFFIC],
        UncoreTraffic::Memory => &[MEMORY_TRAFFIC],
        UncoreTraffic::SocketLink => &[SOCKET_LINK],
    }
}

fn refused(counter: &UncoreCounter, error: &io::Error) -> Note {
    let fix = (error.kind() == io::ErrorKind::PermissionDenied)
        .then(|| "Run as root, with CAP_PERFMON, or with kernel.perf_event_paranoid at 0.".to_string());
    let text = format!("memory bandwidth and links between sockets are not counted: {}: {error}", counter.name);
    Note { topic: "uncore".to_string(), text, fix }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The CPU's clock stands for a unit: it counts nanoseconds wherever the kernel counts at all.
    fn clock(traffic: UncoreTraffic, bytes: f64) -> UncoreCounter {
        let kind = EventKind::Raw { pmu: event::SOFTWARE, config: 0, config1: 0, config2: 0 };
        UncoreCounter { name: "unit/clock/".to_string(), traffic, kind, bytes, cpus: vec![0] }
    }

    #[test]
    fn reads_and_writes_are_summed_for_the_machine_and_for_each_socket() {
        let counters = [clock(UncoreTraffic::MemoryRead, 2.0), clock(UncoreTraffic::MemoryWritten, 1.0)];
        let Ok(mut uncore) = Uncore::open(&counters) else { return };
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut out = Vec::new();
        uncore.tick(TickTiming::whole(Nanos(9), Nanos(9)), &mut out);
        let value = |scope, id| {
            out.iter().find_map(|event| match event {
                Event::Reading(it) if (it.scope, it.counter) == (scope, id) => Some(it.value),
                _ => None,
            })
        };
        for scope in [Scope::Host, Scope::Cpu(0)] {
            let [read, written, all] =
                [MEMORY_READ, MEMORY_WRITTEN, MEMORY_TRAFFIC].map(|id| value(scope, id).unwrap());
            assert!(read > 2 * 20_000_000 && written > 20_000_000, "{read} {written}");
            assert!(all.abs_diff(read + written) <= 1, "{all} is not {read} and {written}");
        }
        assert_eq!(value(Scope::Host, SOCKET_LINK), None, "not 0: nothing counts it");
    }

    #[test]
    fn a_unit_that_cannot_be_opened_leaves_no_sum_that_lacks_it() {
        let unknown = UncoreCounter {
            kind: EventKind::Raw { pmu: 9999, config: 0, config1: 0, config2: 0 },
            ..clock(UncoreTraffic::MemoryRead, 1.0)
        };
        let note = Uncore::open(&[clock(UncoreTraffic::MemoryRead, 1.0), unknown]).unwrap_err();
        assert!(note.text.contains("unit/clock/"), "{note:?}");
    }

    #[test]
    fn a_counter_that_took_turns_is_scaled_and_one_that_never_ran_is_unknown() {
        let counted = |value, enabled_ns, running_ns| Counted { value, enabled_ns, running_ns };
        let Moved { raw, scaled } = moved(counted(10, 100, 50), 64.0).unwrap();
        assert_eq!((raw, scaled), (640.0, 1280.0));
        assert!(moved(counted(0, 100, 0), 64.0).is_none());
        assert!(moved(counted(0, 0, 0), 64.0).is_some());
    }
}

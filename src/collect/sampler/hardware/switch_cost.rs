//! Measures how much longer a context switch takes while a plan's groups count the switching thread. Saving and
//! restoring them takes a microsecond on a real PMU, and tens of microseconds through a hypervisor.

use crate::sys::affinity::OneCpu;
use crate::sys::clock::monotonic_ns;
use crate::sys::memory_walks;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{JoinHandle, Thread};

/// Number of round trips; only the fastest counts, because others may have been interrupted.
const ROUNDS: u32 = 40;
/// Time limit for them, for a machine where each has to wait for a CPU.
const MEASURING_TIME: Nanos = Nanos(5_000_000);
/// A slower round trip without counters had to wait for a CPU: measure again.
const WAITED: Nanos = Nanos(25_000);
const ATTEMPTS: u32 = 5;
/// Below this share of a switch without counters, the difference is noise of the clock and the scheduler.
const NOISE: f64 = 0.5;

/// Time that `open` adds to a switch of this thread; `None` if nothing opens or it is noise. Takes some milliseconds.
pub(super) fn switch_cost<T>(open: impl Fn() -> Option<T>) -> Option<Nanos> {
    // To wake an idle CPU takes longer than what is measured.
    let _one_cpu = memory_walks::current_cpu().and_then(|(cpu, _)| OneCpu::stay_on(cpu));
    let partner = Partner::start()?;
    let (mut bare, mut counted) = (Nanos(u64::MAX), Nanos(u64::MAX));
    for _ in 0..ATTEMPTS {
        bare = bare.min(partner.fastest());
        counted = counted.min(open().map(|_open| partner.fastest())?);
        if bare <= WAITED {
            break;
        }
    }
    let cost = counted.0.checked_sub(bare.0)?;
    (cost as f64 > NOISE * bare.0 as f64).then_some(Nanos(cost))
}

/// The same without a limit of noise, for what adds less. If the events are `inherited`, the thread that answers has a copy of
/// them, and a round trip has two such switches.
pub fn time_added_to_switches<T>(open: impl Fn() -> Option<T>, inherited: bool) -> Option<Nanos> {
    let _one_cpu = memory_walks::current_cpu().and_then(|(cpu, _)| OneCpu::stay_on(cpu));
    let partner = Partner::start()?;
    let (mut bare, mut more) = (Nanos(u64::MAX), Nanos(u64::MAX));
    for attempt in 0..2 * ATTEMPTS {
        bare = bare.min(partner.fastest());
        let _open = open()?;
        more = more.min(if inherited { Partner::start()?.fastest() } else { partner.fastest() });
        // Beside other programs, the first of them can show that less takes longer.
        if attempt >= 2 && bare < more && more <= WAITED {
            break;
        }
    }
    let added = more.0.checked_sub(bare.0)?;
    Some(Nanos(if inherited { added / 2 } else { added }))
}

/// A thread that answers each time it is woken.
struct Partner {
    turn: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

const OVER: u32 = u32::MAX;

impl Partner {
    fn start() -> Option<Partner> {
        let turn = Arc::new(AtomicU32::new(0));
        let (own, caller): (_, Thread) = (Arc::clone(&turn), std::thread::current());
        let answer = move || {
            loop {
                match own.load(Ordering::Acquire) {
                    OVER => return,
                    asked if asked % 2 == 1 => {
                        // The end may have been signalled meanwhile, and must persist.
                        let _ = own.compare_exchange(asked, asked.wrapping_add(1), Ordering::AcqRel, Ordering::Acquire);
                        caller.unpark();
                    }
                    _ => std::thread::park(),
                }
            }
        };
        let thread = std::thread::Builder::new().name("switch-cost".into()).spawn(answer).ok()?;
        Some(Partner { turn, thread: Some(thread) })
    }

    /// The fastest of several round trips: in each, this thread leaves its CPU and comes back once.
    fn fastest(&self) -> Nanos {
        let round = || {
            let begun = monotonic_ns();
            let asked = self.turn.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
            self.thread.iter().for_each(|thread| thread.thread().unpark());
            while self.turn.load(Ordering::Acquire) == asked {
                std::thread::park();
            }
            monotonic_ns() - begun
        };
        let (end, mut fastest) = (monotonic_ns() + MEASURING_TIME.0, round());
        for _ in 1..ROUNDS {
            fastest = fastest.min(round());
            if monotonic_ns() > end {
                break;
            }
        }
        Nanos(fastest)
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.turn.store(OVER, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It ends at once; a panic there costs only the measurement.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::affinity;

    #[test]
    fn what_adds_nothing_costs_nothing_and_nothing_opened_has_no_cost() {
        assert_eq!(switch_cost(|| None::<()>), None);
        let cost = (0..5).filter_map(|_| switch_cost(|| Some(()))).map(|cost| cost.0).min();
        assert!(cost.is_none_or(|cost| cost < 1_000_000), "{cost:?}");
    }

    #[test]
    fn a_measurement_leaves_the_thread_on_the_cpus_it_had() {
        let allowed = affinity::get(0).ok();
        let alone = || affinity::get(0).ok().filter(|cpus| cpus.len() == 1);
        assert!(switch_cost(alone).is_none_or(|cost| cost.0 < 1_000_000));
        assert_eq!(affinity::get(0).ok(), allowed);
    }

    #[test]
    fn every_question_is_answered_and_the_thread_ends() {
        let partner = Partner::start().expect("a thread");
        let fastest = [partner.fastest(), partner.fastest()];
        assert!(fastest.iter().all(|time| time.0 > 0), "{fastest:?}");
        let turns = partner.turn.load(Ordering::Acquire);
        assert!(turns >= 4 && turns.is_multiple_of(2) && turns <= 4 * ROUNDS, "{turns}");
    }
}

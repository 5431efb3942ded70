//! Measures how long a sample interrupts the sampled thread: before the capture begins, this thread reads the clock over
//! and over, is sampled into the same ring as the target, and looks how long it was away each time.

use super::event_requests::EventRequests;
use super::origin::RingKind;
use super::rings::Rings;
use crate::model::Rate;
use crate::sys::affinity::OneCpu;
use crate::sys::clock::monotonic_ns;
use crate::sys::memory_walks::current_cpu;
use crate::sys::perf::event::{self, Inherit, PerfEvent, Place, Request};
use crate::sys::perf::ring::Ring;
use crate::units::Nanos;
use std::hint::black_box;

/// Number of samples; the median counts, because others may have been interrupted once more.
const SAMPLES: usize = 9;
/// Fewer have no meaningful median.
const FEWEST: usize = 4;
/// Time limit for them, in nanoseconds on the CPU.
const MEASURING_TIME: u64 = 8_000_000;
/// A longer time away was not for a sample, and is not counted as longer than this.
const LONGEST: u64 = 200_000;
/// Period of a clock meanwhile: no frequency, as `kernel.perf_event_max_sample_rate` limits these.
const CLOCK_PERIOD: Rate = Rate::Period(100_000);
/// Frequencies of other events meanwhile: the first that is allowed.
const FREQUENCIES: [Rate; 3] = [Rate::Frequency(10_000), Rate::Frequency(3_000), Rate::Frequency(1_000)];
/// Bytes of stack that each call below the loop takes.
const FRAME: usize = 256;
/// Calls below the loop: enough for a usual call chain, and not too many for a thread's stack.
const CALLS: std::ops::RangeInclusive<usize> = 32..=256;

/// Time that a sample costs the sampled thread, with a stack as deep as is copied; the mean over the events, `None` if
/// the kernel takes no such samples of this thread. Takes some milliseconds.
pub(super) fn sample_cost(event_requests: &EventRequests, rings: &mut Rings, cpus: &[u32]) -> Option<Nanos> {
    let (current, _) = current_cpu()?;
    let at = cpus.iter().position(|cpu| *cpu == current).unwrap_or(0);
    let cpu = *cpus.get(at)?;
    let _one_cpu = OneCpu::stay_on(cpu)?;
    let ring = rings.of_mut(RingKind::Samples, at)?;
    // What samples memory accesses would find none in this loop.
    let is_sampled = |request: &&Request| request.rate.is_some() && !request.layout.access;
    let sampled: Vec<&Request> = event_requests.sampled().filter(is_sampled).collect();
    let costs: Option<Vec<u64>> = sampled.iter().map(|request| cost_of(request, ring, cpu)).collect();
    costs?.iter().sum::<u64>().checked_div(sampled.len() as u64).map(Nanos)
}

fn cost_of(request: &Request, ring: &mut Ring, cpu: u32) -> Option<u64> {
    if request.pmu == event::TRACEPOINT || request.exclude.user {
        return None;
    }
    let rates = if request.is_clock() { &[CLOCK_PERIOD][..] } else { &FREQUENCIES[..] };
    let event = rates.iter().find_map(|rate| {
        let own = Request {
            rate: Some(*rate),
            inherit: Inherit::No,
            enable_on_exec: false,
            pinned: false,
            ..request.clone()
        };
        event::open(&own, &[], Place::Task { tid: 0, cpu: Some(cpu) }).ok()?.pop()
    })?;
    event.redirect(ring.owner()).ok()?;
    let calls = (request.layout.stack_bytes as usize / FRAME).clamp(*CALLS.start(), *CALLS.end());
    let mut away = below(calls, &mut || times_away(&event, ring));
    let middle = away.len() / 2;
    (away.len() >= FEWEST).then(|| *away.select_nth_unstable(middle).1)
}

/// Runs `work` this many calls deeper.
#[inline(never)]
fn below<T>(calls: usize, work: &mut dyn FnMut() -> T) -> T {
    let frame = black_box([0_u8; FRAME]);
    let result = if calls > 0 { below(calls - 1, work) } else { work() };
    black_box(&frame);
    result
}

/// How long each sample interrupted this loop, in nanoseconds. Leaves the ring empty.
fn times_away(event: &PerfEvent, ring: &mut Ring) -> Vec<u64> {
    let (mut away, mut fastest) = (Vec::with_capacity(SAMPLES), u64::MAX);
    if event.enable().is_err() {
        return away;
    }
    // The first samples of a hardware event come in a burst, while the kernel looks for the period.
    skip(ring);
    let (mut before, mut last, mut looked) = (monotonic_ns(), 0, 0);
    while away.len() < SAMPLES && looked < MEASURING_TIME {
        let sampled = skip(ring);
        let now = monotonic_ns();
        let round = now - before;
        looked += round.min(LONGEST);
        if sampled {
            // The sample came after the ring was looked at in the last round, or before it was in this one.
            away.push(round.max(last));
        } else {
            fastest = fastest.min(round);
        }
        (before, last) = (now, round);
    }
    // It fails only for an event that is closed.
    let _ = event.disable();
    skip(ring);
    away.iter_mut().for_each(|away| *away = away.saturating_sub(fastest));
    away
}

/// Consumes all records; false if there are none.
fn skip(ring: &mut Ring) -> bool {
    ring.refresh();
    let mut any = false;
    while let Some(length) = ring.peek().map(<[u8]>::len) {
        ring.consume(length);
        any = true;
    }
    ring.release();
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::event_requests::{EventGroup, layout};
    use crate::collect::sampler::origin::Role;
    use crate::model::CallGraph;
    use crate::sys::affinity;
    use std::path::Path;

    /// What samples of these requests cost; `None` also where no rings may be opened.
    fn measured(requests: Vec<Request>) -> Option<Nanos> {
        let roles = (0..requests.len()).map(|index| Role::Event(index as u16)).collect();
        let set = EventGroup { requests, roles, name: "it".to_string(), everywhere: false, cpus: vec![] };
        let event_requests = EventRequests { sets: vec![set], ..EventRequests::default() };
        let cpus = affinity::get(0).ok()?;
        let (mut rings, _) = Rings::open(&cpus, &event_requests, Path::new("/")).ok()?;
        let cost = sample_cost(&event_requests, &mut rings, &cpus);
        assert!(rings.all_mut().iter_mut().all(|ring| !skip(ring)), "records of the trial are left");
        assert_eq!(affinity::get(0).ok(), Some(cpus), "the thread keeps its CPUs");
        cost
    }

    fn clock(method: CallGraph) -> Request {
        let mut request = Request::counting(event::SOFTWARE, [0; 3]);
        (request.exclude.kernel, request.exclude.hv) = (true, true);
        Request { rate: Some(Rate::Frequency(997)), layout: layout(method, true), ..request }
    }

    #[test]
    fn a_sample_takes_microseconds_and_nothing_of_the_trial_is_left() {
        for method in [CallGraph::None, CallGraph::FramePointer, CallGraph::Auto] {
            let cost = measured(vec![clock(method)]);
            assert!(cost.is_none_or(|cost| (100..2_000_000).contains(&cost.0)), "{method:?}: {cost:?}");
        }
    }

    #[test]
    fn what_takes_no_samples_of_this_loop_has_no_known_cost() {
        let tracepoint = Request { pmu: event::TRACEPOINT, ..clock(CallGraph::None) };
        let mut kernel = clock(CallGraph::None);
        kernel.exclude.user = true;
        let nowhere = Request { pmu: u32::MAX, ..clock(CallGraph::None) };
        for (name, request) in [("a tracepoint", tracepoint), ("the kernel", kernel), ("no event", nowhere)] {
            assert_eq!(measured(vec![clock(CallGraph::None), request]), None, "{name}");
        }
        assert_eq!(measured(vec![]), None);
    }
}

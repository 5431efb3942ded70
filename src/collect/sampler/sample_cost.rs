//! Measures the CPU time that a sample takes from the sampled thread: before the capture begins, this thread reads its CPU
//! clock over and over, is sampled into the same ring as the target, and looks how much time it lost each time.

use super::event_requests::EventRequests;
use super::origin::RingKind;
use super::rings::Rings;
use crate::model::Rate;
use crate::sys::affinity::OneCpu;
use crate::sys::clock::{monotonic_ns, thread_cpu};
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
/// Time limit on the wall clock, where others keep this thread from its CPU.
const LONGEST_TRIAL: u64 = 80_000_000;
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
    let [cpu_times, wall_times] = below(calls, &mut || times_away(&event, ring));
    (cpu_times.len() >= FEWEST).then(|| cost_from(cpu_times, &wall_times))
}

/// The median of the CPU times. Kernels that account interrupts apart (`CONFIG_IRQ_TIME_ACCOUNTING`) leave them out of a
/// thread's CPU time: there the shortest wall time counts, in which no other program had the CPU.
fn cost_from(mut cpu_times: Vec<u64>, wall_times: &[u64]) -> u64 {
    let middle = cpu_times.len() / 2;
    let median = *cpu_times.select_nth_unstable(middle).1;
    let shortest = wall_times.iter().copied().min().unwrap_or(0);
    if median < shortest / 2 { shortest } else { median }
}

/// Runs `work` this many calls deeper.
#[inline(never)]
fn below<T>(calls: usize, work: &mut dyn FnMut() -> T) -> T {
    let frame = black_box([0_u8; FRAME]);
    let result = if calls > 0 { below(calls - 1, work) } else { work() };
    black_box(&frame);
    result
}

/// How long each sample interrupted this loop, in nanoseconds of CPU time and of the wall clock. Leaves the ring empty.
fn times_away(event: &PerfEvent, ring: &mut Ring) -> [Vec<u64>; 2] {
    let mut away = [(); 2].map(|()| Vec::with_capacity(SAMPLES));
    if event.enable().is_err() {
        return away;
    }
    // The first samples of a hardware event come in a burst, while the kernel looks for the period.
    skip(ring);
    let clocks = || [thread_cpu().0, monotonic_ns()];
    let (began, mut before, mut last, mut fastest) = (clocks(), clocks(), [0; 2], [u64::MAX; 2]);
    while away[0].len() < SAMPLES && before[0] - began[0] < MEASURING_TIME && before[1] - began[1] < LONGEST_TRIAL {
        let sampled = skip(ring);
        let now = clocks();
        let round: [u64; 2] = std::array::from_fn(|clock| now[clock] - before[clock]);
        for clock in 0..2 {
            if sampled {
                // The sample came after the ring was looked at in the last round, or before it was in this one.
                away[clock].push(round[clock].max(last[clock]));
            } else {
                fastest[clock] = fastest[clock].min(round[clock]);
            }
        }
        (before, last) = (now, round);
    }
    // It fails only for an event that is closed.
    let _ = event.disable();
    skip(ring);
    for (away, fastest) in away.iter_mut().zip(fastest) {
        away.iter_mut().for_each(|away| *away = away.saturating_sub(fastest));
    }
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
    fn time_that_others_had_the_cpu_is_no_cost_and_interrupts_accounted_apart_are() {
        for (name, cpu_times, wall_times, cost) in [
            ("a quiet machine", [2_100, 2_000, 2_300, 9_000], [2_200, 2_100, 2_400, 9_100], 2_300),
            ("others on the CPU", [2_100, 2_000, 2_300, 2_200], [2_300, 99_000, 288_000, 4_000_000], 2_200),
            ("interrupts apart", [40, 0, 60, 50], [2_200, 99_000, 2_400, 4_000_000], 2_200),
        ] {
            assert_eq!(cost_from(cpu_times.to_vec(), &wall_times), cost, "{name}");
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

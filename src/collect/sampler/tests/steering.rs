//! What samples weigh when the frequency changes while they are taken.

use crate::collect::sampler::sampling_rate::SamplingRate;
use crate::collect::sampler::{LastReading, Reader, Sampler};
use crate::model::{CallGraph, Event, EventSpec, Plan, Rate, Sample, Target};
use crate::sys::clock::{Clock, thread_cpu};
use crate::sys::signals::StopToken;
use crate::units::Nanos;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};

/// A time that no wait for a CPU on a busy machine makes too short.
const LONG: Nanos = Nanos(1_500_000_000);

/// Weights of a clock's samples, nanoseconds: a period within 30% of 997 Hz, and at most half of the one before.
const VARIED: Range<u64> = 770_000..2_200_000;

struct NoReader(Clock);

impl Reader for NoReader {
    fn begin(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn end(&mut self) -> LastReading {
        LastReading { at: self.0.now(), ..LastReading::default() }
    }
}

/// The samples of a thread that computes all the time, and its CPU time meanwhile. `None` where nothing may be sampled.
fn sampled(rate: impl FnOnce(&SamplingRate) -> SamplingRate) -> Option<(Vec<Sample>, Nanos, Vec<String>)> {
    sampled_events(Vec::new(), rate)
}

/// The same, of these events.
pub(super) fn sampled_events(
    events: Vec<EventSpec>,
    rate: impl FnOnce(&SamplingRate) -> SamplingRate,
) -> Option<(Vec<Sample>, Nanos, Vec<String>)> {
    let ((tell, told), (begin, begun)) = (channel(), channel::<()>());
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = scope.spawn(move || {
            let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32);
            let _ = begun.recv();
            let before = thread_cpu();
            while !stop.load(Ordering::Relaxed) {
                std::hint::black_box((0..10_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
            }
            thread_cpu() - before
        });
        let tids = told.recv().into_iter().collect();
        let plan = Plan::new(Target::Threads { tids }, Rate::Frequency(997), CallGraph::Auto);
        let plan = Plan { events, duration: Some(LONG), interval: Nanos(100_000_000), ..plan };
        let clock = Clock::start();
        let opened = Sampler::open(&plan, &clock).map(|mut sampler| {
            sampler.sampling = rate(&sampler.sampling);
            let (sender, batches) = sync_channel(1 << 16);
            drop(begin);
            let ended = sampler.run(sender, StopToken::new().expect("a token"), &mut NoReader(clock)).expect("samples");
            (batches.into_iter().flatten(), ended)
        });
        stop.store(true, Ordering::Relaxed);
        let ran = busy.join().expect("it ends");
        let (events, ended) = opened.inspect_err(|error| crate::skips::skip("perf", error)).ok()?;
        let samples = events.filter_map(|event| if let Event::Sample(sample) = event { Some(sample) } else { None });
        Some((samples.collect(), ran, ended.notes.into_iter().map(|note| note.topic).collect()))
    })
}

fn weight(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.weight as f64).sum()
}

#[test]
fn samples_stand_for_the_same_cpu_time_before_and_after_the_frequency_changes() {
    // Nothing is allowed, and the cost of a sample is unknown: what draining costs lowers the frequency on the way.
    let Some((samples, ran, notes)) = sampled(|rate| SamplingRate::new(rate.hertz, Some(1e-6), None)) else { return };
    assert_eq!(notes, ["sampling-slowed"]);
    let clock = samples.first().is_some_and(|first| VARIED.contains(&first.weight));
    let (fast, slow): (Vec<Sample>, Vec<Sample>) = samples.iter().partition(|sample| sample.weight < 5_000_000);
    if clock {
        // Beside other programs the thread runs for a part of the time only.
        assert!(fast.len() > 10 && slow.len() > 1, "{} and {} samples", fast.len(), slow.len());
        let last_fast = fast.iter().map(|sample| sample.at).max();
        assert!(slow.iter().map(|sample| sample.at).min() > last_fast, "one change");
        let (share, one) = (weight(&samples) / ran.as_f64(), weight(&slow[..1]) / ran.as_f64());
        assert!((0.9 - one..1.05 + one).contains(&share), "samples stand for {share} of the CPU time, one for {one}");
    }
}

#[test]
fn without_a_limit_the_frequency_stays() {
    let Some((samples, ran, notes)) = sampled(|rate| SamplingRate::new(rate.hertz, None, rate.cost)) else { return };
    assert!(notes.is_empty(), "{notes:?}");
    let first = samples.first().map_or(0, |first| first.weight);
    if VARIED.contains(&first) {
        assert!(samples.iter().all(|sample| VARIED.contains(&sample.weight)));
        let periods: HashSet<u64> = samples.iter().map(|sample| sample.weight).collect();
        assert!(periods.len() > 10, "{} periods", periods.len());
        let share = weight(&samples) / ran.as_f64();
        assert!((0.85..1.1).contains(&share), "samples stand for {share} of the CPU time");
    }
}

//! Measures memory bandwidth in bytes per second: read, write and copy, by one thread and by one thread on every CPU.
//! Only the bytes moved here count.

use crate::error::Result;
use crate::model::BandwidthRow;
use crate::sys::affinity;
use crate::sys::clock::monotonic_ns;
use crate::sys::memory_walks::{Pages, Region};
use std::sync::Barrier;

/// Runs per stream; the median is reported.
const RUNS: usize = 5;
/// Duration of a run in nanoseconds.
const LONG: u64 = 60_000_000;
/// Each thread streams through at least this much, even if the total then exceeds `bytes`.
const LEAST: u64 = 4 << 20;

#[derive(Debug, Clone, Copy)]
enum Stream {
    Read,
    Write,
    Copy,
}

const STREAMS: [(Stream, &str, f64); 3] =
    [(Stream::Read, "read", 1.0), (Stream::Write, "write", 1.0), (Stream::Copy, "copy", 2.0)];

/// Streams through `bytes`, divided among the threads.
pub(super) fn measure(cpus: &[u32], bytes: u64, unknown: &mut Vec<String>) -> Vec<BandwidthRow> {
    let mut rows = Vec::new();
    let widths = if cpus.len() > 1 { vec![&cpus[..1], cpus] } else { vec![cpus] };
    for cpus in widths {
        for (stream, what, factor) in STREAMS {
            match runs(stream, cpus, bytes) {
                Ok(mut runs) => {
                    runs.sort_by(f64::total_cmp);
                    let told = |at: usize| runs.get(at).map_or(0.0, |run| run * factor);
                    rows.push(BandwidthRow {
                        what: what.to_string(),
                        threads: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
                        bytes_per_s: told(runs.len() / 2),
                        spread: [told(0), told(runs.len().saturating_sub(1))],
                    });
                }
                Err(error) => unknown.push(format!("{what} by {} threads: {error}", cpus.len())),
            }
        }
    }
    rows
}

/// Bytes per second of each run, summed over all threads.
fn runs(stream: Stream, cpus: &[u32], bytes: u64) -> Result<Vec<f64>> {
    let each = (bytes / cpus.len().max(1) as u64).max(LEAST) / 2 / 4096 * 4096;
    let start = Barrier::new(cpus.len());
    let thread = |cpu: u32| {
        // An unpinned thread still moves bytes; the spread shows the effect.
        let _ = affinity::set(0, &[cpu]);
        let region = || Region::map(each, Pages::Huge, None);
        let mut regions = region().and_then(|from| Ok((from, region()?)));
        if let Ok((from, to)) = &mut regions {
            from.write(1);
            to.write(2);
        }
        let runs: Vec<Result<f64>> = (0..RUNS).map(|_| run(stream, &mut regions, &start)).collect();
        runs.into_iter().collect::<Result<Vec<f64>>>()
    };
    let per_thread: Vec<Result<Vec<f64>>> = std::thread::scope(|scope| {
        let thread = &thread;
        let running: Vec<_> = cpus.iter().map(|&cpu| scope.spawn(move || thread(cpu))).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let per_thread = per_thread.into_iter().collect::<Result<Vec<_>>>()?;
    Ok((0..RUNS).map(|run| per_thread.iter().filter_map(|rates| rates.get(run)).sum()).collect())
}

/// One thread's part of a run. A thread without memory still waits at the barrier, or the others would wait forever.
fn run(stream: Stream, regions: &mut Result<(Region, Region)>, start: &Barrier) -> Result<f64> {
    start.wait();
    let (from, to) = match regions {
        Ok((from, to)) => (from, to),
        Err(error) => return Err(crate::error::Error::new(error.kind(), error.to_string())),
    };
    let begin = monotonic_ns();
    let (mut moved, mut now) = (0u64, begin);
    while now - begin < LONG {
        match stream {
            Stream::Read => {
                std::hint::black_box(from.read());
            }
            Stream::Write => from.write(3),
            Stream::Copy => to.copy(from),
        }
        moved += from.bytes();
        now = monotonic_ns();
    }
    Ok(moved as f64 / (now - begin).max(1) as f64 * 1e9)
}

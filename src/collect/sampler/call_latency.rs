//! Measures the latency of calls in the kernel: two probes, with a program on each.

use super::operations::{Operations, Place, processes};
use super::probe::{self, Probe, Search, Wanted};
use crate::error::{Context, Error, Result};
use crate::model::{Event, LatencyCount, LatencySpec, Note, Plan};
use crate::sys::bpf::{CallEnds, CallLengths};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The open probes. Fields drop in order: the events before the programs on them.
#[derive(Debug)]
pub struct CallLatency {
    ends: Operations,
    begins: Operations,
    lengths: CallLengths,
    /// What was read of each step, by its shortest length.
    before: FxHashMap<u64, u64>,
}

impl CallLatency {
    /// Opens the plan's latency probes, stopped; `None` if it has none. Arguments as for [`Operations::open`].
    ///
    /// # Errors
    /// As [`Operations::open`]; `NotPermitted` without the right to load programs.
    pub fn open(plan: &Plan, place: &Place<'_>, notes: &mut Vec<Note>) -> Result<Option<CallLatency>> {
        let (binary, wanted, limits) = match &plan.latency {
            Some(LatencySpec::Calls { binary, symbol }) => {
                (binary, [Wanted::Calls(symbol), Wanted::Returns(symbol)], CallEnds::EntryAndReturn)
            }
            Some(LatencySpec::Probes { binary, provider, begin, end }) => {
                let hits = |name| Wanted::Hits(provider.as_deref(), name);
                (binary, [hits(begin), hits(end)], CallEnds::TwoProbes)
            }
            None => return Ok(None),
        };
        let lengths = CallLengths::open(limits).map_err(|error| {
            Error::from(error)
                .context("cannot load the programs that measure latencies in the kernel")
                .hint("Run as root, or with CAP_BPF and CAP_PERFMON.")
        })?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = Search { pids: &processes(&plan.target), path: &path, root: place.root };
        let mut open = |wanted| {
            let probe = Probe::define(binary, wanted, &search)?;
            Operations::of_probe(probe, &plan.target, place, notes)
        };
        let [begin, end] = wanted;
        let (begins, ends) = (open(begin)?, open(end)?);
        for (events, program) in [&begins, &ends].into_iter().zip(lengths.programs()) {
            events.attach(program).context(|| "cannot attach a program to a probe")?;
        }
        let cost = begins.cost_ns().map_or("unknown".to_string(), |cost| format!("{} (measured)", probe::each(cost)));
        let label = plan.latency.as_ref().map(LatencySpec::label).unwrap_or_default();
        let text = format!("Latency of {label}: two probes slow each operation; what the first one costs is {cost}.");
        notes.push(Note { topic: "latency-probes".to_string(), text, fix: None });
        Ok(Some(CallLatency { ends, begins, lengths, before: FxHashMap::default() }))
    }

    /// Starts measuring. An end without its beginning counts nothing, so the ends come first.
    pub fn enable(&self) {
        self.ends.enable();
        self.begins.enable();
    }

    /// Reports the calls that ended since the last reading, by their length.
    pub fn read(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let before = &mut self.before;
        // A failed reading loses nothing: the next one has its calls too.
        let _ = self.lengths.read(|step, total| {
            let before = before.entry(step.low).or_default();
            let count = total - std::mem::replace(before, total);
            if count > 0 {
                let (low, high) = (Nanos(step.low), Some(Nanos(step.high)));
                out.push(Event::Latency(LatencyCount { at, low, high, count }));
            }
        });
    }

    /// Notes on what was measured, once it has been read for the last time.
    pub fn verdict(&mut self, measured: Nanos) -> Vec<Note> {
        let note = |topic: &str, text: String| Note { topic: topic.to_string(), text, fix: None };
        let mut notes = self.begins.verdict(measured);
        let left_out = self.lengths.left_out().unwrap_or_default();
        let (begun, ended) = (self.begins.count(), self.ends.count());
        let timed: u64 = self.before.values().sum();
        // Seen on 6.18: of some thousand ends, the kernel runs the program at all but one, and counts that one, too.
        let missed = ended.saturating_sub(timed + left_out.ends);
        if missed > 0 {
            let share = 100.0 * missed as f64 / (timed + missed) as f64;
            let text = format!("{missed} operations ({share:.2}%) were not timed: the kernel left out their end.");
            notes.push(note("latency-missed", text));
        }
        if left_out.crowded > 0 {
            let text =
                format!("{} operations were not timed: too many threads were within one at once.", left_out.crowded);
            notes.push(note("latency-crowded", text));
        }
        if begun > 0 && timed == 0 {
            let text = "Operations began, and none ended in the thread that it began in.".to_string();
            let fix = Some("Measure a function that returns for each operation.".to_string());
            notes.push(Note { fix, ..note("latency-endless", text) });
        }
        notes
    }
}

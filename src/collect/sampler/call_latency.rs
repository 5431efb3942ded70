//! Measures the latency of calls in the kernel: two probes, with a program on each. The calls among the slowest are also
//! reported one by one, with a random part of the others to compare them with.

use super::latency_turns::LatencyTurns;
use super::operations::{Operations, Place, processes};
use super::ops_trial::MOST_PERCENT;
use super::probe::{self, Probe, Search, Wanted};
use crate::collect::catalog;
use crate::error::{Context, Error, Result};
use crate::model::{CounterReading, Event, LatencyCount, LatencySpec, Note, Plan, Scope, Target, TimedOperation};
use crate::sys::bpf::{CallEnds, CallLengths, KeptCall, ReturnSites, WaitSums};
use crate::sys::clock::Clock;
use crate::sys::perf::uprobe_cost::{PairEnd, measure_pair};
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// The share of the calls, the slowest, that are reported one by one; more than the one in a hundred that reports speak
/// of, as the share is chosen by the calls so far.
const SLOW: f64 = 0.02;
/// Other calls that are reported in each window, about.
const OTHERS: u64 = 500;
/// Slow calls that are reported in each window, at most.
const MOST_SLOW: u64 = 8192;

/// The open probes. Fields drop in order: the events before the programs on them.
#[derive(Debug)]
pub struct CallLatency {
    ends: Operations,
    begins: Operations,
    lengths: CallLengths,
    /// What was read of each step, by its shortest length.
    before: FxHashMap<u64, u64>,
    clock: Clock,
    /// When measuring began: what a call did before is not known.
    began: Nanos,
    turns: LatencyTurns,
    /// What measuring one call costs the target, if that could be measured.
    cost_ns: Option<f64>,
    /// Calls that were measured.
    timed: u64,
    place: Reopening,
    /// Probes that are being closed.
    closing: Option<JoinHandle<()>>,
}

/// Where the probes are opened again.
#[derive(Debug)]
struct Reopening {
    target: Target,
    command: Option<u32>,
    cpus: Vec<u32>,
    root: PathBuf,
}

impl Reopening {
    /// A command is its processes by now.
    fn target(&self) -> Target {
        match (&self.target, self.command) {
            (Target::Command { .. }, Some(pid)) => {
                Target::Processes { pids: ProcFs::new(self.root.join("proc")).with_descendants(&[pid]), children: true }
            }
            (target, _) => target.clone(),
        }
    }
}

impl CallLatency {
    /// Opens the plan's latency probes, stopped; `None` if it has none. Arguments as for [`Operations::open`]; `waits` are
    /// those of the target's threads.
    ///
    /// # Errors
    /// As [`Operations::open`]; `NotPermitted` without the right to load programs.
    pub fn open(
        plan: &Plan,
        place: &Place<'_>,
        waits: Option<&WaitSums>,
        clock: Clock,
        notes: &mut Vec<Note>,
    ) -> Result<Option<CallLatency>> {
        let (binary, wanted, limits) = match &plan.latency {
            Some(LatencySpec::Calls { binary, symbol }) => {
                (binary, [Wanted::Calls(symbol), Wanted::Returns(symbol)], CallEnds::EntryAndReturn)
            }
            Some(LatencySpec::Probes { binary, provider, begin, end }) => {
                let hits = |name| Wanted::Hits(provider.as_deref(), name);
                (binary, [hits(begin), hits(end)], CallEnds::TwoProbes)
            }
            // The others are read apart from the kernel.
            _ => return Ok(None),
        };
        let lengths = CallLengths::open(limits, waits, place.root).map_err(|error| {
            Error::from(error)
                .context("cannot load the programs that measure latencies in the kernel")
                .hint("Run as root, or with CAP_BPF and CAP_PERFMON.")
        })?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = Search { pids: &processes(&plan.target), path: &path, root: place.root };
        let [begin, end] = wanted;
        let (begin, end) = (Probe::define(binary, begin, &search)?, Probe::define(binary, end, &search)?);
        let cost_ns = pair_cost(limits, [&begin, &end], place.root);
        let mut open = |probe| Operations::of_probe(probe, &plan.target, place, notes);
        let (begins, ends) = (open(begin)?, open(end)?);
        let cost = cost_ns.map_or("an unknown time".to_string(), |cost| format!("{} (measured)", probe::each(cost)));
        let label = plan.latency.as_ref().map(LatencySpec::label).unwrap_or_default();
        let text = format!("Latency of {label}: each operation takes {cost} longer by the two probes that measure it.");
        notes.push(Note { topic: "latency-probes".to_string(), text, fix: None });
        let began = clock.now();
        let latency = CallLatency {
            ends,
            begins,
            lengths,
            before: FxHashMap::default(),
            clock,
            began,
            turns: LatencyTurns::new(allowed(plan), began),
            cost_ns,
            timed: 0,
            place: Reopening {
                target: plan.target.clone(),
                command: place.command,
                cpus: place.cpus.to_vec(),
                root: place.root.to_path_buf(),
            },
            closing: None,
        };
        latency.attach()?;
        Ok(Some(latency))
    }

    /// Where the measured function returns to; `None` if its return address stays.
    pub fn return_sites(&self) -> Option<ReturnSites> {
        self.lengths.return_sites().ok().flatten()
    }

    fn attach(&self) -> Result<()> {
        for (events, program) in [&self.begins, &self.ends].into_iter().zip(self.lengths.programs()) {
            events.attach(program).context(|| "cannot attach a program to a probe")?;
        }
        Ok(())
    }

    /// Starts measuring. An end without its beginning counts nothing, so the ends come first.
    pub fn enable(&mut self) {
        self.begin(self.clock.now());
        self.ends.enable();
        self.begins.enable();
    }

    /// What was measured before does not count.
    pub fn begin(&mut self, at: Nanos) {
        self.collect(at, &mut Vec::new());
        self.began = at;
        self.timed = 0;
        self.turns.restart(at);
    }

    /// Reports the calls that ended since the last reading, by their length, and single ones.
    pub fn read(&mut self, at: Nanos, out: &mut Vec<Event>) {
        if self.turns.measuring() {
            self.collect(at, out);
        }
        let measured = self.turns.measured(at);
        out.push(reading(catalog::LATENCY_TIME, at, measured));
        let Some(cost) = self.cost_ns else { return };
        let measuring = self.turns.measuring();
        match (measuring, self.turns.next(at, self.timed, cost)) {
            (true, false) => {
                let closing = [self.begins.close(), self.ends.close()];
                self.closing = Some(std::thread::spawn(move || drop(closing)));
            }
            (false, true) if !self.reopened(at) => self.turns.rest(),
            _ => {}
        }
    }

    /// What the calls that were measured should have cost the target, by what one did in a trial.
    pub fn expected_cost(&self) -> Option<Nanos> {
        self.cost_ns.map(|cost| Nanos((self.timed as f64 * cost) as u64))
    }

    /// Measures again. False while the probes are still being closed, or if the target has ended.
    fn reopened(&mut self, at: Nanos) -> bool {
        if self.closing.as_ref().is_some_and(|closing| !closing.is_finished()) {
            return false;
        }
        self.closing = None;
        // Calls that began before their probes were closed have no end.
        if self.lengths.forget_open().is_err() {
            return false;
        }
        self.collect(at, &mut Vec::new());
        let target = self.place.target();
        let Reopening { command, cpus, root, .. } = &self.place;
        let place = Place { command: *command, cpus, on_exec: false, root };
        let opened = [&mut self.ends, &mut self.begins].into_iter().all(|it| it.reopen(&target, &place).is_ok());
        if !opened || self.attach().is_err() {
            return false;
        }
        self.began = at;
        self.ends.enable();
        self.begins.enable();
        true
    }

    fn collect(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let (before, mut read) = (&mut self.before, Vec::new());
        // A failed reading loses nothing: the next one has its calls too.
        let _ = self.lengths.read(|step, total| {
            let before = before.entry(step.low).or_default();
            let count = total - std::mem::replace(before, total);
            if count > 0 {
                read.push(LatencyCount { at, low: Nanos(step.low), high: Some(Nanos(step.high)), count });
            }
        });
        self.timed += read.iter().map(|it| it.count).sum::<u64>();
        let (clock, began) = (self.clock, self.began);
        let _ = self.lengths.take(|call| {
            if clock.instant(call.began) >= began {
                out.push(Event::Operation(operation(&call, clock)));
            }
        });
        let (threshold, spacing) = choice(&mut read);
        let _ = self.lengths.keep(threshold, spacing);
        out.extend(read.into_iter().map(Event::Latency));
    }

    /// Notes on what was measured, once it has been read for the last time.
    pub fn verdict(&mut self, at: Nanos) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut note = |topic: &str, text: String, fix: Option<&str>| {
            notes.push(Note { topic: topic.to_string(), text, fix: fix.map(str::to_string) });
        };
        let left_out = self.lengths.left_out().unwrap_or_default();
        let (begun, ended) = (self.begins.count(), self.ends.count());
        let measured = self.turns.measured(at);
        if self.turns.share() < 1.0 {
            let share = measured.as_f64() / (at - self.turns.start()).as_f64().max(1.0);
            let text = format!(
                "Latency was measured in {:.1}% of the time: measuring every operation would cost more than \
                 --max-overhead allows. An operation that was going on when a measured stretch ended is missing.",
                100.0 * share.min(1.0)
            );
            note("latency-turns", text, Some("To measure every operation: --max-overhead 100."));
        }
        let load = self.cost_ns.map(|cost| self.timed as f64 * cost / measured.as_f64().max(1.0));
        if let Some(load) = load.filter(|load| *load > MOST_PERCENT / 100.0 && self.turns.share() == 1.0) {
            let text = format!(
                "Measuring latency took {:.0}% of a CPU from the target: the numbers below are distorted.",
                100.0 * load
            );
            note("latency-cost", text, Some("Measure something rarer, or allow less (--max-overhead)."));
        }
        // Seen on 6.18: of some thousand ends, the kernel runs the program at all but one, and counts that one, too.
        let missed = ended.saturating_sub(self.timed + left_out.ends);
        if missed > 0 && self.turns.share() == 1.0 {
            let share = 100.0 * missed as f64 / (self.timed + missed) as f64;
            let text = format!("{missed} operations ({share:.2}%) were not timed: the kernel left out their end.");
            note("latency-missed", text, None);
        }
        if left_out.unkept > 0 {
            let text = format!(
                "{} slow operations were timed, but are missing from those that explain why they were slow: they came \
                 faster than they were read.",
                left_out.unkept
            );
            note("latency-unkept", text, None);
        }
        if left_out.crowded > 0 {
            let text =
                format!("{} operations were not timed: too many threads were within one at once.", left_out.crowded);
            note("latency-crowded", text, None);
        }
        if begun > 0 && self.timed == 0 {
            let text = "Operations began, and none ended in the thread that it began in.".to_string();
            note("latency-endless", text, Some("Measure a function that returns for each operation."));
        }
        notes
    }
}

/// The CPU seconds per second that measuring may cost: a share of one CPU, as for counting.
fn allowed(plan: &Plan) -> Option<f64> {
    plan.max_overhead.map(|percent| percent / 100.0)
}

/// What both probes of a call cost the target, measured on ironlaw itself with programs of their own.
fn pair_cost(limits: CallEnds, [begin, end]: [&Probe; 2], root: &Path) -> Option<f64> {
    let programs = CallLengths::open(limits, None, root).ok()?;
    let end = if limits == CallEnds::EntryAndReturn { PairEnd::Return } else { PairEnd::Probe(end.entry()) };
    measure_pair(begin.entry(), end, programs.programs(), root).ok()
}

fn reading(counter: crate::model::CounterId, at: Nanos, value: Nanos) -> Event {
    Event::Reading(CounterReading { counter, scope: Scope::Target, at, value: value.0, enabled: at, running: at })
}

fn operation(call: &KeptCall, clock: Clock) -> TimedOperation {
    let [minor_faults, major_faults] = call.faults.map_or([None; 2], |faults| faults.map(Some));
    TimedOperation {
        at: clock.instant(call.began),
        pid: call.pid,
        tid: call.tid,
        latency: Nanos(call.ended.saturating_sub(call.began)),
        blocked: call.blocked.map(Nanos),
        queued: call.queued.map(Nanos),
        interrupted: call.interrupted.map(Nanos),
        minor_faults,
        major_faults,
        weight: call.weight,
    }
}

/// Which calls of the next window to report, by those of this one: from which latency on all of them, and of the shorter
/// ones one in how many. Of a window without calls, all of the next one.
fn choice(counts: &mut [LatencyCount]) -> (u64, u64) {
    counts.sort_unstable_by_key(|count| count.low);
    let all: u64 = counts.iter().map(|count| count.count).sum();
    let wanted = ((all as f64 * SLOW).ceil() as u64).clamp(1, MOST_SLOW);
    let mut slower = 0;
    let threshold = counts.iter().rev().find(|count| {
        slower += count.count;
        slower >= wanted
    });
    (threshold.map_or(0, |count| count.low.0), (all / OTHERS).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::bpf::MOST_KEPT;

    fn count(low: u64, count: u64) -> LatencyCount {
        LatencyCount { at: Nanos(0), low: Nanos(low), high: Some(Nanos(low + 1)), count }
    }

    #[test]
    fn the_slowest_calls_are_reported_and_no_more_than_are_read() {
        assert_eq!(choice(&mut []), (0, 1), "all, until it is known how long they take");
        assert_eq!(choice(&mut [count(900, 3), count(10, 9_900), count(500, 97)]), (10, 20));
        assert_eq!(choice(&mut [count(900, 103), count(10, 9_800), count(500, 97)]), (500, 20));
        assert_eq!(choice(&mut [count(900, 5_000), count(800, 5_000), count(10, 1_000_000)]).0, 800);
        assert!(u64::from(MOST_KEPT) >= 2 * MOST_SLOW, "the next window may have more");
    }
}

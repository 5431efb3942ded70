//! Opens the source of operations and reads it on a thread of its own.

use super::latency::PolledLatencies;
use super::listening::Listening;
use super::outlet::{CountOnceMore, LastCount, Outlet, gap};
use super::polling::{Polling, SoFar};
use crate::collect::sampler::Ended;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Event, Note, OpsSpec, Plan, Target};
use crate::ops::OutputLatencies;
use crate::sys::clock::Clock;
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Timeout for the last reading of a source, because the user is waiting for the end.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// An open source of operations.
#[derive(Debug)]
pub(in crate::session) enum Operations {
    Polled(Box<Polling>),
    PolledLatencies(Box<PolledLatencies>),
    CommandOutput(Box<Listening>),
}

/// The counting thread.
#[derive(Debug)]
pub(in crate::session) struct CountedOperations {
    orders: Sender<CountOnceMore>,
    done: Receiver<LastCount>,
    /// Whether the thread may be abandoned at the end.
    leave: bool,
    clock: Clock,
    so_far: SoFar,
}

/// Requests the last count from the thread.
#[derive(Debug, Clone)]
pub(in crate::session) struct LastOrder(Sender<CountOnceMore>);

/// Checks what can be checked without opening anything.
///
/// # Errors
/// `Usage` for a source that this target cannot have.
pub(in crate::session) fn check(plan: &Plan) -> Result<()> {
    match (&plan.ops, &plan.target) {
        (Some(OpsSpec::Output { .. }), target) if !matches!(target, Target::Command { .. }) => {
            Err(Error::new(ErrorKind::Usage, "--ops regex reads what a command prints, and none is started here").hint(
                "Start the program here: -- CMD. Of one that runs, operations are counted with uprobe:, tracepoint:, http:, file: or page:.",
            ))
        }
        _ => OutputLatencies::of(plan).map(drop),
    }
}

impl Operations {
    /// Opens the plan's sources of operations and of their latency with a first reading, but those that the kernel counts.
    pub(in crate::session) fn open(
        plan: &Plan,
        command_output: Option<CommandOutput>,
        clock: Clock,
    ) -> Result<Vec<Operations>> {
        check(plan)?;
        let listening = command_output.map(|output| Self::listen(plan, output, clock)).transpose()?;
        let starts = matches!(plan.target, Target::Command { .. });
        let polled = match &plan.ops {
            Some(OpsSpec::Output { .. }) | None => None,
            Some(spec) => Polling::open(spec, starts, clock)?.map(Box::new).map(Operations::Polled),
        };
        let latencies = PolledLatencies::open(plan, clock)?.map(Box::new).map(Operations::PolledLatencies);
        Ok(listening.into_iter().chain(polled).chain(latencies).collect())
    }

    /// Opens what the plan reads of its command's output.
    pub(in crate::session) fn listen(plan: &Plan, command_output: CommandOutput, clock: Clock) -> Result<Operations> {
        Ok(Operations::CommandOutput(Box::new(Listening::open(plan, command_output, clock)?)))
    }

    /// Starts the thread.
    pub(in crate::session) fn start(self, interval: Nanos, out: SyncSender<Vec<Event>>) -> Result<CountedOperations> {
        let (orders, mailbox) = channel();
        let (tell, done) = sync_channel(1);
        let (leave, clock, so_far) = match &self {
            Operations::Polled(polling) => (true, polling.clock(), polling.so_far()),
            Operations::PolledLatencies(polling) => (true, polling.clock(), polling.so_far()),
            Operations::CommandOutput(listening) => (false, listening.clock(), SoFar::default()),
        };
        let run = move || {
            let outlet = Outlet::new(out);
            let last = match self {
                Operations::Polled(polling) => polling.run(interval, outlet, &mailbox),
                Operations::PolledLatencies(polling) => polling.run(interval, outlet, &mailbox),
                Operations::CommandOutput(listening) => listening.run(interval, outlet, &mailbox),
            };
            // The receiver may have given up.
            let _ = tell.send(last);
        };
        std::thread::Builder::new().name("operations".into()).spawn(run).context(|| "cannot start a thread")?;
        Ok(CountedOperations { orders, done, leave, clock, so_far })
    }
}

impl CountedOperations {
    pub(in crate::session) fn last_count(&self) -> LastOrder {
        LastOrder(self.orders.clone())
    }

    /// Waits for the thread after its last count was requested, and returns the remaining totals and notes. Output is
    /// forwarded to its end, however slow its reader is. An unresponsive source is abandoned.
    pub(in crate::session) fn finish(self, ended: &Ended) -> (Vec<Event>, Vec<Note>) {
        drop(self.orders);
        let patience = if self.leave { LAST_PATIENCE } else { Duration::MAX };
        let mut last = match self.done.recv_timeout(patience) {
            Ok(last) => last,
            Err(RecvTimeoutError::Timeout) => {
                // Why it gave nothing before, e.g. that it has no such metric, says more than that it is slow.
                let known = self.so_far.lock().unwrap_or_else(PoisonError::into_inner).take();
                let silent = || gap("the source did not answer at the session's end".to_string());
                LastCount { notes: vec![known.unwrap_or_else(silent)], ..LastCount::default() }
            }
            Err(RecvTimeoutError::Disconnected) => LastCount::default(),
        };
        last.reach_end(ended, self.clock.now());
        let event = |(at, total)| Event::Ops { at, total };
        let latencies = last.latencies.into_iter().map(Event::Latency);
        (last.points.into_iter().map(event).chain(latencies).collect(), last.notes)
    }
}

impl LastOrder {
    /// Returns immediately; the thread delivers the count when it ends.
    pub(in crate::session) fn ask(&self) {
        // An error means that the thread has ended, and so has counted.
        let _ = self.0.send(CountOnceMore);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::collect::sampler::EndReason;
    use crate::units::Ops;

    fn ended(reason: EndReason) -> Ended {
        let at = Nanos(1000);
        Ended {
            reason,
            at,
            sampled: at,
            samples: 0,
            coverage: vec![],
            records: vec![],
            exit_status: None,
            usage: None,
            notes: vec![],
        }
    }

    fn check_end(reason: EndReason, holds_to_end: bool, points: &[u64], expected: &[u64]) {
        let points = points.iter().map(|at| (Nanos(*at), Ops(7))).collect();
        let mut last = LastCount { points, holds_to_end, ..LastCount::default() };
        last.reach_end(&ended(reason), Nanos(1010));
        assert_eq!(last.points.iter().map(|(at, _)| at.0).collect::<Vec<_>>(), expected, "{reason:?} {holds_to_end}");
    }

    #[test]
    fn why_a_slow_source_gave_nothing_before_is_noted_rather_than_that_it_is_slow() {
        for (known, said) in [(Some("unknown metric 'x'"), "unknown metric 'x'"), (None, "did not answer")] {
            let ((orders, _kept), (_silent, done)) = (channel(), sync_channel(1));
            let so_far = SoFar::default();
            *so_far.lock().unwrap() = known.map(|text| gap(text.to_string()));
            let counted = CountedOperations { orders, done, leave: true, clock: Clock::start(), so_far };
            let (_, notes) = counted.finish(&ended(EndReason::TargetGone));
            assert!(notes.len() == 1 && notes[0].text.contains(said), "{notes:?}");
        }
    }

    #[test]
    fn the_last_total_reaches_to_the_targets_end_and_no_further() {
        check_end(EndReason::TargetGone, true, &[0, 900], &[0, 900, 1000, 1010]);
        check_end(EndReason::TargetGone, true, &[0, 1003], &[0, 1000, 1010]);
        check_end(EndReason::TargetGone, false, &[900], &[900]);
        check_end(EndReason::TargetGone, true, &[], &[]);
        check_end(EndReason::Duration, true, &[900], &[900]);
        check_end(EndReason::Stopped, true, &[1003], &[1003]);
    }
}

//! One view of samples and off-CPU spans, so that tables and trees need not know which they show.

use super::selection::{Axis, Selection, ThreadSet};
use super::thread_starts::stack_end;
use super::time::TimeRange;
use crate::model::profile::Profile;
use crate::model::{OffCpu, StackEnd, StackId};
use crate::units::Nanos;

/// A sample, or the part of an off-CPU span that lies in the selected time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Stack.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// The sample's weight, or nanoseconds blocked.
    pub weight: u64,
    /// Nanoseconds runnable but waiting for a CPU; 0 for a sample.
    pub queued: u64,
}

/// The observations of a selection whose threads are `who`.
pub fn observations<'a>(
    profile: &'a Profile,
    selection: &'a Selection,
    who: &'a ThreadSet,
) -> Box<dyn Iterator<Item = Observation> + 'a> {
    match selection.axis {
        Axis::Event(event) => Box::new(samples(profile, event, selection, who)),
        Axis::OffCpu => Box::new(spans(profile, selection.time, who).map(|(_, seen)| seen)),
    }
}

/// Positions of the selected samples of an event. Only the columns that decide are read for samples of others.
pub(super) fn chosen_samples<'a>(
    profile: &'a Profile,
    event: u16,
    selection: &'a Selection,
    who: &'a ThreadSet,
) -> impl DoubleEndedIterator<Item = usize> + 'a {
    let (all, time, cpus) = (&profile.samples, selection.time, selection.cpus.as_slice());
    (0..all.len()).filter(move |i| {
        all.event[*i] == event
            && time.contains(all.at[*i])
            && who.has(all.tid[*i])
            && (cpus.is_empty() || cpus.contains(&all.cpu[*i]))
    })
}

/// The selected samples of an event.
pub(super) fn samples<'a>(
    profile: &'a Profile,
    event: u16,
    selection: &'a Selection,
    who: &'a ThreadSet,
) -> impl Iterator<Item = Observation> + 'a {
    let all = &profile.samples;
    chosen_samples(profile, event, selection, who).map(move |i| Observation {
        pid: all.pid[i],
        tid: all.tid[i],
        stack: all.stack[i],
        end: all.end[i],
        weight: all.weight[i],
        queued: 0,
    })
}

/// The off-CPU spans of `who` that overlap the time, each with the overlapping part.
pub(super) fn spans<'a>(
    profile: &'a Profile,
    time: TimeRange,
    who: &'a ThreadSet,
) -> impl Iterator<Item = (OffCpu, Observation)> + 'a {
    profile.off_cpu.iter().filter(|span| who.has(span.tid)).filter_map(move |span| {
        let woken = Nanos(span.at.0.saturating_add(span.blocked.0));
        let weight = time.overlap(span.at, span.blocked).0;
        let queued = time.overlap(woken, span.queued.unwrap_or_default()).0;
        let end = stack_end(profile, span.stack, span.end);
        let seen = Observation { pid: span.pid, tid: span.tid, stack: span.stack, end, weight, queued };
        (weight > 0 || queued > 0).then_some((span, seen))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::TaskState;

    #[test]
    fn a_span_counts_only_where_it_overlaps_the_selected_time() {
        let mut synthetic = Synthetic::new();
        synthetic.off_cpu(10, 41, TaskState::Sleeping, 20, Some(10), "app!main");
        let profile = synthetic.finish();
        for (from, to, blocked, queued) in [(0, 100, 20, 10), (15, 35, 15, 5), (32, 34, 0, 2), (0, 12, 2, 0)] {
            let time = TimeRange { from: ms(from), to: Some(ms(to)) };
            let selection = Selection { time, axis: Axis::OffCpu, ..Selection::default() };
            let seen: Vec<_> =
                observations(&profile, &selection, &ThreadSet::All).map(|o| (o.weight, o.queued)).collect();
            assert_eq!(seen, [(ms(blocked).0, ms(queued).0)], "{from}-{to}");
        }
    }
}

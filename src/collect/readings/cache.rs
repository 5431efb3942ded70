//! Caches the last recorded readings of one scope. There are many threads, so only their changes are recorded. All
//! other scopes record every value read, so a window without a reading was not read. Sums never run backwards: the
//! kernel's own values do, through rounding, and a reader would take that for a wrap.

use crate::model::{CounterId, CounterReading, Event, Scope};
use crate::units::Nanos;

/// The values last reported for one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadingCache {
    values: Vec<(CounterId, u64)>,
}

/// Timing that the readings of one tick share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TickTiming {
    /// Now.
    pub at: Nanos,
    /// How long they should have counted.
    pub enabled: Nanos,
    /// How long they did count.
    pub running: Nanos,
}

impl TickTiming {
    /// For counters that counted the whole time.
    pub(super) fn whole(at: Nanos, span: Nanos) -> TickTiming {
        TickTiming { at, enabled: span, running: span }
    }
}

impl ReadingCache {
    /// Reports a sum; for a thread, only if it grew or was never reported.
    pub(super) fn sum(&mut self, scope: Scope, counter: CounterId, value: u64, now: TickTiming, out: &mut Vec<Event>) {
        let last = self.last(counter);
        let grew = last.is_none_or(|last| value > last);
        let new = grew || !matches!(scope, Scope::Thread(_));
        self.say(new, scope, counter, value.max(last.unwrap_or(0)), now, out);
    }

    /// Whether nothing has been reported yet.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Reports a gauge if it changed.
    pub(super) fn gauge(
        &mut self,
        scope: Scope,
        counter: CounterId,
        value: u64,
        now: TickTiming,
        out: &mut Vec<Event>,
    ) {
        let changed = self.last(counter) != Some(value);
        self.say(changed, scope, counter, value, now, out);
    }

    fn last(&self, counter: CounterId) -> Option<u64> {
        self.values.iter().find(|(values, _)| *values == counter).map(|&(_, value)| value)
    }

    fn say(&mut self, new: bool, scope: Scope, counter: CounterId, value: u64, now: TickTiming, out: &mut Vec<Event>) {
        if !new {
            return;
        }
        match self.values.iter_mut().find(|(values, _)| *values == counter) {
            Some((_, last)) => *last = value,
            None => self.values.push((counter, value)),
        }
        let TickTiming { at, enabled, running } = now;
        out.push(Event::Reading(CounterReading { counter, scope, at, value, enabled, running }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_never_falls_and_a_threads_is_said_again_only_when_it_grew() {
        let now = TickTiming::whole(Nanos(9), Nanos(9));
        for (scope, expected) in
            [(Scope::Thread(7), vec![0, 5, 6, 7, 3]), (Scope::Target, vec![0, 0, 5, 5, 5, 6, 7, 3])]
        {
            let (mut cache, mut out) = (ReadingCache::default(), Vec::new());
            for value in [0, 0, 5, 4, 5, 6] {
                cache.sum(scope, CounterId(1), value, now, &mut out);
            }
            cache.gauge(Scope::Tool, CounterId(2), 7, now, &mut out);
            cache.gauge(Scope::Tool, CounterId(2), 3, now, &mut out);
            let values = out.iter().map(|event| if let Event::Reading(reading) = event { reading.value } else { 99 });
            assert_eq!(values.collect::<Vec<_>>(), expected, "{scope:?}");
        }
    }
}

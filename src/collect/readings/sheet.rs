//! The last recorded readings of one scope. Threads are many, so only their changes are recorded; all other scopes record every
//! value that was read, so that a window without one is known as not read.
//! It never lets a counter run backwards: the kernel's own values do, by rounding, and a reader would see a wrap.

use crate::model::{CounterId, CounterReading, Event, Scope};
use crate::units::Nanos;

/// The values last said about one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Sheet {
    said: Vec<(CounterId, u64)>,
}

/// When and since when: what the readings of one tick share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Now.
    pub at: Nanos,
    /// How long they were to count.
    pub enabled: Nanos,
    /// How long they did.
    pub running: Nanos,
}

impl Moment {
    /// Of counters that have counted all the time.
    pub(super) fn whole(at: Nanos, span: Nanos) -> Moment {
        Moment { at, enabled: span, running: span }
    }
}

impl Sheet {
    /// Says a sum, of a thread only if it grew or was never said.
    pub(super) fn sum(&mut self, scope: Scope, counter: CounterId, value: u64, now: Moment, out: &mut Vec<Event>) {
        let last = self.last(counter);
        let grew = last.is_none_or(|last| value > last);
        let new = grew || !matches!(scope, Scope::Thread(_));
        self.say(new, scope, counter, value.max(last.unwrap_or(0)), now, out);
    }

    /// Whether nothing has been said yet.
    pub(super) fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Says a gauge if it changed.
    pub(super) fn gauge(&mut self, scope: Scope, counter: CounterId, value: u64, now: Moment, out: &mut Vec<Event>) {
        let changed = self.last(counter) != Some(value);
        self.say(changed, scope, counter, value, now, out);
    }

    fn last(&self, counter: CounterId) -> Option<u64> {
        self.said.iter().find(|(said, _)| *said == counter).map(|&(_, value)| value)
    }

    fn say(&mut self, new: bool, scope: Scope, counter: CounterId, value: u64, now: Moment, out: &mut Vec<Event>) {
        if !new {
            return;
        }
        match self.said.iter_mut().find(|(said, _)| *said == counter) {
            Some((_, last)) => *last = value,
            None => self.said.push((counter, value)),
        }
        let Moment { at, enabled, running } = now;
        out.push(Event::Reading(CounterReading { counter, scope, at, value, enabled, running }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_never_falls_and_a_threads_is_said_again_only_when_it_grew() {
        let now = Moment::whole(Nanos(9), Nanos(9));
        for (scope, expected) in
            [(Scope::Thread(7), vec![0, 5, 6, 7, 3]), (Scope::Target, vec![0, 0, 5, 5, 5, 6, 7, 3])]
        {
            let (mut sheet, mut out) = (Sheet::default(), Vec::new());
            for value in [0, 0, 5, 4, 5, 6] {
                sheet.sum(scope, CounterId(1), value, now, &mut out);
            }
            sheet.gauge(Scope::Tool, CounterId(2), 7, now, &mut out);
            sheet.gauge(Scope::Tool, CounterId(2), 3, now, &mut out);
            let said = out.iter().map(|event| if let Event::Reading(reading) = event { reading.value } else { 99 });
            assert_eq!(said.collect::<Vec<_>>(), expected, "{scope:?}");
        }
    }
}

//! What was last said about one scope, so that only changes are said again.
//! It never lets a counter run backwards: the kernel's own values do, by rounding, and a reader would see a wrap.

use crate::model::{CounterId, CounterReading, Event, Scope};
use crate::units::Nanos;

/// The values last said about one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Sheet {
    said: Vec<(CounterId, u64)>,
}

/// When and since when: what every reading of one tick shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// Now.
    pub at: Nanos,
    /// How long counting has gone on.
    pub span: Nanos,
}

impl Sheet {
    /// Says a sum if it grew, or was never said.
    pub(super) fn sum(&mut self, scope: Scope, counter: CounterId, value: u64, now: Moment, out: &mut Vec<Event>) {
        let grew = self.last(counter).is_none_or(|last| value > last);
        self.say(grew, scope, counter, value, now, out);
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
        let Moment { at, span } = now;
        out.push(Event::Reading(CounterReading { counter, scope, at, value, enabled: span, running: span }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_said_once_and_again_only_when_it_grew() {
        let (mut sheet, mut out) = (Sheet::default(), Vec::new());
        let now = Moment { at: Nanos(9), span: Nanos(9) };
        for value in [0, 0, 5, 4, 5, 6] {
            sheet.sum(Scope::Host, CounterId(1), value, now, &mut out);
        }
        sheet.gauge(Scope::Tool, CounterId(2), 7, now, &mut out);
        sheet.gauge(Scope::Tool, CounterId(2), 3, now, &mut out);
        let said = out.iter().map(|event| if let Event::Reading(reading) = event { reading.value } else { 99 });
        assert_eq!(said.collect::<Vec<_>>(), [0, 5, 6, 7, 3]);
    }
}

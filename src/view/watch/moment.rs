//! Wall-clock time as in logs: RFC 3339, UTC, milliseconds.

use crate::units::{Nanos, Utc};
use serde::{Serialize, Serializer};
use std::fmt;

/// A moment: nanoseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// Converts session time to wall-clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallClock {
    /// Start of the session, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
}

/// A smaller offset is a normal clock adjustment, which time synchronisation makes all day.
const MOST_OFF_NS: u64 = 5_000_000_000;

impl WallClock {
    /// Moves the anchor if the wall clock has left session time: the clock was set, or the machine slept, which session
    /// time does not count.
    #[must_use]
    pub fn anchored(self, since_start: Nanos, unix_ns: u64) -> WallClock {
        let is_off = self.at(since_start).0.abs_diff(unix_ns) > MOST_OFF_NS;
        if is_off { WallClock { started_unix_ns: unix_ns.saturating_sub(since_start.0) } } else { self }
    }

    /// The wall-clock time of a moment of the session.
    #[must_use]
    pub fn at(self, since_start: Nanos) -> Moment {
        Moment(self.started_unix_ns.saturating_add(since_start.0))
    }
}

impl Moment {
    /// For file names: `20260301T142530Z`.
    #[must_use]
    pub fn compact(self) -> String {
        let Utc { year, month, day, hour, minute, second } = Utc::from_unix(self.0 / 1_000_000_000);
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Utc { year, month, day, hour, minute, second } = Utc::from_unix(self.0 / 1_000_000_000);
        let millis = self.0 / 1_000_000 % 1000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_or_slept_is_followed_and_a_small_step_is_not() {
        let second = 1_000_000_000;
        let clock = WallClock { started_unix_ns: 100 * second };
        for (unix, started) in [(115, 100), (110, 100), (105, 100), (104, 94), (116, 106), (7300, 7290)] {
            let now = clock.anchored(Nanos(10 * second), unix * second);
            assert_eq!(now.started_unix_ns, started * second, "{unix}");
        }
    }

    #[test]
    fn a_moment_reads_as_logs_and_names_have_it() {
        let moment = WallClock { started_unix_ns: 951_827_696_000_000_000 }.at(Nanos(7_999_999));
        assert_eq!(moment.to_string(), "2000-02-29T12:34:56.007Z");
        assert_eq!(moment.compact(), "20000229T123456Z");
    }
}

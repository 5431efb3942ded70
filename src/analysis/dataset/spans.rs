//! Cuts a profile's time where counters were read last before whole minutes of the wall clock.

use crate::analysis::time::Window;
use crate::model::Tick;
use crate::units::Nanos;

const SECOND_NS: u64 = 1_000_000_000;

/// A part of a profile that becomes a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its time in the session.
    pub window: Window,
    /// Its start on the wall clock, seconds since the Unix epoch: the whole minute that its first reading is the last
    /// one before, or the second in which the profile begins.
    pub start_s: i64,
}

/// Cuts the window at whole `length_s` seconds of the wall clock; the first and the last part may be shorter. A counter
/// is read at ticks alone, so each cut is the last tick before the wall clock's. `after_s`: starts are later than this
/// second, also if the clock was set back.
#[must_use]
pub fn spans(ticks: &[Tick], started_unix_ns: u64, whole: Window, length_s: u64, after_s: Option<i64>) -> Vec<Span> {
    let length = length_s.max(1).saturating_mul(SECOND_NS);
    let unix = |at: Nanos| started_unix_ns.saturating_add(at.0);
    let minute_after = |at: Nanos| unix(at).div_ceil(length).saturating_mul(length);
    let inner = ticks.iter().map(|tick| tick.at).filter(|at| *at > whole.from && *at < whole.to);
    let mut moments: Vec<Nanos> = inner.chain([whole.from, whole.to]).collect();
    moments.sort_unstable();
    moments.dedup();
    let (mut found, mut last): (Vec<Span>, _) = (Vec::new(), after_s);
    for pair in moments.windows(2) {
        let [at, next] = [pair[0], pair[1]];
        let begins_minute = minute_after(at) < unix(next);
        if at == whole.from || begins_minute {
            let start = if begins_minute { minute_after(at) } else { unix(at) };
            let start_s = (start / SECOND_NS) as i64;
            let start_s = last.map_or(start_s, |last| start_s.max(last + 1));
            last = Some(start_s);
            found.push(Span { window: Window { from: at, to: whole.to }, start_s });
        }
    }
    for at in 1..found.len() {
        found[at - 1].window.to = found[at].window.from;
    }
    found
}

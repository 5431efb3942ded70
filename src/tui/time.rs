//! The shown time: following the session or paused, a window or a selected range, and the mark to compare with.

use crate::units::Nanos;
use crate::view::query::{CompareWith, TimeSelector};
use crate::view::snapshot::ScreenHeader;

/// Lengths of the window that follows the end, in the order in which the key cycles through them.
const WINDOWS: [Nanos; 3] = [Nanos(5_000_000_000), Nanos(30_000_000_000), Nanos(120_000_000_000)];

/// The shown window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The last part of the session, with this length.
    Last(Nanos),
    /// Everything after the mark.
    SinceMark,
    /// All data that the session holds.
    All,
}

/// A selected range; it may still be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The start of the selection.
    pub anchor: Nanos,
    /// Its other end.
    pub other: Nanos,
    /// Whether stepping still moves `other`.
    pub open: bool,
}

/// The shown time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// The window.
    pub window: Window,
    /// The window's end; `None` follows the session.
    pub end: Option<Nanos>,
    /// The selected range; it has priority over the window.
    pub range: Option<Range>,
    /// The mark.
    pub mark: Option<Nanos>,
    /// Whether changes are shown.
    pub compare: bool,
    /// Whether a baseline is loaded; changes are then measured against it unless there is a mark.
    pub baseline: bool,
}

impl Time {
    /// Creates the initial state: a live session follows its end, a recording shows everything.
    #[must_use]
    pub fn new(live: bool, baseline: bool) -> Time {
        let window = if live { Window::Last(WINDOWS[1]) } else { Window::All };
        Time { window, end: None, range: None, mark: None, compare: baseline, baseline }
    }

    /// The shown time as part of the query.
    #[must_use]
    pub fn selector(&self) -> TimeSelector {
        match (self.range, self.window, self.mark) {
            (Some(range), _, _) => TimeSelector::Between(range.anchor.min(range.other), range.anchor.max(range.other)),
            (None, Window::Last(span), _) => TimeSelector::Last(span),
            (None, Window::SinceMark, Some(mark)) => TimeSelector::Since(mark),
            (None, Window::SinceMark | Window::All, _) => TimeSelector::All,
        }
    }

    /// The reference of the comparison as part of the query.
    #[must_use]
    pub fn compare_with(&self) -> CompareWith {
        match (self.compare, self.mark, self.baseline) {
            (true, Some(mark), _) => CompareWith::Before(mark),
            (true, None, true) => CompareWith::Recording,
            _ => CompareWith::Nothing,
        }
    }

    /// Whether the view follows new windows.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.end.is_none() && self.range.is_none()
    }

    /// Pauses at the current end, or follows again.
    pub fn toggle_pause(&mut self, head: &ScreenHeader) {
        if self.follows() {
            self.end = Some(head.now);
        } else {
            self.follow();
        }
    }

    /// Follows the session again.
    pub fn follow(&mut self) {
        (self.end, self.range) = (None, None);
    }

    /// Moves by that number of windows; pauses first.
    pub fn step(&mut self, head: &ScreenHeader, windows: i64) {
        let from = match self.range {
            Some(range) if range.open => range.other,
            _ => self.end.unwrap_or(head.now),
        };
        self.go(head, stepped(head, from, windows));
    }

    /// Jumps to a moment; an open range is extended to it.
    pub fn go(&mut self, head: &ScreenHeader, to: Nanos) {
        let to = to.clamp(head.since, head.now.max(head.since));
        match &mut self.range {
            Some(range) if range.open => range.other = to,
            _ => (self.end, self.range) = (Some(to), None),
        }
    }

    /// Begins a range at the end of the view, or closes the open one.
    pub fn toggle_range(&mut self, head: &ScreenHeader) {
        let here = self.end.unwrap_or(head.now);
        match &mut self.range {
            Some(range) if range.open => {
                range.open = false;
                if range.anchor == range.other {
                    self.range = None;
                }
            }
            _ => self.range = Some(Range { anchor: here, other: here, open: true }),
        }
    }

    /// Selects a complete range, as a mouse drag does.
    pub fn select(&mut self, anchor: Nanos, other: Nanos) {
        self.range = (anchor != other).then_some(Range { anchor, other, open: false });
    }

    /// Selects the next window length.
    pub fn next_window(&mut self) {
        let next = match self.window {
            Window::Last(span) => WINDOWS.iter().find(|longer| **longer > span).map(|span| Window::Last(*span)),
            Window::SinceMark => Some(Window::All),
            Window::All => Some(Window::Last(WINDOWS[0])),
        };
        let longest = if self.mark.is_some() { Window::SinceMark } else { Window::All };
        self.window = next.unwrap_or(longest);
    }

    /// Sets the mark and compares the time after it with the time before it.
    pub fn set_mark(&mut self, at: Nanos) {
        self.mark = Some(at);
        self.window = Window::SinceMark;
        self.compare = true;
        self.follow();
    }

    /// Turns the comparison on or off; returns false if there is no reference.
    pub fn toggle_compare(&mut self) -> bool {
        let possible = self.mark.is_some() || self.baseline;
        self.compare = possible && !self.compare;
        possible
    }

    /// A short label for the shown time: `last 30 s`, `since mark`, `all`, `12.0-18.0 s`.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.range, self.window) {
            (Some(range), _) => {
                let (from, to) = (range.anchor.min(range.other), range.anchor.max(range.other));
                format!("{:.1}-{:.1} s", from.seconds(), to.seconds())
            }
            (None, Window::Last(span)) if span.seconds() >= 60.0 => format!("last {:.0} min", span.seconds() / 60.0),
            (None, Window::Last(span)) => format!("last {:.0} s", span.seconds()),
            (None, Window::SinceMark) => "since mark".to_string(),
            (None, Window::All) => "all".to_string(),
        }
    }
}

/// The end of the window that many windows away; steps are seconds if the session has no windows.
fn stepped(head: &ScreenHeader, from: Nanos, windows: i64) -> Nanos {
    let ends = &head.strip.at;
    if ends.is_empty() {
        let step = Nanos(windows.unsigned_abs().saturating_mul(1_000_000_000));
        return if windows < 0 { from - step } else { from + step };
    }
    let here = ends.partition_point(|at| *at < from) as i64;
    let last = ends.len() as i64 - 1;
    ends[(here + windows).clamp(0, last) as usize]
}

/// Formats a time as hours, minutes and seconds.
#[must_use]
pub fn clock(at: Nanos) -> String {
    let seconds = at.0 / 1_000_000_000;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::head;

    fn seconds(value: u64) -> Nanos {
        Nanos(value * 1_000_000_000)
    }

    #[test]
    fn stepping_stops_the_picture_and_moves_by_windows() {
        let head = head(20);
        let mut time = Time::new(true, false);
        assert!(time.follows());
        time.step(&head, -3);
        assert_eq!((time.end, time.follows()), (Some(seconds(17)), false));
        time.step(&head, 1);
        assert_eq!(time.end, Some(seconds(18)));
        time.step(&head, -100);
        assert_eq!(time.end, Some(seconds(1)));
        time.toggle_pause(&head);
        assert!(time.follows());
    }

    #[test]
    fn a_range_is_begun_stretched_and_closed() {
        let head = head(20);
        let mut time = Time::new(true, false);
        time.go(&head, seconds(12));
        time.toggle_range(&head);
        time.step(&head, -4);
        time.toggle_range(&head);
        assert_eq!(time.selector(), TimeSelector::Between(seconds(8), seconds(12)));
        assert_eq!(time.label(), "8.0-12.0 s");
        time.step(&head, 1);
        assert_eq!(time.range, None, "stepping leaves a closed range");
        time.toggle_range(&head);
        time.toggle_range(&head);
        assert_eq!(time.range, None, "a range without length is none");
    }

    #[test]
    fn the_window_cycles_through_its_lengths_and_since_the_mark_if_there_is_one() {
        let mut time = Time::new(true, false);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(time.label());
            time.next_window();
        }
        assert_eq!(seen, ["last 30 s", "last 2 min", "all", "last 5 s"]);
        time.set_mark(seconds(3));
        assert_eq!((time.label().as_str(), time.selector()), ("since mark", TimeSelector::Since(seconds(3))));
        assert_eq!(time.compare_with(), CompareWith::Before(seconds(3)));
        assert!(time.toggle_compare());
        assert_eq!(time.compare_with(), CompareWith::Nothing);
        time.next_window();
        assert_eq!(time.label(), "all");
    }

    #[test]
    fn without_a_mark_or_a_baseline_there_is_nothing_to_compare_with() {
        let mut time = Time::new(true, false);
        assert!(!time.toggle_compare() && time.compare_with() == CompareWith::Nothing);
        let mut time = Time::new(false, true);
        assert_eq!(time.compare_with(), CompareWith::Recording);
        assert!(time.toggle_compare() && time.compare_with() == CompareWith::Nothing);
    }
}

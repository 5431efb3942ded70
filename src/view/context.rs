//! What all views of one query share, computed once: the selection, the names, the counters, and the same for the
//! other side of a comparison.

use super::query::{Bounds, CompareWith, Query};
use crate::analysis::{Axis, Counters, Names, Selection, StackCounts, Tasks, TimeRange, Window};
use crate::model::profile::Profile;
use std::cell::OnceCell;

/// A profile as one query sees it.
#[derive(Debug)]
pub struct ViewContext<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The part of its time that is held.
    pub bounds: Bounds,
    /// The selected part.
    pub selection: Selection,
    /// The selected time, extended to the nearest counter readings.
    pub window: Window,
    /// All processes and threads.
    pub tasks: Tasks,
    /// The names of frames.
    pub names: Names,
    /// The counter readings.
    pub counters: Counters,
    counts: OnceCell<StackCounts>,
    /// What changes are measured against.
    pub reference: Option<Box<ViewContext<'a>>>,
}

impl<'a> ViewContext<'a> {
    /// The context of `query`; `baseline` is the recording to compare with, if one was loaded.
    #[must_use]
    pub fn of(profile: &'a Profile, baseline: Option<&'a Profile>, bounds: Bounds, query: &Query) -> ViewContext<'a> {
        let selection = query.selection(bounds);
        let reference = match query.compare_with {
            CompareWith::Nothing => None,
            CompareWith::Before(mark) => {
                let time = TimeRange { from: bounds.since, to: Some(mark) };
                Some(ViewContext::plain(profile, bounds, Selection { time, ..selection.clone() }))
            }
            // Threads of another run have other ids, so only the axis carries over.
            CompareWith::Recording => baseline.map(|profile| {
                let bounds = Bounds { since: crate::units::Nanos(0), now: profile.duration() };
                let axis = same_axis(query.axis, profile);
                ViewContext::plain(profile, bounds, Selection { axis, ..Selection::default() })
            }),
        };
        ViewContext { reference: reference.map(Box::new), ..ViewContext::plain(profile, bounds, selection) }
    }

    fn plain(profile: &'a Profile, bounds: Bounds, selection: Selection) -> ViewContext<'a> {
        let window = selection.time.window(&profile.ticks, bounds.now);
        ViewContext {
            profile,
            bounds,
            window,
            selection,
            tasks: Tasks::of(profile),
            names: Names::of(profile),
            counters: Counters::of(profile),
            counts: OnceCell::new(),
            reference: None,
        }
    }

    /// The observations of the selection, counted when a view first needs them.
    #[must_use]
    pub fn counts(&self) -> &StackCounts {
        self.counts.get_or_init(|| StackCounts::of(self.profile, &self.tasks, &self.selection))
    }
}

fn same_axis(axis: Axis, profile: &Profile) -> Axis {
    match axis {
        Axis::Event(index) if usize::from(index) >= profile.meta.events.len() => Axis::Event(0),
        axis => axis,
    }
}

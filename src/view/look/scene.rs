//! What every view of one look shares, worked out once: the selection, the names, the counters, and the same for what
//! changes are measured against.
//! It never outlives the look.

use super::query::{Against, Bounds, Query};
use crate::analysis::{Axis, Counters, Names, Selection, Tasks, TimeRange, Window};
use crate::model::profile::Profile;

/// A profile as one query sees it.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// What of its time is held.
    pub bounds: Bounds,
    /// The part that is asked for.
    pub selection: Selection,
    /// Its time, grown to where counters were read.
    pub window: Window,
    /// Everybody.
    pub tasks: Tasks,
    /// What frames are called.
    pub names: Names,
    /// The readings.
    pub counters: Counters,
    /// What changes are measured against.
    pub against: Option<Box<Scene<'a>>>,
}

impl<'a> Scene<'a> {
    /// The scene of `query`; `baseline` is the recording to compare with, if one was loaded.
    #[must_use]
    pub fn of(profile: &'a Profile, baseline: Option<&'a Profile>, bounds: Bounds, query: &Query) -> Scene<'a> {
        let selection = query.selection(bounds);
        let against = match query.against {
            Against::Nothing => None,
            Against::Before(mark) => {
                let time = TimeRange { from: bounds.since, to: Some(mark) };
                Some(Scene::plain(profile, bounds, Selection { time, ..selection.clone() }))
            }
            // Threads of another run have other ids: only the axis carries over.
            Against::Baseline => baseline.map(|profile| {
                let bounds = Bounds { since: crate::units::Nanos(0), now: profile.duration() };
                let axis = same_axis(query.axis, profile);
                Scene::plain(profile, bounds, Selection { axis, ..Selection::default() })
            }),
        };
        Scene { against: against.map(Box::new), ..Scene::plain(profile, bounds, selection) }
    }

    fn plain(profile: &'a Profile, bounds: Bounds, selection: Selection) -> Scene<'a> {
        let window = selection.time.window(&profile.ticks, bounds.now);
        Scene {
            profile,
            bounds,
            window,
            selection,
            tasks: Tasks::of(profile),
            names: Names::of(profile),
            counters: Counters::of(profile),
            against: None,
        }
    }
}

fn same_axis(axis: Axis, profile: &Profile) -> Axis {
    match axis {
        Axis::Event(index) if usize::from(index) >= profile.meta.events.len() => Axis::Event(0),
        axis => axis,
    }
}

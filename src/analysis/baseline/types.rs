//! The plain data that a baseline's levels consist of.
//! It never computes.

use crate::analysis::compare::Quantity;
use serde::Serialize;

/// What tells how much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadAxis {
    /// Operations per second: the work comes from outside, at a rate of its own.
    OpsPerSecond,
    /// Busy CPUs: the program takes as much work as it can, or nothing counts its operations.
    BusyCores,
}

/// The behaviour of a target by load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Levels {
    /// What the levels are levels of.
    pub axis: LoadAxis,
    /// From low to high; they do not overlap.
    pub levels: Vec<Level>,
    /// How far all this can be relied on.
    pub strength: Strength,
}

/// One level of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Lowest load of it, in the axis's unit.
    pub from: f64,
    /// Highest.
    pub to: f64,
    /// Windows it was learnt from.
    pub windows: usize,
    /// What each quantity usually is; those measured in too few of the windows are left out.
    pub expected: Vec<Expected>,
}

/// What a quantity usually is at a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expected {
    /// Which.
    pub quantity: Quantity,
    /// Windows it was measured in.
    pub windows: usize,
    /// The mean of the recordings' medians.
    pub centre: f64,
    /// The usual distance of a window of another run from it, as a standard deviation: how far runs differ and how far windows
    /// stray within one, together.
    pub spread: f64,
    /// The usual distance of a window from the median of its run: 1.4826 times the median absolute deviation, or what the
    /// counter resolves.
    pub within: f64,
    /// How far another run as a whole may lie from the centre: 1 in 100 lies further.
    pub run: f64,
    /// So many windows in a row are worth one that depends on none.
    pub dependence: f64,
    /// The furthest that windows strayed below and above the median of their run, in usual distances.
    pub furthest: (f64, f64),
    /// Lowest value seen.
    pub low: f64,
    /// Highest.
    pub high: f64,
}

/// Where a load lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place<'a> {
    /// In a level with enough windows.
    Known(&'a Level),
    /// In a level with too few windows to speak for it.
    Thin(&'a Level),
    /// Outside of everything learnt; the nearest level.
    Outside(Option<&'a Level>),
}

/// How good a baseline is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strength {
    /// All windows.
    pub windows: usize,
    /// Recordings.
    pub sources: usize,
    /// Levels with at least 20 windows.
    pub known_levels: usize,
    /// Share of all windows that lie in such levels.
    pub covered: f64,
    /// Of windows left out one recording at a time (or one stretch of time, of one recording), the share whose primary
    /// quantity would have been called unusual; `None` where too few are there to ask.
    pub false_alarms: Option<f64>,
    /// From which growth on a lasting one of the cost of an operation (of cycles per instruction, where operations are not known)
    /// raises an alarm, as a part, at the level that knows least; `None` where neither is known.
    pub growth_seen: Option<f64>,
    /// What is wanting, in sentences; empty: nothing.
    pub wanting: Vec<String>,
}

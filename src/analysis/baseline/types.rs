//! Plain data of a baseline's levels.

use crate::analysis::diff::Quantity;
use serde::Serialize;

/// What measures how much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadAxis {
    /// Operations per second: work arrives from outside, at a rate of its own.
    OpsPerSecond,
    /// Busy CPUs: the program takes as much work as it can, or its operations are not counted.
    BusyCores,
}

/// The usual behaviour of a target by load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Levels {
    /// The load axis of the levels.
    pub axis: LoadAxis,
    /// From low to high, without overlap.
    pub levels: Vec<Level>,
    /// How reliable the baseline is.
    pub strength: Strength,
}

/// One level of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Its lowest load, in the axis's unit.
    pub from: f64,
    /// Its highest load.
    pub to: f64,
    /// Windows it was learnt from.
    pub windows: usize,
    /// The usual value of each quantity, without those measured in too few of the windows.
    pub expected: Vec<Expected>,
}

/// The usual value of a quantity at a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expected {
    /// The quantity.
    pub quantity: Quantity,
    /// Windows that measured it.
    pub windows: usize,
    /// The mean of the recordings' medians.
    pub centre: f64,
    /// Standard deviation of a window of another run from the centre: variation between runs and of windows within one,
    /// together.
    pub spread: f64,
    /// Standard deviation of a window from the median of its run: 1.4826 times the median absolute deviation, or the
    /// counter's resolution.
    pub within: f64,
    /// How far another run as a whole may be from the centre: 1 in 100 is further.
    pub run: f64,
    /// This many consecutive windows count as one independent window.
    pub dependence: f64,
    /// The furthest windows below and above the median of their run, in units of `within`.
    pub furthest: (f64, f64),
    /// Lowest value seen.
    pub low: f64,
    /// Highest value seen.
    pub high: f64,
}

/// Where a load is among the levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelMatch<'a> {
    /// In a level with enough windows.
    Known(&'a Level),
    /// In a level with too few windows to represent it.
    Thin(&'a Level),
    /// Outside of everything learnt, with the nearest level.
    Outside(Option<&'a Level>),
}

/// How reliable a baseline is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strength {
    /// All windows.
    pub windows: usize,
    /// Recordings.
    pub sources: usize,
    /// Levels with at least 20 windows.
    pub known_levels: usize,
    /// Share of all windows that are in such levels.
    pub covered: f64,
    /// Share of left-out windows whose primary quantity would have been called unusual; one recording is left out at a
    /// time, or one stretch of time of a single recording. `None` with too few windows to test.
    pub false_alarms: Option<f64>,
    /// The smallest lasting growth of cost per operation (of cycles per instruction without operations) that raises an
    /// alarm, as a fraction, at the least sensitive level; `None` if neither is known.
    pub growth_seen: Option<f64>,
    /// Weaknesses, in sentences; empty if there are none.
    pub weaknesses: Vec<String>,
}

//! Line charts over time: a value axis with its unit, a time axis with round seconds, gaps shown as gaps.
//! Letters and colours distinguish the lines. Values that share a dot column are all drawn.

mod axis;
mod canvas;
mod draw;

use super::{WidgetContext, put};
use crate::model::Unit;
use crate::units::Nanos;

pub use axis::{times as round_times, values as round_values};
pub use canvas::Canvas;

/// One line.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// Its name.
    pub name: &'a str,
    /// Moments in order, each with its value or `None`.
    pub points: &'a [(Nanos, Option<f64>)],
}

/// The zero of the time axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This start: `0:00`, `1:30`.
    Start(Nanos),
    /// Back from this moment: `-30 s`, `now`.
    Now(Nanos),
}

/// Lines over a span of time.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// The lines; the theme has colours for six.
    pub series: &'a [Series<'a>],
    /// The unit of all of them.
    pub unit: Unit,
    /// Start and end of the span.
    pub span: (Nanos, Nanos),
    /// The zero of the time axis.
    pub origin: Origin,
    /// The minimum top of the value axis, such as the number of CPUs.
    pub top: Option<f64>,
    /// A selected range of time.
    pub range: Option<(Nanos, Nanos)>,
    /// The mark.
    pub mark: Option<Nanos>,
}

#[cfg(test)]
mod tests;

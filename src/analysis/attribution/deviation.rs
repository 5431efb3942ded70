//! Compares one window with the level of load it falls into. Each window is judged on its own; `pooled` combines
//! several.

use super::alarm_criteria::{Bad, Bound, TESTS, Test};
use super::reference::{Reference, Scope, load_or_nothing, reference};
use super::settings::Settings;
use super::types::{Observed, State};
use super::wait_ratio::{WaitRatio, stretch};
use crate::analysis::Window;
use crate::analysis::baseline::{Expected, Level, Levels, load_of};
use crate::analysis::diff::{Cell, PRIMARY, RATE, Reading, WITHOUT_OPERATIONS};
use crate::analysis::text::digits;
use crate::model::MetricId;

/// A quantity of one window compared with its usual value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deviation {
    /// The usual value and its spread.
    pub expected: Expected,
    /// The value in this window.
    pub value: f64,
    /// The denominator of the value: its weight when windows are pooled.
    pub weight: f64,
}

/// The verdict on one window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WindowVerdict {
    pub window: Window,
    pub state: State,
    pub load: Option<f64>,
    pub level: Option<(f64, f64)>,
    /// Every quantity known on both sides; empty if the window was not judged.
    pub held: Vec<Deviation>,
    /// The primary quantity over its usual value.
    pub ratio: Option<f64>,
    /// Running plus waiting time over running time, now and usually.
    pub stretch: Option<WaitRatio>,
    /// The tests whose band it is outside of, by position in [`TESTS`].
    pub outside: Vec<usize>,
    /// At an unknown load: costs that depend little on load and are far from everything learnt.
    pub hints: Vec<String>,
    /// The target wanted CPU, and nothing was completed.
    pub stalled: bool,
}

/// Costs that hardly depend on load, reported even at an unknown load.
const STEADY: [MetricId; 1] = [MetricId::PathLength];

impl WindowVerdict {
    pub fn of(levels: &Levels, seen: &Observed, settings: &Settings) -> WindowVerdict {
        let load = load_of(levels.axis, &seen.readings);
        let blank = WindowVerdict {
            window: seen.window,
            state: State::Idle,
            load,
            level: None,
            held: Vec::new(),
            ratio: None,
            stretch: None,
            outside: Vec::new(),
            hints: Vec::new(),
            stalled: false,
        };
        let busy = value(&seen.readings, WITHOUT_OPERATIONS);
        let wanted = busy.map(|busy| busy * stretch(&seen.readings, None).map_or(1.0, |found| found.now));
        if wanted.is_some_and(|wanted| wanted < settings.least_cores) {
            return blank;
        }
        let blank = if load.is_none() { blank.stalled(wanted, seen) } else { blank };
        let unknown = WindowVerdict { state: State::UnknownLoad, ..blank };
        let (Some(load), Some(_)) = (load_or_nothing(levels.axis, load, &seen.readings), wanted) else {
            return unknown;
        };
        match reference(levels, load, &seen.readings) {
            Some(reference) => unknown.at(reference, levels, seen, settings),
            None => WindowVerdict { hints: hints(levels, &seen.readings, settings), ..unknown },
        }
    }

    /// Marks a window in which no operation was completed: its load is unknown, which is reported.
    fn stalled(self, wanted: Option<f64>, seen: &Observed) -> WindowVerdict {
        let wanted = wanted.filter(|_| value(&seen.readings, RATE) == Some(0.0));
        let hint = |wanted| format!("No operation was completed, and {} CPUs were wanted.", digits(wanted));
        WindowVerdict { stalled: wanted.is_some(), hints: wanted.map(hint).into_iter().collect(), ..self }
    }

    fn at(mut self, reference: Reference<'_>, levels: &Levels, seen: &Observed, settings: &Settings) -> WindowVerdict {
        let Reference { level, scope } = reference;
        self.level = Some((level.from, level.to)).filter(|_| scope == Scope::Whole);
        self.held = held(level, seen);
        self.held.retain(|held| is_comparable(held.expected.quantity.id, scope));
        self.stretch = stretch(&seen.readings, Some(level));
        self.ratio = self.primary().map(|held| held.value / held.expected.centre).filter(|ratio| ratio.is_finite());
        let outside = |test: &Test| test.outside(&self, settings);
        self.outside = TESTS.iter().enumerate().filter(|(_, test)| outside(test)).map(|(at, _)| at).collect();
        self.state = match (self.outside.is_empty(), scope) {
            (false, _) => State::Unusual,
            (true, Scope::Whole) => State::Usual,
            (true, Scope::Bounds { .. }) => State::UnknownLoad,
        };
        if self.state == State::UnknownLoad {
            self.hints.extend(hints(levels, &seen.readings, settings));
        }
        self
    }

    pub fn get(&self, id: MetricId) -> Option<&Deviation> {
        self.held.iter().find(|held| held.expected.quantity.id == id)
    }

    /// The cost of an operation or, without operations, of an instruction. Busy CPUs alone are not a cost.
    fn primary(&self) -> Option<&Deviation> {
        [PRIMARY, MetricId::Cpi].iter().find_map(|id| self.get(*id))
    }

    /// Whether any quantity was compared. Below every known load only quantities that cannot grow as load falls are.
    pub fn is_judged(&self) -> bool {
        !self.held.is_empty()
    }
}

impl Deviation {
    /// Whether it is outside its band on the worse side.
    pub fn is_outside(&self, bad: Bad, settings: &Settings) -> bool {
        let beyond = self.expected.beyond(self.value);
        match bad {
            Bad::More => beyond > settings.sigmas,
            Bad::Less => beyond < -settings.sigmas,
        }
    }
}

pub(super) fn value(readings: &[Reading], id: MetricId) -> Option<f64> {
    readings.iter().find(|reading| reading.quantity.id == id)?.value.value().copied().filter(|v| v.is_finite())
}

fn held(level: &Level, seen: &Observed) -> Vec<Deviation> {
    let span = seen.window.span().seconds();
    let of = |expected: &Expected| {
        let reading = seen.readings.iter().find(|reading| reading.quantity.id == expected.quantity.id)?;
        let value = reading.value.value().copied().filter(|value| value.is_finite())?;
        let weight = reading.cell.map_or(span, |Cell { below, .. }| below);
        let usable =
            [expected.centre, expected.within, expected.run].iter().all(|value| value.is_finite()) && weight > 0.0;
        usable.then_some(Deviation { expected: *expected, value, weight })
    };
    let unheard = unlimited(level, seen);
    level.expected.iter().chain(&unheard).filter_map(of).collect()
}

/// The expected throttling of a target without a quota in the baseline, which has no such windows: none of its periods.
fn unlimited(level: &Level, seen: &Observed) -> Option<Expected> {
    const NAME: MetricId = MetricId::ThrottledShare;
    if level.expected.iter().any(|expected| expected.quantity.id == NAME) {
        return None;
    }
    let reading = seen.readings.iter().find(|reading| reading.quantity.id == NAME)?;
    let (quantity, windows) = (reading.quantity, level.windows);
    let none = Expected {
        quantity,
        windows,
        centre: 0.0,
        spread: 0.005,
        within: 0.005,
        run: 0.0,
        dependence: 1.0,
        furthest: (0.0, 0.0),
        low: 0.0,
        high: 0.0,
    };
    Some(none)
}

/// Whether a quantity can be compared with a level in this scope.
fn is_comparable(id: MetricId, scope: Scope) -> bool {
    let Scope::Bounds { demand, waits } = scope else { return true };
    let bounds = |test: &Test| match test.bound {
        Bound::None => false,
        Bound::Always => true,
        Bound::Waits => waits,
        Bound::Demand => demand,
    };
    id == MetricId::HostBusy || TESTS.iter().any(|test| test.id == id && bounds(test))
}

fn hints(levels: &Levels, readings: &[Reading], settings: &Settings) -> Vec<String> {
    let hint = |id: &MetricId| {
        let now = value(readings, *id)?;
        let known = levels.levels.iter().flat_map(|level| &level.expected);
        let known: Vec<_> = known.filter(|expected| expected.quantity.id == *id).collect();
        let low = known.iter().map(|e| e.centre - e.reach(settings.sigmas)).reduce(f64::min)?;
        let high = known.iter().map(|e| e.centre + e.reach(settings.sigmas)).reduce(f64::max)?;
        let label = known.first()?.quantity.label;
        (now < low || now > high).then(|| {
            let [now, low, high] = [now, low, high].map(digits);
            format!("{label} at this unknown load: {now}, at every known load {low} to {high}.")
        })
    };
    STEADY.iter().filter_map(hint).collect()
}

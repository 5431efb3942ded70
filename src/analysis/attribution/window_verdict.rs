//! Compares one window with the level of load it falls into. Each window is judged on its own; `pooled` combines
//! several.

use super::alarm_criteria::{ALARM_CRITERIA, AlarmCriterion, NextLevelBound, WorseDirection};
use super::reference::{
    Reference, Scope, WAITS, WaitRatio, load_or_nothing, reference, reference_by_demand, value, wait_ratio,
};
use super::types::{Settings, WindowObservation, WindowState};
use super::words::in_unit;
use crate::analysis::Window;
use crate::analysis::baseline::{Expected, Level, Levels, LoadAxis, load_of};
use crate::analysis::diff::{PRIMARY, RATE, RatioCell, Reading, WITHOUT_OPERATIONS};
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
    pub state: WindowState,
    pub load: Option<f64>,
    /// Operations per second; `None` if they were not counted.
    pub rate: Option<f64>,
    pub level: Option<(f64, f64)>,
    /// Every quantity known on both sides; empty if the window was not judged.
    pub deviations: Vec<Deviation>,
    /// The primary quantity over its usual value.
    pub ratio: Option<f64>,
    /// Running plus waiting time over running time, now and usually.
    pub wait_ratio: Option<WaitRatio>,
    /// The criteria that it is outside of, by position in [`ALARM_CRITERIA`].
    pub outside: Vec<usize>,
    /// At an unknown load: costs that depend little on load and are far from everything learnt.
    pub hints: Vec<String>,
    /// The target wanted CPU, and nothing was completed.
    pub stalled: bool,
}

/// Costs that hardly depend on load, reported even at an unknown load.
const STEADY: [MetricId; 1] = [MetricId::PathLength];

impl WindowVerdict {
    pub fn of(levels: &Levels, observed: &WindowObservation, settings: &Settings) -> WindowVerdict {
        let load = load_of(levels.axis, &observed.readings);
        let blank = WindowVerdict {
            window: observed.window,
            state: WindowState::Idle,
            load,
            rate: value(&observed.readings, RATE),
            level: None,
            deviations: Vec::new(),
            ratio: None,
            wait_ratio: None,
            outside: Vec::new(),
            hints: Vec::new(),
            stalled: false,
        };
        let busy = value(&observed.readings, WITHOUT_OPERATIONS);
        let wanted = busy.map(|busy| busy * wait_ratio(&observed.readings, None).map_or(1.0, |found| found.now));
        if wanted.is_some_and(|wanted| wanted < settings.least_cores) {
            return blank;
        }
        let blank = if load.is_none() { blank.stalled(wanted, observed) } else { blank };
        let unknown = WindowVerdict { state: WindowState::UnknownLoad, ..blank };
        let Some(wanted) = wanted else { return unknown };
        let Some(load) = load_or_nothing(levels.axis, load, &observed.readings) else {
            return if levels.axis == LoadAxis::OpsPerSecond {
                unknown.uncounted((wanted, busy), levels, observed, settings)
            } else {
                unknown
            };
        };
        match reference(levels, load, &observed.readings) {
            Some(reference) => unknown.at(reference, levels, observed, settings),
            None => unknown.above(levels, observed, settings),
        }
    }

    /// Judges a window in which operations were not counted by its waits, if these are unusual: usual ones do not show
    /// that an operation costs what it did.
    fn uncounted(
        mut self,
        (wanted, busy): (f64, Option<f64>),
        levels: &Levels,
        observed: &WindowObservation,
        settings: &Settings,
    ) -> WindowVerdict {
        let ran = busy.map_or(String::new(), |busy| format!(" and ran on {}", digits(busy)));
        self.hints.push(format!(
            "Operations were not counted in this window: the CPUs stand for the load. It wanted {}{ran}.",
            digits(wanted)
        ));
        let Some(reference) = reference_by_demand(levels, &observed.readings) else { return self };
        let unjudged = self.clone();
        let judged = self.at(reference, levels, observed, settings);
        if judged.outside.is_empty() { unjudged } else { judged }
    }

    /// A window that no level bounds: what can still be compared is reported, and raises nothing.
    fn above(mut self, levels: &Levels, observed: &WindowObservation, settings: &Settings) -> WindowVerdict {
        self.hints.extend(hints(levels, &observed.readings, settings));
        self.hints.extend(self.load.and_then(|load| beside_highest(levels, load, &observed.readings)));
        self
    }

    /// Marks a window in which no operation was completed: its load is unknown, which is reported.
    fn stalled(self, wanted: Option<f64>, observed: &WindowObservation) -> WindowVerdict {
        let wanted = wanted.filter(|_| value(&observed.readings, RATE) == Some(0.0));
        let hint = |wanted| format!("No operation was completed, and {} CPUs were wanted.", digits(wanted));
        WindowVerdict { stalled: wanted.is_some(), hints: wanted.map(hint).into_iter().collect(), ..self }
    }

    fn at(
        mut self,
        reference: Reference<'_>,
        levels: &Levels,
        observed: &WindowObservation,
        settings: &Settings,
    ) -> WindowVerdict {
        let Reference { level, scope } = reference;
        self.level = Some((level.from, level.to)).filter(|_| scope == Scope::Whole);
        self.wait_ratio = wait_ratio(&observed.readings, Some(level));
        self.deviations = deviations(level, observed);
        let scope = match scope {
            // Fewer operations are the effect of waits that are longer than usual, whatever was offered.
            Scope::Bounds { waits: true, .. } if self.is_waiting(settings) => {
                Scope::Bounds { demand: true, waits: true }
            }
            scope => scope,
        };
        self.deviations.retain(|deviation| is_comparable(deviation.expected.quantity.id, scope));
        self.ratio = self
            .primary()
            .map(|deviation| deviation.value / deviation.expected.centre)
            .filter(|ratio| ratio.is_finite());
        let outside = |criterion: &AlarmCriterion| self.is_outside(criterion, settings);
        self.outside =
            ALARM_CRITERIA.iter().enumerate().filter(|(_, criterion)| outside(criterion)).map(|(at, _)| at).collect();
        self.state = match (self.outside.is_empty(), scope) {
            (false, _) => WindowState::Unusual,
            (true, Scope::Whole) => WindowState::Usual,
            (true, Scope::Bounds { .. }) => WindowState::UnknownLoad,
        };
        if self.state == WindowState::UnknownLoad {
            self.hints.extend(hints(levels, &observed.readings, settings));
        }
        self
    }

    /// Whether its threads wait longer for CPUs or storage than usual, by an amount that matters.
    fn is_waiting(&self, settings: &Settings) -> bool {
        ALARM_CRITERIA
            .iter()
            .filter(|criterion| WAITS.contains(&criterion.id))
            .any(|criterion| self.is_outside(criterion, settings))
    }

    pub fn get(&self, id: MetricId) -> Option<&Deviation> {
        self.deviations.iter().find(|deviation| deviation.expected.quantity.id == id)
    }

    /// Whether it is outside the criterion's band on the worse side, by an amount that matters.
    fn is_outside(&self, criterion: &AlarmCriterion, settings: &Settings) -> bool {
        let replaced = criterion.unless.is_some_and(|id| self.get(id).is_some());
        let longer = self.wait_ratio.map_or(1.0, |waits| waits.ratio()) >= 1.0 + settings.least_wait;
        self.get(criterion.id).filter(|_| !replaced).is_some_and(|deviation| {
            deviation.is_outside(criterion.worse, settings)
                && criterion.is_large(deviation.value, deviation.expected.centre, longer, settings)
        })
    }

    /// The p99 of the latency over its usual value, if it is outside of its band.
    pub fn slowest(&self) -> Option<f64> {
        let unusual = |at: &usize| ALARM_CRITERIA[*at].id == MetricId::LatencyP99;
        let p99 = self.outside.iter().any(unusual).then(|| self.get(MetricId::LatencyP99)).flatten()?;
        Some(p99.value / p99.expected.centre).filter(|ratio| ratio.is_finite())
    }

    /// The cost of an operation or, without operations, of an instruction. Busy CPUs alone are not a cost.
    fn primary(&self) -> Option<&Deviation> {
        [PRIMARY, MetricId::Cpi].iter().find_map(|id| self.get(*id))
    }

    /// Whether any quantity was compared. Below every known load only quantities that cannot grow as load falls are.
    pub fn is_judged(&self) -> bool {
        !self.deviations.is_empty()
    }
}

impl Deviation {
    /// Whether it is outside its band on the worse side.
    pub fn is_outside(&self, worse: WorseDirection, settings: &Settings) -> bool {
        let beyond = self.expected.beyond(self.value);
        match worse {
            WorseDirection::Higher => beyond > settings.sigmas,
            WorseDirection::Lower => beyond < -settings.sigmas,
        }
    }
}

fn deviations(level: &Level, observed: &WindowObservation) -> Vec<Deviation> {
    let span = observed.window.span().seconds();
    let of = |expected: &Expected| {
        let reading = observed.readings.iter().find(|reading| reading.quantity.id == expected.quantity.id)?;
        let value = reading.value.value().copied().filter(|value| value.is_finite())?;
        let weight = reading.cell.map_or(span, |RatioCell { denominator, .. }| denominator);
        let usable =
            [expected.centre, expected.within, expected.run].iter().all(|value| value.is_finite()) && weight > 0.0;
        usable.then_some(Deviation { expected: *expected, value, weight })
    };
    let without_quota = without_quota(level, observed);
    level.expected.iter().chain(&without_quota).filter_map(of).collect()
}

/// The expected throttling of a target without a quota in the baseline, which has no such windows: none of its periods.
fn without_quota(level: &Level, observed: &WindowObservation) -> Option<Expected> {
    const NAME: MetricId = MetricId::ThrottledShare;
    if level.expected.iter().any(|expected| expected.quantity.id == NAME) {
        return None;
    }
    let reading = observed.readings.iter().find(|reading| reading.quantity.id == NAME)?;
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
    let bounds = |criterion: &AlarmCriterion| match criterion.bound {
        NextLevelBound::None => false,
        NextLevelBound::Always => true,
        NextLevelBound::Waits => waits,
        NextLevelBound::Demand => demand,
    };
    id == MetricId::HostBusy || ALARM_CRITERIA.iter().any(|criterion| criterion.id == id && bounds(criterion))
}

/// What can be compared above every known load, with the highest of them.
const ABOVE: [MetricId; 2] = [PRIMARY, MetricId::RunQueueDelay];

/// A window above every known load beside the highest known one, in a sentence.
fn beside_highest(levels: &Levels, load: f64, readings: &[Reading]) -> Option<String> {
    let highest = levels.levels.iter().rfind(|level| level.is_known()).filter(|level| level.to < load)?;
    let one = |id: &MetricId| {
        let expected = highest.expect(*id)?;
        let [now, then] = [value(readings, *id)?, expected.centre].map(|value| in_unit(expected.quantity.unit, value));
        Some(format!("{} {now}, there {then}", expected.quantity.label))
    };
    let all: Vec<String> = ABOVE.iter().filter_map(one).collect();
    if all.is_empty() {
        return None;
    }
    let [load, known] = [load, highest.to].map(digits);
    let unit = match levels.axis {
        LoadAxis::OpsPerSecond => "operations/s",
        LoadAxis::BusyCores => "busy CPUs",
    };
    Some(format!(
        "{load} {unit} is above every load that the baseline knows; beside its highest, {known}: {}.",
        all.join("; ")
    ))
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

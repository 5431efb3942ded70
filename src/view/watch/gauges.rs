//! The state of a watch as numbers, to be scraped periodically.
//! Values that were not measured are absent.

use super::{Cause, LoadAxis, Moment, NeighbourKind, State};
use crate::analysis::attribution::{Assessment, Moved};
use crate::model::Unit;

/// Maximum number of suspects, so that a scraper has few series.
const MOST_SUSPECTS: usize = 5;

/// All gauges of a watch.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauges {
    /// Version of ironlaw.
    pub tool: String,
    /// The target.
    pub target: String,
    /// The baseline it is compared with.
    pub baseline: String,
    /// The current state.
    pub state: State,
    /// All possible states.
    pub states: &'static [State],
    /// Windows so far, by state.
    pub windows: Vec<(State, u64)>,
    /// Alarms so far, by cause; causes without an alarm are included.
    pub alarms: Vec<(Cause, u64)>,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The current load.
    pub load: Option<f64>,
    /// The primary quantity relative to its usual value, in the last window.
    pub ratio: Option<f64>,
    /// Every quantity that the baseline knows at this load.
    pub quantities: Vec<Gauge>,
    /// The suspects, strongest first.
    pub suspects: Vec<Score>,
    /// End of the last window.
    pub last_window: Option<Moment>,
    /// CPU time of ironlaw, seconds.
    pub cpu_seconds: f64,
    /// Resident memory of ironlaw.
    pub resident_bytes: Option<u64>,
    /// Records lost.
    pub lost: u64,
}

/// One quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value over the last windows.
    pub now: f64,
    /// The usual value at this load.
    pub expected: f64,
    /// Distance from the usual value, in usual deviations.
    pub deviations: f64,
}

/// One suspect.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its kind.
    pub kind: NeighbourKind,
    /// Its name.
    pub name: String,
    /// Process id, for a process.
    pub pid: Option<u32>,
    /// The correlation.
    pub score: f64,
    /// CPUs it kept busy while the target was slow.
    pub cores: f64,
}

impl Gauges {
    /// The gauges of a watch before its first window.
    #[must_use]
    pub fn new(target: String, baseline: String, axis: LoadAxis) -> Gauges {
        Gauges {
            tool: env!("CARGO_PKG_VERSION").to_string(),
            target,
            baseline,
            state: State::Waiting,
            states: &State::ALL,
            windows: State::ALL.iter().map(|state| (*state, 0)).collect(),
            alarms: Cause::ALL.iter().map(|cause| (*cause, 0)).collect(),
            axis,
            load: None,
            ratio: None,
            quantities: Vec::new(),
            suspects: Vec::new(),
            last_window: None,
            cpu_seconds: 0.0,
            resident_bytes: None,
            lost: 0,
        }
    }

    /// Counts a window.
    pub fn count_window(&mut self, state: State) {
        self.windows.iter_mut().filter(|(of, _)| *of == state).for_each(|(_, count)| *count += 1);
    }

    /// Counts an alarm.
    pub fn count_alarm(&mut self, cause: Cause) {
        self.alarms.iter_mut().filter(|(of, _)| *of == cause).for_each(|(_, count)| *count += 1);
    }

    /// Number of windows so far.
    #[must_use]
    pub fn all_windows(&self) -> u64 {
        self.windows.iter().map(|(_, count)| count).sum()
    }

    /// Number of alarms so far.
    #[must_use]
    pub fn all_alarms(&self) -> u64 {
        self.alarms.iter().map(|(_, count)| count).sum()
    }
}

/// Updates the gauges from an assessment.
pub fn gauges(gauges: &mut Gauges, assessment: &Assessment) {
    let last = assessment.steps.last();
    gauges.state = assessment.state;
    gauges.axis = assessment.axis;
    gauges.load = assessment.load;
    gauges.ratio = last.and_then(|step| step.ratio);
    gauges.quantities = assessment.quantities.iter().map(quantity).collect();
    let score = |suspect: &crate::analysis::attribution::Suspect| Score {
        kind: suspect.who.kind,
        name: suspect.who.name.clone(),
        pid: suspect.who.pid,
        score: suspect.score,
        cores: suspect.cores,
    };
    gauges.suspects = assessment.suspects.iter().take(MOST_SUSPECTS).map(score).collect();
}

fn quantity(moved: &Moved) -> Gauge {
    let Moved { quantity, now, expected, deviations, .. } = *moved;
    Gauge { name: quantity.name, unit: quantity.unit, now, expected, deviations }
}

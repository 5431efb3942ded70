//! How a watch stands, as numbers that are scraped now and then.
//! It never holds a value that was not measured.

use super::{Cause, LoadAxis, Moment, NeighbourKind, QuantityUnit, State};
use crate::analysis::attribution::{Assessment, Moved};

/// Suspects told at most, so that a scraper's series stay few.
const MOST_SUSPECTS: usize = 5;

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauges {
    /// Version of ironlaw.
    pub tool: String,
    /// What is watched.
    pub target: String,
    /// What it is held against.
    pub baseline: String,
    /// How it stands.
    pub state: State,
    /// Every state there is.
    pub states: &'static [State],
    /// Windows so far by state.
    pub windows: Vec<(State, u64)>,
    /// Alarms so far by cause, those without one too.
    pub alarms: Vec<(Cause, u64)>,
    /// What load is measured by.
    pub axis: LoadAxis,
    /// The load now.
    pub load: Option<f64>,
    /// The primary quantity over its usual value, in the last window.
    pub ratio: Option<f64>,
    /// Each quantity the baseline knows at this load.
    pub quantities: Vec<Gauge>,
    /// Who is suspected, most first.
    pub suspects: Vec<Score>,
    /// When the last window ended.
    pub last_window: Option<Moment>,
    /// CPU time of ironlaw, seconds.
    pub cpu_seconds: f64,
    /// Memory of ironlaw.
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
    pub unit: QuantityUnit,
    /// Its value over the last windows.
    pub now: f64,
    /// What is usual at this load.
    pub expected: f64,
    /// How many usual deviations it is away.
    pub deviations: f64,
}

/// One suspect.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// What it is.
    pub kind: NeighbourKind,
    /// Its name.
    pub name: String,
    /// Of a process, its id.
    pub pid: Option<u32>,
    /// The correlation.
    pub score: f64,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
}

impl Gauges {
    /// Those of a watch that has not seen anything.
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

    /// All windows.
    #[must_use]
    pub fn all_windows(&self) -> u64 {
        self.windows.iter().map(|(_, count)| count).sum()
    }

    /// All alarms.
    #[must_use]
    pub fn all_alarms(&self) -> u64 {
        self.alarms.iter().map(|(_, count)| count).sum()
    }
}

/// Takes over how the session stands now.
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

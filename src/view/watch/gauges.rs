//! The state of a watch as numbers, to be scraped periodically.
//! Values that were not measured are absent.

use super::Moment;
use crate::analysis::attribution::{Assessment, Cause, QuantityDeviation, Suspect, WindowState};
use crate::analysis::baseline::LoadAxis;

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
    pub state: WindowState,
    /// All possible states.
    pub states: &'static [WindowState],
    /// Windows so far, by state.
    pub windows: Vec<(WindowState, u64)>,
    /// Alarms so far, by cause; causes without an alarm are included.
    pub alarms: Vec<(Cause, u64)>,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The current load.
    pub load: Option<f64>,
    /// The primary quantity relative to its usual value, in the last window.
    pub ratio: Option<f64>,
    /// Every quantity that the baseline knows at this load.
    pub quantities: Vec<QuantityDeviation>,
    /// The suspects, strongest first.
    pub suspects: Vec<Suspect>,
    /// End of the last window.
    pub last_window: Option<Moment>,
    /// CPU time of ironlaw, seconds.
    pub cpu_seconds: f64,
    /// Resident memory of ironlaw.
    pub resident_bytes: Option<u64>,
    /// Records lost.
    pub lost: u64,
}

impl Gauges {
    /// The gauges of a watch before its first window.
    #[must_use]
    pub fn new(target: String, baseline: String, axis: LoadAxis) -> Gauges {
        Gauges {
            tool: env!("CARGO_PKG_VERSION").to_string(),
            target,
            baseline,
            state: WindowState::Waiting,
            states: &WindowState::ALL,
            windows: WindowState::ALL.iter().map(|state| (*state, 0)).collect(),
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
    pub fn count_window(&mut self, state: WindowState) {
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

    /// Takes the current state and explanation from an assessment.
    pub fn update(&mut self, assessment: &Assessment) {
        let diagnosis = &assessment.diagnosis;
        self.state = diagnosis.state;
        self.axis = diagnosis.axis;
        self.load = diagnosis.load;
        self.ratio = assessment.timeline.last().and_then(|result| result.ratio);
        self.quantities.clone_from(&diagnosis.quantities);
        self.suspects = diagnosis.suspects.iter().take(MOST_SUSPECTS).cloned().collect();
    }
}

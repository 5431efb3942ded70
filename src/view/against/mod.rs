//! View model: the comparison of a recording with the baseline of its target. Conclusions come first, then the numbers.

mod code;
#[cfg(test)]
pub(crate) mod testing;
mod words;

use crate::analysis::attribution::{self, Assessment, Cause, Confidence, Moved, Settings, State, Suspect, Where};
use crate::analysis::baseline::{Levels, LoadAxis, Stale, Strength, key_of, stale};
use crate::model::profile::Profile;
use crate::model::{Baseline, MetricId, NeighbourKind, Unit};
use crate::view::findings::FindingView;
use serde::Serialize;

pub use crate::analysis::attribution::{amount, change};
pub use code::difference;

/// A recording or live session compared with its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstView {
    /// The conclusions, in sentences; the first is the answer.
    pub verdict: Vec<String>,
    /// State at the end.
    pub state: State,
    /// The baseline.
    pub baseline: BaselineHead,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// Load at the end, in the axis's unit.
    pub load: Option<f64>,
    /// The level of load it belongs to: from, to.
    pub level: Option<(f64, f64)>,
    /// The quantity that decides whether the target is slow.
    pub primary: &'static str,
    /// Number of windows by state.
    pub windows: WindowCounts,
    /// Alarms, oldest first.
    pub alarms: Vec<AlarmRow>,
    /// What explains the slowdown, strongest first. If the last alarm is over, its explanation.
    pub evidence: Vec<EvidenceRow>,
    /// Where to look for the cause.
    pub place: Option<Where>,
    /// Neighbours whose activity correlates with the slowdown, strongest first. Correlation is not proof.
    pub suspects: Vec<SuspectRow>,
    /// The quantities: the primary first, then the factors of the law.
    pub quantities: Vec<QuantityRow>,
    /// What could not be determined, in sentences.
    pub unknown: Vec<String>,
    /// The windows, oldest first.
    pub timeline: Vec<StepRow>,
}

/// Facts about the baseline itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineHead {
    /// Recordings it was built from.
    pub sources: usize,
    /// Windows in it.
    pub windows: usize,
    /// Number of known load levels.
    pub known_levels: usize,
    /// What it lacks, in sentences.
    pub wanting: Vec<String>,
    /// What has changed since it was built.
    pub stale: Vec<Stale>,
}

/// Number of windows by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WindowCounts {
    /// All windows.
    pub all: usize,
    /// Windows compared with the baseline.
    pub judged: usize,
    /// Judged windows with a quantity outside its band.
    pub unusual: usize,
    /// Judged windows within an alarm.
    pub in_alarm: usize,
    /// Windows at a load that the baseline does not cover.
    pub unknown_load: usize,
    /// Windows in which the target demanded too little CPU.
    pub idle: usize,
}

/// An alarm: a period in which the target was slow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmRow {
    /// Start, seconds since the start of the recording.
    pub from_s: f64,
    /// End, or the end so far.
    pub to_s: f64,
    /// Whether it was still active at the end.
    pub on: bool,
    /// When it was raised, seconds since the start of the recording.
    pub raised_s: Option<f64>,
    /// The most probable cause.
    pub cause: Cause,
    /// Confidence in that cause.
    pub confidence: Confidence,
    /// The worst time per operation, relative to its usual value.
    pub worst: f64,
    /// Name of the first suspect.
    pub suspect: Option<String>,
}

/// One piece of evidence for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceRow {
    /// The cause it supports.
    pub cause: Cause,
    /// Share of the slowdown it explains.
    pub share: Option<f64>,
    /// Confidence in this evidence.
    pub confidence: Confidence,
    /// The evidence in one sentence.
    pub text: String,
}

/// A neighbour whose activity correlates with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuspectRow {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: NeighbourKind,
    /// Its process id.
    pub pid: Option<u32>,
    /// The CPI2 correlation, -1 to 1.
    pub score: f64,
    /// Whether the score is above the threshold.
    pub above_threshold: bool,
    /// CPUs it kept busy while the target was slow.
    pub cores: f64,
    /// CPUs it kept busy before.
    pub cores_before: f64,
    /// Further evidence, in sentences.
    pub evidence: Vec<String>,
}

/// A quantity compared with its usual value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantityRow {
    /// Its stable name.
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its current value.
    pub now: f64,
    /// The usual value at this load.
    pub expected: f64,
    /// Lower end of its usual band.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Distance from the usual value, in usual deviations.
    pub deviations: f64,
    /// Probability of such a deviation by chance, corrected for the number of quantities.
    pub q: f64,
    /// Windows in which it was outside its band.
    pub windows_outside: u32,
    /// Whether it is believed to have moved.
    pub moved: bool,
    #[serde(skip)]
    source: Moved,
}

/// One window of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepRow {
    /// End of the window, seconds since the start of the recording.
    pub to_s: f64,
    /// Its state.
    pub state: State,
    /// Its load.
    pub load: Option<f64>,
    /// The primary quantity relative to its usual value.
    pub ratio: Option<f64>,
}

impl AgainstView {
    /// Compares a finished recording with a baseline. Also returns the finding, or `None` if the recording is as usual.
    #[must_use]
    pub fn build(profile: &Profile, baseline: &Baseline) -> (AgainstView, Option<FindingView>) {
        let assessment = attribution::assess(profile, baseline, Settings::default());
        let end = profile.meta.started_unix_ns.saturating_add(profile.duration().0);
        let head = BaselineHead::of(Levels::of(baseline).strength, stale(baseline, &key_of(profile), end));
        (AgainstView::of(&assessment, head), FindingView::of_baseline(&assessment))
    }

    /// Builds the view of an assessment.
    #[must_use]
    pub fn of(assessment: &Assessment, baseline: BaselineHead) -> AgainstView {
        let windows = WindowCounts::of(assessment);
        AgainstView {
            verdict: words::verdict(assessment, &windows, &baseline),
            state: assessment.state,
            baseline,
            axis: assessment.axis,
            load: assessment.load,
            level: assessment.level,
            primary: assessment.primary.name(),
            windows,
            alarms: alarms(assessment),
            evidence: assessment.evidence.iter().map(EvidenceRow::of).collect(),
            place: assessment.place,
            suspects: assessment.suspects.iter().map(SuspectRow::of).collect(),
            quantities: assessment.quantities.iter().map(QuantityRow::of).collect(),
            unknown: assessment.unknown.clone(),
            timeline: assessment.steps.iter().map(StepRow::of).collect(),
        }
    }

    /// The quantities to show to people: the primary, those that moved, and the factors of the law.
    pub fn telling(&self) -> impl Iterator<Item = &QuantityRow> {
        const FACTORS: [MetricId; 7] = [
            MetricId::PathLength,
            MetricId::Cpi,
            MetricId::Frequency,
            MetricId::OpsPerS,
            MetricId::BusyCores,
            MetricId::RunQueueDelay,
            MetricId::ThrottledShare,
        ];
        self.quantities
            .iter()
            .filter(|row| row.moved || row.name == self.primary || FACTORS.iter().any(|id| id.name() == row.name))
    }
}

impl BaselineHead {
    /// Builds the head for a baseline of this strength.
    #[must_use]
    pub fn of(strength: Strength, stale: Vec<Stale>) -> BaselineHead {
        let Strength { sources, windows, known_levels, wanting, .. } = strength;
        BaselineHead { sources, windows, known_levels, wanting, stale }
    }
}

impl WindowCounts {
    fn of(assessment: &Assessment) -> WindowCounts {
        let count = |states: &[State]| assessment.steps.iter().filter(|step| states.contains(&step.state)).count();
        WindowCounts {
            all: assessment.steps.len(),
            judged: count(&[State::Usual, State::Unusual, State::Alarm]),
            unusual: count(&[State::Unusual, State::Alarm]),
            in_alarm: count(&[State::Alarm]),
            unknown_load: count(&[State::UnknownLoad]),
            idle: count(&[State::Idle]),
        }
    }
}

fn alarms(assessment: &Assessment) -> Vec<AlarmRow> {
    let raised = |from: crate::units::Nanos| {
        let step = assessment.steps.iter().find(|step| step.raised && step.window.to > from);
        step.map(|step| step.window.to.seconds())
    };
    let row = |alarm: &attribution::Alarm| AlarmRow {
        from_s: alarm.window.from.seconds(),
        to_s: alarm.window.to.seconds(),
        on: alarm.on,
        raised_s: raised(alarm.window.from),
        cause: alarm.cause,
        confidence: alarm.confidence,
        worst: alarm.worst,
        suspect: alarm.suspect.clone(),
    };
    assessment.alarms.iter().map(row).collect()
}

impl EvidenceRow {
    fn of(evidence: &attribution::Evidence) -> EvidenceRow {
        let attribution::Evidence { cause, share, confidence, text } = evidence;
        EvidenceRow { cause: *cause, share: *share, confidence: *confidence, text: text.clone() }
    }
}

impl SuspectRow {
    fn of(suspect: &Suspect) -> SuspectRow {
        SuspectRow {
            name: suspect.who.name.clone(),
            kind: suspect.who.kind,
            pid: suspect.who.pid,
            score: suspect.score,
            above_threshold: suspect.above_threshold,
            cores: suspect.cores,
            cores_before: suspect.cores_before,
            evidence: suspect.evidence.clone(),
        }
    }

    /// Name for display: `redis-server 4711`, `group /batch`.
    #[must_use]
    pub fn title(&self) -> String {
        words::title(self.kind, &self.name, self.pid)
    }
}

impl QuantityRow {
    fn of(moved: &Moved) -> QuantityRow {
        QuantityRow {
            name: moved.quantity.name,
            label: moved.quantity.label,
            unit: moved.quantity.unit,
            now: moved.now,
            expected: moved.expected,
            low: moved.band.0,
            high: moved.band.1,
            deviations: moved.deviations,
            q: moved.q,
            windows_outside: moved.windows_outside,
            moved: moved.moved,
            source: *moved,
        }
    }

    /// Formats a value in the quantity's unit.
    #[must_use]
    pub fn shown(&self, value: f64) -> String {
        amount(&self.source.quantity, value)
    }

    /// The change: `+23%`, `+4.1 points`.
    #[must_use]
    pub fn change(&self) -> String {
        change(&self.source)
    }
}

impl StepRow {
    fn of(step: &attribution::Step) -> StepRow {
        StepRow { to_s: step.window.to.seconds(), state: step.state, load: step.load, ratio: step.ratio }
    }
}

//! View model: a recording held against the baseline of its target. What to know comes first, the numbers after it.
//! It never judges: analysis does.

mod code;
#[cfg(test)]
pub(crate) mod testing;
mod words;

use crate::analysis::attribution::{self, Assessment, Cause, Confidence, Moved, Settings, State, Suspect, Where};
use crate::analysis::baseline::{Levels, LoadAxis, Stale, Strength, key_of, stale};
use crate::analysis::compare::QuantityUnit;
use crate::model::profile::Profile;
use crate::model::{Baseline, NeighbourKind};
use crate::view::findings::FindingView;
use serde::Serialize;

pub use crate::analysis::attribution::{amount, change};
pub use code::difference;

/// A session against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstView {
    /// What it comes to, in sentences: the first of them is the answer.
    pub verdict: Vec<String>,
    /// How it stood at its end.
    pub state: State,
    /// The baseline.
    pub baseline: BaselineHead,
    /// What the load is measured by.
    pub axis: LoadAxis,
    /// The load at the end, in the axis's unit.
    pub load: Option<f64>,
    /// The level of load that it lies in: from, to.
    pub level: Option<(f64, f64)>,
    /// The quantity that says whether it is slow.
    pub primary: &'static str,
    /// How many windows stood how.
    pub windows: WindowCounts,
    /// Times of trouble, oldest first.
    pub alarms: Vec<AlarmRow>,
    /// What explains the slowdown, most first: that of the last alarm, where it is over.
    pub evidence: Vec<EvidenceRow>,
    /// Where to look.
    pub place: Option<Where>,
    /// Who moved with it, most first: correlated, not proven.
    pub suspects: Vec<SuspectRow>,
    /// The quantities, the primary first, then the factors of the law.
    pub quantities: Vec<QuantityRow>,
    /// What could not be told, in sentences.
    pub unknown: Vec<String>,
    /// The windows, oldest first.
    pub timeline: Vec<StepRow>,
}

/// What to know of the baseline itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineHead {
    /// Recordings it was made of.
    pub sources: usize,
    /// Windows in it.
    pub windows: usize,
    /// Levels of load it knows.
    pub known_levels: usize,
    /// What it lacks, in sentences.
    pub wanting: Vec<String>,
    /// What has changed since it was made.
    pub stale: Vec<Stale>,
}

/// How many windows stood how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WindowCounts {
    /// All.
    pub all: usize,
    /// Held against the baseline.
    pub judged: usize,
    /// Of the judged, those with something out of its band.
    pub unusual: usize,
    /// Of the judged, those in an alarm.
    pub in_alarm: usize,
    /// At a load that the baseline does not know.
    pub unknown_load: usize,
    /// In which the target wanted too little CPU.
    pub idle: usize,
}

/// A time of trouble.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmRow {
    /// Start, seconds since the recording's.
    pub from_s: f64,
    /// End, or the end so far.
    pub to_s: f64,
    /// Whether it was still on at the end.
    pub on: bool,
    /// When it was raised.
    pub raised_s: Option<f64>,
    /// The most probable cause.
    pub cause: Cause,
    /// How sure that is.
    pub confidence: Confidence,
    /// The time per operation over its usual value, at the worst.
    pub worst: f64,
    /// The first suspect.
    pub suspect: Option<String>,
}

/// One thing that speaks for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceRow {
    /// For which.
    pub cause: Cause,
    /// Its share of the slowdown.
    pub share: Option<f64>,
    /// How sure.
    pub confidence: Confidence,
    /// In a sentence.
    pub text: String,
}

/// Who moved with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuspectRow {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: NeighbourKind,
    /// Its process id.
    pub pid: Option<u32>,
    /// The CPI2 correlation, -1 to 1.
    pub score: f64,
    /// Whether that is above the threshold.
    pub above_threshold: bool,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
    /// The same before.
    pub cores_before: f64,
    /// What else speaks for it, in sentences.
    pub evidence: Vec<String>,
}

/// A quantity against what is usual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantityRow {
    /// Its stable name.
    pub name: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// Its unit.
    pub unit: QuantityUnit,
    /// Its value.
    pub now: f64,
    /// What is usual at this load.
    pub expected: f64,
    /// The lower end of the band it stays in.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Usual deviations away from it.
    pub deviations: f64,
    /// How probable that is by chance, corrected for the number of quantities.
    pub q: f64,
    /// Windows in which it lay outside.
    pub windows_outside: u32,
    /// Whether it is believed to have moved.
    pub moved: bool,
    #[serde(skip)]
    source: Moved,
}

/// A window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepRow {
    /// Its end, seconds since the recording's start.
    pub to_s: f64,
    /// How it stood.
    pub state: State,
    /// Its load.
    pub load: Option<f64>,
    /// The primary quantity over its usual value.
    pub ratio: Option<f64>,
}

impl AgainstView {
    /// Holds a finished recording against a baseline; with what that is among its findings.
    #[must_use]
    pub fn build(profile: &Profile, baseline: &Baseline) -> (AgainstView, Option<FindingView>) {
        let assessment = attribution::assess(profile, baseline, Settings::default());
        let end = profile.meta.started_unix_ns.saturating_add(profile.duration().0);
        let head = BaselineHead::of(Levels::of(baseline).strength, stale(baseline, &key_of(profile), end));
        (AgainstView::of(&assessment, head), FindingView::against(&assessment))
    }

    /// An assessment as it is shown.
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
            primary: assessment.primary,
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

    /// The quantities worth a line for people: the primary, what moved, and the factors of the law.
    pub fn telling(&self) -> impl Iterator<Item = &QuantityRow> {
        const FACTORS: [&str; 7] =
            ["path_length", "cpi", "frequency", "ops_per_s", "busy_cores", "run_queue_delay", "throttled_share"];
        self.quantities.iter().filter(|row| row.moved || row.name == self.primary || FACTORS.contains(&row.name))
    }
}

impl BaselineHead {
    /// What to know of a baseline of that strength.
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

    /// What to call it: `redis-server 4711`, `group /batch`.
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

    /// A value of it in its unit.
    #[must_use]
    pub fn shown(&self, value: f64) -> String {
        amount(&self.source.quantity, value)
    }

    /// How far it moved: `+23%`, `+4.1 points`.
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

//! Assesses a session window by window, and raises and clears alarms. It keeps at most ten minutes of windows and takes
//! each window once.

use super::alarm_criteria::ALARM_CRITERIA;
use super::collapse::is_collapse;
use super::explanation::{AlarmContext, Explanation};
use super::functions::FunctionShift;
use super::pooled::PooledWindows;
use super::reference::value;
use super::types::{Alarm, Assessment, Diagnosis, NoAlarm, Settings, WindowObservation, WindowResult, WindowState};
use super::unusual::UnusualRun;
use super::window_summary::WindowSummary;
use super::window_verdict::WindowVerdict;
use crate::analysis::Window;
use crate::analysis::baseline::{LEAST_RECORDINGS, Levels, LoadAxis};
use crate::analysis::diff::{PRIMARY, WITHOUT_OPERATIONS};
use crate::model::{HostFacts, MetricId, NeighbourDef};
use crate::units::Nanos;
use std::collections::VecDeque;

/// Judged windows kept in full; explanations are computed from them.
const RECENT: usize = 60;
/// Alarms kept; the oldest is dropped first.
const ALARMS: usize = 1000;
/// Windows from before an alarm, kept however long it lasts: without them no neighbour can be shown to have arrived
/// with it.
const BEFORE: usize = 60;
/// An explanation is recomputed in each of the first `EARLY` windows of an alarm, then in one of every `LATER`.
const EARLY: usize = 10;
const LATER: usize = 5;

/// Assesses one session.
#[derive(Debug)]
pub struct Assessor {
    levels: Levels,
    facts: HostFacts,
    settings: Settings,
    recent: VecDeque<WindowVerdict>,
    summaries: VecDeque<WindowSummary>,
    timeline: VecDeque<WindowResult>,
    last: Option<WindowVerdict>,
    neighbours: Vec<NeighbourDef>,
    shift: Option<FunctionShift>,
    alarms: Vec<Alarm>,
    open: Option<OpenAlarm>,
    /// The latest explanation of an alarm, whether the alarm is on or over.
    explanation: Option<Explanation>,
    /// The unusual windows that raised no alarm so far, and the most of them in a row before.
    unusual: Option<UnusualRun>,
    longest: Option<UnusualRun>,
}

/// An alarm that is on.
#[derive(Debug, Clone, Copy)]
struct OpenAlarm {
    from: Nanos,
    /// The test that raised it.
    criterion: usize,
    /// Windows since it began, judged or not.
    windows: usize,
    /// Windows since the last judged one.
    unjudged: usize,
}

impl Assessor {
    /// An assessor that has not taken any window yet.
    #[must_use]
    pub fn new(levels: Levels, facts: HostFacts, settings: Settings) -> Assessor {
        Assessor {
            levels,
            facts,
            settings,
            recent: VecDeque::new(),
            summaries: VecDeque::new(),
            timeline: VecDeque::new(),
            last: None,
            neighbours: Vec::new(),
            shift: None,
            alarms: Vec::new(),
            open: None,
            explanation: None,
            unusual: None,
            longest: None,
        }
    }

    /// Takes the next window. `neighbours` are all neighbours known so far.
    pub fn take(&mut self, observed: WindowObservation, neighbours: &[NeighbourDef]) -> WindowResult {
        if self.neighbours.len() != neighbours.len() || self.neighbours.last() != neighbours.last() {
            self.neighbours = neighbours.to_vec();
        }
        let verdict = WindowVerdict::of(&self.levels, &observed, &self.settings);
        let latency_p99 = value(&observed.readings, MetricId::LatencyP99);
        self.forget_middle();
        push_bounded(
            &mut self.summaries,
            WindowSummary::of(&verdict, observed, &self.settings),
            self.settings.correlation_windows,
        );
        if verdict.is_judged() {
            push_bounded(&mut self.recent, verdict.clone(), RECENT);
        }
        let (raised, cleared) = match self.open {
            None => (self.raise(&verdict), false),
            Some(open) => (false, self.continue_alarm(open, &verdict)),
        };
        self.follow_unusual(&verdict);
        let state = if self.open.is_some() && verdict.is_judged() { WindowState::Alarm } else { verdict.state };
        let (window, load, ratio) = (verdict.window, verdict.load, verdict.ratio);
        let result = WindowResult { window, state, load, ratio, latency_p99, raised, cleared };
        push_bounded(&mut self.timeline, result, self.settings.correlation_windows);
        self.last = Some(verdict);
        result
    }

    /// During a long alarm, drops windows of the alarm rather than those from before it.
    fn forget_middle(&mut self) {
        let Some(open) = self.open.filter(|_| self.summaries.len() >= self.settings.correlation_windows) else {
            return;
        };
        let before = self.summaries.partition_point(|summary| summary.to <= open.from);
        if before <= BEFORE {
            self.summaries.remove(before);
        }
    }

    /// Sets where CPU time went during the slowdown, as found by `function_shift`. The caller holds the samples and
    /// computes it.
    pub fn set_function_shift(&mut self, shift: Option<FunctionShift>) {
        self.shift = shift;
        if let Some(open) = self.open {
            let explanation = self.explain(open.from);
            self.explanation = Some(explanation);
            self.update_explanation();
        }
    }

    /// The start of the time over which functions should be compared ([`Assessor::set_function_shift`]); `None` if a
    /// comparison would add nothing now.
    #[must_use]
    pub fn wants_function_shift(&self) -> Option<Nanos> {
        // Each comparison reads all samples since the start, so it runs less often the longer the alarm lasts.
        let due = |open: &OpenAlarm| open.windows <= EARLY || open.windows.is_power_of_two();
        let open = self.open.filter(|open| open.unjudged == 0 && due(open))?;
        Some(open.from)
    }

    /// The judged windows that are recent enough for the current verdict, oldest first.
    fn recent_verdicts(&self) -> Vec<&WindowVerdict> {
        let span = self.last.as_ref().map_or(Nanos(0), |last| last.window.span());
        let now = self.last.as_ref().or(self.recent.back()).map_or(Nanos(0), |last| last.window.to);
        // Five judged windows spread over an hour are not the last five; trouble without a gap may be long.
        let gap = Nanos(span.0.saturating_mul(self.settings.n as u64));
        let mut next = now;
        let lasting = |verdict: &&WindowVerdict| {
            let near = verdict.window.to + gap >= next;
            next = verdict.window.from;
            near
        };
        let mut windows: Vec<&WindowVerdict> = self.recent.iter().rev().take_while(lasting).collect();
        windows.reverse();
        windows
    }

    fn last_few(&self) -> Vec<&WindowVerdict> {
        let recent_verdicts = self.recent_verdicts();
        let few = recent_verdicts.len().saturating_sub(self.settings.n);
        recent_verdicts.into_iter().skip(few).collect()
    }

    fn raise(&mut self, verdict: &WindowVerdict) -> bool {
        if verdict.outside.is_empty() {
            return false;
        }
        let recent_verdicts = self.recent_verdicts();
        let alarm_start = |criterion| self.alarm_start(criterion, &recent_verdicts).ok().map(|from| (criterion, from));
        let Some((criterion, from)) = (0..ALARM_CRITERIA.len()).find_map(alarm_start) else { return false };
        let windows = recent_verdicts.iter().filter(|window| window.window.from >= from).count();
        self.open = Some(OpenAlarm { from, criterion, windows, unjudged: 0 });
        self.shift = None;
        if self.alarms.len() >= ALARMS {
            self.alarms.remove(0);
        }
        let explanation = self.explain(from);
        self.alarms.push(Alarm {
            window: Window { from, to: verdict.window.to },
            raised: verdict.window.to,
            raised_after_windows: windows as u32,
            active: true,
            cause: explanation.cause,
            confidence: explanation.confidence,
            worst: worst(self.recent.iter().filter(|window| window.window.from >= from)),
            suspect: explanation.suspects.first().map(|suspect| suspect.name.clone()),
        });
        self.explanation = Some(explanation);
        true
    }

    /// The start of the trouble for which this test raises an alarm, or why it raises none. Trouble is slight and long or
    /// great and short, so all windows since its start are pooled.
    fn alarm_start(&self, criterion: usize, recent_verdicts: &[&WindowVerdict]) -> Result<Nanos, NoAlarm> {
        let settings = &self.settings;
        let outside: Vec<bool> = recent_verdicts.iter().map(|verdict| verdict.outside.contains(&criterion)).collect();
        let n = settings.n.min(outside.len());
        let troubled = |end: &usize| outside[end - n..*end].iter().filter(|outside| **outside).count() >= settings.k;
        // Find the earliest of the latest consecutive troubled stretches, and its first unusual window.
        let end = (n..=outside.len()).rev().take_while(troubled).last().ok_or(NoAlarm::Brief)?;
        let first = (end - n..end).find(|at| outside[*at]).ok_or(NoAlarm::Brief)?;
        let (before, since) = recent_verdicts.split_at(first);
        let pool = PooledWindows::of(since.iter().copied(), settings);
        // With enough recordings, how far runs and windows differ is known, and decides alone.
        let few = self.levels.strength.sources < LEAST_RECORDINGS;
        match (pool.confirms(criterion, settings), pool.is_worse(criterion, settings)) {
            (true, _) => Ok(since[0].window.from),
            (false, true) if few && is_collapse(before, since, settings) => Ok(since[0].window.from),
            (false, true) => Err(NoAlarm::MayBeChance),
            (false, false) => Err(NoAlarm::Slight),
        }
    }

    /// Follows unusual windows that raise no alarm.
    fn follow_unusual(&mut self, verdict: &WindowVerdict) {
        if self.open.is_some() {
            self.unusual = None;
            return;
        }
        let ended = verdict.outside.is_empty() && self.unusual.as_mut().is_some_and(|it| it.ends(&self.settings));
        if ended {
            let over = self.unusual.take().filter(|it| it.explanation.is_some());
            self.longest = [self.longest.take(), over].into_iter().flatten().max_by_key(|it| it.period.windows);
        }
        if verdict.outside.is_empty() {
            return;
        }
        let mut run = match self.unusual.take() {
            Some(mut run) => {
                run.extend(verdict.window);
                run
            }
            None => UnusualRun::starting(verdict.window),
        };
        if run.is_notable(&self.settings) && is_due(run.period.windows as usize) {
            run.explanation = Some(self.explain(run.period.window.from));
            run.period.no_alarm = self.no_alarm();
        }
        self.unusual = Some(run);
    }

    /// Why the last windows raise no alarm, by the criterion that is nearest to one.
    fn no_alarm(&self) -> NoAlarm {
        let recent_verdicts = self.recent_verdicts();
        let reasons = (0..ALARM_CRITERIA.len()).filter_map(|at| self.alarm_start(at, &recent_verdicts).err());
        reasons.max().unwrap_or(NoAlarm::Brief)
    }

    /// Returns whether this window ended the alarm.
    fn continue_alarm(&mut self, open: OpenAlarm, verdict: &WindowVerdict) -> bool {
        // A stalled program is still in trouble.
        let unjudged = if verdict.is_judged() || verdict.stalled { 0 } else { open.unjudged + 1 };
        let open = OpenAlarm { windows: open.windows + 1, unjudged, ..open };
        self.open = Some(open);
        if self.is_over(open) {
            self.end(open);
            return true;
        }
        if is_due(open.windows) {
            let explanation = self.explain(open.from);
            self.explanation = Some(explanation);
        }
        self.update(verdict.window.to, worst(std::iter::once(verdict)));
        false
    }

    /// Whether almost all of the last windows are usual again, or nothing could be judged for too long.
    fn is_over(&self, open: OpenAlarm) -> bool {
        if open.unjudged > 4 * self.settings.n {
            return true;
        }
        let stalled = self.last.as_ref().is_some_and(|last| last.stalled);
        let recent_verdicts: Vec<&WindowVerdict> = self.recent.iter().rev().take(self.settings.n).collect();
        let since = recent_verdicts.iter().all(|verdict| verdict.window.from >= open.from);
        let outside = recent_verdicts.iter().filter(|verdict| !verdict.outside.is_empty()).count();
        // Hysteresis: an alarm ends nearer to the usual value than it began, so it does not flap around one limit.
        let leans =
            || PooledWindows::of(recent_verdicts.iter().copied(), &self.settings).leans(open.criterion, &self.settings);
        open.unjudged == 0
            && !stalled
            && since
            && recent_verdicts.len() == self.settings.n
            && outside + self.settings.k <= self.settings.n.saturating_sub(1)
            && !leans()
    }

    fn end(&mut self, open: OpenAlarm) {
        // The alarm ended with its last unusual window, not when that became certain.
        let last = self.summaries.iter().rev().find(|summary| summary.unusual && summary.to > open.from);
        let to = last.map_or(open.from, |summary| summary.to);
        self.open = None;
        self.shift = None;
        if let Some(alarm) = self.alarms.last_mut() {
            alarm.active = false;
            alarm.window.to = to.max(alarm.window.from);
        }
    }

    fn update(&mut self, to: Nanos, worst: f64) {
        let Some(alarm) = self.alarms.last_mut() else { return };
        alarm.window.to = to;
        alarm.worst = alarm.worst.max(worst);
        self.update_explanation();
    }

    /// Copies the current finding into the alarm.
    fn update_explanation(&mut self) {
        let Some(alarm) = self.alarms.last_mut() else { return };
        if let Some(explanation) = &self.explanation {
            alarm.cause = explanation.cause;
            alarm.confidence = explanation.confidence;
            alarm.suspect = explanation.suspects.first().map(|suspect| suspect.name.clone());
        }
    }

    fn explain(&mut self, from: Nanos) -> Explanation {
        let windows: Vec<&WindowVerdict> = self.recent.iter().filter(|verdict| verdict.window.from >= from).collect();
        // Usual windows during an alarm carry no evidence.
        let unusual: Vec<&WindowVerdict> =
            windows.iter().copied().filter(|verdict| !verdict.outside.is_empty()).collect();
        let windows = if unusual.is_empty() { windows } else { unusual };
        let over = self.alarms.iter().filter(|alarm| !alarm.active);
        let earlier: Vec<_> = over.map(|alarm| (alarm.window.from, alarm.window.to)).collect();
        Explanation::of(&AlarmContext {
            windows: &windows,
            summaries: self.summaries.make_contiguous(),
            from,
            earlier: &earlier,
            neighbours: &self.neighbours,
            facts: &self.facts,
            shift: self.shift.as_ref(),
            settings: &self.settings,
        })
    }

    /// The current assessment of the session. It includes the explanation of an alarm while the alarm is on.
    #[must_use]
    pub fn assessment(&self) -> Assessment {
        let active = self.explanation.as_ref().filter(|_| self.open.is_some());
        self.assessment_of(active, self.unusual.as_ref())
    }

    /// The final assessment of a finished session. It also includes the explanation of the last alarm if that is over or,
    /// without alarms, of the most unusual windows in a row.
    #[must_use]
    pub fn final_assessment(&self) -> Assessment {
        let runs = self.longest.iter().chain(&self.unusual).filter(|it| it.explanation.is_some());
        self.assessment_of(self.explanation.as_ref(), runs.max_by_key(|it| it.period.windows))
    }

    /// The assessment with the explanation of an alarm or else of unusual windows.
    fn assessment_of(&self, alarm: Option<&Explanation>, run: Option<&UnusualRun>) -> Assessment {
        let run = run.filter(|it| alarm.is_none() && it.explanation.is_some());
        let explanation = alarm.or_else(|| run?.explanation.as_ref());
        let last = self.last.as_ref();
        let state =
            if self.open.is_some() { WindowState::Alarm } else { last.map_or(WindowState::Waiting, |last| last.state) };
        let now = || PooledWindows::of(self.last_few().into_iter(), &self.settings);
        let pool = explanation.map_or_else(now, |explanation| explanation.pool.clone());
        let hints = last.map_or(&[][..], |last| &last.hints);
        let unknown =
            explanation.map_or_else(|| self.unknown_without_alarm(&pool), |explanation| explanation.unknown.clone());
        let diagnosis = Diagnosis {
            state,
            axis: self.levels.axis,
            load: last.and_then(|last| last.load),
            level: last.and_then(|last| last.level),
            primary: self.primary(&pool),
            quantities: pool.quantities,
            unusual: run.map(|it| it.period),
            evidence: explanation.map_or_else(Vec::new, |explanation| explanation.evidence.clone()),
            location: explanation.map(|explanation| explanation.location),
            suspects: explanation.map_or_else(Vec::new, |explanation| explanation.suspects.clone()),
            unknown: hints.iter().cloned().chain(unknown).collect(),
        };
        Assessment { diagnosis, alarms: self.alarms.clone(), timeline: self.timeline.iter().copied().collect() }
    }

    fn unknown_without_alarm(&self, pool: &PooledWindows) -> Vec<String> {
        let seen = !self.neighbours.is_empty();
        super::explain::unknown(pool, None, seen, false, &self.facts)
    }

    fn primary(&self, pool: &PooledWindows) -> MetricId {
        let counted = pool.get(PRIMARY).is_some() || self.levels.axis == LoadAxis::OpsPerSecond;
        let learnt = || self.levels.levels.iter().flat_map(|level| &level.expected);
        let is_learnt = |id| learnt().any(|expected| expected.quantity.id == id);
        if counted || is_learnt(PRIMARY) {
            PRIMARY
        } else if is_learnt(MetricId::Cpi) {
            MetricId::Cpi
        } else {
            WITHOUT_OPERATIONS
        }
    }
}

/// Whether an alarm of this many windows is explained again.
fn is_due(windows: usize) -> bool {
    windows <= EARLY || windows.is_multiple_of(LATER)
}

/// The worst time per operation over its usual value, or that of the slowest operations where it is unusual.
fn worst<'a>(windows: impl Iterator<Item = &'a WindowVerdict>) -> f64 {
    let slower = |verdict: &WindowVerdict| {
        let longer = verdict.wait_ratio.map_or(1.0, |wait_ratio| wait_ratio.ratio());
        let operation = verdict.ratio.unwrap_or(1.0) * longer;
        operation.max(verdict.slowest().unwrap_or(0.0))
    };
    windows.filter(|verdict| verdict.is_judged()).map(slower).fold(0.0, f64::max)
}

fn push_bounded<T>(ring: &mut VecDeque<T>, next: T, most: usize) {
    while ring.len() >= most.max(1) {
        ring.pop_front();
    }
    ring.push_back(next);
}

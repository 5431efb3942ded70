//! Assesses a session window by window, and raises and clears alarms. It keeps at most ten minutes of windows and takes
//! each window once.

use super::alarm_criteria::TESTS;
use super::deviation::WindowVerdict;
use super::finding::{AlarmContext, Finding};
use super::functions::Shift;
use super::pooled::PooledWindows;
use super::series::Past;
use super::settings::Settings;
use super::types::{Alarm, Assessment, Observed, State, Step};
use crate::analysis::Window;
use crate::analysis::baseline::{Levels, LoadAxis};
use crate::analysis::diff::{PRIMARY, WITHOUT_OPERATIONS};
use crate::model::{HostFacts, MetricId, NeighbourDef};
use crate::units::Nanos;
use std::collections::VecDeque;

/// Judged windows kept in full; explanations are computed from them.
const RECENT: usize = 30;
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
    past: VecDeque<Past>,
    steps: VecDeque<Step>,
    last: Option<WindowVerdict>,
    neighbours: Vec<NeighbourDef>,
    shift: Option<Shift>,
    alarms: Vec<Alarm>,
    open: Option<Open>,
    /// The latest explanation of an alarm, whether the alarm is on or over.
    finding: Option<Finding>,
}

/// An alarm that is on.
#[derive(Debug, Clone, Copy)]
struct Open {
    from: Nanos,
    /// The test that raised it.
    test: usize,
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
            past: VecDeque::new(),
            steps: VecDeque::new(),
            last: None,
            neighbours: Vec::new(),
            shift: None,
            alarms: Vec::new(),
            open: None,
            finding: None,
        }
    }

    /// Takes the next window. `neighbours` are all neighbours known so far.
    pub fn take(&mut self, observed: Observed, neighbours: &[NeighbourDef]) -> Step {
        if self.neighbours.len() != neighbours.len() || self.neighbours.last() != neighbours.last() {
            self.neighbours = neighbours.to_vec();
        }
        let judged = WindowVerdict::of(&self.levels, &observed, &self.settings);
        self.keep_before();
        keep(&mut self.past, Past::of(&judged, observed, &self.settings), self.settings.correlation_windows);
        if judged.is_judged() {
            keep(&mut self.recent, judged.clone(), RECENT);
        }
        let (raised, cleared) = match self.open {
            None => (self.raise(&judged), false),
            Some(open) => (false, self.go_on(open, &judged)),
        };
        let state = if self.open.is_some() && judged.is_judged() { State::Alarm } else { judged.state };
        let (window, load, ratio) = (judged.window, judged.load, judged.ratio);
        let step = Step { window, state, load, ratio, raised, cleared };
        keep(&mut self.steps, step.clone(), self.settings.correlation_windows);
        self.last = Some(judged);
        step
    }

    /// During a long alarm, drops windows of the alarm rather than those from before it.
    fn keep_before(&mut self) {
        let Some(open) = self.open.filter(|_| self.past.len() >= self.settings.correlation_windows) else { return };
        let before = self.past.partition_point(|past| past.to <= open.from);
        if before <= BEFORE {
            self.past.remove(before);
        }
    }

    /// Sets where CPU time went during the slowdown, as found by [`super::shift`]. The caller holds the samples and
    /// computes it.
    pub fn tell_functions(&mut self, shift: Option<Shift>) {
        self.shift = shift;
        if let Some(open) = self.open {
            let finding = self.explain(open.from);
            self.finding = Some(finding);
            self.tell_alarm();
        }
    }

    /// The start of the time over which functions should be compared ([`Assessor::tell_functions`]); `None` if a
    /// comparison would add nothing now.
    #[must_use]
    pub fn asks_for_functions(&self) -> Option<Nanos> {
        // Each comparison reads all samples since the start, so it runs less often the longer the alarm lasts.
        let due = |open: &Open| open.windows <= EARLY || open.windows.is_power_of_two();
        let open = self.open.filter(|open| open.unjudged == 0 && due(open))?;
        Some(open.from)
    }

    /// The judged windows that are recent enough for the current verdict, oldest first.
    fn lately(&self) -> Vec<&WindowVerdict> {
        let span = self.last.as_ref().map_or(Nanos(0), |last| last.window.span());
        let now = self.last.as_ref().or(self.recent.back()).map_or(Nanos(0), |last| last.window.to);
        // Five judged windows spread over an hour are not the last five.
        let oldest = now - Nanos(span.0.saturating_mul(4 * self.settings.n as u64));
        let windows = self.recent.iter().filter(|judged| judged.window.to >= oldest);
        windows.collect()
    }

    fn last_few(&self) -> Vec<&WindowVerdict> {
        let lately = self.lately();
        let few = lately.len().saturating_sub(self.settings.n);
        lately.into_iter().skip(few).collect()
    }

    fn raise(&mut self, judged: &WindowVerdict) -> bool {
        if judged.outside.is_empty() {
            return false;
        }
        let lately = self.lately();
        let begins = |test| begins(test, &lately, &self.settings).map(|from| (test, from));
        let Some((test, from)) = (0..TESTS.len()).find_map(begins) else { return false };
        let windows = lately.iter().filter(|window| window.window.from >= from).count();
        self.open = Some(Open { from, test, windows, unjudged: 0 });
        self.shift = None;
        if self.alarms.len() >= ALARMS {
            self.alarms.remove(0);
        }
        let finding = self.explain(from);
        self.alarms.push(Alarm {
            window: Window { from, to: judged.window.to },
            raised_after_windows: windows as u32,
            on: true,
            cause: finding.cause,
            confidence: finding.confidence,
            worst: worst(self.recent.iter().filter(|window| window.window.from >= from)),
            suspect: finding.suspects.first().map(|suspect| suspect.who.name.clone()),
        });
        self.finding = Some(finding);
        true
    }

    /// Returns whether this window ended the alarm.
    fn go_on(&mut self, open: Open, judged: &WindowVerdict) -> bool {
        // A stalled program is still in trouble.
        let unjudged = if judged.is_judged() || judged.stalled { 0 } else { open.unjudged + 1 };
        let open = Open { windows: open.windows + 1, unjudged, ..open };
        self.open = Some(open);
        if self.is_over(open) {
            self.end(open);
            return true;
        }
        if is_due(open.windows) {
            let finding = self.explain(open.from);
            self.finding = Some(finding);
        }
        self.update(judged.window.to, worst(std::iter::once(judged)));
        false
    }

    /// Whether almost all of the last windows are usual again, or nothing could be judged for too long.
    fn is_over(&self, open: Open) -> bool {
        if open.unjudged > 4 * self.settings.n {
            return true;
        }
        let stalled = self.last.as_ref().is_some_and(|last| last.stalled);
        let lately: Vec<&WindowVerdict> = self.recent.iter().rev().take(self.settings.n).collect();
        let since = lately.iter().all(|judged| judged.window.from >= open.from);
        let outside = lately.iter().filter(|judged| !judged.outside.is_empty()).count();
        // Hysteresis: an alarm ends nearer to the usual value than it began, so it does not flap around one limit.
        let leans = || PooledWindows::of(lately.iter().copied(), &self.settings).leans(open.test, &self.settings);
        open.unjudged == 0
            && !stalled
            && since
            && lately.len() == self.settings.n
            && outside + self.settings.k <= self.settings.n.saturating_sub(1)
            && !leans()
    }

    fn end(&mut self, open: Open) {
        // The alarm ended with its last unusual window, not when that became certain.
        let last = self.past.iter().rev().find(|past| past.unusual && past.to > open.from);
        let to = last.map_or(open.from, |past| past.to);
        self.open = None;
        self.shift = None;
        if let Some(alarm) = self.alarms.last_mut() {
            alarm.on = false;
            alarm.window.to = to.max(alarm.window.from);
        }
    }

    fn update(&mut self, to: Nanos, worst: f64) {
        let Some(alarm) = self.alarms.last_mut() else { return };
        alarm.window.to = to;
        alarm.worst = alarm.worst.max(worst);
        self.tell_alarm();
    }

    /// Copies the current finding into the alarm.
    fn tell_alarm(&mut self) {
        let Some(alarm) = self.alarms.last_mut() else { return };
        if let Some(finding) = &self.finding {
            alarm.cause = finding.cause;
            alarm.confidence = finding.confidence;
            alarm.suspect = finding.suspects.first().map(|suspect| suspect.who.name.clone());
        }
    }

    fn explain(&mut self, from: Nanos) -> Finding {
        let windows: Vec<&WindowVerdict> = self.recent.iter().filter(|judged| judged.window.from >= from).collect();
        // Usual windows during an alarm carry no evidence.
        let unusual: Vec<&WindowVerdict> =
            windows.iter().copied().filter(|judged| !judged.outside.is_empty()).collect();
        let windows = if unusual.is_empty() { windows } else { unusual };
        let over = self.alarms.iter().filter(|alarm| !alarm.on);
        let earlier: Vec<_> = over.map(|alarm| (alarm.window.from, alarm.window.to)).collect();
        Finding::of(&AlarmContext {
            windows: &windows,
            past: self.past.make_contiguous(),
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
        let on = self.finding.as_ref().filter(|_| self.open.is_some());
        self.said(on)
    }

    /// The final assessment of a finished session. It also includes the explanation of the last alarm if that is over.
    #[must_use]
    pub fn last_word(&self) -> Assessment {
        self.said(self.finding.as_ref())
    }

    fn said(&self, finding: Option<&Finding>) -> Assessment {
        let last = self.last.as_ref();
        let state = if self.open.is_some() { State::Alarm } else { last.map_or(State::Waiting, |last| last.state) };
        let now = || PooledWindows::of(self.last_few().into_iter(), &self.settings);
        let pool = finding.map_or_else(now, |finding| finding.pool.clone());
        let hints = last.map_or(&[][..], |last| &last.hints);
        let unknown = finding.map_or_else(|| self.quietly_unknown(&pool), |finding| finding.unknown.clone());
        Assessment {
            state,
            axis: self.levels.axis,
            load: last.and_then(|last| last.load),
            level: last.and_then(|last| last.level),
            primary: self.primary(&pool),
            quantities: pool.moved,
            evidence: finding.map_or_else(Vec::new, |finding| finding.evidence.clone()),
            place: finding.map(|finding| finding.place),
            suspects: finding.map_or_else(Vec::new, |finding| finding.suspects.clone()),
            alarms: self.alarms.clone(),
            steps: self.steps.iter().cloned().collect(),
            unknown: hints.iter().cloned().chain(unknown).collect(),
        }
    }

    fn quietly_unknown(&self, pool: &PooledWindows) -> Vec<String> {
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

/// The start of the trouble for which this test raises an alarm; `None` if it raises none. Trouble is slight and long
/// or great and short, so all windows since its start are pooled.
fn begins(test: usize, lately: &[&WindowVerdict], settings: &Settings) -> Option<Nanos> {
    let outside: Vec<bool> = lately.iter().map(|judged| judged.outside.contains(&test)).collect();
    let n = settings.n.min(outside.len());
    let troubled = |end: &usize| outside[end - n..*end].iter().filter(|outside| **outside).count() >= settings.k;
    // Find the earliest of the latest consecutive troubled stretches, and its first unusual window.
    let end = (n..=outside.len()).rev().take_while(troubled).last()?;
    let first = (end - n..end).find(|at| outside[*at])?;
    let since = &lately[first..];
    PooledWindows::of(since.iter().copied(), settings).confirms(test, settings).then_some(since[0].window.from)
}

/// The worst time per operation over its usual value.
fn worst<'a>(windows: impl Iterator<Item = &'a WindowVerdict>) -> f64 {
    let slower = |judged: &WindowVerdict| {
        let longer = judged.stretch.map_or(1.0, |stretch| stretch.ratio());
        judged.ratio.unwrap_or(1.0) * longer
    };
    windows.filter(|judged| judged.is_judged()).map(slower).fold(0.0, f64::max)
}

fn keep<T>(ring: &mut VecDeque<T>, next: T, most: usize) {
    while ring.len() >= most.max(1) {
        ring.pop_front();
    }
    ring.push_back(next);
}

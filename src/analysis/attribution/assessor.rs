//! Takes a session in window by window and says how it stands: alarms are raised and cleared here.
//! It never holds more than ten minutes of windows, and never asks for a window twice.

use super::finding::{Finding, Trail};
use super::functions::Shift;
use super::held::Judged;
use super::pool::Pool;
use super::series::Past;
use super::settings::Settings;
use super::tests_of::TESTS;
use super::types::{Alarm, Assessment, Observed, State, Step};
use crate::analysis::Window;
use crate::analysis::baseline::{Levels, LoadAxis};
use crate::analysis::compare::{PRIMARY, WITHOUT_OPERATIONS};
use crate::model::{HostFacts, NeighbourDef};
use crate::units::Nanos;
use std::collections::VecDeque;

/// Judged windows whose quantities are kept: what an explanation is made of.
const RECENT: usize = 30;
/// Alarms kept; the oldest goes first.
const ALARMS: usize = 1000;
/// Windows from before an alarm that are kept however long it lasts: without them nobody is known to have come with it.
const BEFORE: usize = 60;
/// An explanation is made anew in each of the first windows of an alarm, later in one of so many.
const EARLY: usize = 10;
const LATER: usize = 5;

/// The judge of one session.
#[derive(Debug)]
pub struct Assessor {
    levels: Levels,
    facts: HostFacts,
    settings: Settings,
    recent: VecDeque<Judged>,
    past: VecDeque<Past>,
    steps: VecDeque<Step>,
    last: Option<Judged>,
    neighbours: Vec<NeighbourDef>,
    shift: Option<Shift>,
    alarms: Vec<Alarm>,
    open: Option<Open>,
    /// What was last said of an alarm, on or over.
    finding: Option<Finding>,
}

/// An alarm that is on.
#[derive(Debug, Clone, Copy)]
struct Open {
    from: Nanos,
    /// The test that raised it.
    test: usize,
    /// Windows since, judged or not.
    windows: usize,
    /// Windows since the last judged one.
    unjudged: usize,
}

impl Assessor {
    /// A judge that has seen nothing yet.
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

    /// Takes the next window in. `neighbours` are all that are known by now.
    pub fn take(&mut self, observed: Observed, neighbours: &[NeighbourDef]) -> Step {
        if self.neighbours.len() != neighbours.len() || self.neighbours.last() != neighbours.last() {
            self.neighbours = neighbours.to_vec();
        }
        let judged = Judged::of(&self.levels, &observed, &self.settings);
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

    /// Makes room among the windows of a long alarm rather than among those from before it.
    fn keep_before(&mut self) {
        let Some(open) = self.open.filter(|_| self.past.len() >= self.settings.correlation_windows) else { return };
        let before = self.past.partition_point(|past| past.to <= open.from);
        if before <= BEFORE {
            self.past.remove(before);
        }
    }

    /// Where the CPU time goes while it is slow, as [`super::shift`] found it: only who has the samples can tell.
    pub fn tell_functions(&mut self, shift: Option<Shift>) {
        self.shift = shift;
        if let Some(open) = self.open {
            let finding = self.explain(open.from);
            self.finding = Some(finding);
            self.tell_alarm();
        }
    }

    /// Since when functions should be compared ([`Assessor::tell_functions`]); `None` where that would tell nothing new now.
    #[must_use]
    pub fn asks_for_functions(&self) -> Option<Nanos> {
        // Each time all samples since then are looked at: the longer it lasts the less often.
        let due = |open: &Open| open.windows <= EARLY || open.windows.is_power_of_two();
        let open = self.open.filter(|open| open.unjudged == 0 && due(open))?;
        Some(open.from)
    }

    /// The judged windows that the last word is about, oldest first.
    fn lately(&self) -> Vec<&Judged> {
        let span = self.last.as_ref().map_or(Nanos(0), |last| last.window.span());
        let now = self.last.as_ref().or(self.recent.back()).map_or(Nanos(0), |last| last.window.to);
        // Five judged windows out of an hour are no five last ones.
        let oldest = now - Nanos(span.0.saturating_mul(4 * self.settings.n as u64));
        let windows = self.recent.iter().filter(|judged| judged.window.to >= oldest);
        windows.collect()
    }

    fn last_few(&self) -> Vec<&Judged> {
        let lately = self.lately();
        let few = lately.len().saturating_sub(self.settings.n);
        lately.into_iter().skip(few).collect()
    }

    fn raise(&mut self, judged: &Judged) -> bool {
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

    /// Whether it ended the alarm.
    fn go_on(&mut self, open: Open, judged: &Judged) -> bool {
        // A program that gets nothing done is not over its trouble.
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

    /// As usual again in almost all of the last windows; or nothing could be judged for so long that nobody knows.
    fn is_over(&self, open: Open) -> bool {
        if open.unjudged > 4 * self.settings.n {
            return true;
        }
        let stalled = self.last.as_ref().is_some_and(|last| last.stalled);
        let lately: Vec<&Judged> = self.recent.iter().rev().take(self.settings.n).collect();
        let since = lately.iter().all(|judged| judged.window.from >= open.from);
        let outside = lately.iter().filter(|judged| !judged.outside.is_empty()).count();
        // Around one limit an alarm would come and go: it ends nearer to what is usual than it began.
        let leans = || Pool::of(lately.iter().copied(), &self.settings).leans(open.test, &self.settings);
        open.unjudged == 0
            && !stalled
            && since
            && lately.len() == self.settings.n
            && outside + self.settings.k <= self.settings.n.saturating_sub(1)
            && !leans()
    }

    fn end(&mut self, open: Open) {
        // It ended with its last unusual window, not when that was sure.
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

    /// What is known of its cause by now.
    fn tell_alarm(&mut self) {
        let Some(alarm) = self.alarms.last_mut() else { return };
        if let Some(finding) = &self.finding {
            alarm.cause = finding.cause;
            alarm.confidence = finding.confidence;
            alarm.suspect = finding.suspects.first().map(|suspect| suspect.who.name.clone());
        }
    }

    fn explain(&mut self, from: Nanos) -> Finding {
        let windows: Vec<&Judged> = self.recent.iter().filter(|judged| judged.window.from >= from).collect();
        // Usual windows in the midst of trouble say nothing about it.
        let unusual: Vec<&Judged> = windows.iter().copied().filter(|judged| !judged.outside.is_empty()).collect();
        let windows = if unusual.is_empty() { windows } else { unusual };
        let over = self.alarms.iter().filter(|alarm| !alarm.on);
        let earlier: Vec<_> = over.map(|alarm| (alarm.window.from, alarm.window.to)).collect();
        Finding::of(&Trail {
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

    /// How the session stands. What explains an alarm is told while it is on.
    #[must_use]
    pub fn assessment(&self) -> Assessment {
        let on = self.finding.as_ref().filter(|_| self.open.is_some());
        self.said(on)
    }

    /// The same, with what explained the last alarm where none is on: the last word on a finished session.
    #[must_use]
    pub fn last_word(&self) -> Assessment {
        self.said(self.finding.as_ref())
    }

    fn said(&self, finding: Option<&Finding>) -> Assessment {
        let last = self.last.as_ref();
        let state = if self.open.is_some() { State::Alarm } else { last.map_or(State::Waiting, |last| last.state) };
        let now = || Pool::of(self.last_few().into_iter(), &self.settings);
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

    fn quietly_unknown(&self, pool: &Pool) -> Vec<String> {
        let seen = !self.neighbours.is_empty();
        super::explain::unknown(pool, None, seen, false, &self.facts)
    }

    fn primary(&self, pool: &Pool) -> &'static str {
        let counted = pool.get(PRIMARY).is_some() || self.levels.axis == LoadAxis::OpsPerSecond;
        let learnt = || self.levels.levels.iter().flat_map(|level| &level.expected);
        let is_learnt = |name: &str| learnt().any(|expected| expected.quantity.name == name);
        if counted || is_learnt(PRIMARY) {
            PRIMARY
        } else if is_learnt("cpi") {
            "cpi"
        } else {
            WITHOUT_OPERATIONS
        }
    }
}

/// Whether an alarm of that many windows is explained anew.
fn is_due(windows: usize) -> bool {
    windows <= EARLY || windows.is_multiple_of(LATER)
}

/// When the trouble began that this test raises an alarm for; `None` if it raises none. Trouble is slight and long or great and
/// short: all windows since it began speak.
fn begins(test: usize, lately: &[&Judged], settings: &Settings) -> Option<Nanos> {
    let outside: Vec<bool> = lately.iter().map(|judged| judged.outside.contains(&test)).collect();
    let n = settings.n.min(outside.len());
    let troubled = |end: &usize| outside[end - n..*end].iter().filter(|outside| **outside).count() >= settings.k;
    // Back to the first stretch of the last ones in a row that are troubled, and in it to its first unusual window.
    let end = (n..=outside.len()).rev().take_while(troubled).last()?;
    let first = (end - n..end).find(|at| outside[*at])?;
    let since = &lately[first..];
    Pool::of(since.iter().copied(), settings).confirms(test, settings).then_some(since[0].window.from)
}

/// The time per operation over its usual value, at the worst.
fn worst<'a>(windows: impl Iterator<Item = &'a Judged>) -> f64 {
    let slower = |judged: &Judged| {
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

//! The metrics of hardware counters, each from the first of its formulas whose counters were recorded. A ratio uses
//! only counters that counted at the same time, and an impossible value is reported as missing.

use super::counters::Counters;
use super::metrics::Metric;
use super::selection::Who;
use super::time::Window;
use crate::model::{Computation, Formula, HardwarePlan, Measure, MetricId, Quality, Scope, Why, per_operation_text};
use rustc_hash::FxHashMap;

/// From this share of the time on, a counter counts as always running: the rest is the moment of starting it.
const ALL_THE_TIME: f64 = 0.999;
/// Tolerance for a value outside its bounds: rounding only.
const ROUNDING: f64 = 1e-9;

/// The counters of a recording by role, and the formulas they suffice for.
#[derive(Debug, Clone, Default)]
pub(super) struct Hardware {
    metrics: Vec<Formable>,
    per_op: Vec<(MetricId, Ready)>,
    /// Whether any hardware event was counted.
    counted: bool,
    /// Whether cycles cover user mode only.
    user_only: bool,
}

#[derive(Debug, Clone)]
struct Formable {
    metric: MetricId,
    ready: Option<Ready>,
    /// Why no formula applies, in the planner's words.
    absent: Option<String>,
}

/// A counter: its group, if any, and its name.
type Counter = (Option<u16>, String);

/// A formula whose counters all exist.
#[derive(Debug, Clone)]
struct Ready {
    text: String,
    formula: Formula,
    /// For each name, the counters that count it.
    counters: Vec<(String, Vec<Counter>)>,
}

impl Hardware {
    /// Finds the formulas that the counters, given by name and group, suffice for.
    pub fn of<'a>(plan: &HardwarePlan, counters: impl Iterator<Item = (&'a str, Option<u16>)>) -> Hardware {
        let mut roles: FxHashMap<String, Vec<Counter>> = FxHashMap::default();
        for (name, group) in counters {
            roles.entry(role(name).to_string()).or_default().push((group, name.to_string()));
        }
        // Names come in no order. Sorting makes the same group come first every time.
        roles.values_mut().for_each(|counters| counters.sort());
        let formable = |metric: MetricId| Formable {
            metric,
            ready: plan.formulas_of(metric.def()).find_map(|text| Ready::of(text, &roles)),
            absent: plan.absent.iter().find(|absent| absent.metric == metric.name()).map(|absent| absent.why.clone()),
        };
        let mut law = plan.groups.iter().flat_map(|group| &group.events).filter(|event| event.role == "cycles");
        let per_op = |id: &MetricId| match id.def().computation {
            Computation::EventsPerOperation(formulas) => {
                Some((*id, formulas.iter().find_map(|text| Ready::of(text, &roles))?))
            }
            _ => None,
        };
        Hardware {
            metrics: MetricId::from_events().map(formable).collect(),
            per_op: MetricId::ALL.iter().filter_map(per_op).collect(),
            counted: !plan.groups.is_empty(),
            user_only: law.any(|event| event.event.exclude_kernel),
        }
    }

    /// Whether cycles cover user mode only. They then cannot yield the frequency, because CPU time covers both modes.
    pub fn user_only(&self) -> bool {
        self.user_only
    }
}

/// The role without its group number: `cycles.2` counts cycles in a later group.
fn role(counter: &str) -> &str {
    match counter.rsplit_once('.') {
        Some((role, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => role,
        _ => counter,
    }
}

/// The threads and the window to read counters for.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub counters: &'a Counters,
    pub who: &'a Who,
    pub window: Window,
}

impl Reader<'_> {
    fn read(&self, counter: &str) -> Measure<f64> {
        match self.who {
            Who::All => self.counters.delta(counter, Scope::Target, self.window),
            Who::Only(tids) => self.counters.sum(counter, tids.iter().copied(), self.window),
        }
    }

    /// Every metric of the table, in table order.
    pub fn metrics(self) -> impl Iterator<Item = Metric> {
        self.counters.hardware().metrics.iter().map(move |formable| self.metric(formable))
    }

    fn metric(&self, formable: &Formable) -> Metric {
        let (id, bounds) = (formable.metric, formable.metric.def().bounds);
        let (mut value, mut detail) = match &formable.ready {
            // CPU time covers both modes.
            Some(ready) if ready.needs("task-clock") && self.counters.hardware().user_only => {
                (Measure::Missing(Why::NotPermitted), Some("cycles were counted in user mode alone".to_string()))
            }
            Some(ready) => (ready.value(self), None),
            None => (Measure::Missing(self.absent(formable)), formable.absent.clone()),
        };
        if let Measure::Known { value: known, .. } = value {
            let slack = ROUNDING * bounds.1.abs().max(1.0);
            if known < bounds.0 - slack || known > bounds.1 + slack {
                value = Measure::Missing(Why::Suspect);
                detail = Some(format!("{known:.4} lies outside {} to {}", bounds.0, bounds.1));
            }
        }
        if formable.ready.is_some() && value.why() == Some(Why::NotRecorded) && matches!(self.who, Who::Only(_)) {
            detail = Some("counted for the whole target, not thread by thread".to_string());
        }
        match &formable.ready {
            Some(ready) => Metric { id, value, formula: ready.text.clone(), events: ready.names(), detail },
            None => Metric { detail, ..Metric::of(id, value) },
        }
    }

    /// Why no formula applies: the planner's reason, events not requested, or the reason that cycles are missing.
    fn absent(&self, formable: &Formable) -> Why {
        let cycles = || self.counters.delta("cycles", Scope::Target, self.window).why();
        match formable.absent {
            Some(_) => Why::NotSupported,
            None if self.counters.hardware().counted => Why::NotRecorded,
            None => cycles().unwrap_or(Why::NotRecorded),
        }
    }

    /// The hardware costs of one operation, for those events that were counted.
    pub fn per_operation(self, ops: Measure<f64>) -> impl Iterator<Item = Metric> {
        self.counters.hardware().per_op.iter().map(move |(id, ready)| {
            // Without operations, report why they are missing, whatever else is missing.
            let value = match ops {
                Measure::Missing(why) => Measure::Missing(why),
                ops => ready.value(&self).ratio(ops, |spent, ops| (ops > 0.0).then(|| spent / ops)),
            };
            Metric { id: *id, value, formula: per_operation_text(&ready.text), events: ready.names(), detail: None }
        })
    }
}

impl Ready {
    fn of(text: &str, roles: &FxHashMap<String, Vec<Counter>>) -> Option<Ready> {
        let formula = Formula::parse(text)?;
        let find = |name: &&str| match *name {
            "wall" => Some((name.to_string(), vec![])),
            name => Some((name.to_string(), roles.get(name)?.clone())),
        };
        let names = formula.names();
        let counters = names.iter().map(find).collect::<Option<Vec<_>>>()?;
        Some(Ready { text: text.to_string(), formula, counters })
    }

    fn needs(&self, name: &str) -> bool {
        self.counters.iter().any(|(known, _)| known == name)
    }

    fn names(&self) -> Vec<String> {
        self.counters.iter().filter(|(name, _)| name != "wall").map(|(name, _)| name.clone()).collect()
    }

    /// From the longest-counting group with all needed counters; from several groups only if all counted always.
    fn value(&self, from: &Reader<'_>) -> Measure<f64> {
        let mut groups: Vec<u16> =
            self.counters.iter().flat_map(|(_, all)| all).filter_map(|(group, _)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut best = Measure::Missing(Why::Multiplexed);
        for group in groups {
            if let Some(value) = self.within(group, from) {
                best = better(best, value);
            }
        }
        match best {
            Measure::Known { .. } => best,
            missing => match self.apart(from) {
                Measure::Missing(Why::Multiplexed) => missing,
                apart => apart,
            },
        }
    }

    /// The value from one group; `None` if it lacks a counter. Counters outside any group always count.
    fn within(&self, group: u16, from: &Reader<'_>) -> Option<Measure<f64>> {
        let counters = self.counters.iter().map(|(_, all)| {
            let own = all.iter().find(|(of, _)| *of == Some(group)).or_else(|| all.iter().find(|(of, _)| of.is_none()));
            own.map(|(_, name)| name.as_str()).or(all.is_empty().then_some(""))
        });
        let counters = counters.collect::<Option<Vec<_>>>()?;
        let values: Vec<_> = counters.into_iter().map(|counter| from.read_or_wall(counter)).collect();
        Some(self.formed(&values))
    }

    /// The value from counters that always counted.
    fn apart(&self, from: &Reader<'_>) -> Measure<f64> {
        let always = |all: &[Counter]| {
            let best = all.iter().map(|(_, name)| from.read(name)).reduce(better);
            match best {
                None => from.read_or_wall(""),
                Some(Measure::Known { quality, .. }) if quality.coverage < ALL_THE_TIME => {
                    Measure::Missing(Why::Multiplexed)
                }
                Some(measure) => measure,
            }
        };
        let values: Vec<_> = self.counters.iter().map(|(_, all)| always(all)).collect();
        self.formed(&values)
    }

    /// Evaluates the formula with these values, in the order of its names.
    fn formed(&self, values: &[Measure<f64>]) -> Measure<f64> {
        let (mut coverage, mut known) = (1.0_f64, Vec::new());
        for value in values {
            match value {
                Measure::Known { value, quality } => {
                    coverage = coverage.min(quality.coverage);
                    known.push(*value);
                }
                Measure::Missing(why) => return Measure::Missing(*why),
            }
        }
        let names = || self.counters.iter().map(|(name, _)| name.as_str());
        let mut of = |wanted: &str| names().zip(&known).find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        match self.formula.value(&mut of) {
            Some(value) => Measure::Known { value, quality: Quality { coverage } },
            // Everything was counted, so a divisor was zero.
            None => Measure::Missing(Why::Idle),
        }
    }
}

impl Reader<'_> {
    /// The empty name is the window's length.
    fn read_or_wall(&self, counter: &str) -> Measure<f64> {
        if counter.is_empty() { Measure::exact(self.window.span().as_f64()) } else { self.read(counter) }
    }
}

/// The measure with the higher coverage, the first if equal. Any value beats a missing one.
fn better(a: Measure<f64>, b: Measure<f64>) -> Measure<f64> {
    let coverage = |measure: &Measure<f64>| match measure {
        Measure::Known { quality, .. } => quality.coverage,
        Measure::Missing(_) => -1.0,
    };
    match (a, b) {
        // The last reason comes from a counter; the first may be only the initial value.
        (Measure::Missing(_), b) => b,
        (a, b) if coverage(&b) > coverage(&a) => b,
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests;

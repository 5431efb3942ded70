//! The hardware metrics that a recording's counters suffice for: each with the first of its formulas whose counters
//! were recorded.

use crate::model::{Computation, Formula, HardwarePlan, MetricId};
use rustc_hash::FxHashMap;

/// The counters of a recording by role, and the formulas they suffice for.
#[derive(Debug, Clone, Default)]
pub(super) struct HardwareMetrics {
    pub(super) metrics: Vec<Computable>,
    pub(super) per_op: Vec<(MetricId, CountedFormula)>,
    /// Whether any hardware event was counted.
    pub(super) counted: bool,
    /// Whether nothing was counted because it would have cost too much.
    pub(super) too_costly: bool,
    /// Whether cycles cover user mode only.
    user_only: bool,
}

/// A metric, and the formula that the recorded counters suffice for.
#[derive(Debug, Clone)]
pub(super) struct Computable {
    pub(super) metric: MetricId,
    pub(super) formula: Option<CountedFormula>,
    /// Why no formula applies, in the planner's words.
    pub(super) absent: Option<String>,
}

/// A counter: its group, if any, and its name.
pub(super) type Counter = (Option<u16>, String);

/// A formula whose counters all exist.
#[derive(Debug, Clone)]
pub(super) struct CountedFormula {
    pub(super) text: String,
    pub(super) formula: Formula,
    /// For each name, the counters that count it.
    pub(super) counters: Vec<(String, Vec<Counter>)>,
}

impl HardwareMetrics {
    /// Finds the formulas that the counters, given by name and group, suffice for.
    pub fn of<'a>(plan: &HardwarePlan, counters: impl Iterator<Item = (&'a str, Option<u16>)>) -> HardwareMetrics {
        let mut roles: FxHashMap<String, Vec<Counter>> = FxHashMap::default();
        for (name, group) in counters {
            roles.entry(role(name).to_string()).or_default().push((group, name.to_string()));
        }
        // Names come in no order. Sorting makes the same group come first every time.
        roles.values_mut().for_each(|counters| counters.sort());
        let computable = |metric: MetricId| Computable {
            metric,
            formula: plan.formulas_of(metric.def()).find_map(|text| CountedFormula::of(text, &roles)),
            absent: plan.absent.iter().find(|absent| absent.metric == metric.name()).map(|absent| absent.why.clone()),
        };
        let mut law = plan.groups.iter().flat_map(|group| &group.events).filter(|event| event.role == "cycles");
        let per_op = |id: &MetricId| match id.def().computation {
            Computation::EventsPerOperation(formulas) => {
                Some((*id, formulas.iter().find_map(|text| CountedFormula::of(text, &roles))?))
            }
            _ => None,
        };
        HardwareMetrics {
            metrics: MetricId::from_events().map(computable).collect(),
            per_op: MetricId::ALL.iter().filter_map(per_op).collect(),
            too_costly: plan.too_costly,
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
pub(super) fn role(counter: &str) -> &str {
    match counter.rsplit_once('.') {
        Some((role, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => role,
        _ => counter,
    }
}

impl CountedFormula {
    fn of(text: &str, roles: &FxHashMap<String, Vec<Counter>>) -> Option<CountedFormula> {
        let formula = Formula::parse(text)?;
        let find = |name: &&str| match *name {
            "wall" => Some((name.to_string(), vec![])),
            name => Some((name.to_string(), roles.get(name)?.clone())),
        };
        let names = formula.names();
        let counters = names.iter().map(find).collect::<Option<Vec<_>>>()?;
        Some(CountedFormula { text: text.to_string(), formula, counters })
    }

    pub(super) fn needs(&self, name: &str) -> bool {
        self.counters.iter().any(|(known, _)| known == name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.counters.iter().filter(|(name, _)| name != "wall").map(|(name, _)| name.clone()).collect()
    }
}

//! Chooses the formula by which a core forms a metric, or explains why there is none.

use crate::model::{Formula, MetricDef, MetricId};
use crate::pmu::machine::Capacity;
use crate::pmu::table::{EventEncoding, TableEvent, Uarch};

/// Names that are measured without a PMU.
const WITHOUT_PMU: &[&str] = &["task-clock", "wall"];
/// A constant of the machine.
const SLOTS_PER_CYCLE: &str = "slots-per-cycle";

/// A metric's formula and the events that must be counted for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The formula with machine constants substituted.
    pub(super) formula: String,
    /// The roles of the events that must be in one group.
    pub(super) roles: Vec<String>,
}

/// Why a formula cannot be used, sorted from the most to the least fundamental reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Unavailable {
    MissingEvents(usize, Vec<String>),
    OtherVendor,
    UnknownSlots,
    SharedSlots,
    TooFewCounters(usize),
}

/// The first formula whose events this core can count at once. Errors: why there is none, as text for users.
pub(super) fn choose(uarch: &Uarch, capacity: &Capacity, metric: &MetricDef) -> Result<Choice, String> {
    if !capacity.present {
        return Err(no_pmu(capacity));
    }
    if metric.name == MetricId::RemoteDramShare.name() && capacity.nodes == 1 {
        return Err("this machine has one memory node, so nothing is remote".to_string());
    }
    if let Some((_, why)) = uarch.absent.iter().find(|(name, _)| name == metric.name) {
        return Err(why.clone());
    }
    let own = uarch.formulas.iter().filter(|(name, _)| name == metric.name).map(|(_, formula)| formula.as_str());
    let mut best: Option<Unavailable> = None;
    for text in own.chain(metric.formulas().iter().copied()) {
        match try_formula(uarch, capacity, text) {
            Ok(choice) => return Ok(choice),
            Err(why) => best = Some(best.map_or(why.clone(), |known| more_informative(known, why))),
        }
    }
    Err(reason(best, uarch, capacity))
}

/// The roles of the events that a formula needs; `None` if the formula is invalid or contains an unresolved name.
pub(super) fn roles_of(formula: &str) -> Option<Vec<String>> {
    let formula = Formula::parse(formula)?;
    let names = formula.names();
    let counted = names.iter().filter(|name| !WITHOUT_PMU.contains(name));
    (!names.contains(&SLOTS_PER_CYCLE)).then(|| counted.map(ToString::to_string).collect())
}

fn try_formula(uarch: &Uarch, capacity: &Capacity, text: &str) -> Result<Choice, Unavailable> {
    let needs_slots = names(text).any(|name| name == SLOTS_PER_CYCLE);
    let one = with_slots(text, 1);
    let mut roles = roles_of(&one).unwrap_or_default();
    let can = |role: &String| uarch.event(role).is_some_and(|event| !event.samples_only);
    let missing: Vec<String> = roles.iter().filter(|role| !can(role)).cloned().collect();
    // Every core has cycles and instructions. The remaining roles are specific to the metric, or to another vendor.
    let own = |role: &&String| !matches!(role.as_str(), "cycles" | "instructions" | "slots");
    if roles.iter().filter(own).count() == missing.iter().filter(own).count() {
        return Err(Unavailable::OtherVendor);
    }
    if !missing.is_empty() {
        return Err(Unavailable::MissingEvents(missing.len(), missing));
    }
    if needs_slots && uarch.topdown_per_core && capacity.smt {
        return Err(Unavailable::SharedSlots);
    }
    let formula = match (needs_slots, capacity.slots_per_cycle) {
        (false, _) => text.to_string(),
        (true, Some(slots)) => with_slots(text, slots),
        (true, None) => return Err(Unavailable::UnknownSlots),
    };
    let led = roles.iter().any(|role| uarch.led_by_slots.contains(role));
    // Events with a fixed counter cost nothing and add the group's own IPC.
    let free = ["cycles", "instructions"].into_iter().filter(|role| uarch.fixed.iter().any(|fixed| fixed == role));
    for role in free.chain(led.then_some("slots")) {
        if !roles.iter().any(|known| known == role) && uarch.event(role).is_some() {
            roles.push(role.to_string());
        }
    }
    if !fits(uarch, capacity, &roles) {
        return Err(Unavailable::TooFewCounters(needed(uarch, &roles)));
    }
    Ok(Choice { formula, roles })
}

/// Substitutes the number of slots into the formula text.
fn with_slots(text: &str, slots: u8) -> String {
    let mut bound = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_of_name) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c| !is_of_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        bound.push_str(before);
        if name == SLOTS_PER_CYCLE {
            bound.push_str(&slots.to_string())
        } else {
            bound.push_str(name)
        }
        rest = after;
    }
    bound.push_str(rest);
    bound
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_of_name(c))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Of two failed formulas, the one with the more informative reason: fewer missing events, else the later variant.
fn more_informative(a: Unavailable, b: Unavailable) -> Unavailable {
    match (&a, &b) {
        (_, Unavailable::OtherVendor) => a,
        (Unavailable::OtherVendor, _) => b,
        (Unavailable::MissingEvents(few, _), Unavailable::MissingEvents(more, _)) if more >= few => a,
        (Unavailable::MissingEvents(..), _) => b,
        (_, Unavailable::MissingEvents(..)) => a,
        _ => a.max(b),
    }
}

fn reason(why: Option<Unavailable>, uarch: &Uarch, capacity: &Capacity) -> String {
    let name = if uarch.name.is_empty() { "a CPU of no known kind" } else { &uarch.name };
    match why {
        None => format!("no formula computes {name}"),
        Some(Unavailable::MissingEvents(_, missing)) => {
            let list = missing.iter().map(|role| format!("'{role}'")).collect::<Vec<_>>().join(", ");
            format!("{name} has no event for {list}")
        }
        Some(Unavailable::OtherVendor) => format!("{name} has no event for it"),
        Some(Unavailable::UnknownSlots) => {
            "the kernel does not say how many slots the pipeline has (caps/slots)".to_string()
        }
        Some(Unavailable::SharedSlots) => {
            format!(
                "{name} counts these slots for a core's two threads together: with hyperthreading on it says nothing"
            )
        }
        Some(Unavailable::TooFewCounters(needed)) => {
            let watchdog =
                if capacity.watchdog > 0 { "; the NMI watchdog holds one (sysctl kernel.nmi_watchdog=0)" } else { "" };
            format!(
                "its events cannot be counted at once: they take {needed} of {} general counters{watchdog}",
                capacity.general
            )
        }
    }
}

/// Why this core cannot count anything.
fn no_pmu(capacity: &Capacity) -> String {
    if capacity.is_virtual {
        "this virtual machine was given no PMU".to_string()
    } else {
        "the kernel shows no core PMU".to_string()
    }
}

/// Number of registers of a core for filters of offcore response events.
const OFFCORE_FILTERS: usize = 2;
/// The `config1` of the load-latency event is a threshold, not a filter.
const LOAD_LATENCY: u64 = 0x1cd;

/// Whether these roles, each of which has an event on this core, can be counted in one group.
#[must_use]
pub fn fits(uarch: &Uarch, capacity: &Capacity, roles: &[String]) -> bool {
    let slots = roles.iter().any(|role| role == "slots");
    let led = roles.iter().any(|role| uarch.led_by_slots.contains(role));
    let Some(events) = roles.iter().map(|role| uarch.event(role)).collect::<Option<Vec<&TableEvent>>>() else {
        return false;
    };
    (slots || !led) && general(uarch, capacity, &events) && few_filters(&events)
}

/// Number of general counters that the roles need. Roles with a fixed counter need none.
#[must_use]
pub(super) fn needed(uarch: &Uarch, roles: &[String]) -> usize {
    roles.iter().filter(|role| !uarch.fixed.contains(role) && !uarch.led_by_slots.contains(role)).count()
}

/// Whether there are enough general counters, including enough low-numbered ones for the events that only those can
/// count: for every `n`, at most `n` events are limited to the first `n` counters.
fn general(uarch: &Uarch, capacity: &Capacity, events: &[&TableEvent]) -> bool {
    let general = events.iter().filter(|event| {
        let role = &event.role;
        !uarch.fixed.contains(role) && !uarch.led_by_slots.contains(role)
    });
    let mut limits: Vec<u8> =
        general.map(|event| event.first_counters.unwrap_or(u8::MAX).min(capacity.general)).collect();
    limits.sort_unstable();
    limits.iter().zip(1_u8..).all(|(limit, counted)| counted <= *limit)
}

fn few_filters(events: &[&TableEvent]) -> bool {
    let mut filters: Vec<u64> = events.iter().filter_map(|event| filter(event)).collect();
    filters.sort_unstable();
    filters.dedup();
    filters.len() <= OFFCORE_FILTERS
}

fn filter(event: &TableEvent) -> Option<u64> {
    match event.code {
        EventEncoding::Raw { config, config1 } if config1 != 0 && config != LOAD_LATENCY => Some(config1),
        _ => None,
    }
}

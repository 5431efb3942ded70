//! Decides whether a core can count given events at the same time.

use crate::pmu::machine::Capacity;
use crate::pmu::table::{Code, TableEvent, Uarch};

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
        Code::Raw { config, config1 } if config1 != 0 && config != LOAD_LATENCY => Some(config1),
        _ => None,
    }
}

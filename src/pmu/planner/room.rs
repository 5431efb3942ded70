//! Whether a core can count events at the same time. It never says what they are good for.

use crate::pmu::machine::Capacity;
use crate::pmu::table::{Code, TableEvent, Uarch};

/// Filters of offcore response events that a core has registers for.
const OFFCORE_FILTERS: usize = 2;
/// The load-latency event's `config1` is a threshold, no filter.
const LOAD_LATENCY: u64 = 0x1cd;

/// Whether these roles, each an event of this core, can be counted in one group.
#[must_use]
pub fn fits(uarch: &Uarch, capacity: &Capacity, roles: &[String]) -> bool {
    let slots = roles.iter().any(|role| role == "slots");
    let led = roles.iter().any(|role| uarch.led_by_slots.contains(role));
    let Some(events) = roles.iter().map(|role| uarch.event(role)).collect::<Option<Vec<&TableEvent>>>() else {
        return false;
    };
    (slots || !led) && general(uarch, capacity, &events) && few_filters(&events)
}

/// How many general counters the roles take; those with a counter of their own take none.
#[must_use]
pub(super) fn needed(uarch: &Uarch, roles: &[String]) -> usize {
    roles.iter().filter(|role| !uarch.fixed.contains(role) && !uarch.led_by_slots.contains(role)).count()
}

/// Enough general counters, and enough of the first ones for the events that no other counts: for every `n`, those that count
/// only on the first `n` are no more than `n`.
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

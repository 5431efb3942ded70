//! Converts the metadata of a perf.data file into that of a recording: machine, command, events.
//! Missing facts stay missing; they are not taken from this machine.

use super::Source;
use crate::model::{CallGraph, Event, EventKind, EventSpec, Meta, Plan, Rate, Target, Tick, Unit};
use crate::pmu;
use crate::store::FORMAT;
use crate::store::perfdata::{Attr, PerfData, PerfEvent};
use crate::units::Nanos;

/// Window length: the default of live captures.
pub(super) const WINDOW: Nanos = Nanos(1_000_000_000);

/// The windows of an import.
#[derive(Debug, Default)]
pub(super) struct Windows {
    end: Nanos,
}

impl Windows {
    /// Ends the windows that are over. A gap becomes one long window, so that a bogus clock cannot create millions.
    pub(super) fn advance(&mut self, now: Nanos) -> Option<Event> {
        let spans = (now - self.end).0 / WINDOW.0;
        let span = Nanos(spans.saturating_mul(WINDOW.0));
        self.end += span;
        (spans > 0).then_some(Event::Tick(Tick { at: self.end, span }))
    }
}

/// The metadata without times.
pub(super) fn meta(perf: &PerfData<'_>, source: &Source) -> Meta {
    let first = perf.events.first().map(|event| event.attr).unwrap_or_default();
    let events: Vec<EventSpec> = perf.events.iter().map(spec).collect();
    let mut command = perf.features.command_line();
    if command.is_empty() {
        command.push(source.name.clone());
    }
    let rate = if first.is_frequency() { Rate::Frequency(first.rate) } else { Rate::Period(first.rate) };
    let plan = Plan::new(Target::Command { argv: command }, rate, method(&perf.events));
    Meta { host: perf.features.host(), ..Meta::new(FORMAT, Plan { events, interval: WINDOW, ..plan }) }
}

/// How stacks were taken, from the event with the most complete stacks.
fn method(events: &[PerfEvent]) -> CallGraph {
    let any = |has: fn(&Attr) -> bool| events.iter().map(|event| event.attr).find(has);
    if any(Attr::has_call_stack).is_some() {
        CallGraph::Lbr
    } else if let Some(attr) = any(Attr::has_stack) {
        CallGraph::Dwarf { stack_bytes: attr.stack_bytes }
    } else if any(Attr::has_chain).is_some() {
        CallGraph::FramePointer
    } else {
        CallGraph::None
    }
}

fn spec(event: &PerfEvent) -> EventSpec {
    let PerfEvent { attr, name, group, .. } = event;
    let kind = kind(attr, name.as_deref());
    let known = pmu::name_of(&generic(&kind));
    let [exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host] = attr.excludes();
    let unit = match (&known, name.as_deref()) {
        // Added by `perf record --off-cpu`: the period is the time a thread waited.
        (_, Some("offcpu-time")) => Unit::Nanos,
        (Some((_, unit)), _) => *unit,
        (None, _) => Unit::Count,
    };
    let name = name.clone().unwrap_or_else(|| {
        let plain = known.map_or_else(|| format!("event {}:{:#x}", attr.kind, attr.config), |(name, _)| name);
        format!("{plain}{}", modifiers(attr))
    });
    EventSpec {
        name,
        kind,
        exclude_user,
        exclude_kernel,
        exclude_hv,
        exclude_guest,
        exclude_host,
        precise: attr.precise(),
        group: *group,
        // perf gives such events no rate of their own.
        read_by_leader: group.is_some() && attr.rate == 0 && attr.reads_group(),
        access: None,
        unit,
    }
}

fn kind(attr: &Attr, name: Option<&str>) -> EventKind {
    let Attr { kind, config, config1, config2, .. } = *attr;
    match (kind, name.and_then(|name| name.split_once(':'))) {
        (0, _) => EventKind::Hardware(config),
        (1, _) => EventKind::Software(config),
        (2, Some((category, name))) => EventKind::Tracepoint { category: category.into(), name: name.into() },
        (3, _) => EventKind::Cache(config),
        _ => EventKind::Raw { pmu: kind, config, config1, config2 },
    }
}

/// The kind without the upper half of its config, which selects the core type.
fn generic(kind: &EventKind) -> EventKind {
    const LOWER: u64 = u32::MAX as u64;
    match kind {
        EventKind::Hardware(config) => EventKind::Hardware(config & LOWER),
        EventKind::Cache(config) => EventKind::Cache(config & LOWER),
        other => other.clone(),
    }
}

/// The modifiers as perf appends them to the names it generates.
fn modifiers(attr: &Attr) -> String {
    let [user, kernel, ..] = attr.excludes();
    let parts = [(kernel && !user, "u"), (user && !kernel, "k")];
    let mut text: String = parts.iter().filter(|(said, _)| *said).map(|(_, letter)| *letter).collect();
    text.extend(std::iter::repeat_n('p', usize::from(attr.precise())));
    if text.is_empty() { text } else { format!(":{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_names_and_nameless_ones_get_those_of_perf() {
        let attr = |kind, config| {
            let mut attr = Attr::default();
            (attr.kind, attr.config) = (kind, config);
            attr
        };
        let event = |kind, config, name: Option<&str>| {
            let attr = attr(kind, config);
            let spec = spec(&PerfEvent { attr, name: name.map(String::from), ..PerfEvent::default() });
            (spec.name, spec.unit)
        };
        assert_eq!(event(0, 0, None), ("cycles".into(), Unit::Cycles));
        assert_eq!(event(0, 4 << 32, Some("cpu_core/cycles/")), ("cpu_core/cycles/".into(), Unit::Cycles));
        assert_eq!(event(1, 0, Some("cpu-clock:u")), ("cpu-clock:u".into(), Unit::Nanos));
        assert_eq!(event(3, 0x10002, None), ("LLC-load-misses".into(), Unit::Count));
        assert_eq!(event(4, 0x1c2, None), ("event 4:0x1c2".into(), Unit::Count));
        assert_eq!(event(1, 10, Some("offcpu-time")).1, Unit::Nanos);
        let attr = attr(2, 77);
        assert_eq!(
            kind(&attr, Some("sched:sched_switch")),
            EventKind::Tracepoint { category: "sched".into(), name: "sched_switch".into() }
        );
        assert_eq!(kind(&attr, None), EventKind::Raw { pmu: 2, config: 77, config1: 0, config2: 0 });
    }
}

//! Parses one event of a list: its name, its kernel encoding and its modifiers.

use super::{EventSources, modifiers, names, terms};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EventKind, EventSpec, Unit};

/// `PERF_TYPE_RAW`: the core PMU's own encoding.
const PERF_TYPE_RAW: u32 = 4;

/// Parses one event. `group_letters` are the modifiers of the enclosing group.
pub(super) fn parse(text: &str, group_letters: &str, sources: &dyn EventSources) -> Result<EventSpec> {
    let (mut event, letters) = match text.split_once('/') {
        Some((pmu, rest)) => of_pmu(pmu, rest, sources)?,
        None => named(text, sources)?,
    };
    if !group_letters.is_empty() {
        event.name.push_str(if letters.is_empty() { ":" } else { "" });
        event.name.push_str(group_letters);
    }
    modifiers::apply(&format!("{letters}{group_letters}"), || terms::max_precise(sources), &mut event)?;
    Ok(event)
}

fn of_pmu<'a>(pmu: &str, rest: &'a str, sources: &dyn EventSources) -> Result<(EventSpec, &'a str)> {
    let Some((inner, letters)) = rest.split_once('/') else {
        return Err(Error::new(ErrorKind::Usage, format!("event '{pmu}/{rest}' lacks its closing slash"))
            .hint(format!("Write {pmu}/{rest}/.")));
    };
    let described = terms::describe(pmu, inner, sources)?;
    let name = described.name.unwrap_or_else(|| format!("{pmu}/{inner}/{letters}"));
    Ok((spec(name, described.kind, described.unit), letters.strip_prefix(':').unwrap_or(letters)))
}

fn named<'a>(text: &'a str, sources: &dyn EventSources) -> Result<(EventSpec, &'a str)> {
    let (head, tail) = text.split_once(':').unwrap_or((text, ""));
    if let Some((kind, unit)) = names::generic(head).or_else(|| raw(head)) {
        return Ok((spec(text.to_string(), kind, unit), tail));
    }
    if let Some(described) = terms::core_event(head, sources) {
        let described = described?;
        return Ok((spec(text.to_string(), described.kind, described.unit), tail));
    }
    if let Some(kind) = sources.known(head) {
        return Ok((spec(text.to_string(), kind, Unit::Count), tail));
    }
    // `cyclez:u` is a typo.
    if modifiers::are_letters(tail) {
        return Err(unknown(head, sources));
    }
    tracepoint(text, head, tail)
}

/// `rNNN`: the core PMU's config word in hexadecimal.
fn raw(name: &str) -> Option<(EventKind, Unit)> {
    let digits = name.strip_prefix('r')?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    // `from_str_radix` would accept a sign.
    let config = digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok());
    Some((EventKind::Raw { pmu: PERF_TYPE_RAW, config: config??, config1: 0, config2: 0 }, Unit::Count))
}

fn tracepoint<'a>(text: &str, category: &str, rest: &'a str) -> Result<(EventSpec, &'a str)> {
    let (name, letters) = rest.split_once(':').unwrap_or((rest, ""));
    if category == "mem" {
        return Err(Error::new(ErrorKind::Unsupported, format!("breakpoint '{text}' is not supported")));
    }
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if category.is_empty() || name.is_empty() || !plain(category) || !plain(name) {
        return Err(Error::new(ErrorKind::Usage, format!("invalid event '{text}'"))
            .hint("Name single tracepoints, e.g. sched:sched_switch; `ironlaw list tracepoint` lists them."));
    }
    let kind = EventKind::Tracepoint { category: category.to_string(), name: name.to_string() };
    Ok((spec(text.to_string(), kind, Unit::Count), letters))
}

fn unknown(name: &str, sources: &dyn EventSources) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("unknown event '{name}'"));
    let mut more = terms::core_event_names(sources);
    more.extend(sources.known_names());
    match names::nearest(name, &more) {
        Some(near) => error.hint(format!("Did you mean '{near}'?")),
        None => error
            .hint("Write cycles, cpu-clock, rNNN, pmu/event=0x3c/ or category:tracepoint; `ironlaw list` lists all."),
    }
}

fn spec(name: String, kind: EventKind, unit: Unit) -> EventSpec {
    // As in perf, a guest's events are excluded unless `:G` asks for them: they do not belong to this program's code.
    // Only the core's PMU counts guests separately; other PMUs may reject the attribute.
    let core = matches!(kind, EventKind::Hardware(_) | EventKind::Cache(_) | EventKind::Raw { pmu: PERF_TYPE_RAW, .. });
    EventSpec { exclude_guest: core, ..EventSpec::new(name, kind, unit) }
}

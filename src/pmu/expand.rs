//! Expands the wildcards of an event to the events that exist: `CATEGORY:NAME` to tracepoints, any other pattern to
//! names of events.

use super::{EventSources, event, glob, modifiers, names, terms};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EventSpec;

/// The most events that one pattern may stand for: each is opened on every thread or CPU of the target.
const MOST: usize = 64;

/// Parses one event of a list, or all that its pattern stands for. `group_letters` are the modifiers of the enclosing
/// group.
pub(super) fn parse(text: &str, group_letters: &str, sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    // A PMU's terms have no wildcards.
    if text.contains('/') || !glob::is_glob(text) {
        return Ok(vec![event::parse(text, group_letters, sources)?]);
    }
    let (pattern, letters, known) = match text.split_once(':') {
        Some((category, rest)) if !modifiers::are_letters(rest) => {
            let (name, letters) = rest.split_once(':').unwrap_or((rest, ""));
            let tracepoints =
                sources.tracepoints().map_err(|error| error.context(format!("cannot expand '{text}'")))?;
            (format!("{category}:{name}"), letters, tracepoints)
        }
        split => {
            let (pattern, letters) = split.unwrap_or((text, ""));
            (pattern.to_string(), letters, named(pattern, sources))
        }
    };
    let found: Vec<&String> = known.iter().filter(|name| glob::matches(&pattern, name)).collect();
    if found.is_empty() {
        return Err(nothing(&pattern, &known));
    }
    let suffix = if letters.is_empty() { String::new() } else { format!(":{letters}") };
    let mut events: Vec<EventSpec> = Vec::new();
    let mut refused = None;
    for name in &found {
        match event::parse(&format!("{name}{suffix}"), group_letters, sources) {
            // The table of the CPU and sysfs may have names of their own for an event.
            Ok(event) if events.iter().any(|known| known.kind == event.kind) => {}
            Ok(event) => events.push(event),
            // An event of sysfs that needs a value cannot be meant by a pattern.
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if events.is_empty() => Err(error),
        _ if events.len() > MOST => Err(too_many(&pattern, events.len(), &found)),
        _ => Ok(events),
    }
}

/// The names that a pattern without a category is compared with: one of each portable event, and those of this CPU.
fn named(pattern: &str, sources: &dyn EventSources) -> Vec<String> {
    let of_event = |names: Vec<String>| {
        let wanted = names.iter().position(|name| glob::matches(pattern, name)).unwrap_or(0);
        names.into_iter().nth(wanted)
    };
    let mut all: Vec<String> = names::all().into_iter().filter_map(|(_, names)| of_event(names)).collect();
    let mut more = terms::core_event_names(sources);
    more.sort();
    more.extend(sources.known_names());
    all.extend(more);
    all
}

fn nothing(pattern: &str, known: &[String]) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("no event matches '{pattern}'"));
    match glob::nearest(pattern, known, 3).as_slice() {
        [] => error.hint("`ironlaw list` lists all events; tracepoints are named CATEGORY:NAME, e.g. 'sched:*'."),
        near => error.hint(format!("The nearest are {}.", near.join(", "))),
    }
}

fn too_many(pattern: &str, count: usize, found: &[&String]) -> Error {
    let text = format!("'{pattern}' stands for {count} events, and one pattern may stand for {MOST} at most");
    let hint = format!("`ironlaw list '{pattern}'` lists them.");
    Error::new(ErrorKind::Usage, text).hint(match narrower(found) {
        Some(narrow) => format!("Narrow it, e.g. '{narrow}'; {hint}"),
        None => hint,
    })
}

/// The shortest pattern for the first name and others that is narrow enough.
fn narrower(found: &[&String]) -> Option<String> {
    let first = found.first()?;
    let begins = |head: &&str| found.iter().filter(|name| name.starts_with(head)).count() <= MOST;
    let heads = (1..=first.len()).filter_map(|end| first.get(..end));
    heads.filter(|head| !head.ends_with(':')).find(begins).map(|head| format!("{head}*"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;
    use crate::pmu::fake::{FakeSources, INTEL};

    fn names(text: &str) -> Vec<String> {
        parse(text, "", &INTEL).unwrap().into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn a_pattern_stands_for_every_event_that_exists() {
        for (text, expected) in [
            ("sched:*", vec!["sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new"]),
            ("sched:sched_wake*:k", vec!["sched:sched_wakeup:k", "sched:sched_wakeup_new:k"]),
            ("s*:*switch", vec!["sched:sched_switch"]),
            ("syscalls:sys_enter_1?", vec!["syscalls:sys_enter_10", "syscalls:sys_enter_11"]),
            ("cpu-c*", vec!["cpu-cycles", "cpu-clock"]),
            ("c?cles:u", vec!["cycles:u"]),
            ("branch-*misses", vec!["branch-misses", "branch-load-misses"]),
            (
                "L1-icache-*",
                vec!["L1-icache-loads", "L1-icache-load-misses", "L1-icache-prefetches", "L1-icache-prefetch-misses"],
            ),
            // Of the PMU's own files; one of them asks for a value.
            ("mem-*", vec!["mem-loads"]),
        ] {
            let found: Vec<String> =
                if text.ends_with("1?") { names(text).into_iter().take(2).collect() } else { names(text) };
            assert_eq!(found, expected, "{text}");
        }
        assert!(
            parse("sched:*:k", "", &INTEL).unwrap().iter().all(|event| event.exclude_user && !event.exclude_kernel)
        );
        let grouped = crate::pmu::parse("cycles,{sched:*}:k", &INTEL).unwrap();
        let seen: Vec<_> = grouped.iter().map(|event| (event.name.as_str(), event.group)).collect();
        assert_eq!(seen[..2], [("cycles", None), ("sched:sched_switch:k", Some(0))]);
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn a_pattern_without_a_match_or_with_too_many_says_what_to_write() {
        for (text, message, hint) in [
            ("shced:*", "no event matches 'shced:*'", "The nearest are sched:sched_switch"),
            ("sched:zzz*", "no event matches 'sched:zzz*'", "The nearest are sched:"),
            ("*-mises", "no event matches '*-mises'", "The nearest are"),
            ("asks*", "event 'asks' of cpu needs a value for 'umask'", "Write its settings out"),
            (
                "syscalls:*",
                "'syscalls:*' stands for 70 events, and one pattern may stand for 64",
                "Narrow it, e.g. 'syscalls:sys_enter_1*'",
            ),
            ("cycl*:x", "no event matches 'cycl*:x'", ""),
            ("cycl*:S", "modifier 'S' is for a group", "Known"),
        ] {
            let error = parse(text, "", &INTEL).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{text}: {error}");
            assert!(error.to_string().starts_with(message), "{text}: {error}");
            assert!(error.remedy().unwrap_or("").starts_with(hint), "{text}: {:?}", error.remedy());
        }
        let narrow = parse("syscalls:sys_enter_1*", "", &INTEL).unwrap();
        assert!(!narrow.is_empty() && narrow.len() <= MOST, "what is suggested is taken: {}", narrow.len());
        let error = parse("sched:*", "", &FakeSources(&[])).unwrap_err();
        assert_eq!(error.to_string(), "cannot expand 'sched:*': tracefs is not mounted");
        assert!(error.remedy().is_some());
    }
}

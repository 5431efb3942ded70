//! Parses a list of events as typed after `-e`: commas, groups in braces, and the position of an error.

use super::{EventSources, expand};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EventSpec;

/// Parses a list in perf's syntax, e.g. `cycles:u,{instructions,LLC-misses}:k,cpu/event=0x3c/,sched:sched_wake*`.
/// Errors: `Usage`, `NotFound` or `Unsupported`, with the position in the list and the nearest known name.
pub fn parse(list: &str, sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    let mut events = Vec::new();
    let mut groups = 0;
    for item in split(list, 0)? {
        match item.text.strip_prefix('{') {
            None => events.extend(read(&item, list, "", sources)?),
            Some(_) => {
                events.extend(group(&item, list, groups, sources)?);
                groups += 1;
            }
        }
    }
    Ok(events)
}

/// A piece of the list and its offset in bytes.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    text: &'a str,
    at: usize,
}

fn read(item: &Item<'_>, list: &str, group_letters: &str, sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    expand::parse(item.text, group_letters, sources).map_err(|error| located(error, list, item.at))
}

fn group(item: &Item<'_>, list: &str, number: u16, sources: &dyn EventSources) -> Result<Vec<EventSpec>> {
    let wrong = |text: &str| located(Error::new(ErrorKind::Usage, text).hint("Write {a,b} or {a,b}:u."), list, item.at);
    let (inner, tail) = item.text[1..].rsplit_once('}').ok_or_else(|| wrong("a group lacks its closing brace"))?;
    let letters = match tail.strip_prefix(':') {
        None if !tail.is_empty() => return Err(wrong("only :MODIFIERS may follow a group")),
        letters => letters.unwrap_or(""),
    };
    let by_leader = letters.contains('S');
    let letters = &letters.replace('S', "");
    let mut events = Vec::new();
    for member in split(inner, item.at + 1)? {
        if member.text.contains(['{', '}']) {
            return Err(located(Error::new(ErrorKind::Usage, "groups cannot be nested"), list, member.at));
        }
        let members = read(&member, list, letters, sources)?;
        events.extend(members.into_iter().map(|event| EventSpec { group: Some(number), ..event }));
    }
    // The leader alone takes samples, and they carry the counts of the others.
    events.iter_mut().skip(1).for_each(|event| event.read_by_leader = by_leader);
    Ok(events)
}

/// Splits at commas outside braces and slashes. `offset` is the position of `text` in the whole list.
fn split(text: &str, offset: usize) -> Result<Vec<Item<'_>>> {
    let mut items = Vec::new();
    let (mut start, mut depth, mut in_terms) = (0, 0_i32, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'/' => in_terms = !in_terms,
            b'{' if !in_terms => depth += 1,
            b'}' if !in_terms => depth -= 1,
            b',' if !in_terms && depth <= 0 => {
                items.push(item(text, start, at, offset)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(item(text, start, text.len(), offset)?);
    Ok(items)
}

fn item(text: &str, start: usize, end: usize, offset: usize) -> Result<Item<'_>> {
    let piece = text[start..end].trim();
    if piece.is_empty() {
        let position = offset + start + 1;
        return Err(Error::new(ErrorKind::Usage, format!("an event is missing at character {position}"))
            .hint("Write e.g. -e cycles:u,instructions."));
    }
    let leading = text[start..end].len() - text[start..end].trim_start().len();
    Ok(Item { text: piece, at: offset + start + leading })
}

/// Adds the position to the error, unless the list is a single event.
fn located(error: Error, list: &str, at: usize) -> Error {
    if at == 0 && !list.contains(',') {
        return error;
    }
    let position = list.get(..at).map_or(at, |before| before.chars().count()) + 1;
    error.context(format!("event list '{list}', character {position}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;
    use crate::model::{EventKind, Unit};
    use crate::pmu::fake::{FakeSources, INTEL};
    use proptest::prelude::*;

    fn kinds(list: &str) -> Vec<EventKind> {
        parse(list, &INTEL).unwrap().into_iter().map(|event| event.kind).collect()
    }

    fn raw(pmu: u32, config: u64) -> EventKind {
        EventKind::Raw { pmu, config, config1: 0, config2: 0 }
    }

    fn tracepoint(category: &str, name: &str) -> EventKind {
        EventKind::Tracepoint { category: category.into(), name: name.into() }
    }

    #[test]
    fn every_way_to_write_an_event_is_understood() {
        for (list, expected) in [
            ("cycles", vec![EventKind::Hardware(0)]),
            ("cpu-clock:u", vec![EventKind::Software(0)]),
            ("faults, cs", vec![EventKind::Software(2), EventKind::Software(3)]),
            ("LLC-load-misses", vec![EventKind::Cache(0x10002)]),
            ("r01c2:k", vec![raw(4, 0x1c2)]),
            ("r0x3c", vec![raw(4, 0x3c)]),
            ("cpu/event=0x3c,umask=1/u,instructions", vec![raw(4, 0x13c), EventKind::Hardware(1)]),
            ("cpu/event=0x3c/:k", vec![raw(4, 0x3c)]),
            ("mem-loads", vec![EventKind::Raw { pmu: 4, config: 0x1cd, config1: 3, config2: 0 }]),
            ("sched:sched_switch", vec![tracepoint("sched", "sched_switch")]),
            ("syscalls:sys_enter_write:u", vec![tracepoint("syscalls", "sys_enter_write")]),
            ("sched:*wake*", vec![tracepoint("sched", "sched_wakeup"), tracepoint("sched", "sched_wakeup_new")]),
            ("{cycles,cpu/event=1,umask=2/}", vec![EventKind::Hardware(0), raw(4, 0x201)]),
        ] {
            assert_eq!(kinds(list), expected, "{list}");
        }
    }

    #[test]
    fn modifiers_say_what_is_left_out() {
        // Excluded: user, kernel, hypervisor, guest, host; then precision.
        for (list, left_out, precise) in [
            ("cs", [false; 5], 0),
            ("cycles", [false, false, false, true, false], 0),
            ("cs:u", [false, true, true, false, false], 0),
            ("cycles:u", [false, true, true, true, false], 0),
            ("cycles:k", [true, false, true, true, false], 0),
            ("cycles:uk", [false, false, true, true, false], 0),
            ("cycles:h", [true, true, false, true, false], 0),
            ("cycles:G", [false, false, false, false, true], 0),
            ("cycles:H", [false, false, false, true, false], 0),
            ("cycles:GH", [false; 5], 0),
            ("LLC-loads:ppp", [false, false, false, true, false], 3),
            ("r1:P", [false, false, false, true, false], 3),
            ("uncore_imc_0/event=1/", [false; 5], 0),
            ("cpu/event=1/upp", [false, true, true, true, false], 2),
            ("{cycles:p}:k", [true, false, true, true, false], 1),
        ] {
            let event = &parse(list, &INTEL).unwrap()[0];
            let found =
                [event.exclude_user, event.exclude_kernel, event.exclude_hv, event.exclude_guest, event.exclude_host];
            assert_eq!((found, event.precise), (left_out, precise), "{list}");
        }
    }

    #[test]
    fn a_group_shares_a_number_and_its_modifiers() {
        let events = parse("cs,{cycles,instructions}:u,{LLC-loads:k}", &INTEL).unwrap();
        let seen: Vec<_> = events.iter().map(|event| (event.name.as_str(), event.group)).collect();
        assert_eq!(seen, [("cs", None), ("cycles:u", Some(0)), ("instructions:u", Some(0)), ("LLC-loads:k", Some(1))]);
    }

    #[test]
    fn only_the_leader_of_a_group_samples_if_the_group_says_so() {
        for (list, expected) in [
            ("{cycles,instructions}:S", [false, true]),
            ("{cycles,instructions}:uS", [false, true]),
            ("{cycles,instructions}:u", [false, false]),
            ("cycles,instructions", [false, false]),
        ] {
            let events = parse(list, &INTEL).unwrap();
            let seen: Vec<_> = events.iter().map(|event| event.read_by_leader).collect();
            assert_eq!(seen, expected, "{list}");
            assert!(events.iter().all(|event| event.exclude_kernel == list.contains(":u")), "{list}");
        }
    }

    #[test]
    fn names_and_units_follow_what_was_written() {
        for (list, name, unit) in [
            ("cpu-cycles:u", "cpu-cycles:u", Unit::Cycles),
            ("task-clock", "task-clock", Unit::Nanos),
            ("cpu/instructions/u", "cpu/instructions/u", Unit::Instructions),
            ("cpu/event=0x3c,name=busy/", "busy", Unit::Count),
        ] {
            let event = &parse(list, &INTEL).unwrap()[0];
            assert_eq!((event.name.as_str(), event.unit), (name, unit), "{list}");
        }
    }

    #[test]
    fn errors_say_what_where_and_what_was_meant() {
        for (list, message, hint) in [
            ("cylces", "unknown event 'cylces'", "Did you mean 'cycles'?"),
            (
                "cs, cylces:u",
                "event list 'cs, cylces:u', character 5: unknown event 'cylces'",
                "Did you mean 'cycles'?",
            ),
            ("", "an event is missing at character 1", "Write e.g."),
            ("cycles,", "an event is missing at character 8", "Write e.g."),
            ("{cycles,}", "an event is missing at character 9", "Write e.g."),
            ("{cycles", "a group lacks its closing brace", "Write {a,b}"),
            ("{cycles}u", "only :MODIFIERS may follow a group", "Write {a,b}"),
            ("cpu/event=1", "event 'cpu/event=1' lacks its closing slash", "Write cpu/event=1/."),
            (
                "cycles:S",
                "modifier 'S' is for a group: its leader takes the samples, which carry the counts of all",
                "Known",
            ),
            ("cycles:x", "modifier 'x' is not known", "Known"),
            ("cycles:pppp", "precision 4 does not exist", "The highest"),
            ("sched:a b", "invalid event 'sched:a b'", "Name single"),
            (
                "cs,shced:*",
                "event list 'cs,shced:*', character 4: no event matches 'shced:*'",
                "The nearest are sched:",
            ),
        ] {
            let error = parse(list, &INTEL).unwrap_err();
            assert_eq!(error.to_string(), message, "{list}");
            assert!(error.remedy().unwrap_or("").starts_with(hint), "{list}: {error:?} {:?}", error.remedy());
        }
    }

    #[test]
    fn nested_groups_and_precision_without_a_pmu_are_refused() {
        assert!(parse("{cycles,{cs}}", &INTEL).unwrap_err().to_string().contains("nested"));
        assert!(parse("cycles:P", &FakeSources(&[])).unwrap_err().to_string().contains("how precise"));
        assert!(parse("mem:0x1000:w", &INTEL).unwrap_err().to_string().contains("breakpoint"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(list in "(?s).{0,60}") {
            let _ = parse(&list, &INTEL);
        }

        #[test]
        fn nor_does_text_made_of_the_grammars_own_pieces(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "{", "}", ",", "/", ":", "=", "cycles", "cpu", "event", "config1", "0x1", "ff", "u", "ppp", " ", "r1", "é", "*", "sched", "?",
            ]), 0..14),
        ) {
            if let Ok(events) = parse(&pieces.concat(), &INTEL) {
                // Parsing the name of a parsed event returns the same event, except for groups and name=.
                for event in events.iter().filter(|event| event.group.is_none()) {
                    prop_assert_eq!(&parse(&event.name, &INTEL).unwrap()[0].kind, &event.kind);
                }
            }
        }
    }
}

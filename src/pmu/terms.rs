//! Parses the text between the slashes of `pmu/event=0x3c,umask=1/` and places the terms into config words by the PMU's
//! own format files. A term without a format is an error.

use super::{EventSources, core_pmus, names};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EventKind, Unit};

/// A PMU event described by its terms.
#[derive(Debug)]
pub(super) struct Described {
    /// The kernel encoding.
    pub(super) kind: EventKind,
    /// The unit of one count.
    pub(super) unit: Unit,
    /// `name=...`, if given.
    pub(super) name: Option<String>,
}

#[derive(Debug, Default)]
struct Words {
    config: [u64; 3],
    unit: Option<Unit>,
    name: Option<String>,
}

/// Parses `pmu` and the text between its slashes. Errors: `NotFound` for an unknown PMU, `Usage` for an invalid term.
pub(super) fn describe(pmu: &str, terms: &str, sources: &dyn EventSources) -> Result<Described> {
    let number = is_file_name(pmu).then(|| sources.read(&format!("{pmu}/type"))).flatten();
    let Some(number) = number.and_then(|text| text.parse().ok()) else {
        return Err(unknown("event source", pmu, ErrorKind::NotFound, sources.list("")));
    };
    let mut words = Words::default();
    for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        typed_term(pmu, term, sources, &mut words)?;
    }
    let [config, config1, config2] = words.config;
    let kind = EventKind::Raw { pmu: number, config, config1, config2 };
    Ok(Described { kind, unit: words.unit.unwrap_or(Unit::Count), name: words.name })
}

/// The core PMU's event of that name, for names without a PMU, e.g. `topdown-retiring`.
pub(super) fn core_event(name: &str, sources: &dyn EventSources) -> Option<Result<Described>> {
    let pmu = core_pmus(sources).into_iter().find(|pmu| event_text(pmu, name, sources).is_some())?;
    Some(describe(&pmu, name, sources))
}

/// The names of the core PMU's events.
pub(super) fn core_event_names(sources: &dyn EventSources) -> Vec<String> {
    core_pmus(sources).iter().flat_map(|pmu| event_names(pmu, sources)).collect()
}

/// The highest precision the core PMU offers.
pub(super) fn max_precise(sources: &dyn EventSources) -> Option<u8> {
    core_pmus(sources).iter().find_map(|pmu| sources.read(&format!("{pmu}/caps/max_precise"))?.parse().ok())
}

/// Parses one term as typed: a setting, or the name of one of the PMU's events.
fn typed_term(pmu: &str, term: &str, sources: &dyn EventSources, words: &mut Words) -> Result<()> {
    if let Some((key, value)) = term.split_once('=') {
        return match key {
            "name" => {
                words.name = Some(value.to_string());
                Ok(())
            }
            "period" | "freq" => {
                Err(Error::new(ErrorKind::Usage, format!("'{key}' cannot differ from event to event"))
                    .hint("Set it for all events: -c PERIOD or -F HZ."))
            }
            _ => setting(pmu, key, value, sources, words),
        };
    }
    let aliases = names::hardware_aliases(term);
    let found = std::iter::once(&term).chain(aliases).find_map(|name| event_text(pmu, name, sources));
    let Some(text) = found else {
        return setting(pmu, term, "1", sources, words);
    };
    words.unit = Some(names::unit_of(term));
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, "1"));
        if value == "?" {
            return Err(Error::new(ErrorKind::Usage, format!("event '{term}' of {pmu} needs a value for '{key}'"))
                .hint(format!("Write its settings out: {pmu}/{}/.", text.replace('?', "VALUE"))));
        }
        setting(pmu, key.trim(), value.trim(), sources, words)?;
    }
    Ok(())
}

fn event_text(pmu: &str, name: &str, sources: &dyn EventSources) -> Option<String> {
    // Files such as `event.scale` describe an event and are not events themselves.
    (is_file_name(name) && !name.contains('.')).then(|| sources.read(&format!("{pmu}/events/{name}"))).flatten()
}

/// The names of a PMU's events.
pub(super) fn event_names(pmu: &str, sources: &dyn EventSources) -> Vec<String> {
    let mut names = sources.list(&format!("{pmu}/events"));
    names.retain(|name| !name.contains('.'));
    names
}

/// One `key=value`, placed into the bits that the format file specifies.
fn setting(pmu: &str, key: &str, value: &str, sources: &dyn EventSources, words: &mut Words) -> Result<()> {
    let number = number(value).ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("invalid number '{value}' for '{key}'")).hint("Write e.g. 60 or 0x3c.")
    })?;
    let format = match key {
        "config" | "config1" | "config2" => Some(format!("{key}:0-63")),
        _ => is_file_name(key).then(|| sources.read(&format!("{pmu}/format/{key}"))).flatten(),
    };
    let Some(format) = format else {
        let mut known = sources.list(&format!("{pmu}/format"));
        known.extend(event_names(pmu, sources));
        return Err(unknown(&format!("event or setting of {pmu}"), key, ErrorKind::Usage, known));
    };
    let (word, ranges) = parse_format(&format).ok_or_else(|| {
        let text = format!("setting '{key}' of {pmu} has a format that is not understood: '{format}'");
        Error::new(ErrorKind::Unsupported, text)
    })?;
    let bits: u32 = ranges.iter().map(|(low, high)| high - low + 1).sum();
    if bits < 64 && number >> bits != 0 {
        let text = format!("{value} is too large for '{key}' of {pmu}, which has {bits} bits");
        return Err(Error::new(ErrorKind::Usage, text));
    }
    words.config[word] = place(number, &ranges, words.config[word]);
    Ok(())
}

/// Spreads the low bits of `value` over the ranges, first range first. Overwrites the previous bits.
fn place(mut value: u64, ranges: &[(u32, u32)], mut word: u64) -> u64 {
    for (low, high) in ranges {
        let width = high - low + 1;
        let mask = u64::MAX >> (64 - width);
        word = word & !(mask << low) | (value & mask) << low;
        value = value.checked_shr(width).unwrap_or(0);
    }
    word
}

/// Parses `config1:0-7,32-35` into the index of the word and its bit ranges.
fn parse_format(text: &str) -> Option<(usize, Vec<(u32, u32)>)> {
    let (word, ranges) = text.trim().split_once(':')?;
    let word = match word {
        "config" => 0,
        "config1" => 1,
        "config2" => 2,
        _ => return None,
    };
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.parse::<u32>().ok()?, high.parse::<u32>().ok()?);
        (low <= high && high < 64).then_some((low, high))
    };
    let ranges: Vec<_> = ranges.split(',').map(range).collect::<Option<_>>()?;
    // More than 64 bits mean that ranges overlap, which makes no sense.
    (ranges.iter().map(|(low, high)| high - low + 1).sum::<u32>() <= 64).then_some((word, ranges))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Whether a name stays within its folder.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

fn unknown(what: &str, name: &str, kind: ErrorKind, mut known: Vec<String>) -> Error {
    known.sort();
    let error = Error::new(kind, format!("unknown {what} '{name}'"));
    match names::closest(name, known.iter().cloned()) {
        Some(near) => error.hint(format!("Did you mean '{near}'?")),
        None if known.is_empty() => error,
        None => error.hint(format!("This machine has: {}.", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pmu::fake::INTEL;

    fn words(pmu: &str, terms: &str) -> Result<EventKind, String> {
        describe(pmu, terms, &INTEL).map(|described| described.kind).map_err(|error| error.to_string())
    }

    fn raw(pmu: u32, config: u64, config1: u64) -> Result<EventKind, String> {
        Ok(EventKind::Raw { pmu, config, config1, config2: 0 })
    }

    #[test]
    fn terms_land_where_the_format_says() {
        for (pmu, terms, expected) in [
            ("cpu", "event=0x3c,umask=0x1", raw(4, 0x13c, 0)),
            ("cpu", "event=60 , edge", raw(4, 0x4003c, 0)),
            ("cpu", "mem-loads", raw(4, 0x1cd, 3)),
            ("cpu", "mem-loads,ldlat=30", raw(4, 0x1cd, 30)),
            ("cpu", "cycles", raw(4, 0x3c, 0)),
            ("cpu", "split=0xabc", raw(4, 0xa_0000_00bc, 0)),
            ("cpu", "config=0xffffffffffffffff,config1=1", raw(4, u64::MAX, 1)),
            ("uncore_imc_0", "cas_count_read", raw(14, 0x304, 0)),
            ("cpu", "", raw(4, 0, 0)),
        ] {
            assert_eq!(words(pmu, terms), expected, "{pmu}/{terms}/");
        }
    }

    #[test]
    fn what_cannot_be_placed_is_named() {
        for (pmu, terms, expected) in [
            ("cpu", "event=0x100", "0x100 is too large for 'event' of cpu, which has 8 bits"),
            ("cpu", "evnt=1", "unknown event or setting of cpu 'evnt'"),
            ("cpu", "event=x", "invalid number 'x' for 'event'"),
            ("cpu", "far=1", "setting 'far' of cpu has a format that is not understood: 'config3:0-7'"),
            ("cpu", "asks", "event 'asks' of cpu needs a value for 'umask'"),
            ("cpu", "mem-loads.scale", "unknown event or setting of cpu 'mem-loads.scale'"),
            ("cpu", "freq=5", "'freq' cannot differ from event to event"),
            ("broken", "event=1", "unknown event source 'broken'"),
            ("../devices/cpu", "event=1", "unknown event source '../devices/cpu'"),
            ("uncore_imc_1", "event=1", "unknown event source 'uncore_imc_1'"),
        ] {
            assert_eq!(words(pmu, terms), Err(expected.to_string()), "{pmu}/{terms}/");
        }
    }

    #[test]
    fn an_unknown_name_brings_the_nearest() {
        let remedy = |pmu, terms| describe(pmu, terms, &INTEL).err().and_then(|e| e.remedy().map(String::from));
        assert_eq!(remedy("uncore_imc_1", "").as_deref(), Some("Did you mean 'uncore_imc_0'?"));
        assert_eq!(remedy("cpu", "evnt=1").as_deref(), Some("Did you mean 'event'?"));
    }

    #[test]
    fn a_format_is_checked() {
        for wrong in ["", "config", "config:", "config:64", "config:7-0", "config:0-63,0", "config9:1", "config:a"] {
            assert_eq!(parse_format(wrong), None, "{wrong}");
        }
        assert_eq!(parse_format("config2:0-63\n"), Some((2, vec![(0, 63)])));
    }
}
